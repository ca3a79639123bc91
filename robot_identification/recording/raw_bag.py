# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Contents of a bag: topics, their messages in blocks of serialized bytes, and its metadata.

What is compressed is never unpacked to more than it should hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import importlib
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from robot_identification.errors import BagError, MissingDependencyError, needing
import yaml

# Messages of one topic that are read together, and the memory they may take [bytes].
BLOCK_MESSAGES = 10_000
BLOCK_BYTES = 32_000_000
# A joint state of a thousand joints has some 60 kB; what claims to be larger than this is damage.
LARGEST_MESSAGE = 4_000_000
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_PIECE = 1 << 20  # of what is unpacked at a time [bytes]
MAXIMUM_METADATA_BYTES = 5_000_000  # chosen: thousands of topics fit
# A topic has some 60 events of the YAML parser; the C library recurses at each level.
MOST_EVENTS = 500_000
DEEPEST_LEVEL = 50  # rosbag2's has fewer than ten
METADATA_FILE = 'metadata.yaml'
_ROOT = 'rosbag2_bagfile_information'
# Every scalar as the text that is written: `simulated: true` is no boolean of another spelling.
_LOADER: Any = getattr(yaml, 'CBaseLoader', yaml.BaseLoader)


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


@dataclass(frozen=True)
class BagMetadata:
    """The parts of metadata.yaml that are used."""

    files: tuple[str, ...] = ()  # Names of the files in their order
    storage: str = ''  # 'mcap' or 'sqlite3'
    duration: float | None = None  # Between the first and the last message [s]
    counts: Mapping[str, int] = field(default_factory=dict)  # Messages by topic
    custom_data: Mapping[str, str] = field(default_factory=dict)  # Notes of the operator


def read_metadata(path: Path) -> BagMetadata:
    """Return the contents of a metadata.yaml; raises Damage if it cannot be read."""
    try:
        with path.open(encoding='utf-8') as stream:
            text = stream.read(MAXIMUM_METADATA_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise Damage(f'{path.name} cannot be read: {error}') from error
    information = _information(text, path.name)
    try:
        return BagMetadata(
            files=tuple(Path(_text(name)).name for name in information['relative_file_paths']),
            storage=_text(information['storage_identifier']),
            duration=1e-9 * int(information['duration']['nanoseconds']),
            counts={
                _text(entry['topic_metadata']['name']): int(entry['message_count'])
                for entry in information['topics_with_message_count']
            },
            custom_data=_custom_data(information),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Damage(f'{path.name} is damaged: {error!r:.80}') from error


def custom_data(text: str) -> dict[str, str]:
    """Return the custom data of a copy of metadata.yaml, nothing where it is damaged."""
    try:
        return _custom_data(_information(text, 'its metadata'))
    except Damage:
        return {}


def _text(value: Any) -> str:
    """Return a word as it is; a list, of which aliases can make a huge one, is none."""
    if not isinstance(value, str):
        raise TypeError(f'a word is needed, found {type(value).__name__}')
    return value


def _information(text: str, source: str) -> Mapping[str, Any]:
    """Return what metadata hold; refuse what would take the parser long, or end the process."""
    if len(text) > MAXIMUM_METADATA_BYTES:
        raise Damage(f'{source} has more than {MAXIMUM_METADATA_BYTES} characters')
    depth = 0
    try:
        for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_LEVEL or count > MOST_EVENTS:
                raise Damage(
                    f'{source} has more than {DEEPEST_LEVEL} levels or {MOST_EVENTS} entries'
                )
        content = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise Damage(f'{source} is damaged: {error!r:.80}') from error
    # Inside files the mapping comes without its title.
    information = content.get(_ROOT, content) if isinstance(content, dict) else None
    if not isinstance(information, dict):
        raise Damage(f'{source} is damaged: it holds no {_ROOT}')
    return information


def _custom_data(information: Mapping[str, Any]) -> dict[str, str]:
    found = information.get('custom_data')
    if not isinstance(found, dict):
        return {}
    return {str(key): value for key, value in found.items() if isinstance(value, str)}
