# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every reader of bags: topics, and their messages in blocks of serialised bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from robot_identification.errors import BagError

# Messages of one topic that are read together, and the memory they may take [bytes].
BLOCK_MESSAGES = 10_000
BLOCK_BYTES = 32_000_000
# A joint state of a thousand joints has some 60 kB; what claims to be larger than this is damage.
LARGEST_MESSAGE = 4_000_000


class Damage(BagError):
    """Bytes of a bag that are not what was recorded; everything read before them is good."""


@dataclass(frozen=True)
class Topic:
    """Type of a topic, three-part as in `std_msgs/msg/Bool`, and how many messages it has."""

    kind: str
    count: int


@dataclass
class RawBlock:
    """Consecutive messages of one topic."""

    topic: str
    log_times: list[int] = field(default_factory=list)  # When they were recorded [ns]
    payloads: list[bytes] = field(default_factory=list)  # What was recorded, CDR with its header
    _room: int = BLOCK_BYTES

    def __len__(self) -> int:
        return len(self.payloads)

    def add(self, log_time: int, payload: bytes) -> bool:
        """Add a message; return whether the block is full."""
        self.log_times.append(log_time)
        self.payloads.append(payload)
        self._room -= len(payload)
        return self._room < 0 or len(self.payloads) >= BLOCK_MESSAGES

    def take(self) -> RawBlock:
        """Return what was collected and start again."""
        taken = RawBlock(self.topic, self.log_times, self.payloads)
        self.log_times, self.payloads, self._room = [], [], BLOCK_BYTES
        return taken


class OpenBag(Protocol):
    """A bag that is being read."""

    @property
    def topics(self) -> Mapping[str, Topic]:
        """Return what is in it."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """Return what the recorder noted in it."""
        ...

    @property
    def expected(self) -> float | None:
        """Return how long it should be [s], where something says so."""
        ...

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """
        Yield the messages of some topics, of each in the order recorded.

        Raise Damage after the last block that is good, if anything is wrong with the bag.
        """
        ...


class BagBackend(Protocol):
    """Interface of bag readers: this package, rosbags, or rosbag2_py where ROS is installed."""

    def open_bag(self, path: Path) -> AbstractContextManager[OpenBag]:
        """Open a bag to be read."""
        ...
