# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated joint or wheel with an effort interface, by itself or in an arm, for friction tests.

It stands where a driver with a forward effort controller stands: torques in, joint states out, in
real time. In an arm one joint takes torques, and drives hold the others. It leaves (exit code 5)
as soon as another node publishes joint states or listens to its commands: it must not share a
graph with a real robot.
"""

from __future__ import annotations

import json
import math
import sys
import time

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.model import EFFORT_UNITS, RobotModel
from robot_identification.nodes.common import declare, declare_robot, LATCHED, run_node
from robot_identification.nodes.graph import foreign_participants
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.simulation import (
    effort_truth, EffortArm, EffortJoint, EffortJointConstants, Sensors,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

COMMANDS = 'forward_effort_controller/commands'
FOREIGN_CHECK_PERIOD = 0.5  # [s]; chosen: a query of the graph costs milliseconds
# Names, positions, velocities and efforts of a joint state.
Reading = tuple[list[str], list[float], list[float], list[float]]
# A youBot base wheel: break-away of Rajagopal 2017 (table 4.2, wheel 3); kinetic friction, 80 % of
# it, viscous friction and inertia, with the rotor's behind its gear, are assumed.
_WHEEL = {
    'inertia': (0.009, 'of link and rotor [kg m^2]', 1e-4, 1e3),
    'static': (0.126, 'break-away friction [N m]', 0.0, 1e3),
    'coulomb': (0.1, 'kinetic friction [N m]', 0.0, 1e3),
    'viscous': (0.01, 'viscous friction [N m s/rad]', 0.0, 1e3),
    'stribeck_velocity': (0.03, 'width of the passage between both [rad/s]', 1e-3, 10.0),
    'gravity_moment': (0.0, 'largest moment of gravity [N m]', -1e3, 1e3),
}


class _OneJoint:
    """A joint or wheel by itself."""

    def __init__(
        self, name: str, constants: EffortJointConstants, q: float, noise: float, seed: int
    ) -> None:
        self._name = name
        self._joint = EffortJoint(constants, q, velocity_noise=noise, seed=seed)

    def advance(self, torque: float, duration: float) -> None:
        """Apply a torque [N m] for some time [s]."""
        self._joint.advance(torque, duration)

    def read(self, torque: float) -> Reading:
        """Return what a driver would publish."""
        q, dq = self._joint.measure()
        return [self._name], [q], [dq], [torque]


class _JointOfArm:
    """A joint of a simulated arm, whose other joints are held."""

    def __init__(
        self, name: str, robot: RobotModel, q: FloatArray, noise: float, seed: int
    ) -> None:
        self._robot, self._truth = robot, effort_truth(robot)
        self._arm = EffortArm(
            robot, self._truth, Sensors(velocity_noise=noise, effort_noise=0.0), q, [name], seed
        )
        self._sign = float(robot.encoders.sign[robot.joint_names.index(name)])

    def advance(self, torque: float, duration: float) -> None:
        """Apply a torque [N m], as the driver counts, for some time [s]."""
        self._arm.advance_torque(np.array([self._sign * torque]), duration)

    def read(self, torque: float) -> Reading:
        """Return what a driver would publish, in alphabetical order."""
        sample, _ = self._arm.measure()
        encoders, names = self._robot.encoders, self._robot.joint_names
        effort = sample.effort
        if not EFFORT_UNITS[self._robot.effort_unit or 'A'].is_current:
            effort = effort * self._truth.drive_gain
        order = np.argsort(names)
        columns = (
            values[order].tolist() for values in (
                encoders.to_reading(sample.q), encoders.sign * sample.dq, encoders.sign * effort
            )
        )
        return [names[k] for k in order], *columns


class SimulatedEffortJoint(Node):
    """Steps the joint in real time and speaks for it."""

    def __init__(self) -> None:
        super().__init__('simulated_effort_joint')
        self.finished: int | None = None
        declare_robot(self)
        self._machine = self._declare_machine()
        rate = declare(self, 'rate', 200.0, 'rate of the joint states [Hz]', minimum=10.0,
                       maximum=1000.0, read_only=True)
        self._timeout = declare(
            self, 'command_timeout', 0.5, 'longest time that a torque is held [s]',
            minimum=0.01, maximum=10.0, read_only=True,
        )
        token = declare(self, 'simulation_token', '',
                        'shared with the friction tester that may move it', read_only=True)
        self._torque, self._commanded_at = 0.0, -math.inf
        self._stepped_at = time.monotonic()
        self._states = self.create_publisher(JointState, 'joint_states', QoSProfile(depth=10))
        self._identity = self.create_publisher(String, 'simulated_robot/identity', LATCHED)
        self._identity.publish(String(data=json.dumps(
            {'token': token, 'node': self.get_fully_qualified_name()}
        )))
        self.create_subscription(
            Float64MultiArray, COMMANDS, self._on_command, QoSProfile(depth=1)
        )
        self.create_timer(1.0 / rate, self._step)
        self.create_timer(FOREIGN_CHECK_PERIOD, self._check_graph)

    def _declare_machine(self) -> _OneJoint | _JointOfArm:
        """Return what is simulated."""
        name = declare(
            self, 'joint', 'wheel_3', 'name of the joint that takes torques', read_only=True
        )
        in_arm = declare(
            self, 'in_arm', False,
            'the joint is one of the arm that robot names, which is simulated as a whole; the '
            'constants below are then not used', read_only=True,
        )
        constants = EffortJointConstants(**{
            key: declare(
                self, key, default, description, minimum=minimum, maximum=maximum, read_only=True
            )
            for key, (default, description, minimum, maximum) in _WHEEL.items()
        })
        start = declare(self, 'initial_position', 0.0, 'initial position of the joint '
                        'without an arm [rad]', minimum=-10.0, maximum=10.0, read_only=True)
        pose = declare(
            self, 'initial_positions', [0.0],
            'initial positions of the joints of an arm [rad], those of the model, kinematic order',
            minimum=-10.0, maximum=10.0, longest=64, read_only=True,
        )
        noise = declare(self, 'velocity_noise', 0.003, 'noise of the measured velocity [rad/s]',
                        minimum=0.0, maximum=1.0, read_only=True)
        seed = declare(self, 'noise_seed', 0, 'seed of the noise', minimum=0, maximum=2**31 - 1,
                       read_only=True)
        if not in_arm:
            return _OneJoint(name, constants, start, noise, seed)
        robot = robot_from_parameters(self)
        q = np.clip(
            np.resize(np.asarray(pose, dtype=float), robot.n), robot.limits.lower,
            robot.limits.upper,
        )
        return _JointOfArm(name, robot, q, noise, seed)

    def _on_command(self, message: Float64MultiArray) -> None:
        if len(message.data) != 1 or not math.isfinite(message.data[0]):
            # As the real controller: what does not fit its joints is ignored, with a log line.
            self.get_logger().error('a command is not one finite torque: ignored')
            return
        self._torque, self._commanded_at = float(message.data[0]), time.monotonic()

    def _step(self) -> None:
        now = time.monotonic()
        # The commander may be dead.
        torque = self._torque if now - self._commanded_at < self._timeout else 0.0
        # After a pause of this process the joint has not been moving for all of it.
        self._machine.advance(torque, min(now - self._stepped_at, self._timeout))
        self._stepped_at = now
        names, q, dq, effort = self._machine.read(torque)
        message = JointState(name=names, position=q, velocity=dq, effort=effort)
        message.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(message)

    def _check_graph(self) -> None:
        foreign = foreign_participants(
            self, self.get_fully_qualified_name(), 'joint_states', COMMANDS
        )
        if foreign:
            self.get_logger().error(
                f'{"; ".join(foreign)}: a simulated joint does not share a graph with another '
                'robot; set ROS_DOMAIN_ID to one of its own'
            )
            self.finished = UnsafeMotionError.exit_code


def main() -> None:
    """Run the node."""
    sys.exit(run_node(SimulatedEffortJoint))


if __name__ == '__main__':
    main()
