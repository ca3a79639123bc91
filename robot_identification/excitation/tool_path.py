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

"""Where the tool goes in a motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.model.robot_model import RobotModel

FloatArray = NDArray[np.float64]


def tool_frame(robot: RobotModel) -> str:
    """Return the last link of the arm: the last one in the URDF that the last joint moves."""
    return str(robot.pinocchio.frames[_frame_id(robot)].name)


def tool_path(robot: RobotModel, q: FloatArray) -> FloatArray:
    """
    Return the places of the last link's origin in the root frame.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    q : ndarray, shape (N, n)
        Positions [rad or m].

    Returns
    -------
    ndarray, shape (N, 3)
        [m]

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
