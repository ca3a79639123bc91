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

"""
A simulated robot that stands where ur_robot_driver stands.

Same topics, joint names in alphabetical order, effort in ampere, or in N m for an arm whose YAML
says so. It leaves (exit code 5) as soon
as anybody else publishes joint states or listens to commands: it must not share a graph with a
real arm.
"""

from __future__ import annotations

import json
import sys
import time

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import UnsafeMotionError
from robot_identification.experiment.simulated_run import SIMULATED_EPOCH
from robot_identification.nodes.adapter import FollowJointTrajectory
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import declare_robot
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import run_node
from robot_identification.nodes.conversions import joint_state
from robot_identification.nodes.conversions import message_to_knots
from robot_identification.nodes.graph import are_named
from robot_identification.nodes.graph import foreign_participants
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.trajectory_action import TrajectoryAction
from robot_identification.simulation.controller import TrajectoryController
from robot_identification.simulation.run import driver_period
from robot_identification.simulation.run import published_effort
from robot_identification.simulation.truth import draw_truth
from robot_identification.simulation.truth import Truth
from robot_identification.simulation.truth import with_elastic_joints
from robot_identification.simulation.truth import with_static_friction
from robot_identification.simulation.truth import with_warming
from robot_identification.simulation.twin import NOISE_FREE
from robot_identification.simulation.twin import Sample
from robot_identification.simulation.twin import Sensors
from robot_identification.simulation.twin import Twin
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_msgs.msg import Float64
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import Header
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

CONTROLLER = 'scaled_joint_trajectory_controller'
COMMANDS = f'{CONTROLLER}/joint_trajectory'
FOREIGN_CHECK_PERIOD = 0.5
# A faster clock would keep every listener busy with nothing but the time [Hz, wall clock].
CLOCK_RATE = 100.0
SPEED_SCALING_RATE = 10.0
# Simulated time between two messages of the joints' temperatures [s].
TEMPERATURE_PERIOD = 1.0


