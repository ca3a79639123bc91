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

"""Errors on the recorded samples and the raw effort, in the bag's unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# A signal that varies less than this, relative to its size, is constant: nothing to explain.
CONSTANT_SHARE = 1.0e-9


@dataclass(frozen=True, eq=False)
class BagErrors:
    """
    Errors of one bag.

    Attributes
    ----------
    bag : str
        The bag.
    samples : int
        Number of samples scored.
    unit : str
        Unit of the bag's effort.
    joints : tuple of str
        Kinematic order.
    rmse, nrmse, rmse_moving, bias : ndarray, shape (n,)
        Root mean square error; the same over the standard deviation of the measured signal (NaN
        where that is constant); over samples at which the joint moves (NaN where it never does);
        mean of measured minus predicted.

    """

    bag: str
    samples: int
    unit: str
    joints: tuple[str, ...]
    rmse: FloatArray
    nrmse: FloatArray
    rmse_moving: FloatArray
    bias: FloatArray

    @property
    def nrmse_mean(self) -> float:
        """Mean over the joints whose signal is not constant."""
        finite = self.nrmse[np.isfinite(self.nrmse)]
        return float(finite.mean()) if finite.size else float('nan')


def measure_errors(
    measured: FloatArray,
    predicted: FloatArray,
    moving: BoolArray,
    *,
    bag: str,
    unit: str,
    joints: tuple[str, ...],
) -> BagErrors:
    """
    Compare predicted with measured effort.

    Parameters
    ----------
    measured, predicted : ndarray, shape (N, n)
        Effort in `unit`.
    moving : ndarray of bool, shape (N, n)
        Where each joint moves.
    bag, unit, joints
        Names for the result.

    """
    residual = measured - predicted
    rmse = np.sqrt(np.mean(residual**2, axis=0))
    spread = np.std(measured, axis=0)
    constant = spread <= CONSTANT_SHARE * np.maximum(np.max(np.abs(measured), axis=0), 1e-300)
    counts = np.count_nonzero(moving, axis=0)
    squares = np.sum(np.where(moving, residual, 0.0) ** 2, axis=0)
    return BagErrors(
        bag=bag,
        samples=len(measured),
        unit=unit,
        joints=joints,
        rmse=rmse,
        nrmse=np.where(constant, np.nan, rmse / np.where(constant, 1.0, spread)),
        rmse_moving=np.where(
            counts > 0, np.sqrt(squares / np.maximum(counts, 1)), np.nan
        ),
        bias=np.mean(residual, axis=0),
    )
