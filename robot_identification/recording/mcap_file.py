# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
MCAP files, read record by record from the front up to the first damage.

The summary at the end only says beforehand which topics there are, and how many messages: it does
not name what was written after a recorder was killed, and may be damaged.

Format: https://mcap.dev/spec. Nothing is read, nor unpacked, that is larger than it can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from pathlib import Path
import struct
from typing import BinaryIO
import zlib

from robot_identification.recording.raw_bag import (
    custom_data, Damage, LARGEST_MESSAGE, Topic, unpack,
)

MAGIC = b'\x89MCAP0\r\n'
# Larger ones are damage [bytes]; chosen: recorders write chunks of about 1 MB.
LARGEST_RECORD = 200_000_000
# Log times are unsigned in the file and signed in ROS [ns].
_LATEST = 2**63 - 1

# Types of records, by the specification; a reader steps over those that are not named here.
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = range(1, 7)
_STATISTICS, _METADATA, _DATA_END = 11, 12, 15
# From here on types are those of applications, which a reader steps over.
_APPLICATION = 0x80
_RECORD = struct.Struct('<BQ')
_MESSAGE_START = struct.Struct('<HIQQ')  # channel, sequence, log time, publish time
_FOOTER_AND_MAGIC = struct.Struct('<BQQQI8s')


class _Fields:
    """Fields of a record, one after the other; raise Damage behind its end."""

    def __init__(self, content: bytes, where: str) -> None:
        self._left, self._where = content, where

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        taken, self._left = self._left[:size], self._left[size:]
        if len(taken) < size:
            raise Damage(f'the record at byte {self._where} is damaged or cut off')
        return taken

    def numbers(self, form: str) -> tuple[int, ...]:
        """Return numbers of a form of `struct`."""
        return struct.unpack('<' + form, self.take(struct.calcsize('<' + form)))

    def text(self) -> str:
        """Return a text."""
        size, = self.numbers('I')
        try:
            return self.take(size).decode()
        except UnicodeDecodeError as error:
            raise Damage(f'the record at byte {self._where} is damaged: {error}') from error

    def rest(self) -> bytes:
        """Return what is left."""
        return self._left


