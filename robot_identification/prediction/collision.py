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
Whether somebody is touched: external torques against what the model cannot tell.

A threshold is a factor times the standard deviation that model and noise have at this very state,
so that it is wide where the model is unsure. The factor is found on free motion: of the largest
ratio of each second, whose distribution is Gumbel's whatever that of the samples is, the quantile
that leaves as many false alarms an hour as are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import DataError
from robot_identification.errors import UsageError
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import observation_matrix

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Of which the largest ratio counts [s].
BLOCK = 1.0
FEWEST_BLOCKS = 20
# Where nothing was calibrated.
DEFAULT_FACTOR = 6.0
SECONDS_PER_HOUR = 3600.0


class PredictionBand:
    """
    Standard deviation of the model's torque at a state.

    Parameters
    ----------
    model : IdentifiedModel
        The identified arm, with its covariance and residuals.

    Raises
    ------
    DataError
        If the model does not say how large its residuals were.

    """

    def __init__(self, model: IdentifiedModel) -> None:
        noise = np.asarray(model.quality.get('residual_standard_deviation', []), dtype=float)
        if noise.shape != (model.robot.n,) or not np.all(np.isfinite(noise)):
            raise DataError(
                f'the model of {model.robot.name} does not say how large its residuals were '
                '(quality.residual_standard_deviation): identify the arm again'
            )
        self._model, self._variance = model, noise**2

    def at(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """
        Return the standard deviation at one state.

        Parameters
        ----------
        q, dq, ddq : ndarray, shape (n,)
            Position [rad], velocity [rad/s] and acceleration [rad/s^2].

        Returns
        -------
        ndarray, shape (n,)
            [N m], of what noise and uncertain parameters make together.

        """
        model = self._model
        motion = Motion(q[None], dq[None], ddq[None], starts=())
        W = observation_matrix(model.robot, model.parameters, motion)
        W = W[:, model.reduction.independent]
        of_parameters = np.maximum(np.sum((W @ model.covariance) * W, axis=1), 0.0)
        deviation: FloatArray = np.sqrt(self._variance + of_parameters)
        return deviation


@dataclass(frozen=True, eq=False)
class CollisionThresholds:
    """
    When a joint counts as touched.

    Attributes
    ----------
    factor : ndarray, shape (n,)
        External torque over standard deviation.
    hold : float
        How long it must be exceeded [s]: shorter bursts are noise.

    Raises
    ------
    UsageError
        If one of them is out of range.

    """

    factor: FloatArray
    hold: float = 0.004

    def __post_init__(self) -> None:
        if not (np.all(np.isfinite(self.factor)) and np.all(self.factor > 0.0)):
            raise UsageError(f'collision: factors must be positive numbers, got {self.factor}')
        if not 0.0 <= self.hold <= 1.0:
            raise UsageError(f'collision: hold must be from 0 to 1 s, got {self.hold!r}')


def calibrate_thresholds(
    external: FloatArray, deviation: FloatArray, stamps: FloatArray, *,
    false_alarms_per_hour: float = 0.1, hold: float = 0.004,
) -> CollisionThresholds:
    """
    Find thresholds on a recording of free motion.

    Parameters
    ----------
    external : ndarray, shape (N, n)
        Observed torques [N m]; nobody touched the arm.
    deviation : ndarray, shape (N, n)
        Standard deviations at the same samples [N m].
    stamps : ndarray, shape (N,)
        Of the samples, increasing [s].
    false_alarms_per_hour : float
        Allowed of all joints together.
    hold : float
        See `CollisionThresholds`.

    Raises
    ------
    DataError
        If the recording is too short.
    UsageError
        If no positive rate of alarms is allowed.

    Notes
    -----
    The Gumbel distribution has the blocks' mean and standard deviation [1]_.

    References
    ----------
    .. [1] S. Coles, An Introduction to Statistical Modeling of Extreme Values, Springer 2001, 3.1

    """
    if not (np.isfinite(false_alarms_per_hour) and false_alarms_per_hour > 0.0):
        raise UsageError(
            f'false_alarms_per_hour must be a positive number, got {false_alarms_per_hour!r}'
        )
    ratios = np.abs(external) / deviation
    block = ((stamps - stamps[0]) / BLOCK).astype(int)
    # The last one may be short.
    maxima = np.array([ratios[block == k].max(axis=0) for k in np.unique(block)[:-1]])
    if len(maxima) < FEWEST_BLOCKS:
        raise DataError(
            f'{stamps[-1] - stamps[0]:.1f} s of free motion are too short to know how large '
            f'residuals become: record at least {FEWEST_BLOCKS + 1} s'
        )
    scale = maxima.std(axis=0, ddof=1) * np.sqrt(6.0) / np.pi
    location = maxima.mean(axis=0) - np.euler_gamma * scale
    allowed = false_alarms_per_hour * BLOCK / SECONDS_PER_HOUR / maxima.shape[1]
    factor = location - scale * np.log(-np.log1p(-allowed))
    return CollisionThresholds(np.maximum(factor, maxima.max(axis=0)), hold)


def smallest_seen(
    thresholds: CollisionThresholds, deviation: FloatArray, bandwidth: float, within: float
) -> FloatArray:
    """
    Return the smallest step of an external torque that is seen in time.

    Parameters
    ----------
    thresholds : CollisionThresholds
        When a joint counts as touched.
    deviation : ndarray, shape (n,)
        Standard deviation where it happens [N m].
    bandwidth : float
        Of the observer [rad/s].
    within : float
        Time from the step to the alarm [s].

    Returns
    -------
    ndarray, shape (n,)
        [N m]; without noise, which may delay the alarm or bring it sooner.

    """
    rise = 1.0 - np.exp(-bandwidth * max(within - thresholds.hold, 0.0))
    if rise <= 0.0:
        return np.full(len(thresholds.factor), np.inf)
    smallest: FloatArray = thresholds.factor * deviation / rise
    return smallest


class CollisionDetector:
    """
    Says sample by sample which joints are touched.

    Parameters
    ----------
    thresholds : CollisionThresholds
        When they are.

    """

    def __init__(self, thresholds: CollisionThresholds) -> None:
        self._thresholds = thresholds
        self._since = np.full(len(thresholds.factor), np.nan)

    def step(self, stamp: float, external: FloatArray, deviation: FloatArray) -> BoolArray:
        """
        Take a sample.

        Parameters
        ----------
        stamp : float
            Its stamp [s].
        external, deviation : ndarray, shape (n,)
            Observed torque and its standard deviation [N m].

        Returns
        -------
        ndarray of bool, shape (n,)
            Joints that have been above their threshold for long enough.

        """
        over = np.abs(external) > self._thresholds.factor * deviation
        began = np.where(np.isnan(self._since), stamp, self._since)
        self._since = np.where(over, began, np.nan)
        touched: BoolArray = over & (stamp - began >= self._thresholds.hold)
        return touched