class SimulatedRobot(Node):
    """Steps the twin at the driver's rate and speaks for it."""

    def __init__(self) -> None:
        super().__init__('simulated_robot')
        self.finished: int | None = None
        declare_robot(self)
        truth_seed = declare(
            self, 'truth_seed', 0, 'which hidden robot: masses, friction, gains',
            minimum=0, maximum=2**31 - 1,
        )
        noise_seed = declare(
            self, 'noise_seed', 0, 'of the sensor noise', minimum=0, maximum=2**31 - 1
        )
        noise = declare(self, 'sensor_noise', True, 'whether sensors are noisy and quantised')
        factor = declare(
            self, 'real_time_factor', 1.0,
            'simulated over wall-clock time; other than 1 publishes /clock',
            minimum=0.1, maximum=20.0,
        )
        token = declare(
            self, 'simulation_token', '', 'shared with the experiment_runner that may move it'
        )
        start = declare(
            self, 'initial_positions', [0.0, -1.57, 1.57, -1.57, -1.57, 0.0],
            'where the robot stands first [rad], kinematic order',
        )
        publish_truth = declare(
            self, 'publish_truth', False, 'publish ~/noise_free_joint_states (tests and demo)'
        )
        discovery_time = declare(
            self, 'discovery_time', 2.0, 'how long to look for other robots before speaking [s]',
            minimum=0.0, maximum=10.0,
        )
        self._prefix = declare(self, 'tf_prefix', '', 'put before every joint name')
        self._robot = robot_from_parameters(self)
        self._period = driver_period(self._robot)
        limits = self._robot.limits
        q = np.clip(
            np.resize(np.asarray(start, dtype=float), self._robot.n), limits.lower, limits.upper
        )
        truth = self._declare_truth(truth_seed)
        sensors = Sensors() if noise else NOISE_FREE
        self._twin = Twin(self._robot, truth, sensors, q, noise_seed)
        self._controller = TrajectoryController(q)
        self._order = np.argsort(self._robot.joint_names)
        self._names = [self._prefix + self._robot.joint_names[i] for i in self._order]
        self._cycles = 0
        cycles_per_second = factor / self._period
        self._clock_cycles = max(round(cycles_per_second / CLOCK_RATE), 1)
        self._speed_scaling_cycles = max(round(cycles_per_second / SPEED_SCALING_RATE), 1)
        self._temperature_cycles = max(round(TEMPERATURE_PERIOD / self._period), 1)
        self._wait_alone(discovery_time)
        # The epoch of wall-clock time, so that stamps look like a driver's; simulated time
        # starts near zero.
        self._epoch = (
            self.get_clock().now().nanoseconds * 1e-9 if factor == 1.0 else SIMULATED_EPOCH
        )
        self._create_interfaces(factor, publish_truth, token)

    def _declare_truth(self, truth_seed: int) -> Truth:
        """Return the hidden robot; temperatures always change, friction with them when asked."""
        static = declare(
            self, 'static_friction', False,
            'joints that stick: break-away, Stribeck and load-dependent friction',
        )
        stiffness = declare(
            self, 'stiffness', 0.0,
            'of elastic joints [N m/rad], whose rotors are published as rotor_states; 0: rigid',
            minimum=0.0, maximum=1e9,
        )
        warm_up = declare(
            self, 'warm_up', 0.0,
            'how many times faster than real joints these warm up and lose viscous friction; '
            '0: they warm up as real ones, and friction stays as it is',
            minimum=0.0, maximum=1e4,
        )
        truth = draw_truth(self._robot, truth_seed)
        if static:
            truth = with_static_friction(truth)
        truth = (
            with_warming(truth, acceleration=warm_up) if warm_up
            else with_warming(truth, viscous_slope=0.0)
        )
        return with_elastic_joints(truth, stiffness) if stiffness else truth

    def _wait_alone(self, duration: float) -> None:
        """
        Look for other robots before the first word.

        Raises
        ------
        UnsafeMotionError
            If anybody publishes joint states or listens to commands.

        """
        deadline = time.monotonic() + duration
        foreign: list[str] = []
        while not (foreign and are_named(foreign)) and time.monotonic() < deadline:
            time.sleep(0.02)
            # Before the first word even another node of our own name is somebody else.
            foreign = foreign_participants(self, '', 'joint_states', COMMANDS)
        if foreign:
            raise UnsafeMotionError(_refusal(foreign))

    def _create_interfaces(self, factor: float, publish_truth: bool, token: str) -> None:
        self._joint_states = self.create_publisher(
            JointState, 'joint_states', QoSProfile(depth=10)
        )
        self._temperatures = self.create_publisher(
            Float64MultiArray, 'joint_temperatures', QoSProfile(depth=10)
        )
        self._rotor_states = (
            self.create_publisher(JointState, 'rotor_states', QoSProfile(depth=10))
            if self._twin.is_elastic else None
        )
        self._truth = (
            self.create_publisher(JointState, '~/noise_free_joint_states', QoSProfile(depth=10))
            if publish_truth else None
        )
        self._clock_publisher = (
            self.create_publisher(Clock, '/clock', QoSProfile(depth=10)) if factor != 1.0 else None
        )
        self._speed_scaling = self.create_publisher(
            Float64, 'speed_scaling_state_broadcaster/speed_scaling', QoSProfile(depth=10)
        )
        self._latched = {}
        for topic, message in (
            ('robot_description', String(data=self._robot.urdf.text)),
            ('io_and_status_controller/robot_program_running', Bool(data=True)),
            ('~/identity', String(data=json.dumps(
                {'token': token, 'node': self.get_fully_qualified_name()}
            ))),
        ):
            self._latched[topic] = self.create_publisher(type(message), topic, LATCHED)
            self._latched[topic].publish(message)
        self.create_subscription(
            JointTrajectory, COMMANDS, self._on_trajectory, QoSProfile(depth=10)
        )
        self._action = None
        if FollowJointTrajectory is not None:
            self._action = TrajectoryAction(
                self, f'{CONTROLLER}/follow_joint_trajectory', self._controller,
                self._prefixed_joints(), self._robot.encoders, self._now,
            )
        self.create_timer(self._period / factor, self._step)
        self.create_timer(FOREIGN_CHECK_PERIOD, self._check_graph)

    def _prefixed_joints(self) -> list[str]:
        return [self._prefix + joint for joint in self._robot.joint_names]

    def _now(self) -> float:
        return self._cycles * self._period

    def _step(self) -> None:
        measured, true = self._twin.measure()
        stamp = self._stamp()
        header = Header(stamp=stamp, frame_id='base_link')
        self._joint_states.publish(self._message(header, measured))
        if self._rotor_states is not None:
            self._rotor_states.publish(self._rotor_message(header, measured))
        if self._cycles % self._temperature_cycles == 0:
            self._temperatures.publish(Float64MultiArray(data=measured.temperature.tolist()))
        if self._truth is not None:
            self._truth.publish(self._message(header, true))
        if self._clock_publisher is not None and self._cycles % self._clock_cycles == 0:
            self._clock_publisher.publish(Clock(clock=stamp))
        if self._cycles % self._speed_scaling_cycles == 0:
            self._speed_scaling.publish(Float64(data=100.0))
        if self._action is not None:
            self._action.update(measured.q)
        reference = self._controller.sample(self._now())
        self._twin.advance(*reference, self._period)
        self._cycles += 1

    def _stamp(self) -> Time:
        nanoseconds = round((self._epoch + self._now()) * 1e9)
        return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)

    def _message(self, header: Header, sample: Sample) -> JointState:
        order, encoders = self._order, self._robot.encoders
        readings = encoders.to_reading(sample.q)
        effort = published_effort(self._robot, sample.effort)
        speeds, efforts = encoders.sign * sample.dq, encoders.sign * effort
        return joint_state(
            header, self._names, readings[order], speeds[order], efforts[order]
        )

    def _rotor_message(self, header: Header, sample: Sample) -> JointState:
        """Return the rotors' states, on the joints' side, in the order of the joint states."""
        order, encoders = self._order, self._robot.encoders
        readings, speeds = encoders.to_reading(sample.rotor_q), encoders.sign * sample.rotor_dq
        return JointState(
            header=header, name=self._names, position=readings[order].tolist(),
            velocity=speeds[order].tolist(),
        )

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            self._controller.follow(
                message_to_knots(message, self._prefixed_joints(), self._robot.encoders),
                self._now(),
            )
        except UnsafeMotionError as error:
            # As the real controller: a bad trajectory on the topic is ignored, with a log line.
            self.get_logger().error(f'trajectory rejected: {error}')

    def _check_graph(self) -> None:
        foreign = foreign_participants(
            self, self.get_fully_qualified_name(), 'joint_states', COMMANDS
        )
        if foreign:
            self.get_logger().error(_refusal(foreign))
            self.finished = UnsafeMotionError.exit_code


def _refusal(foreign: list[str]) -> str:
    return (
        f'{"; ".join(foreign)}: a simulated robot does not share a graph with another robot; set '
        'ROS_DOMAIN_ID to one of its own'
    )


def main() -> None:
    """Run the node."""
    sys.exit(run_node(SimulatedRobot))


if __name__ == '__main__':
    main()
