# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Link frames: in which frame the parameters of a link are stated.

Rank and torques do not depend on it; expressions and identifiability classes do. Pinocchio's
are the joint frames of the URDF; papers use Denavit-Hartenberg frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model.denavit_hartenberg import (
    DenavitHartenberg, derive_table, PARALLEL,
)
from robot_identification.model.parameters import from_tensor, to_tensor
from robot_identification.model.robot_model import RobotModel

# What an option may say, and what it means to a reader.
FRAMES = {
    'joint': 'joint frames of the URDF',
    'dh': 'standard Denavit-Hartenberg frames',
    'mdh': 'modified Denavit-Hartenberg frames',
}


@dataclass(frozen=True)
class LinkFrames:
    """Frames in which the parameters of the links are stated."""

    name: str  # 'joint', 'dh' or 'mdh'
    placements: tuple[pin.SE3, ...]  # pose of each link frame in Pinocchio's joint frame, length n

    def to_joint_frames(self) -> FloatArray:
        """Return T of ``theta_joint = T @ theta_link``, shape (10 n, 10 n)."""
        n = len(self.placements)
        T = np.zeros((10 * n, 10 * n))
        for link, placement in enumerate(self.placements):
            part = slice(10 * link, 10 * link + 10)
            T[part, part] = change_of_frame(placement)
        return T


def change_of_frame(placement: pin.SE3) -> FloatArray:
    """
    Return T (10, 10) of ``theta_J = T @ theta_D`` for a frame D at the pose (R, p) in frame J.

    Its rows are m, R h + m p, and R I R' - [p][R h] - [R h][p] - m [p][p].
    """
    R, p = placement.rotation, pin.skew(placement.translation)
    T = np.zeros((10, 10))
    for column, unit in enumerate(np.eye(10)):
        m, h, inertia = unit[0], unit[1:4], to_tensor(unit[4:])
        turned = pin.skew(R @ h)
        T[0, column] = m
        T[1:4, column] = R @ h + m * placement.translation
        T[4:, column] = from_tensor(R @ inertia @ R.T - p @ turned - turned @ p - m * p @ p)
    return T


def joint_frames(n: int) -> LinkFrames:
    """Return the joint frames of the URDF themselves."""
    return LinkFrames('joint', tuple(pin.SE3.Identity() for _ in range(n)))


def link_frames(robot: RobotModel, name: str) -> LinkFrames:
    """
    Return the link frames of an arm by `name`: 'joint', 'dh' or 'mdh'.

    Denavit-Hartenberg frames are those of the table in the robot's YAML; without one they are
    derived from the joint axes. Raises UsageError if the name is unknown, DescriptionError if the
    table does not describe the URDF.
    """
    if name not in FRAMES:
        raise UsageError(f'unknown frames {name!r}: known are {", ".join(FRAMES)}')
    if name == 'joint':
        return joint_frames(robot.n)
    table = table_of(robot)
    return LinkFrames(name, _placements(robot, table, name, np.zeros(robot.n)))


def table_of(robot: RobotModel) -> DenavitHartenberg:
    """
    Return the Denavit-Hartenberg table of an arm: its YAML's, else one derived from its axes.

    Raises DescriptionError if the YAML's table does not describe the URDF.
    """
    if robot.denavit_hartenberg is None:
        return derive_table(robot.pinocchio)
    check_table(robot, robot.denavit_hartenberg)
    return robot.denavit_hartenberg


def _placements(
    robot: RobotModel, table: DenavitHartenberg, frames: str, q: FloatArray
) -> tuple[pin.SE3, ...]:
    """Return the table's link frames in the robot's joint frames at a position q, shape (n,)."""
    described, links = table.build(frames)
    ours, theirs = robot.pinocchio.createData(), described.createData()
    pin.forwardKinematics(robot.pinocchio, ours, q)
    pin.forwardKinematics(described, theirs, q)
    return tuple(
        ours.oMi[joint].actInv(theirs.oMi[joint] * link) for joint, link in enumerate(links, 1)
    )


def check_table(robot: RobotModel, table: DenavitHartenberg) -> None:
    """
    Check that the frames of a table are fixed to the arm's links, z on the joint axes.

    Raises DescriptionError, naming the joint, if the table does not describe the URDF.
    """
    poses: Sequence[FloatArray] = (
        np.zeros(robot.n), np.linspace(0.3, 0.9, robot.n), np.linspace(-0.8, 0.4, robot.n)
    )
    still, *moved = (_placements(robot, table, 'mdh', q) for q in poses)
    for index, joint in enumerate(robot.joint_names):
        error = max(
            float(np.abs(other[index].homogeneous - still[index].homogeneous).max())
            for other in moved
        )
        if error > PARALLEL:
            raise DescriptionError(
                f'{robot.name}: the Denavit-Hartenberg table in the robot YAML does not describe '
                f'this URDF: its frame of {joint} moves against the joint by {error:.2g}; a '
                'calibrated arm has no exact table: use --frames joint; else correct the table'
            )
