# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The arm that a node's parameters name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import time

from rclpy.node import Node
from robot_identification.errors import DataError
from robot_identification.model import (
    gravity_of_mounting, load_robot, parse_urdf, RobotModel, Urdf, without_prefix,
)
from robot_identification.nodes.common import declare, LATCHED, value_of
from robot_identification.nodes.graph import publishers
from robot_identification.nodes.roots import readable_robot
from std_msgs.msg import String

DESCRIPTION_TIMEOUT = 5.0  # [s]; chosen: above discovery, 0.3 to 3 s (docs/security.md)


def robot_from_parameters(
    node: Node, urdf: Urdf | None = None, joints: Sequence[str] | None = None
) -> RobotModel:
    """
    Return the arm that the parameters of `declare_robot` name.

    A live description replaces the robot's own file; by default all joints move.
    """
    gravity = value_of(node, 'gravity')
    if gravity is None:
        gravity = gravity_of_mounting(*value_of(node, 'mounting'))
    robot = load_robot(
        readable_robot(node),
        urdf=urdf,
        joints=joints,
        gravity=list(gravity),
    )
    gains = value_of(node, 'drive_gains')
    return robot if gains is None else robot.with_drive_gains(list(gains))


@dataclass(frozen=True, eq=False)
class DriverArm:
    """An arm as its driver names it; the simulated one has stand-ins for a UR's own messages."""

    robot: RobotModel
    prefix: str = ''  # `tf_prefix` of the driver, before every joint name
    simulated: bool = False

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints in the driver's messages, kinematic order."""
        return tuple(self.prefix + joint for joint in self.robot.joint_names)


class RobotDescription:
    """
    The live description of the arm, from the latched robot_description topic.

    Declares ``use_robot_description``, by default `used`; `prefix` is the driver's `tf_prefix`,
    taken off its names.
    """

    def __init__(self, node: Node, *, used: bool, prefix: str = '') -> None:
        self._node, self._prefix = node, prefix
        self._text: str | None = None
        declare(node, 'use_robot_description', used,
                'take the URDF from the robot_description topic where there is one')
        node.create_subscription(String, 'robot_description', self._on_description, LATCHED)

    def _on_description(self, message: String) -> None:
        self._text = message.data

    @property
    def text(self) -> str:
        """Live description as published; empty where none was."""
        return self._text or ''

    def read(self) -> Urdf | None:
        """
        Return the live description, None where none is published or it is not to be used.

        Raises DataError if it is published and does not arrive, DescriptionError if it cannot be
        used.
        """
        if not self._node.get_parameter('use_robot_description').value:
            return None
        deadline = time.monotonic() + DESCRIPTION_TIMEOUT
        while self._text is None and publishers(self._node, 'robot_description'):
            if time.monotonic() > deadline:
                raise DataError(
                    'robot_description is published and did not arrive within '
                    f'{DESCRIPTION_TIMEOUT:.0f} s: is it latched (transient local)?'
                )
            time.sleep(0.02)
        if self._text is None:
            self._node.get_logger().info(
                'no robot_description is published: the description of '
                f'{self._node.get_parameter("robot").value} is taken'
            )
        return self._parse()

    def latest(self) -> Urdf | None:
        """Return the live description that has come, without waiting; else as `read`."""
        if not self._node.get_parameter('use_robot_description').value:
            return None
        if self._text is None and publishers(self._node, 'robot_description'):
            raise DataError('robot_description is published and has not come yet: try again')
        return self._parse()

    def _parse(self) -> Urdf | None:
        if self._text is None:
            return None
        return parse_urdf(without_prefix(self._text, self._prefix), 'robot_description')
