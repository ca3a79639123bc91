# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interfaces of the simulated robot: the driver's topics, and parameters of what goes wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from robot_identification.errors import UsageError
from robot_identification.model import RobotModel, with_prefix
from robot_identification.nodes.common import declare, declare_options, LATCHED
from robot_identification.nodes.conversions import joint_state
from robot_identification.options import options_of
from robot_identification.simulation import (
    Contact, published_effort, RobotCondition, Sample, StreamFaults, StreamSample,
)
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Header, Int8, String, UInt8

CONTROLLER = 'scaled_joint_trajectory_controller'
COMMANDS = f'{CONTROLLER}/joint_trajectory'
# RUNNING of ur_dashboard_msgs/RobotMode.
RUNNING = 7
BASE_FRAME = 'base_link'
# Topics that are published where they are asked for.
OPTIONAL = ROTOR_STATES, TRUE_STATES, CLOCK = 'rotor_states', '~/noise_free_joint_states', '/clock'
PREFIX = 'inject.'
CONTACT_LINK, CONTACT_POINT, CONTACT_FORCE, CONTACT_DURATION = (
    f'{PREFIX}contact_{name}' for name in ('link', 'point', 'force', 'duration')
)
# Of each coordinate of the point [m] and of the force [N], and of the duration [s]; chosen: beyond
# every known arm, its strength and a test.
FURTHEST_POINT, LARGEST_FORCE = 2.0, 500.0
SHORTEST_CONTACT, LONGEST_CONTACT = 0.002, 600.0
NO_FORCE = [0.0, 0.0, 0.0]  # no contact [N]


def identity(node: Node, token: str) -> DiagnosticArray:
    """Return the name of the node of the simulated robot, and the token of its commander."""
    return DiagnosticArray(status=[
        DiagnosticStatus(name=node.get_fully_qualified_name(), hardware_id=token)
    ])


class DriverTopics:
    """
    Publishes what a driver publishes.

    Every joint name begins with `prefix`. The token is shared with the node that may move the
    robot. `optional` has those of rotor states, noise-free joint states and the time that are
    published, too.
    """

    def __init__(
        self, node: Node, robot: RobotModel, prefix: str, token: str, optional: Collection[str]
    ) -> None:
        self._robot = robot
        self._order = np.argsort(robot.joint_names)
        self._names = [prefix + robot.joint_names[i] for i in self._order]
        self._publishers: dict[str, Any] = {}
        self._last: dict[str, Any] = {}
        self._node = node
        for kind, topic in (
            (JointState, 'joint_states'),
            (JointState, 'joint_temperatures'),
            (JointState, ROTOR_STATES),
            (JointState, TRUE_STATES),
            (Clock, CLOCK),
            (Float64, 'speed_scaling_state_broadcaster/speed_scaling'),
        ):
            if topic in optional or topic not in OPTIONAL:
                self._publishers[topic] = node.create_publisher(kind, topic, QoSProfile(depth=10))
        self._speed_scaling = 100.0
        for topic, message in (
            ('robot_description', String(data=with_prefix(robot.urdf.text, prefix))),
            ('~/robot_mode', Int8(data=RUNNING)),
            ('~/identity', identity(node, token)),
        ):
            self._latch(topic, message)

    def show(self, condition: RobotCondition, *, active: bool) -> None:
        """Publish what is latched about the robot's condition, as far as it has changed."""
        for topic, message in (
            (
                'io_and_status_controller/robot_program_running',
                Bool(data=condition.program_running),
            ),
            ('~/safety_mode', UInt8(data=condition.safety_mode)),
            ('~/controllers', _controllers(condition, active)),
        ):
            if self._last.get(topic) != message:
                self._latch(topic, message)

    def repeat(self) -> None:
        """Publish everything latched again, as a driver that has been restarted."""
        for topic, message in self._last.items():
            self._publishers[topic].publish(message)

    def _latch(self, topic: str, message: Any) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(type(message), topic, LATCHED)
        self._last[topic] = message
        self._publishers[topic].publish(message)

    def values(self, sample: Sample) -> tuple[np.ndarray, ...]:
        """Return what is published of a sample, shape (n,) each, in the order of the driver."""
        order, encoders = self._order, self._robot.encoders
        effort = published_effort(self._robot, sample.effort)
        values = [
            encoders.to_reading(sample.q), encoders.sign * sample.dq, encoders.sign * effort
        ]
        if sample.rotor_q is not None and sample.rotor_dq is not None:
            values += [encoders.to_reading(sample.rotor_q), encoders.sign * sample.rotor_dq]
        return tuple(value[order] for value in values)

    def publish_joints(self, stamp: Time, sample: StreamSample) -> None:
        """Publish joint states, and rotor states where there are any."""
        header = Header(stamp=stamp, frame_id=BASE_FRAME)
        names = [self._names[i] for i in sample.order]
        q, dq, effort, *rotors = (value[sample.order] for value in sample.values)
        self._publishers['joint_states'].publish(joint_state(header, names, q, dq, effort))
        if rotors:
            self._publishers[ROTOR_STATES].publish(joint_state(header, names, *rotors))

    def publish_truth(self, stamp: Time, sample: Sample) -> None:
        """Publish the true joint states where they are asked for."""
        publisher = self._publishers.get(TRUE_STATES)
        if publisher is not None:
            header = Header(stamp=stamp, frame_id=BASE_FRAME)
            publisher.publish(joint_state(header, self._names, *self.values(sample)[:3]))

    def publish_temperatures(self, stamp: Time, temperature: np.ndarray) -> None:
        """Publish the joints' temperatures, shape (n,) [deg C], in kinematic order, as effort."""
        self._publishers['joint_temperatures'].publish(
            joint_state(Header(stamp=stamp), self._names, effort=temperature[self._order])
        )

    def publish_clock(self, stamp: Time) -> None:
        """Publish the time where it is not the wall clock's."""
        if CLOCK in self._publishers:
            self._publishers[CLOCK].publish(Clock(clock=stamp))

    def publish_speed_scaling(self, percent: float, *, due: bool) -> None:
        """Publish the speed scaling when it is due, and when it has changed."""
        if due or percent != self._speed_scaling:
            self._speed_scaling = percent
            self._publishers['speed_scaling_state_broadcaster/speed_scaling'].publish(
                Float64(data=percent)
            )


