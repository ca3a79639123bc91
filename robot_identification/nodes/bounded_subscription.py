# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Subscriptions that leave out what is too large to be meant, before Python has to build it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

# Of a serialized message [bytes]; chosen: a joint takes 24 bytes of numbers and its name, so that
# several hundred joints fit.
LARGEST_JOINT_STATE = 65_536
WARNED_EVERY = 5.0  # [s]; chosen: seen on a terminal, and no flood


def within_bounds(
    node: Node, topic: str, receive: Callable[[bytes], object]
) -> Callable[[bytes], None]:
    """Return what hands serialized messages of a topic on, and warns of those of over 64 KiB."""
    def check(data: bytes) -> None:
        if len(data) <= LARGEST_JOINT_STATE:
            receive(data)
            return
        node.get_logger().warning(
            f'a message on {node.resolve_topic_name(topic)} has {len(data)} bytes, at most '
            f'{LARGEST_JOINT_STATE} are accepted: it is left out; find its publisher',
            throttle_duration_sec=WARNED_EVERY,
        )

    return check


def create_bounded_subscription(
    node: Node,
    kind: Any,
    topic: str,
    callback: Callable[[Any], None],
    qos: QoSProfile,
) -> Subscription:
    """
    Subscribe to a topic; serialized messages of more than 64 KiB are left out.

    A million names in a message are a million Python objects, and the node does nothing else until
    they are made. Here it is asked first how long the serialized message is; what is left is the
    copy that the middleware makes. A warning says what is left out.
    """
    receive = within_bounds(
        node, topic, lambda data: callback(deserialize_message(data, kind))
    )
    return node.create_subscription(kind, topic, receive, qos, raw=True)
