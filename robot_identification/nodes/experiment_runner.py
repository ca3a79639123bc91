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
Executes a certified trajectory: checks, arms, approaches, executes, watches, stops.

In this version it arms itself only for the simulated robot that carries the same
`simulation_token`, which is the one the same process started; on any other robot it stays
disarmed.
"""

from __future__ import annotations

import json
from pathlib import Path
import sys
import time

import numpy as np
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos import QoSProfile
from robot_identification.errors import DataError
from robot_identification.errors import IdentificationError
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.execution import check_executable
from robot_identification.excitation.execution import plan_approach
from robot_identification.excitation.execution import stop_knots
from robot_identification.excitation.execution import trajectory_knots
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import declare_robot
from robot_identification.nodes.common import INTERRUPTED
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import named_file
from robot_identification.nodes.common import run_node
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.conversions import knots_to_message
from robot_identification.nodes.conversions import to_seconds
from robot_identification.nodes.graph import foreign_participants
from robot_identification.nodes.graph import publishers
from robot_identification.nodes.graph import subscribers
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.simulation.controller import Knots
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

IDLE, ARMED, APPROACHING, EXECUTING, STOPPING, DONE, FAULT = (
    'IDLE', 'ARMED', 'APPROACHING', 'EXECUTING', 'STOPPING', 'DONE', 'FAULT'
)
MOVING = (APPROACHING, EXECUTING, STOPPING)
WATCH_PERIOD = 0.02
# Asking the graph who is there costs milliseconds; who joins is noticed this soon [s].
GRAPH_PERIOD = 0.25
ARMED_SECONDS = 60.0
STATE_TIMEOUT = 0.2
START_TOLERANCE = 0.01
REST_SPEED = 0.02
STOP_SECONDS = 0.5
REST_TIMEOUT = 3.0


class ExperimentRunner(Node):
    """Holds the state of one execution; the numerics are in excitation.execution."""

    def __init__(self) -> None:
        super().__init__('experiment_runner')
        self.finished: int | None = None
        declare_robot(self)
        declare(self, 'trajectory_file', '', 'certified trajectory to execute')
        declare(self, 'arm.sha256', '', 'its sha256, typed back by who approves it')
        self._token = declare(
            self, 'simulation_token', '', 'shared with the simulated robot that may be moved'
        )
        self._approach_speed = declare(
            self, 'approach_speed', 0.6, 'peak joint speed on the way to the start [rad/s]',
            minimum=0.05, maximum=1.0,
        )
        self._knot_rate = declare(
            self, 'knot_rate', 50.0, 'knots sent per second [Hz]', minimum=20.0, maximum=500.0
        )
        self._tolerance = declare(
            self, 'tracking_tolerance', 0.1, 'largest tracking error [rad]',
            minimum=0.005, maximum=0.5,
        )
        self._joint_states = declare(self, 'joint_states_topic', 'joint_states', 'measured state')
        self._commands_topic = declare(
            self, 'command_topic', 'scaled_joint_trajectory_controller/joint_trajectory',
            'where the controller listens',
        )
        self._robot = robot_from_parameters(self)
        self._trajectory: Trajectory | None = None
        self._armed_at = 0.0
        self._started_at = 0.0
        self._graph_checked_at = -np.inf
        self._watched_at = -np.inf
        self._identity: dict = {}
        self._measured: tuple | None = None
        self._received_at = -np.inf
        self._knots: Knots | None = None
        self._sent_stamp: float | None = None
        self._reason = ''
        self._worst_error = 0.0
        self._commands = self.create_publisher(
            JointTrajectory, self._commands_topic, QoSProfile(depth=10)
        )
        self._state_publisher = self.create_publisher(String, '~/state', LATCHED)
        self.create_subscription(
            JointState, self._joint_states, self._on_joint_state, qos_profile_sensor_data
        )
        self.create_subscription(
            String, 'simulated_robot/identity', self._on_identity, LATCHED
        )
        for verb in ('arm', 'execute', 'abort'):
            self.create_service(Trigger, f'~/{verb}', getattr(self, f'_on_{verb}'))
        # A wall clock of its own: a simulated or stopped /clock must not stop the watch.
        self.create_timer(WATCH_PERIOD, self._watch, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._state = ''
        self._set_state(IDLE, 'waiting for a trajectory')

    def close(self) -> bool:
        """Bring the arm to rest; return True when that is done."""
        if self._state in (APPROACHING, EXECUTING):
            self.finished = INTERRUPTED
            self._stop('interrupted')
        return self._state not in MOVING

    def _set_state(self, state: str, reason: str) -> None:
        self._state = state
        content = {
            'state': state,
            'reason': reason,
            'trajectory': self.get_parameter('trajectory_file').value,
            'worst_tracking_error': round(self._worst_error, 6),
        }
        self._state_publisher.publish(String(data=json.dumps(content)))
        # rclpy insists on one severity for each line that logs.
        if state == FAULT:
            self.get_logger().error(f'{state}: {reason}')
        else:
            self.get_logger().info(f'{state}: {reason}')

    def _on_identity(self, message: String) -> None:
        try:
            self._identity = json.loads(message.data)
        except ValueError:
            self._identity = {}

    def _on_joint_state(self, message: JointState) -> None:
        try:
            q, dq, _ = joint_values(
                message, self._robot.joint_names, self._robot.encoders
            )
        except DataError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        if np.all(np.isfinite(q)) and np.all(np.isfinite(dq)):
            self._measured = (to_seconds(message.header.stamp), q, dq)
            self._received_at = time.monotonic()

    def _on_arm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state in MOVING:
            response.message = f'BUSY: {self._state}'
            return response
        try:
            path = Path(named_file(self, 'trajectory_file'))
            trajectory = load_trajectory(path)
            approved = self.get_parameter('arm.sha256').value
            if approved != trajectory.sha256:
                raise UnsafeMotionError(
                    f'arm.sha256 is {approved!r}, {path} has {trajectory.sha256}: look at the '
                    'trajectory, then set arm.sha256 to its hash'
                )
            self._check_alone()
            # Before the proof, which keeps this thread from reading joint states for a while.
            self._check_state_age()
            check_executable(self._robot, trajectory)
        except (IdentificationError, OSError) as error:
            response.message = str(error)
            self._set_state(FAULT if self._state == FAULT else IDLE, f'not armed: {error}')
            return response
        self._trajectory = trajectory
        self._armed_at = time.monotonic()
        self._worst_error = 0.0
        self._set_state(ARMED, f'for {ARMED_SECONDS:.0f} s, {path}')
        response.success, response.message = True, f'armed for {ARMED_SECONDS:.0f} s'
        return response

    def _check_alone(self) -> None:
        """
        Refuse to move anything but the simulated robot that was started with us.

        Raises
        ------
        UnsafeMotionError
            If it is not there, or anybody else is.

        """
        self._graph_checked_at = time.monotonic()
        if not self._token or self._identity.get('token') != self._token:
            raise UnsafeMotionError(
                'no simulated robot with our simulation_token is here: this version moves only '
                'the simulated robot that was started together with it'
            )
        robot = str(self._identity.get('node'))
        foreign = foreign_participants(self, robot, self._joint_states, self._commands_topic)
        if foreign:
            raise UnsafeMotionError(
                f'{"; ".join(foreign)}: another robot may be on this graph; set ROS_DOMAIN_ID to '
                'one of its own'
            )
        if robot not in publishers(self, self._joint_states) or robot not in subscribers(
            self, self._commands_topic
        ):
            raise UnsafeMotionError(f'{robot} is not connected yet: try again')

    def _check_state_age(self) -> None:
        age = time.monotonic() - self._received_at
        if age > STATE_TIMEOUT:
            raise UnsafeMotionError(
                f'no joint state on {self._joint_states} for {age:.2f} s, at most '
                f'{STATE_TIMEOUT} s are accepted'
            )

    def _on_execute(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if self._state != ARMED:
            response.message = f'not armed: the state is {self._state}'
            return response
        try:
            if time.monotonic() - self._armed_at > ARMED_SECONDS:
                raise UnsafeMotionError(f'armed more than {ARMED_SECONDS:.0f} s ago: arm again')
            self._check_alone()
            self._check_state_age()
            _, q, _ = self._measured
            start = self._trajectory.sample(np.zeros(1)).q[0]
            approach = plan_approach(
                self._robot, q, start, self._approach_speed, self._knot_rate
            )
        except IdentificationError as error:
            self._set_state(IDLE, f'not executed: {error}')
            response.message = str(error)
            return response
        self._send(approach.knots, APPROACHING, f'{approach.duration:.1f} s to the start')
        response.success, response.message = True, 'approaching the start'
        return response

    def _on_abort(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state in (APPROACHING, EXECUTING):
            self._stop('aborted by a call')
        elif self._state == ARMED:
            self._set_state(IDLE, 'disarmed')
        response.success, response.message = True, self._state
        return response

    def _send(self, knots: Knots, state: str, reason: str) -> None:
        knots.check(self._robot.n)
        _, q, _ = self._measured
        # What is followed from now on, beginning where the robot stands.
        rest = np.zeros((1, self._robot.n))
        self._knots = Knots(
            np.append(0.0, knots.times), np.vstack([q, knots.q]),
            np.vstack([rest, knots.dq]), np.vstack([rest, knots.ddq]),
        )
        self._sent_stamp = self._measured[0]
        self._started_at = time.monotonic()
        self._commands.publish(knots_to_message(self._robot, knots))
        self._set_state(state, reason)

    def _stop(self, reason: str) -> None:
        """Send a smooth stop; FAULT is latched when the arm rests."""
        self._reason = reason
        if self._measured is not None:
            _, q, dq = self._measured
            self._commands.publish(
                knots_to_message(self._robot, stop_knots(q, dq, STOP_SECONDS))
            )
        self._started_at = time.monotonic()
        self._set_state(STOPPING, reason)

    def _watch(self) -> None:
        if self._state not in MOVING:
            return
        if self._state == STOPPING:
            self._watch_stop()
            return
        # When this process itself was not run for a while, joint states wait to be read: that is
        # no silence of the topic.
        paused = time.monotonic() - self._watched_at > 0.5 * STATE_TIMEOUT
        self._watched_at = time.monotonic()
        try:
            if not paused:
                self._check_state_age()
            if time.monotonic() - self._graph_checked_at > GRAPH_PERIOD:
                self._check_alone()
        except UnsafeMotionError as error:
            self._stop(str(error))
            return
        stamp, q, dq = self._measured
        elapsed = stamp - self._sent_stamp
        error = self._tracking_error(elapsed, q)
        self._worst_error = max(self._worst_error, float(np.max(error)))
        if np.max(error) > self._tolerance:
            joint = self._robot.joint_names[int(np.argmax(error))]
            self._stop(
                f'tracking error of {joint} is {np.max(error):.3f} rad, allowed are '
                f'{self._tolerance} rad',
            )
            return
        end = float(self._knots.times[-1])
        arrived = elapsed > end and np.max(np.abs(dq)) < REST_SPEED
        close = np.max(np.abs(q - self._knots.q[-1])) < START_TOLERANCE
        if arrived and close:
            self._arrive()
        elif elapsed > end + REST_TIMEOUT:
            self._stop(f'the end of {self._state} was not reached')

    def _tracking_error(self, elapsed: float, q: np.ndarray) -> np.ndarray:
        """Return the distance to what is followed, allowing for the delay of the servo."""
        times, path, speed = self._knots.times, self._knots.q, self._knots.dq
        reference = np.array([np.interp(elapsed, times, column) for column in path.T])
        rate = np.array([np.interp(elapsed, times, column) for column in speed.T])
        return np.maximum(np.abs(q - reference) - STATE_TIMEOUT * np.abs(rate), 0.0)

    def _arrive(self) -> None:
        if self._state == APPROACHING:
            self._send(
                trajectory_knots(self._trajectory, self._knot_rate), EXECUTING,
                f'{self._trajectory.duration:.1f} s',
            )
        else:
            self._trajectory = None
            self._set_state(
                DONE, f'executed, worst tracking error {self._worst_error:.4f} rad'
            )

    def _watch_stop(self) -> None:
        elapsed = time.monotonic() - self._started_at
        fresh = time.monotonic() - self._received_at < STATE_TIMEOUT
        at_rest = fresh and np.max(np.abs(self._measured[2])) < REST_SPEED
        if at_rest and elapsed > STOP_SECONDS:
            self._set_state(FAULT, f'at rest after: {self._reason}')
        elif elapsed > REST_TIMEOUT:
            self._set_state(FAULT, f'NOT verified at rest after: {self._reason}')


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ExperimentRunner))


if __name__ == '__main__':
    main()