def _controllers(condition: RobotCondition, active: bool) -> DiagnosticArray:
    """Return names, states and types as controller_manager/list_controllers has them."""
    states = (
        ('joint_state_broadcaster', 'joint_state_broadcaster/JointStateBroadcaster', True),
        (CONTROLLER, 'ur_controllers/ScaledJointTrajectoryController', active),
        (
            'forward_velocity_controller', 'velocity_controllers/JointGroupVelocityController',
            condition.program_running and not condition.controller_active,
        ),
    )
    return DiagnosticArray(status=[
        DiagnosticStatus(
            name=name, hardware_id=kind, message='active' if is_active else 'inactive'
        ) for name, kind, is_active in states
    ])


class InjectedFaults:
    """Declares the parameters, and reads them again after they have been set."""

    def __init__(self, node: Node) -> None:
        self._node = node
        for kind in (StreamFaults, RobotCondition):
            declare_options(node, kind, prefix=PREFIX)
        self._changed = True
        # Other callbacks may still refuse, and ROS 2 Humble has none for what has been set.
        node.add_on_set_parameters_callback(self._on_set)

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        self._changed = True
        return SetParametersResult(successful=True)

    def changes(self) -> tuple[StreamFaults, RobotCondition] | None:
        """Return what goes wrong from now on, or None as long as it is what it was."""
        if not self._changed:
            return None
        self._changed = False
        stream, condition = (
            {one.name: self._node.get_parameter(PREFIX + one.key).value
             for one in options_of(kind)}
            for kind in (StreamFaults, RobotCondition)
        )
        return StreamFaults(**stream), RobotCondition(**condition)


class InjectedContact:
    """Declares the parameters of a contact at a link; a force other than zero begins it."""

    def __init__(self, node: Node, links: Sequence[str]) -> None:
        self._node = node
        declare(
            node, CONTACT_LINK, links[-1], 'link of the next contact',
            choices=tuple(links),
        )
        declare(
            node, CONTACT_POINT, NO_FORCE, 'point of the contact in the frame of the link [m]',
            minimum=-FURTHEST_POINT, maximum=FURTHEST_POINT, longest=3, check=_three,
        )
        declare(
            node, CONTACT_DURATION, 0.5, 'duration of the next contact [s of simulated time]',
            minimum=SHORTEST_CONTACT, maximum=LONGEST_CONTACT,
        )
        declare(
            node, CONTACT_FORCE, NO_FORCE,
            "force on the arm in the URDF's root frame [N]: a new value begins a contact, zero "
            'ends it; it becomes zero when the contact ends',
            minimum=-LARGEST_FORCE, maximum=LARGEST_FORCE, longest=3, check=_three,
        )
        self._force = NO_FORCE
        self._end = np.inf
        self._changed = True
        node.add_on_set_parameters_callback(self._on_set)

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        self._changed = True
        return SetParametersResult(successful=True)

    def is_new(self, now: float) -> bool:
        """Return whether the force is another one than before, which it is after its end."""
        if now >= self._end:
            self._end = np.inf
            self._node.set_parameters([Parameter(CONTACT_FORCE, value=NO_FORCE)])
        changed, self._changed = self._changed, False
        return changed and self._value(CONTACT_FORCE) != self._force

    def take(self, now: float) -> Contact | None:
        """Return the contact that begins now; None where there is no force any more."""
        self._force = self._value(CONTACT_FORCE)
        if self._force == NO_FORCE:
            self._end = np.inf
            return None
        duration = self._node.get_parameter(CONTACT_DURATION).value
        self._end = now + duration
        return Contact(
            self._node.get_parameter(CONTACT_LINK).value,
            np.array(self._value(CONTACT_POINT)), np.array(self._force), now, duration,
        )

    def _value(self, name: str) -> list[float]:
        return list(self._node.get_parameter(name).value)


def _three(values: Sequence[float]) -> None:
    """Refuse what is no vector; the words before are the parameter's name."""
    if len(values) != 3:
        raise UsageError(f'3 numbers are needed, got {len(values)}')
