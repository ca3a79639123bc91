# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors of one bag on the recorded samples and the raw effort, in the unit of the bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import rigid_torque, RobotModel
from robot_identification.processing import Dataset
from robot_identification.texts import short_repr
from robot_identification.validation.details import ErrorDetails
from robot_identification.validation.metrics import is_constant, partial_rms


@dataclass(frozen=True, eq=False)
class BagErrors:
    """Errors of one bag."""

    bag: str
    samples: int  # number of samples scored
    unit: str  # unit of the bag's effort
    joints: tuple[str, ...]  # kinematic order
    # (n,): root mean square error; the same over the standard deviation of the measured signal
    # (NaN where that is constant); over samples at which the joint moves (NaN where it never
    # does); mean of measured minus predicted.
    rmse: FloatArray
    nrmse: FloatArray
    rmse_moving: FloatArray
    bias: FloatArray
    details: ErrorDetails | None = None  # what the errors are made of

    __repr__ = short_repr

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
    Return the errors of predicted against measured effort, both (N, n) in `unit`.

    `moving` (N, n) marks samples at which each joint moves; `bag` and `joints` are names for the
    result. `details` is the breakdown of the errors, None where it was not measured.
    """
    residual = measured - predicted
    rmse = np.sqrt(np.mean(residual**2, axis=0))
    deviation = np.std(measured, axis=0)
    constant = is_constant(measured)
    return BagErrors(
        bag=bag,
        samples=len(measured),
        unit=unit,
        joints=joints,
        rmse=rmse,
        nrmse=np.where(constant, np.nan, rmse / np.where(constant, 1.0, deviation)),
        rmse_moving=partial_rms(residual, moving),
        bias=np.mean(residual, axis=0),
        details=details,
    )


def errors_at(
    dataset: Dataset, predicted: FloatArray, rows: BoolArray, details: ErrorDetails | None = None,
    effort: FloatArray | None = None,
) -> BagErrors:
    """
    Return the errors of a prediction of some samples of a dataset.

    `rows` (N,) selects m samples; `predicted` (m, n) is the effort there in the bag's unit.
    `details` is the breakdown of the errors, None where it was not measured. `effort` (m, n) takes
    the place of what was recorded.
    """
    return measure_errors(
        dataset.effort[rows] if effort is None else effort, predicted, dataset.moving[rows],
        bag=dataset.source, unit=dataset.effort_unit, joints=dataset.joint_names, details=details,
    )


def score_urdf(
    robot: RobotModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray], *,
    relative_scale: bool = False,
) -> tuple[BagErrors, ...]:
    """
    Return the errors of the URDF's inertial parameters, by bag.

    `rows` selects the samples (N,) of each dataset. A URDF has no friction: sign, velocity,
    acceleration and offset are fitted for each joint to the samples that are scored, so the errors
    are optimistic. With `relative_scale` they are NaN: the URDF's torque is in another unit than
    the effort.
    """
    results = []
    for dataset, chosen in zip(datasets, rows, strict=True):
        if relative_scale:
            unknown = np.full((np.count_nonzero(chosen), robot.n), np.nan)
            results.append(errors_at(dataset, unknown, chosen))
            continue
        scale = dataset.torque_per_effort(robot)
        motion = dataset.motion.rows(np.flatnonzero(chosen))
        rigid = rigid_torque(robot, motion)
        rest = dataset.effort[chosen] * scale - rigid
        explained = np.zeros_like(rest)
        for joint in range(robot.n):
            dq, ddq = motion.dq[:, joint], motion.ddq[:, joint]
            columns = np.column_stack([np.sign(dq), dq, ddq, np.ones(len(dq))])
            explained[:, joint] = columns @ np.linalg.lstsq(columns, rest[:, joint], rcond=None)[0]
        results.append(errors_at(dataset, (rigid + explained) / scale, chosen))
    return tuple(results)
