# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of a residual that is not noise, and large enough to matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset
from robot_identification.validation.data_warnings.thresholds import (
    LARGEST_STRUCTURE, LEAST_OVER_NOISE,
)
from robot_identification.validation.metrics import noise_deviation
from robot_identification.validation.verdict import DataWarning


def find_structure(
    robot: RobotModel, datasets: Sequence[Dataset], sigma: FloatArray
) -> tuple[DataWarning, ...]:
    """
    Return a warning where residuals are large compared with the effort and its noise.

    `sigma` (n,) is the standard deviation of the residual of each joint [N m].
    """
    fitted = [dataset.effort[dataset.fitted] for dataset in datasets]
    scale = np.abs(datasets[0].torque_per_effort(robot))
    noise = scale * np.mean([noise_deviation(effort) for effort in fitted], axis=0)
    deviation = scale * np.mean([np.std(effort, axis=0) for effort in fitted], axis=0)
    known = (deviation > 0.0) & np.isfinite(noise)
    structure = np.sqrt(np.maximum(sigma**2 - noise**2, 0.0))
    share = np.divide(structure, deviation, out=np.zeros_like(deviation), where=known)
    above = known & (sigma > LEAST_OVER_NOISE * noise)
    mean = float(share[above].sum() / max(np.count_nonzero(known), 1))
    if mean <= LARGEST_STRUCTURE:
        return ()
    worst = int(np.argmax(np.where(above, share, 0.0)))
    return (DataWarning(
        'structure', (robot.joint_names[worst],),
        'the residual is no noise and too large for a good model, most of all that of '
        f'{robot.joint_names[worst]}',
        "mean share of the torque's deviation", '', mean, LARGEST_STRUCTURE,
        'look at the residuals in the report: friction, elasticity or vibration that the model '
        'lacks, or data that are wrong in a way that no test knows',
    ),)
