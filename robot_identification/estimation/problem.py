# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The identification problem, kept as one triangular factor per joint.

Every linear estimator, re-weighting and covariance follows from the factors, so that memory does
not grow with the recording and the data are passed over once.
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import DataError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.regressor import observation_blocks
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import Dataset

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class IdentificationProblem:
    """
    Find the base parameters in ``tau_j = W_j @ theta_base + noise`` for every joint j.

    Attributes
    ----------
    factors : ndarray, shape (n, b + 1, b + 1)
        Upper triangular R of ``[W_j tau_j] = Q_j R_j`` [N m per parameter, N m].
    samples : ndarray of int, shape (n,)
        Rows behind each factor.
    reduction : BaseReduction
        Meaning of the base parameters.

    """

    factors: FloatArray
    samples: np.ndarray
    reduction: BaseReduction

    def __post_init__(self) -> None:
        n, b = len(self.samples), self.reduction.rank
        if self.factors.shape != (n, b + 1, b + 1):
            raise ValueError(
                f'factors must have shape {(n, b + 1, b + 1)}, got {self.factors.shape}'
            )

    def squared_residuals(self, theta: FloatArray) -> FloatArray:
        """
        Return the sum of squared residuals of each joint.

        Parameters
        ----------
        theta : ndarray, shape (b,)
            Base parameters.

        Returns
        -------
        ndarray, shape (n,)
            Sums of squares [N^2 m^2].

        """
        extended = np.append(-theta, 1.0)
        squares: FloatArray = np.sum((self.factors @ extended) ** 2, axis=1)
        return squares

    def stacked(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return an equivalent small least-squares problem with weighted joints.

        Parameters
        ----------
        weights : ndarray, shape (n,)
            Factor on the rows of each joint, 1 / (standard deviation of its noise).

        Returns
        -------
        R : ndarray, shape (n (b + 1), b)
            Matrix.
        z : ndarray, shape (n (b + 1),)
            Right-hand side.

        """
        weighted = (self.factors * weights[:, None, None]).reshape(-1, self.factors.shape[2])
        return weighted[:, :-1], weighted[:, -1]


def build_problem(
    robot: RobotModel,
    reduction: BaseReduction,
    data: Iterable[tuple[Dataset, FloatArray, BoolArray]],
) -> IdentificationProblem:
    """
    Reduce recordings to one triangular factor per joint.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    reduction : BaseReduction
        Meaning of the base parameters.
    data : iterable of (Dataset, ndarray of shape (N, n), ndarray of bool of shape (N,))
        Recordings with their joint torques [N m] and the samples to take.

    Raises
    ------
    DataError
        If there are fewer rows than parameters.

    """
    n, b = robot.n, reduction.rank
    factors = np.zeros((n, b + 1, b + 1))
    samples = np.zeros(n, dtype=int)
    for dataset, tau, rows in data:
        for block, W in observation_blocks(robot, reduction.parameters, dataset.motion):
            chosen = rows[block]
            if not chosen.any():
                continue
            W_base = W.reshape(len(chosen), n, -1)[chosen][:, :, reduction.independent]
            target = tau[block][chosen]
            for joint in range(n):
                extended = np.column_stack([W_base[:, joint], target[:, joint]])
                factors[joint] = _triangle(np.vstack([factors[joint], extended]), b + 1)
            samples += int(chosen.sum())
    if samples.min() * n < b:
        raise DataError(
            f'{samples.min()} usable samples for {b} parameters: record a longer motion'
        )
    return IdentificationProblem(factors, samples, reduction)


def _triangle(rows: FloatArray, size: int) -> FloatArray:
    factor = np.zeros((size, size))
    R = np.linalg.qr(rows, mode='r')
    factor[: len(R)] = R
    return factor


@dataclass(frozen=True, eq=False)
class Estimate:
    """
    What an estimator found.

    Attributes
    ----------
    theta : ndarray, shape (b,)
        Base parameters, SI units.
    covariance : ndarray, shape (b, b)
        Of `theta`, from white residuals; measured residuals are correlated in time, so that true
        errors are larger.
    sigma : ndarray, shape (n,)
        Standard deviation of the residual of each joint [N m].
    condition_number : float
        Of the weighted problem as it stands.
    condition_number_scaled : float
        The same with columns of unit length.
    singular_values : ndarray, shape (b,)
        Of the weighted problem with columns of unit length.

    """

    theta: FloatArray
    covariance: FloatArray
    sigma: FloatArray
    condition_number: float
    condition_number_scaled: float
    singular_values: FloatArray

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of `theta`, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True)
class Estimator(ABC):
    """An estimator: options are dataclass fields, one verb does the work."""

    @abstractmethod
    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """
        Estimate the base parameters.

        Raises
        ------
        RankDeficientError
            If the data do not determine every base parameter.

        """