class McapFile:
    """One file; damage that comes before its first topic is raised."""

    storage = 'mcap'

    def __init__(self, path: Path) -> None:
        self.path = path
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str, str]] = {}  # topic, type and encoding
        self._metadata_text = ''
        self._index_damage = ''
        # First and last log time by the file's own statistics [ns].
        self.span: tuple[int, int] | None = None
        with _open(path) as stream:
            self._size = stream.seek(0, 2)
            stream.seek(0)
            if stream.read(len(MAGIC)) != MAGIC:
                raise Damage('it does not begin as an MCAP file does')
            counts = self._read_summary(stream)
        if counts is None:
            counts = self._count()
        self.topics: dict[str, Topic] = {}  # those in CDR
        for key, (topic, kind, encoding) in self._channels.items():
            if encoding == 'cdr':
                known = self.topics.get(topic, Topic(kind, 0))
                self.topics[topic] = Topic(known.kind, known.count + counts.get(key, 0))

    @property
    def custom_data(self) -> dict[str, str]:
        """Return what the recorder noted last; known when the file was read to its end."""
        return custom_data(self._metadata_text) if self._metadata_text else {}

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, log time and payload of some topics; Damage behind the last good one."""
        for key, content, where in self._messages():
            topic = self._channels[key][0]
            if topic not in topics:
                continue
            log_time, size = _MESSAGE_START.unpack_from(content)[2], len(content)
            if size - _MESSAGE_START.size > LARGEST_MESSAGE:
                raise Damage(f'a message of {size - _MESSAGE_START.size} bytes at byte {where}')
            if log_time > _LATEST:
                raise Damage(
                    f'the log time {log_time} ns, more than {_LATEST}, of the message at byte '
                    f'{where}'
                )
            yield topic, log_time, content[_MESSAGE_START.size:]
        if self._index_damage:
            raise Damage(self._index_damage)

    def _messages(self) -> Iterator[tuple[int, bytes, str]]:
        """Yield channel, content and place of all messages up to the first damage."""
        for kind, content, where in self._records():
            if kind != _MESSAGE:
                self._note(kind, content, where)
                continue
            if len(content) < _MESSAGE_START.size:
                raise Damage(f'the record at byte {where} is damaged: it is too short')
            key = _MESSAGE_START.unpack_from(content)[0]
            if key not in self._channels:
                raise Damage(f'a message of no known channel at byte {where}')
            yield key, content, where

    def _records(self) -> Iterator[tuple[int, bytes, str]]:
        """Yield type, content and place of all records and those of chunks, of data alone."""
        with _open(self.path) as stream:
            stream.seek(len(MAGIC))
            for position, kind, content in _walk(stream, self._size, ''):
                if kind in (_DATA_END, _FOOTER):
                    return
                if kind == _HEADER and position != len(MAGIC):
                    raise Damage(f'no record that can be at byte {position}')
                if kind == _CHUNK:
                    yield from self._chunk_records(position, content)
                else:
                    yield kind, content, str(position)
        raise Damage(
            f'it ends at byte {self._size} without the record that ends a bag: its recorder was '
            'killed, or the disk was full; how much is missing is not known'
        )

    def _chunk_records(self, position: int, content: bytes) -> Iterator[tuple[int, bytes, str]]:
        """Yield the records of a chunk, of which the end may be missing."""
        where = f' of the chunk at byte {position}'
        is_cut_off = position + _RECORD.size + len(content) == self._size
        data, is_whole = _unpack_chunk(_Fields(content, str(position)), where, is_cut_off)
        try:
            for start, kind, record in _walk(BytesIO(data), len(data), where):
                if kind not in (_MESSAGE, _SCHEMA, _CHANNEL):
                    raise Damage(f'no record that can be at byte {start}{where}')
                yield kind, record, f'{start}{where}'
        except Damage:
            if is_whole:
                raise
        if not is_whole:
            raise Damage(
                f'it ends at byte {self._size}, inside the chunk at byte {position}: it was cut '
                'off, its recorder was killed, or the disk was full'
            )

    def _note(self, kind: int, content: bytes, where: str) -> None:
        """Take note of a schema, a channel or metadata; step over others."""
        fields = _Fields(content, where)
        if kind == _SCHEMA:
            number, = fields.numbers('H')
            self._schemas.setdefault(number, three_part(fields.text()))
        elif kind == _CHANNEL:
            number, schema = fields.numbers('HH')
            channel = fields.text(), self._schemas.get(schema, ''), fields.text()
            if self._channels.setdefault(number, channel) != channel:
                raise Damage(f'channel {number} is defined in two ways')
        elif kind == _METADATA and fields.text() == 'rosbag2':
            size, = fields.numbers('I')
            entries = _Fields(fields.take(size), where)
            while entries.rest():
                name, text = entries.text(), entries.text()
                # A recorder writes it anew at the end; only the last one is parsed.
                if name == 'serialized_metadata':
                    self._metadata_text = text

    def _count(self) -> Counter[int]:
        """Count messages by channel up to the first damage, which may not be before a channel."""
        counts: Counter[int] = Counter()
        try:
            for key, *_ in self._messages():
                counts[key] += 1
        except Damage:
            if not self._channels:
                raise
        return counts

    def _read_summary(self, stream: BinaryIO) -> Mapping[int, int] | None:
        """Return counts by channel, None if they cannot be trusted; note what is wrong."""
        start_of_footer = self._size - _FOOTER_AND_MAGIC.size
        if start_of_footer < len(MAGIC):
            self._index_damage = f'it ends at byte {self._size}, before its first message'
            return None
        stream.seek(start_of_footer)
        footer = stream.read(_FOOTER_AND_MAGIC.size)
        kind, length, start, _, checksum, magic = _FOOTER_AND_MAGIC.unpack(footer)
        if (kind, length, magic) != (_FOOTER, 20, MAGIC):
            self._index_damage = 'it does not end as an MCAP file does; no message is lost'
            return None
        if not start:
            return None
        size = start_of_footer - start
        try:
            if not (start >= len(MAGIC) and 0 <= size <= LARGEST_RECORD):
                raise Damage('its length cannot be')
            stream.seek(start)
            summary = stream.read(size)
            if checksum and zlib.crc32(summary + footer[:-len(MAGIC) - 4]) != checksum:
                raise Damage('its checksum is wrong')
            return self._read_counts(summary)
        except Damage:
            self._schemas, self._channels = {}, {}
            self._index_damage = 'its index is damaged; no message is lost'
            return None

    def _read_counts(self, summary: bytes) -> Mapping[int, int] | None:
        """Return counts by channel of a summary, None if it has none or not their channels."""
        counts: dict[int, int] | None = None
        for position, kind, content in _walk(BytesIO(summary), len(summary), ' of its index'):
            if kind != _STATISTICS:
                self._note(kind, content, str(position))
                continue
            fields = _Fields(content, str(position))
            # Numbers of messages, schemas, channels, attachments, metadata and chunks.
            *_, first, last, size = fields.numbers('QH4IQQI')
            pairs = fields.numbers('HQ' * (size // 10))
            counts = dict(zip(pairs[::2], pairs[1::2], strict=True))
            self.span = (first, last) if any(counts.values()) else None
        # A summary need not repeat the channels.
        return counts if counts is not None and counts.keys() <= set(self._channels) else None


def _open(path: Path) -> BinaryIO:
    try:
        return path.open('rb')
    except OSError as error:
        raise Damage(f'it cannot be read: {error.strerror}') from error


def _walk(stream: BinaryIO, size: int, where: str) -> Iterator[tuple[int, int, bytes]]:
    """
    Yield position, type and content of the records up to `size`; a last chunk may be cut off.

    Raise Damage behind the last good one. Types that are neither MCAP's own nor an application's
    are damage: a message whose type is damaged is one.
    """
    position = stream.tell()
    try:
        while position < size:
            head = stream.read(_RECORD.size)
            if len(head) < _RECORD.size:
                raise Damage(f'it ends at byte {size}{where}, inside a record')
            kind, length = _RECORD.unpack(head)
            end = position + _RECORD.size + length
            if not (0 < kind <= _DATA_END or kind >= _APPLICATION):
                raise Damage(f'no record that can be at byte {position}{where}')
            if end > size and kind == _CHUNK:
                yield position, kind, stream.read(min(size - position, LARGEST_RECORD))
            if end > size or length > LARGEST_RECORD:
                raise Damage(
                    f'a record of {length} bytes at byte {position}{where} is too large, or '
                    f'reaches beyond the end, byte {size}'
                )
            yield position, kind, stream.read(length)
            position = end
    except OSError as error:
        raise Damage(f'it cannot be read: {error.strerror}') from error


def _unpack_chunk(fields: _Fields, where: str, may_be_cut: bool) -> tuple[bytes, bool]:
    """Return the content of a chunk, and whether all of it is there, which is then checked."""
    _, _, size, checksum = fields.numbers('QQQI')
    compression = fields.text()
    length, = fields.numbers('Q')
    packed = fields.rest()
    is_whole = len(packed) == length
    if size > LARGEST_RECORD:
        raise Damage(f'{size} bytes{where}')
    if not is_whole and not (may_be_cut and len(packed) < length):
        raise Damage(f'{len(packed)} bytes instead of {length}{where}')
    data, problem = packed, ''
    if compression:
        data, problem = unpack(compression, packed, size)
    if is_whole and (problem or len(data) != size):
        raise Damage(f'{problem or f"{len(data)} bytes instead of {size}"}{where}')
    if is_whole and checksum and zlib.crc32(data) != checksum:
        raise Damage(f'the checksum{where} is wrong')
    return data, is_whole


def three_part(kind: str) -> str:
    """Return a type's name as ROS 2 writes it; some recorders leave out the middle part."""
    package, _, name = kind.rpartition('/')
    return kind if not package or package.endswith('/msg') else f'{package}/msg/{name}'
