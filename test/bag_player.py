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

from robot_identification.nodes.recording_types import message_class
from ros_helpers import acknowledged, Graph, RELIABLE, wait_until
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore, Stores


def read_messages(bag: Path) -> list[tuple[str, str, int, bytes]]:
    """Return topic, type, log time [ns] and bytes of every message, in recorded order."""
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        return [
            (connection.topic, connection.msgtype, log_time, bytes(data))
            for connection, log_time, data in reader.messages()
        ]


class BagPlayer:
    """The messages of a bag, and publishers for them."""

    def __init__(self, graph: Graph, bag: Path) -> None:
        self.messages = read_messages(bag)
        self._graph = graph
        self._publishers = {
            topic: graph.node.create_publisher(message_class(topic, kind), topic, RELIABLE)
            for topic, kind in {topic: kind for topic, kind, _, _ in self.messages}.items()
        }

    def close(self) -> None:
        """Take the publishers off the graph."""
        for publisher in self._publishers.values():
            self._graph.end_publisher(publisher)

    def play(self, rate: float = float('inf'), first: int = 0, last: int | None = None) -> None:
        """Publish a slice of the messages, so many times as fast as recorded."""
        for topic, publisher in self._publishers.items():
            wait_until(publisher.get_subscription_count, f'a listener to {topic}')
        part = self.messages[first:last]
        begin = time.monotonic()
        for topic, _, log_time, data in part:
            due = begin + (log_time - part[0][2]) / rate * 1e-9
            # The one place where a test has to let time pass: this is what a replay is.
            time.sleep(max(due - time.monotonic(), 0.0))
            self._publishers[topic].publish(data)
        for topic, publisher in self._publishers.items():
            assert acknowledged(publisher), f'{topic} was not acknowledged'
