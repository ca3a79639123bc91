# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Constraints of a controller, and the share of the planned speed with which it follows a trajectory.

A scaled controller takes that share from its hardware, to whose broadcaster the runner subscribes.
Newer plain ones (joint_trajectory_controller) take it from a topic of their own,
``~/speed_scaling_input``.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
import time
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.execution import (
    check_controller_joints, constraint_names, constraints_from_parameters, ControllerConstraints,
    PREFIXES,
)
from robot_identification.nodes.adapter import JointTrajectoryControllerState, SpeedScalingFactor
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.direct_subscription import DirectSubscription
from robot_identification.nodes.graph import publishers

# An answer that did not come within it is asked for again [s]; chosen: far above the time of a
# call.
ANSWER_TIMEOUT = 2.0
# Tolerances may be set while the controller runs [s]; chosen: rare enough to be no load.
READ_EVERY = 5.0
INPUT_TOPIC = 'speed_scaling_input'
STATE_TOPIC = 'controller_state'
# For the first message of the state, and for the next one [s]; chosen: a controller of 1 Hz, and
# the period in which `refresh` is called.
STATE_TIMEOUT = 1.5
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Scalings that differ by less are the same, share of 1; chosen: a slider that moves, rounding.
SAME_SCALING = 0.02


class ControllerState:
    """
    Constraints, state and speed scaling of a controller, for joints as the driver names them.

    `constraints` are those of its parameters that were read last, None where they could not be
    read; `problem` says why an answer could not be used.
    """

    def __init__(self, node: Node, joints: Sequence[str]) -> None:
        self._node, self._joints = node, list(joints)
        self._name = ''
        self._clients: list[Any] = []
        self._scaling_input: Any = None
        self._states: DirectSubscription | None = None
        self._answered, self._discovered = Future(), Future()
        self._forget()

    def _forget(self) -> None:
        """Forget what a controller has stated."""
        self._connected_at = time.monotonic()
        self._asked_at = self._read_at = -math.inf
        self._values: dict[str, object] = {}
        self.constraints: ControllerConstraints | None = None
        self.problem = ''
        self._commanded_scaling: float | None = None  # the scaling that it was commanded
        # Its last state, and when that was read [s].
        self._stated: tuple[Any, float] | None = None

    async def discover(self) -> None:
        """Return when it answered and stated its state, or has had its time to do so."""
        if self._name:
            await self._answered
        if self._states is not None:
            await self._discovered

    def refresh(self, controller: str) -> None:
        """Ask this controller, if any, for what is due; to be called regularly."""
        if controller != self._name:
            self._connect(controller)
        now = time.monotonic()
        if now - self._connected_at > ANSWER_TIMEOUT:
            _complete(self._answered)
        if self._read_state() is not None or now - self._connected_at > STATE_TIMEOUT:
            _complete(self._discovered)
        if (
            not self._clients or now - self._asked_at < ANSWER_TIMEOUT
            or now - self._read_at < READ_EVERY
            or not all(client.service_is_ready() for client in self._clients)
        ):
            return
        self._asked_at = now
        # Listed first: one name that is not declared would leave the answer of rclcpp empty.
        self._clients[0].call_async(
            ListParameters.Request(
                prefixes=list(PREFIXES), depth=ListParameters.Request.DEPTH_RECURSIVE
            )
        ).add_done_callback(lambda future: self._on_names(controller, future))

    def _connect(self, controller: str) -> None:
        for client in self._clients:
            self._node.destroy_client(client)
        if self._scaling_input is not None:
            self._node.destroy_subscription(self._scaling_input)
        if self._states is not None:
            self._states.destroy()
        _complete(self._answered)
        _complete(self._discovered)
        # Done with the first answer or state, or when none came in time.
        self._answered, self._discovered = Future(), Future()
        self._name, self._clients, self._scaling_input, self._states = controller, [], None, None
        self._forget()
        if not controller:
            return
        self._clients = [
            self._node.create_client(ListParameters, f'{controller}/list_parameters'),
            self._node.create_client(GetParameters, f'{controller}/get_parameters'),
        ]
        if SpeedScalingFactor is not None:
            # The durability is that of the controller: publishers without it are not heard there.
            self._scaling_input = self._node.create_subscription(
                SpeedScalingFactor, f'{controller}/{INPUT_TOPIC}', self._on_input, LATCHED
            )
        kind = JointTrajectoryControllerState
        if kind is not None:
            self._states = DirectSubscription(
                self._node, kind, f'{controller}/{STATE_TOPIC}', NEWEST
            )

    # Its parameters

    def check_joints(self) -> None:
        """Raise UnsafeMotionError if the controller states that it moves other joints."""
        check_controller_joints(self._name, self._values, self._joints)

    def _on_names(self, controller: str, future: Future) -> None:
        answer = future.result()
        if controller != self._name or answer is None:
            return
        names = sorted(set(constraint_names(self._joints)) & set(answer.result.names))
        self._clients[1].call_async(GetParameters.Request(names=names)).add_done_callback(
            lambda future: self._on_values(controller, names, future)
        )

    def _on_values(self, controller: str, names: list[str], future: Future) -> None:
        answer = future.result()
        if controller != self._name or answer is None:
            return
        self._read_at = time.monotonic()
        try:
            if len(answer.values) != len(names):
                raise DataError(
                    f'{controller} answers with {len(answer.values)} values to {len(names)} names'
                )
            self._values = {
                name: value for name, value in zip(
                    names, map(parameter_value_to_python, answer.values), strict=True
                ) if value is not None
            }
            self.constraints = constraints_from_parameters(self._values, self._joints)
            self.problem = ''
        except DataError as error:
            self.constraints, self.problem = None, str(error)
        _complete(self._answered)

    # Its state, and the share of the planned speed

    def commanded(self) -> FloatArray | None:
        """
        Return the readings (n,) [rad] at which the controller holds the arm, if it states them.

        None where a second node publishes its state, such as a bag that is replayed.
        """
        if len(publishers(self._node, f'{self._name}/{STATE_TOPIC}')) > 1:
            return None
        state = self._read_state()
        point = getattr(state, 'reference', None) or getattr(state, 'desired', None)
        if point is None or len(point.positions) != len(state.joint_names):
            return None
        stated = dict(zip(state.joint_names, point.positions, strict=True))
        found = np.array([stated.get(joint, math.nan) for joint in self._joints])
        return found if np.isfinite(found).all() else None

    def scaling(self, slider: float) -> float:
        """
        Return the share of the planned speed with which the controller follows now.

        `slider` is the scaling that the robot's driver publishes, 1 where it does not.
        """
        return slider * min(self._own_scaling(), 1.0)

    def overspeed(self) -> str:
        """Return in words that the controller is faster than planned; empty where it is not."""
        own = self._own_scaling()
        if own <= 1.0 + SAME_SCALING:
            return ''
        return (
            f'{self._name} follows {own:g} times as fast as planned: publish at most 1 on '
            f'{self._name}/{INPUT_TOPIC}'
        )

    def check_scaling(self, slider: float) -> None:
        """
        Raise UnsafeMotionError if the controller is faster than planned, or not as is received.

        Nothing is checked of one whose parameters are not known.
        """
        constraints = self.constraints
        if constraints is None:
            return
        state = self._read_state() if constraints.states_scaling else None
        stated = getattr(state, 'speed_scaling_factor', None)
        if stated is not None and constraints.hears_scaling:
            self._commanded_scaling = stated
        problem = self.overspeed()
        if problem:
            raise UnsafeMotionError(problem)
        received = self.scaling(slider)
        if stated is not None and abs(stated - received) > SAME_SCALING:
            raise UnsafeMotionError(
                f'{self._name} follows with {stated:.0%} of the planned speed, and '
                f'{received:.0%} are received: use the controller that follows the speed slider, '
                'and its broadcaster, or set the slider to 100 %'
            )

    def _own_scaling(self) -> float:
        """Return the scaling that the controller was commanded, beside that of its hardware."""
        # Another thread may read them anew.
        constraints = self.constraints
        if constraints is not None and not constraints.hears_scaling:
            return 1.0
        if self._commanded_scaling is not None:
            return self._commanded_scaling
        return 1.0 if constraints is None else constraints.initial_scaling

    def _on_input(self, message: Any) -> None:
        # The controller ignores others, too.
        if math.isfinite(message.factor) and message.factor >= 0.0:
            # A state that came before does not know of it.
            self._read_state()
            self._stated, self._commanded_scaling = None, message.factor

    def _read_state(self) -> Any:
        """Return what the controller stated last; None where it states nothing now."""
        now = time.monotonic()
        if self._states is not None:
            for data, _ in self._states.take(NEWEST.depth):
                self._stated = deserialize_message(data, JointTrajectoryControllerState), now
        if self._stated is None or now - self._stated[1] > STATE_TIMEOUT:
            return None
        return self._stated[0]


def _complete(future: Future) -> None:
    if not future.done():
        future.set_result(None)
