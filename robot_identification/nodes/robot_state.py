# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""State of a robot in motion: joints, speed scaling, safety and program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.execution import JointStateReceived, JointStateUnusable
from robot_identification.nodes.adapter import RobotMode, SafetyMode
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.graph import JOINT_STATES
from robot_identification.nodes.joint_states import JointReading, JointStateReader
from robot_identification.nodes.robot import DriverArm
from robot_identification.nodes.topic_thread import TopicThread
from robot_identification.processing import SAFE_MODES, SAFETY_MODES
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Int8, UInt8

SCALING_TOPIC = 'speed_scaling_state_broadcaster/speed_scaling'
PROGRAM_TOPIC = 'io_and_status_controller/robot_program_running'
SAFETY_TOPIC = 'io_and_status_controller/safety_mode'
MODE_TOPIC = 'io_and_status_controller/robot_mode'
TEMPERATURE_TOPICS = ('joint_temperatures', 'rtde/joint_temperatures')
HOTTEST = 300.0  # [deg C]; chosen: no drive has it and moves
RUNNING_MODE = 7  # RUNNING of ur_dashboard_msgs/RobotMode
# Depth: 0.1 s of a 500 Hz driver, which the scheduler of a busy machine takes from a thread.
_JOINT_STATES = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)


class RobotState:
    """
    Hears the driver in the thread of the watch, and checks whether the robot is able to move.

    `on_event` takes a `JointStateReceived` or `JointStateUnusable` for each joint state. With
    `watch_safety`, safety, robot mode and program state must be known, as a UR's driver publishes
    them.
    """

    def __init__(
        self, watch: TopicThread, arm: DriverArm,
        on_event: Callable[[JointStateReceived | JointStateUnusable], object], *,
        watch_safety: bool,
    ) -> None:
        self._on_event, self._joints, self._encoders = on_event, arm.joints, arm.robot.encoders
        self._watch_safety, self._simulated = watch_safety, arm.simulated
        self._node = watch.node
        self._scaling = 1.0
        self._program_running: bool | None = None
        self._safety_mode: int | None = None
        self._robot_mode: int | None = None
        watch.subscribe(
            JointState, JOINT_STATES, _JOINT_STATES, self._on_joint_state,
            read=JointStateReader().read,
        )
        watch.subscribe(Float64, SCALING_TOPIC, qos_profile_sensor_data, self._on_scaling)
        # Topics besides the joint states.
        self.topics: tuple[str, ...] = (SCALING_TOPIC,)
        if not watch_safety:
            return
        self.topics += PROGRAM_TOPIC, SAFETY_TOPIC, MODE_TOPIC
        watch.subscribe(Bool, PROGRAM_TOPIC, LATCHED, self._on_program)
        if arm.simulated:
            watch.subscribe(
                UInt8, 'simulated_robot/safety_mode', LATCHED, self._on_simulated_safety
            )
            watch.subscribe(Int8, 'simulated_robot/robot_mode', LATCHED, self._on_simulated_mode)
        elif SafetyMode is not None:
            watch.subscribe(SafetyMode, SAFETY_TOPIC, LATCHED, self._on_safety)
            watch.subscribe(RobotMode, MODE_TOPIC, LATCHED, self._on_mode)

    @property
    def scaling(self) -> float:
        """Present speed scaling, 1 at full speed and where the driver does not publish it."""
        return self._scaling

    def check_known(self) -> None:
        """Raise UnsafeMotionError, with what is missing, if the robot's state is not published."""
        if not self._watch_safety:
            return
        if not self._simulated and SafetyMode is None:
            raise UnsafeMotionError(
                'ur_dashboard_msgs is not installed, without which the safety mode of a real arm '
                'is not known: install ros-<distribution>-ur-dashboard-msgs; for an arm whose '
                'driver has no safety mode set watch_safety false'
            )
        missing = [
            self._node.resolve_topic_name(topic) for topic, value in (
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
        """Raise UnsafeMotionError if the robot is stopped by itself or by its operator."""
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

    def _on_joint_state(self, message: JointReading) -> None:
        try:
            q, dq, effort = joint_values(message, self._joints, self._encoders)
        except DataError as error:
            self._on_event(JointStateUnusable(str(error)))
            return
        for values, field in ((q, 'position'), (dq, 'velocity')):
            if not np.all(np.isfinite(values)):
                joint = self._joints[int(np.argmin(np.isfinite(values)))]
                self._on_event(JointStateUnusable(
                    f'the {field} of {joint} is missing or not finite: check the driver'
                ))
                return
        self._on_event(JointStateReceived(message.stamp, q, dq, effort))

    def _on_scaling(self, message: Float64) -> None:
        if np.isfinite(message.data):
            # The UR driver publishes percent.
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
