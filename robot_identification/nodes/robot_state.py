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

"""What a robot tells of itself while it is moved: joints, speed scaling, safety and program."""

from __future__ import annotations

from dataclasses import dataclass
import time

import numpy as np
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from robot_identification.errors import DataError
from robot_identification.errors import UnsafeMotionError
from robot_identification.model.robot_model import RobotModel
from robot_identification.nodes.adapter import RobotMode
from robot_identification.nodes.adapter import SafetyMode
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.conversions import to_seconds
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_msgs.msg import Float64
from std_msgs.msg import Int8
from std_msgs.msg import UInt8

STATE_TIMEOUT = 0.2
# Between measurements that are kept [s].
SHORTEST_KEPT = 0.01
# An arm that moves faster than this does not rest [rad/s].
REST_SPEED = 0.02
SCALING_TOPIC = 'speed_scaling_state_broadcaster/speed_scaling'
PROGRAM_TOPIC = 'io_and_status_controller/robot_program_running'
SAFETY_TOPIC = 'io_and_status_controller/safety_mode'
MODE_TOPIC = 'io_and_status_controller/robot_mode'
TEMPERATURE_TOPICS = ('joint_temperatures', 'rtde/joint_temperatures')
RUNNING_MODE = 7
SAFETY_MODES = {
    1: 'NORMAL', 2: 'REDUCED', 3: 'PROTECTIVE_STOP', 4: 'RECOVERY', 5: 'SAFEGUARD_STOP',
    6: 'SYSTEM_EMERGENCY_STOP', 7: 'ROBOT_EMERGENCY_STOP', 8: 'VIOLATION', 9: 'FAULT',
}
SAFE_MODES = (1, 2)


@dataclass(frozen=True, eq=False)
class Measurement:
    """
    A joint state as the model has it.

    Attributes
    ----------
    stamp : float
        Of its header [s].
    q, dq : ndarray, shape (n,)
        Position [rad] and velocity [rad/s].
    effort : ndarray, shape (n,)
        In the driver's unit; NaN where it gives none.

    """

    stamp: float
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


