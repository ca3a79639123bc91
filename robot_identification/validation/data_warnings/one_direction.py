# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Check of joints that move in one direction only: nothing shows their friction in the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.model import RobotModel
from robot_identification.processing import (
    Dataset, find_stationary_joints, seconds_by_direction,
)
from robot_identification.validation.data_warnings.thresholds import SHORTEST_DIRECTION
from robot_identification.validation.verdict import DataWarning


def find_one_direction(robot: RobotModel, datasets: Sequence[Dataset]) -> tuple[DataWarning, ...]:
    """Return a warning of the joints that move too briefly in one direction, if there are any."""
    seconds = np.sum([seconds_by_direction(dataset) for dataset in datasets], axis=0).min(axis=0)
    joints = np.setdiff1d(
        np.flatnonzero(seconds < SHORTEST_DIRECTION), find_stationary_joints(datasets)
    )
    if not joints.size:
        return ()
    names = tuple(robot.joint_names[joint] for joint in joints)
    return (DataWarning(
        'one_direction', names,
        f'{", ".join(names)} moved in one direction only, so that friction in the other one and '
        'an offset of the effort are not known',
        'motion in the other direction', 's', float(seconds[joints].min()), SHORTEST_DIRECTION,
        'record a motion in which every joint moves both ways, and identify from both recordings',
    ),)
