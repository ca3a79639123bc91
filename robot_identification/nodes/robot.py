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

"""The arm that a node's parameters name."""

from __future__ import annotations

from rclpy.node import Node
from robot_identification.model.catalogue import load_robot
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf import Urdf


def robot_from_parameters(node: Node, urdf: Urdf | None = None) -> RobotModel:
    """
    Return the arm that the parameters of `declare_robot` name.

    Parameters
    ----------
    node : Node
        With the parameters declared.
    urdf : Urdf, optional
        A live description instead of the robot's own file.

    """
    mounting = node.get_parameter('mounting').value
    robot = load_robot(
        node.get_parameter('robot').value,
        urdf=urdf,
        gravity=list(gravity_of_mounting(*mounting)),
    )
    gains = list(node.get_parameter('drive_gains').value)
    return robot if gains == [0.0] else robot.with_drive_gains(gains)
