# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors of one bag on the recorded samples and the raw effort, in the unit of the bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.validation.details import ErrorDetails
from robot_identification.validation.metrics import is_constant, partial_rms


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
    details : ErrorDetails, optional
        What the errors are made of.

    """

    bag: str
    samples: int
    unit: str
    joints: tuple[str, ...]
    rmse: FloatArray
    nrmse: FloatArray
    rmse_moving: FloatArray
    bias: FloatArray
    details: ErrorDetails | None = None

    @property
    def nrmse_mean(self) -> float:
        """Mean over the joints whose signal is not constant."""
        return _mean_of_finite(self.nrmse)

    @property
    def urdf_nrmse(self) -> FloatArray:
        """
        NRMSE of the URDF's bodies without friction on the same samples, shape (n,).

        NaN where the signal is constant, and everywhere with unknown drive gains: the URDF's
        torque is in another unit then.
        """
        return np.full(len(self.joints), np.nan) if self.details is None else self.details.urdf

    @property
    def urdf_nrmse_mean(self) -> float:
        """Mean of `urdf_nrmse` over the joints where it is known."""
        return _mean_of_finite(self.urdf_nrmse)


def _mean_of_finite(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else float('nan')


def measure_errors(
    measured: FloatArray,
    predicted: FloatArray,
    moving: BoolArray,
    *,
    bag: str,
    unit: str,
    joints: tuple[str, ...],
    details: ErrorDetails | None = None,
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
    details : ErrorDetails, optional
        What the errors are made of, where that was measured.

    """
    residual = measured - predicted
    rmse = np.sqrt(np.mean(residual**2, axis=0))
    spread = np.std(measured, axis=0)
    constant = is_constant(measured)
    return BagErrors(
        bag=bag,
        samples=len(measured),
        unit=unit,
        joints=joints,
        rmse=rmse,
        nrmse=np.where(constant, np.nan, rmse / np.where(constant, 1.0, spread)),
        rmse_moving=partial_rms(residual, moving),
        bias=np.mean(residual, axis=0),
        details=details,
    )
