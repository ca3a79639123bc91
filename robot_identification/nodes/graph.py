# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Participants of the graph: one commander moves an arm, and a simulated one only by itself."""

from __future__ import annotations

from collections.abc import Sequence
import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.node import Node
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.common import LATCHED

JOINT_STATES = 'joint_states'
EFFORT_COMMANDS = 'forward_effort_controller/commands'  # torques [N m], a Float64MultiArray
LIST_SERVICE = 'controller_manager/list_controllers'


def publishers(node: Node, topic: str) -> list[str]:
    """Return the full names of the nodes that publish a topic, as it is remapped."""
    return [
        _full_name(info) for info in node.get_publishers_info_by_topic(_resolve(node, topic))
    ]


def subscribers(node: Node, topic: str) -> list[str]:
    """Return the full names of the nodes that listen to a topic, as it is remapped."""
    return [
        _full_name(info) for info in node.get_subscriptions_info_by_topic(_resolve(node, topic))
    ]


def _resolve(node: Node, topic: str) -> str:
    """
    Return the full name of a topic.

    Raises UnsafeMotionError if a remapping leads on to another one: rclpy remaps a topic once and
    what it is asked about twice, so that another topic would be guarded than the one in use.
    """
    name = node.resolve_topic_name(topic)
    onward = node.resolve_topic_name(name)
    if onward != name:
        raise UnsafeMotionError(
            f'{topic} is remapped to {name}, and that to {onward}: remap {topic} only'
        )
    return name


def count_servers(node: Node, service: str) -> int:
    """Return how many nodes offer a service; 1 where it is unknown, as on Humble."""
    count = getattr(node, 'count_services', None)
    return 1 if count is None else int(count(node.resolve_topic_name(service)))


def foreign_participants(node: Node, simulated_robot: str, commands: str) -> list[str]:
    """Return, in words, what else publishes joint states or subscribes to commands."""
    found = []
    for names, what in (
        (publishers(node, JOINT_STATES), f'publishes {node.resolve_topic_name(JOINT_STATES)}'),
        (subscribers(node, commands), f'listens to {node.resolve_topic_name(commands)}'),
    ):
        found += [f'{name} {what}' for name in names if name != simulated_robot]
        if names.count(simulated_robot) > 1:
            found.append(f'a second {simulated_robot} {what}')
    return found


def other_commanders(node: Node, commands: str) -> list[str]:
    """Return the other publishers that may send trajectories to a topic, in words."""
    own = node.get_fully_qualified_name()
    return [
        f'{name} publishes {node.resolve_topic_name(commands)}'
        for name in publishers(node, commands) if name != own
    ]


def are_named(participants: list[str]) -> bool:
    """Return whether the names of all are known; discovery learns them after their topics."""
    return not any('_UNKNOWN_' in participant for participant in participants)


def _full_name(info) -> str:
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


class GraphGuard:
    """
    Watches the graph around a node that commands trajectories.

    `token` is shared with the only simulated robot that may be moved; it is empty for a real arm,
    whose driver alone may publish `joint_states` and the other `states` that count.
    """

    def __init__(self, node: Node, token: str, states: Sequence[str] = ()) -> None:
        self._node, self._token = node, token
        self._states = JOINT_STATES, *states
        self._simulated = ''  # name of the simulated robot that has the token
        self._checked_at, self._problem = -np.inf, ''
        node.create_subscription(
            DiagnosticArray, 'simulated_robot/identity', self._on_identity, LATCHED
        )

    def check_identity(self) -> None:
        """Raise UnsafeMotionError if there is a token and no simulated robot that has it."""
        if self._token and not self._simulated:
            raise UnsafeMotionError(
                'no simulated robot with our simulation_token is here, and this runner moves '
                'nothing else'
            )

    def check(self, commands: str) -> None:
        """Raise UnsafeMotionError if another node commands, or another robot may listen."""
        self._checked_at, self._problem = time.monotonic(), ''
        try:
            if self._token:
                self._check_simulated(commands)
            else:
                self._check_real(commands)
        except UnsafeMotionError as error:
            self._problem = str(error)
            raise

    def check_again(self, commands: str, period: float) -> None:
        """Do the same, looking anew after a period [s]: what was seen holds until then."""
        if time.monotonic() - self._checked_at > period:
            self.check(commands)
        elif self._problem:
            raise UnsafeMotionError(self._problem)

    def _check_simulated(self, commands: str) -> None:
        self.check_identity()
        robot = self._simulated
        foreign = foreign_participants(self._node, robot, commands)
        if foreign:
            raise UnsafeMotionError(
                f'{"; ".join(foreign)}: another robot may be on this graph; set ROS_DOMAIN_ID to '
                'one of its own'
            )
        if robot not in publishers(self._node, JOINT_STATES) or robot not in subscribers(
            self._node, commands
        ):
            raise UnsafeMotionError(f'{robot} is not connected yet: try again')

    def _check_real(self, commands: str) -> None:
        for topic in self._states:
            sources = publishers(self._node, topic)
            if len(sources) > 1:
                raise UnsafeMotionError(
                    f'{", ".join(sources)} all publish {self._node.resolve_topic_name(topic)}: '
                    'one arm is wanted; end a replay, or give each arm a namespace'
                )
        managers = count_servers(self._node, LIST_SERVICE)
        if managers > 1:
            raise UnsafeMotionError(
                f'{managers} nodes offer {LIST_SERVICE}: one controller manager is wanted; give '
                'each arm a namespace'
            )
        others = other_commanders(self._node, commands)
        if others:
            raise UnsafeMotionError(
                f'{"; ".join(others)}: no other node may command the arm, end that node first'
            )

    def _on_identity(self, message: DiagnosticArray) -> None:
        # The identity of an earlier simulation may be in a bag that is replayed.
        if self._token and [one.hardware_id for one in message.status] == [self._token]:
            self._simulated = message.status[0].name
