# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Payload: the rigid body that is fixed to the last link.

Its ten inertial parameters stand in the last link's columns of the regressor, so that a payload is
added to a model, or found in a run, without any new model of the arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.model.consistency import pseudo_inertia
from robot_identification.model.frames import change_of_frame
from robot_identification.model.parameters import from_tensor, point_tensor, to_tensor
from robot_identification.model.robot_model import RobotModel

# Where tools are mounted, by the names that arms give to it, the most usual one first. What
# `set_target_payload` of a Universal Robot takes is in the frame that ROS calls tool0.
TOOL_FRAMES = ('tool0', 'flange', 'ee_link', 'tool_link')


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body fixed to the flange."""

    mass: float  # mass [kg]
    center_of_mass: FloatArray  # (3,): from the frame's origin, in its axes [m]
    inertia: FloatArray  # (3, 3): about the centre of mass, in the frame's axes [kg m^2]
    frame: str  # link of the URDF whose frame it is

    def __post_init__(self) -> None:
        if np.shape(self.center_of_mass) != (3,) or np.shape(self.inertia) != (3, 3):
            raise UsageError(
                f'a payload has a centre of mass of 3 and an inertia of 3 x 3 numbers, not '
                f'{np.shape(self.center_of_mass)} and {np.shape(self.inertia)}'
            )
        numbers = [self.mass, *np.ravel(self.center_of_mass), *np.ravel(self.inertia)]
        if not np.all(np.isfinite(numbers)):
            raise UsageError(f'a payload must be of finite numbers, got {numbers}')
        if not np.allclose(self.inertia, np.transpose(self.inertia)):
            raise UsageError('the inertia of a payload must be symmetric')

    @property
    def parameters(self) -> FloatArray:
        """Inertial parameters in Pinocchio's order, inertia about the frame's origin, (10,)."""
        m, c = self.mass, np.asarray(self.center_of_mass, dtype=float)
        inertia = np.asarray(self.inertia) + point_tensor(m, c)
        return np.concatenate([[m], m * c, from_tensor(inertia)])

    @property
    def is_possible(self) -> bool:
        """Return whether a rigid body can have these numbers; a point mass can."""
        values = np.linalg.eigvalsh(pseudo_inertia(self.parameters))
        return bool(values[0] >= -1.0e-9 * np.abs(values).max())  # rounding


def payload_from_parameters(parameters: FloatArray, frame: str) -> Payload:
    """
    Return the payload of ten inertial parameters.

    `parameters` (10,) are in Pinocchio's order, the inertia about the frame's origin, SI units;
    `frame` is the link of the URDF in whose frame they are. Raises DataError if the mass is zero,
    so that there is no centre.
    """
    m = float(parameters[0])
    if m == 0.0:
        raise DataError('a payload without mass has no centre of mass')
    c = np.asarray(parameters[1:4], dtype=float) / m
    return Payload(m, c, to_tensor(parameters[4:]) - point_tensor(m, c), frame)


def last_link(robot: RobotModel) -> str:
    """
    Return the link that the last joint moves: its frame is the one of that joint.

    The payload's columns of the regressor are in this frame.
    """
    model = robot.pinocchio
    joint = model.getFrameId(robot.joint_names[-1], pin.FrameType.JOINT)
    return next(
        str(frame.name) for frame in model.frames
        if frame.type == pin.FrameType.BODY and frame.parentFrame == joint
    )


def tool_placements(robot: RobotModel) -> Mapping[str, pin.SE3]:
    """
    Return the frames that do not move against the last link, by name.

    Each has its placement in the frame of the last joint; the last link comes first.
    """
    model = robot.pinocchio
    at_last = {
        frame.name: frame.placement for frame in model.frames
        if frame.type == pin.FrameType.BODY and frame.parentJoint == model.njoints - 1
    }
    own = last_link(robot)
    return {own: at_last[own]} | at_last


def tool_frame(robot: RobotModel, wanted: str | None = None) -> str:
    """
    Return the frame in which a payload is stated.

    `wanted` is a link fixed to the last one; by default tool0, flange or the like where the URDF
    has them, else the last link itself. Raises UsageError if the wanted link is not fixed to the
    last one.
    """
    placements = tool_placements(robot)
    if wanted is not None:
        if wanted not in placements:
            raise UsageError(
                f'no link {wanted} is fixed to the last link of {robot.name}: choose one of '
                f'{", ".join(placements)}'
            )
        return wanted
    return next((name for name in TOOL_FRAMES if name in placements), last_link(robot))


def to_frame(robot: RobotModel, frame: str) -> FloatArray:
    """
    Return T (10, 10) from inertial parameters in the last joint's frame to another one.

    It is that of `change_of_frame`; `frame` is a link fixed to the last one. Raises UsageError if
    it is not.
    """
    return change_of_frame(tool_placements(robot)[tool_frame(robot, frame)].inverse())


def joint_parameters(robot: RobotModel, payload: Payload) -> FloatArray:
    """
    Return the parameters (10,) of a payload in the frame of the last joint.

    Raises UsageError if the payload's frame is not fixed to the last link.
    """
    placement = tool_placements(robot)[tool_frame(robot, payload.frame)]
    parameters: FloatArray = change_of_frame(placement) @ payload.parameters
    return parameters
