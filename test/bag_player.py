# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Plays a bag's raw messages, as `ros2 bag play` does, for tests where that is not installed.

Unlike it, this one waits for its listeners before the first message, and until they have
acknowledged the last.
"""

from __future__ import annotations

from pathlib import Path
import time

from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification.nodes.recording_types import message_class
from ros_helpers import acknowledged, Graph, wait_until
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore, Stores
from rosgraph_msgs.msg import Clock

NANOSECONDS = 1_000_000_000
CLOCK_PERIOD = 10_000_000


def read_messages(bag: Path) -> list[tuple[str, str, int, bytes]]:
    """Return topic, type, log time [ns] and bytes of every message, in recorded order."""
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        return [
            (connection.topic, connection.msgtype, log_time, bytes(data))
            for connection, log_time, data in reader.messages()
        ]


class BagPlayer:
    """The messages of a bag, and publishers for them; /clock every 10 ms of log time if asked."""

    def __init__(
        self,
        graph: Graph,
        bag: Path,
        *,
        clock: bool = False,
        reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
    ) -> None:
        self.messages = read_messages(bag)
        self._graph = graph
        qos = QoSProfile(depth=10_000, reliability=reliability)
        self._publishers = {
            topic: graph.node.create_publisher(message_class(topic, kind), topic, qos)
            for topic, kind in {topic: kind for topic, kind, _, _ in self.messages}.items()
        }
        self._clock = graph.node.create_publisher(Clock, '/clock', 10) if clock else None
        self._clock_told = -NANOSECONDS

    def close(self) -> None:
        """Take the publishers off the graph."""
        publishers = [*self._publishers.values(), *filter(None, [self._clock])]
        for publisher in publishers:
            self._graph.end_publisher(publisher)

    def play(self, rate: float = float('inf'), first: int = 0, last: int | None = None) -> float:
        """Publish a slice of the messages, so many times as fast as recorded; return the time."""
        for topic, publisher in self._publishers.items():
            wait_until(publisher.get_subscription_count, f'a listener to {topic}')
        part = self.messages[first:last]
        begin = time.monotonic()
        for topic, _, log_time, data in part:
            due = begin + (log_time - part[0][2]) / rate / NANOSECONDS
            # The one place where a test has to let time pass: this is what a replay is.
            time.sleep(max(due - time.monotonic(), 0.0))
            self._tell_time(log_time)
            self._publishers[topic].publish(data)
        for topic, publisher in self._publishers.items():
            assert acknowledged(publisher), f'{topic} was not acknowledged'
        return time.monotonic() - begin

    def _tell_time(self, log_time: int) -> None:
        if self._clock is not None and abs(log_time - self._clock_told) >= CLOCK_PERIOD:
            self._clock_told = log_time
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(log_time, NANOSECONDS)
            self._clock.publish(message)
