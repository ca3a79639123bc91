# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Contents of a bag: topics, and their messages in blocks of serialized bytes.

What is compressed is never unpacked to more than it should hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import importlib
from io import BytesIO
from typing import Any, BinaryIO

from robot_identification.errors import BagError, MissingDependencyError, needing

# Messages of one topic that are read together, and the memory they may take [bytes].
BLOCK_MESSAGES = 10_000
BLOCK_BYTES = 32_000_000
# A joint state of a thousand joints has some 60 kB; what claims to be larger than this is damage.
LARGEST_MESSAGE = 4_000_000
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_PIECE = 1 << 20  # of what is unpacked at a time [bytes]


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


def unpack(kind: str, data: bytes, size: int) -> tuple[bytes, str]:
    """Return the first `size` bytes of compressed data up to damage, and what is wrong."""
    target = BytesIO()
    problem = unpack_stream(kind, BytesIO(data), target, size)
    return target.getvalue(), problem


def unpack_stream(
    kind: str, source: BinaryIO, target: BinaryIO, size: int | None = None
) -> str:
    """
    Unpack a stream into another one, at most to `size` bytes; return what is wrong with it.

    What comes before the damage is unpacked.
    """
    reader, error_type = _open_packed(kind, source)
    left = float('inf') if size is None else size
    try:
        while left > 0 and (piece := reader.read1(int(min(left, _PIECE)))):
            target.write(piece)
            left -= len(piece)
    except EOFError:
        return f'its {kind} data end too early'
    except (error_type, MemoryError) as error:
        return f'its {kind} data cannot be unpacked: {error}'
    return ''


def _open_packed(kind: str, source: BinaryIO) -> tuple[Any, type[Exception]]:
    """Return a reader of compressed data, and the error that it raises where these are damaged."""
    if kind == 'lz4':
        with needing('lz4', 'reading a bag compressed with lz4'):
            from lz4 import frame
        return frame.open(source), RuntimeError
    if kind != 'zstd':
        raise Damage(f'unknown compression {kind!r:.40}')
    # Python's own module, that which older Pythons have from PyPI, or that of Debian and Ubuntu.
    for name in ('compression.zstd', 'backports.zstd', 'zstandard'):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.open(source), library.ZstdError
    raise MissingDependencyError(
        'backports.zstd', 'reading a bag compressed with zstd',
        'pip install backports.zstd` or `sudo apt install python3-zstandard',
    )
