# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""End of a motion, as the experiment runner reports it: its bound recording ends."""

from __future__ import annotations

import time

from rclpy.exceptions import NameValidationException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.errors import BagError, UsageError
from robot_identification.nodes.json_text import parse_object
from std_msgs.msg import String

RUNNER_MOVES = ('APPROACHING', 'EXECUTING', 'STOPPING')
# From the end of a motion to that of its bag [s] (docs/recording.md); chosen: rest is recorded,
# too.
AFTERWARDS = 0.5
# Every transition of the runner, even those that follow each other at once.
_RUNNER_QOS = QoSProfile(
    depth=50,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


def full_topic_name(node: Node, topic: str, parameter: str) -> str:
    """Return the full name of a topic that a parameter names; raise UsageError if it has none."""
    try:
        return str(node.resolve_topic_name(topic))
    # rcl's own error is a RuntimeError, and other versions have their own.
    except (NameValidationException, RuntimeError, ValueError) as error:
        reason = str(error).partition(', at ')[0]
        raise UsageError(f'{parameter} names {topic!r:.80}: {reason}') from error


class RunnerWatch:
    """
    The experiment runner, whose motion a recording is about.

    Raises BagError if it is not there within `timeout` [s].
    """

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        self._node = node
        self._topic = full_topic_name(node, f'{name}/state', 'runner')
        self._state = ''
        self._moved = False
        self._rests_since: float | None = None
        deadline = time.monotonic() + timeout
        while not self._is_there():
            if time.monotonic() > deadline:
                raise BagError(
                    f'{self._topic} has no publisher: start the experiment runner, set the '
                    'parameter runner to its name, or start.until_runner_ends to false'
                )
            time.sleep(0.02)
        self._subscription = node.create_subscription(
            String, self._topic, self._on_state, _RUNNER_QOS
        )

    def why_ended(self, now: float) -> str:
        """Return why there is nothing more to record, empty while there may be."""
        if not self._is_there():
            return f'{self._topic} has no publisher any more, the runner has ended'
        if self._rests_since is not None and now > self._rests_since + AFTERWARDS:
            return f'the motion of the runner ended: {self._state}'
        return ''

    def close(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _is_there(self) -> bool:
        return self._node.count_publishers(self._topic) > 0

    def _on_state(self, message: String) -> None:
        state = str(parse_object(message.data).get('state', ''))
        if state in RUNNER_MOVES:
            self._moved, self._rests_since = True, None
        elif self._moved and self._rests_since is None:
            self._rests_since = time.monotonic()
        self._state = state
