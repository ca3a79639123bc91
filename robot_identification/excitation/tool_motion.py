# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Path of the tool in a motion."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model import RobotModel


def tool_frame(robot: RobotModel) -> str:
    """Return the last link of the arm: the last one in the URDF that the last joint moves."""
    return str(robot.pinocchio.frames[_frame_id(robot)].name)


def tool_path(robot: RobotModel, q: FloatArray) -> FloatArray:
    """
    Return the positions (N, 3) of the last link's origin in the root frame [m].

    At the joint positions `q` (N, n) [rad or m].
    """
    model, frame = robot.pinocchio, _frame_id(robot)
    data = model.createData()
    path = np.empty((len(q), 3))
    for k, pose in enumerate(q):
        pin.forwardKinematics(model, data, pose)
        path[k] = pin.updateFramePlacement(model, data, frame).translation
    return path


def _frame_id(robot: RobotModel) -> int:
    frames = robot.pinocchio.frames
    last = robot.pinocchio.njoints - 1
    return max(
        k for k, frame in enumerate(frames)
        if frame.type == pin.FrameType.BODY and frame.parentJoint == last
    )