class RobotState:
    """
    Listens to what the driver says, and tells what speaks against a motion.

    Parameters
    ----------
    node : Node
        Whose subscriptions these are.
    robot : RobotModel
        The arm.
    topic : str
        Of its joint states.
    prefix : str
        Before the names of its joints.
    simulated : bool
        Whether the robot is the simulated one, which has stand-ins for a UR's own messages.
    watch_safety : bool
        Whether safety, robot mode and program state must be known, as a UR's driver tells them.

    """

    def __init__(
        self, node: Node, robot: RobotModel, topic: str, *, prefix: str, simulated: bool,
        watch_safety: bool,
    ) -> None:
        self._node, self._robot, self._topic = node, robot, topic
        self._joints = [prefix + joint for joint in robot.joint_names]
        self._watch_safety, self._simulated = watch_safety, simulated
        self._measurement: Measurement | None = None
        self._received_at = -np.inf
        self._kept: list[Measurement] | None = None
        self._scaling = 1.0
        self._program_running: bool | None = None
        self._safety_mode: int | None = None
        self._robot_mode: int | None = None
        node.create_subscription(
            JointState, topic, self._on_joint_state, qos_profile_sensor_data
        )
        node.create_subscription(
            Float64, SCALING_TOPIC, self._on_scaling, qos_profile_sensor_data
        )
        if not watch_safety:
            return
        node.create_subscription(Bool, PROGRAM_TOPIC, self._on_program, LATCHED)
        if simulated:
            node.create_subscription(
                UInt8, 'simulated_robot/safety_mode', self._on_simulated_safety, LATCHED
            )
            node.create_subscription(
                Int8, 'simulated_robot/robot_mode', self._on_simulated_mode, LATCHED
            )
        elif SafetyMode is not None:
            node.create_subscription(SafetyMode, SAFETY_TOPIC, self._on_safety, LATCHED)
            node.create_subscription(RobotMode, MODE_TOPIC, self._on_mode, LATCHED)

    @property
    def scaling(self) -> float:
        """Present speed scaling, 1 at full speed and where the driver does not tell."""
        return self._scaling

    @property
    def latest(self) -> Measurement:
        """
        The last measurement, however old.

        Raises
        ------
        UnsafeMotionError
            If none has come yet.

        """
        if self._measurement is None:
            raise UnsafeMotionError(f'no joint state has come on {self._topic} yet')
        return self._measurement

    @property
    def received_at(self) -> float:
        """When the last measurement came, by the clock of `time.monotonic` [s]."""
        return self._received_at

    @property
    def age(self) -> float:
        """Time since the last measurement came [s]."""
        return time.monotonic() - self._received_at

    def measure(self) -> Measurement:
        """
        Return the last measurement.

        Raises
        ------
        UnsafeMotionError
            If it is too old.

        """
        if self.age > STATE_TIMEOUT:
            raise UnsafeMotionError(
                f'no joint state on {self._topic} for {self.age:.2f} s, at most '
                f'{STATE_TIMEOUT} s are accepted'
            )
        return self.latest

    def keep(self) -> None:
        """Keep measurements from now on, at most a hundred for each second of stamps."""
        self._kept = []

    def take_kept(self) -> list[Measurement]:
        """Return what was kept, and keep no more."""
        kept, self._kept = self._kept or [], None
        return kept

    def check_known(self) -> None:
        """
        Refuse a robot that does not tell its state.

        Raises
        ------
        UnsafeMotionError
            With what is missing.

        """
        if not self._watch_safety:
            return
        if not self._simulated and SafetyMode is None:
            raise UnsafeMotionError(
                'ur_dashboard_msgs is not installed, without which the safety mode of a real arm '
                'is not known: install ros-<distribution>-ur-dashboard-msgs; for an arm whose '
                'driver has no safety mode set watch_safety false'
            )
        missing = [
            topic for topic, value in (
                (PROGRAM_TOPIC, self._program_running), (SAFETY_TOPIC, self._safety_mode),
                (MODE_TOPIC, self._robot_mode),
            ) if value is None
        ]
        if missing:
            raise UnsafeMotionError(
                f'nothing came on {", ".join(missing)}: is the driver running? For an arm whose '
                'driver has none set watch_safety false'
            )

    def check_able(self) -> None:
        """
        Refuse a robot that is stopped by itself or by its operator.

        Raises
        ------
        UnsafeMotionError
            With its state.

        """
        if self._safety_mode is not None and self._safety_mode not in SAFE_MODES:
            name = SAFETY_MODES.get(self._safety_mode, 'unknown')
            raise UnsafeMotionError(
                f'the safety mode is {self._safety_mode} ({name}), needed is NORMAL or REDUCED'
            )
        if self._robot_mode is not None and self._robot_mode != RUNNING_MODE:
            raise UnsafeMotionError(
                f'the robot mode is {self._robot_mode}, needed is {RUNNING_MODE} (RUNNING)'
            )
        if self._program_running is False:
            raise UnsafeMotionError(
                'no program is running on the robot: start External Control on the pendant, or '
                'resend_robot_program in headless mode'
            )

    def _on_joint_state(self, message: JointState) -> None:
        try:
            q, dq, effort = joint_values(message, self._joints, self._robot.encoders)
        except DataError as error:
            self._node.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        if np.all(np.isfinite(q)) and np.all(np.isfinite(dq)):
            stamp = to_seconds(message.header.stamp)
            self._measurement = Measurement(stamp, q, dq, effort)
            self._received_at = time.monotonic()
            if self._kept is not None and (
                not self._kept or stamp - self._kept[-1].stamp >= SHORTEST_KEPT
            ):
                self._kept.append(self._measurement)

    def _on_scaling(self, message: Float64) -> None:
        if np.isfinite(message.data):
            # A UR's driver tells percent.
            self._scaling = min(max(message.data / 100.0, 0.0), 1.0)

    def _on_program(self, message: Bool) -> None:
        self._program_running = message.data

    def _on_simulated_safety(self, message: UInt8) -> None:
        self._safety_mode = int(message.data)

    def _on_simulated_mode(self, message: Int8) -> None:
        self._robot_mode = int(message.data)

    def _on_safety(self, message) -> None:
        self._safety_mode = int(message.mode)

    def _on_mode(self, message) -> None:
        self._robot_mode = int(message.mode)
