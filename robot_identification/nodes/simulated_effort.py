# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The effort interface of the simulated robot: a joint or wheel by itself or in an arm takes torques.

It stands where a driver with a forward effort controller stands, for friction tests, in real time.
In an arm drives hold the other joints.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.arrays import FloatArray
from robot_identification.model import RobotModel
from robot_identification.nodes.common import declare_options
from robot_identification.nodes.conversions import joint_state
from robot_identification.nodes.graph import EFFORT_COMMANDS, JOINT_STATES
from robot_identification.options import from_values, option
from robot_identification.simulation import (
    effort_truth, EffortArm, EffortJoint, EffortJointConstants, published_effort, Sensors,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

# Names, positions, velocities and efforts of a joint state.
Reading = tuple[list[str], FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class EffortOptions:
    """Options of the effort interface other than the constants of the joint."""

    joint: str = option(str, 'effort joint: its name', default='wheel_3')
    in_arm: bool = option(
        bool, 'effort joint: it is one of the arm that robot names, which is simulated as a '
        'whole; its constants are then not used', default=False,
    )
    initial_position: float = option(
        float, 'effort joint: initial position without an arm [rad]', default=0.0,
        minimum=-10.0, maximum=10.0,
    )
    velocity_noise: float = option(
        float, 'effort joint: noise of the measured velocity [rad/s]', default=0.003, minimum=0.0,
        maximum=1.0,
    )
    rate: float = option(
        float, 'effort joint: rate of the joint states [Hz]', default=200.0, minimum=10.0,
        maximum=1000.0,
    )
    command_timeout: float = option(
        float, 'effort joint: longest time that a torque is held [s]', default=0.5, minimum=0.01,
        maximum=10.0,
    )


class OneJoint:
    """A joint or wheel by itself."""

    def __init__(
        self, options: EffortOptions, constants: EffortJointConstants, seed: int
    ) -> None:
        self._name = options.joint
        self._joint = EffortJoint(
            constants, options.initial_position, velocity_noise=options.velocity_noise, seed=seed
        )

    def advance(self, torque: float, duration: float) -> None:
        """Apply a torque [N m] for some time [s]."""
        self._joint.advance(torque, duration)

    def read(self, torque: float) -> Reading:
        """Return what a driver would publish."""
        q, dq = self._joint.measure()
        return [self._name], np.array([q]), np.array([dq]), np.array([torque])


class JointOfArm:
    """A joint of a simulated arm, whose other joints are held."""

    def __init__(
        self, options: EffortOptions, robot: RobotModel, q: FloatArray, seed: int
    ) -> None:
        self._robot = robot
        self._arm = EffortArm(
            robot, effort_truth(robot),
            Sensors(velocity_noise=options.velocity_noise, effort_noise=0.0), q, [options.joint],
            seed,
        )
        self._sign = float(robot.encoders.sign[robot.joint_names.index(options.joint)])

    def advance(self, torque: float, duration: float) -> None:
        """Apply a torque [N m], as the driver counts, for some time [s]."""
        self._arm.advance_torque(np.array([self._sign * torque]), duration)

    def read(self, torque: float) -> Reading:
        """Return what a driver would publish, in alphabetical order."""
        sample, _ = self._arm.measure()
        encoders, names = self._robot.encoders, self._robot.joint_names
        order = np.argsort(names)
        effort = encoders.sign * published_effort(self._robot, sample.effort)
        return (
            [names[k] for k in order], encoders.to_reading(sample.q)[order],
            (encoders.sign * sample.dq)[order], effort[order],
        )


def declare_effort(node: Node) -> tuple[EffortOptions, EffortJointConstants]:
    """Declare the parameters of the effort interface, and return what they are."""
    def read(key: str) -> Any:
        return node.get_parameter(key).value

    for kind in (EffortOptions, EffortJointConstants):
        declare_options(node, kind, read_only=True)
    return from_values(EffortOptions, read), from_values(EffortJointConstants, read)


class EffortInterface:
    """Steps the joint of a node in real time, takes its torques and publishes its joint states."""

    def __init__(
        self, node: Node, options: EffortOptions, machine: OneJoint | JointOfArm
    ) -> None:
        self._node, self._timeout, self._machine = node, options.command_timeout, machine
        self._torque, self._commanded_at = 0.0, -math.inf
        self._stepped_at = time.monotonic()
        self._states = node.create_publisher(JointState, JOINT_STATES, QoSProfile(depth=10))
        node.create_subscription(
            Float64MultiArray, EFFORT_COMMANDS, self._on_command, QoSProfile(depth=1)
        )
        node.create_timer(1.0 / options.rate, self._step)

    def _on_command(self, message: Float64MultiArray) -> None:
        if len(message.data) != 1 or not math.isfinite(message.data[0]):
            # As the real controller: what does not fit its joints is ignored, with a log line.
            self._node.get_logger().error('a command is not one finite torque: ignored')
            return
        self._torque, self._commanded_at = float(message.data[0]), time.monotonic()

    def _step(self) -> None:
        now = time.monotonic()
        # The commander may be dead.
        torque = self._torque if now - self._commanded_at < self._timeout else 0.0
        # After a pause of this process the joint has not been moving for all of it.
        self._machine.advance(torque, min(now - self._stepped_at, self._timeout))
        self._stepped_at = now
        header = Header(stamp=self._node.get_clock().now().to_msg())
        self._states.publish(joint_state(header, *self._machine.read(torque)))
