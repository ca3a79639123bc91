# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Contents of a bag: topics, and their messages in blocks of serialized bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

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
