# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Other participants of the graph: two commanders of one arm are refused."""

from __future__ import annotations

from rclpy.node import Node
from robot_identification.errors import UnsafeMotionError

JOINT_STATES = 'joint_states'
EFFORT_COMMANDS = 'forward_effort_controller/commands'  # torques [N m], a Float64MultiArray


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
