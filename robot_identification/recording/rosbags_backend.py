# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Bags by the rosbags library: it writes ours, and reads whole ones message by message.

It needs no ROS. Its reading is what ours is compared with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
import struct
from types import SimpleNamespace
from typing import Any

from robot_identification.arrays import FloatArray
from robot_identification.errors import BagError, MissingDependencyError, UsageError
from robot_identification.recording.joint_states import JOINT_STATE
from robot_identification.recording.raw_bag import RawBlock, Topic

# What rosbags lets through from damaged files, besides its own errors.
_STRAY_ERRORS = (
    OSError, OverflowError, ValueError, KeyError, IndexError, AssertionError, struct.error,
    EOFError, MemoryError, RuntimeError,
)


@cache
def rosbags_library() -> Any:
    """
    Return what we use of rosbags, with its types of ROS 2 Jazzy.

    Raises
    ------
    MissingDependencyError
        If it is not installed: on a robot machine it does not come with ROS.

    """
    try:
        from rosbags import rosbag2, serde, typesys
    except ImportError:
        raise MissingDependencyError('rosbags', 'reading bags', 'pip install rosbags') from None
    return SimpleNamespace(
        Reader=rosbag2.Reader,
        errors=(rosbag2.ReaderError, serde.SerdeError, *_STRAY_ERRORS),
        type_errors=(typesys.TypesysError, KeyError),
        types=typesys.get_typestore(typesys.Stores.ROS2_JAZZY),
    )


@dataclass(frozen=True)
class JointStateMessage:
    """One joint-state message as recorded; lists may be empty."""

    log_time: int
    stamp: int
    name: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


class RosbagsBackend:
    """Whole bags, folders or single files, MCAP or sqlite3, in the order of their log times."""

    @contextmanager
    def open_bag(self, path: Path) -> Iterator[RosbagsBag]:
        """
        Open a bag to be read.

        Raise UsageError if there is no such bag. Raise BagError if it cannot be read.
        """
        if not path.exists():
            raise UsageError(f'no such bag: {path}')
        try:
            with rosbags_library().Reader(path) as reader:
                yield RosbagsBag(reader)
        except rosbags_library().errors as error:
            raise BagError(f'{path} cannot be read as a rosbag2 bag: {error}') from error

    def topics(self, path: Path) -> dict[str, tuple[str, int]]:
        """Return type and message count by topic."""
        with self.open_bag(path) as bag:
            return {name: (topic.kind, topic.count) for name, topic in bag.topics.items()}

    def metadata(self, path: Path) -> dict[str, str]:
        """Return the custom data of the bag."""
        with self.open_bag(path) as bag:
            return bag.metadata

    def joint_states(self, path: Path, topic: str) -> Iterator[JointStateMessage]:
        """Yield the joint states of a topic, each decoded by itself."""
        with self.open_bag(path) as bag:
            for block in bag.blocks([topic]):
                for log_time, raw in zip(block.log_times, block.payloads, strict=True):
                    yield decode_joint_state(log_time, raw)


def decode_joint_state(log_time: int, raw: bytes) -> JointStateMessage:
    """Return a serialised sensor_msgs/msg/JointState."""
    message: Any = rosbags_library().types.deserialize_cdr(raw, JOINT_STATE)
    stamp = message.header.stamp
    return JointStateMessage(
        log_time,
        stamp.sec * 1_000_000_000 + stamp.nanosec,
        tuple(message.name),
        message.position,
        message.velocity,
        message.effort,
    )


class RosbagsBag:
    """A bag that rosbags has open."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.topics = {c.topic: Topic(c.msgtype, c.msgcount) for c in reader.connections}
        self.expected: float | None = 1e-9 * reader.duration

    @property
    def metadata(self) -> dict[str, str]:
        """Return what the recorder noted."""
        custom = self._reader.storage.metadata.custom or {}
        return {str(key): str(value) for key, value in custom.items()}

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """Yield the messages of some topics; anything wrong with the bag ends in its error."""
        blocks = {topic: RawBlock(topic) for topic in topics}
        wanted = [c for c in self._reader.connections if c.topic in blocks]
        # No connection at all would mean every one of them.
        for connection, log_time, raw in self._reader.messages(wanted) if wanted else ():
            if blocks[connection.topic].add(log_time, bytes(raw)):
                yield blocks[connection.topic].take()
        yield from (block for block in blocks.values() if len(block))
