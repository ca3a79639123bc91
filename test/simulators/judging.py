# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""How far a recorded motion is from the planned one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import RobotModel
from robot_identification.recording.bag import read_recording

# Rate at which motions are compared [Hz]; the search for their shift is as fine.
COMPARED_RATE = 50.0


def largest_deviation(
    bag: Path, robot: RobotModel, trajectory: Trajectory, speed: float = 1.0
) -> float:
    """Return how far a recorded motion is from a planned one where they fit best [rad]."""
    recording = read_recording(bag, robot.joint_names, encoders=robot.encoders)
    stamps = np.arange(recording.stamps[0], recording.stamps[-1], 1.0 / COMPARED_RATE)
    q = np.column_stack([
        np.interp(stamps, recording.stamps, column) for column in recording.q.T
    ])
    planned = trajectory.sample(np.arange(0.0, trajectory.duration, speed / COMPARED_RATE)).q
    shifts = len(q) - len(planned) + 1
    if shifts < 1:
        raise ValueError(
            f'{bag} has {len(q) / COMPARED_RATE:.1f} s, the motion takes '
            f'{len(planned) / COMPARED_RATE:.1f} s'
        )
    return float(min(np.abs(q[k: k + len(planned)] - planned).max() for k in range(shifts)))
