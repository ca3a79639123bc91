# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
No two nodes of one full name: services and parameters would reach the one or the other.

ROS asks for unique names and checks nothing. Here each node publishes on ``~/_instance`` how
long it has been running, and the younger of two leaves. The graph's own list of nodes would not
do: it keeps a crashed node for many seconds, which a restarted one must not take for alive.
"""

from __future__ import annotations

import json
import secrets
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.nodes.json_text import parse_json
from std_msgs.msg import String

TOPIC = '~/_instance'
# [s]; chosen: a second node of the name leaves about as soon as discovery allows.
ANNOUNCEMENT_PERIOD = 1.0
# What is heard may be this much older than it is when it arrives [s]; chosen: two periods.
SAME_AGE = 2.0 * ANNOUNCEMENT_PERIOD
WARNED_EVERY = 30.0  # [s]; chosen: a reminder, and no flood
LAST_WORD_SECONDS = 1.0  # [s]; chosen: discovery takes 0.3 to 3 s (docs/security.md)
_QOS = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class Instance:
    """Says that a node is there, and hears whether another one has its name."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._token = secrets.token_hex(8)
        self._started = time.monotonic()
        self._published_at = float('-inf')
        self.refusal = ''
        self._publisher = node.create_publisher(String, TOPIC, _QOS)
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', _QOS)
        node.create_subscription(String, TOPIC, self._on_instance, _QOS)

    def say_last_word(self) -> None:
        """Report on /diagnostics why this node ends, after everything else has ended."""
        # A listener gets only what is published after it was met.
        deadline = time.monotonic() + LAST_WORD_SECONDS
        while not self._diagnostics.get_subscription_count() and time.monotonic() < deadline:
            time.sleep(0.02)
        self._diagnose(DiagnosticStatus.ERROR, self.refusal)
        self._diagnostics.wait_for_all_acked(Duration(seconds=LAST_WORD_SECONDS))

    def update(self) -> None:
        """Say how old this node is, once a second."""
        now = time.monotonic()
        if now - self._published_at > ANNOUNCEMENT_PERIOD:
            self._published_at = now
            content = {'token': self._token, 'age': round(now - self._started, 3)}
            self._publisher.publish(String(data=json.dumps(content)))

    def _on_instance(self, message: String) -> None:
        try:
            other = parse_json(message.data)
            token, age = str(other['token']), float(other['age'])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return
        if token == self._token:
            return
        name = self._node.get_fully_qualified_name()
        if is_younger(time.monotonic() - self._started, self._token, age, token):
            text = (
                f'another node named {name} is running on this graph, for {age:.0f} s: stop that '
                'one first, or give this one another name or namespace'
            )
            self.refusal = text
        else:
            text = f'a second node named {name} was started: it has to leave'
            self._node.get_logger().warning(text, throttle_duration_sec=WARNED_EVERY)
            self._diagnose(DiagnosticStatus.WARN, text)

    def _diagnose(self, level: bytes, message: str) -> None:
        array = DiagnosticArray(status=[DiagnosticStatus(
            level=level, name=f'{self._node.get_name()}: name', message=message,
        )])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._diagnostics.publish(array)


def is_younger(age: float, token: str, other_age: float, other_token: str) -> bool:
    """
    Return whether the first of two nodes, by age [s] and token, is the younger one, which leaves.

    Nodes of about the same age are distinguished by their random tokens. An age heard is at most
    too low, so that never both leave; that none does lasts until the next word.
    """
    if abs(age - other_age) < SAME_AGE:
        return token > other_token
    return age < other_age
