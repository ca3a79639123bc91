# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
MCAP files, record by record from the front.

A reader that trusts the index at the end loses what a damaged index does not name, and cannot read
a file whose recorder was killed. So the index is used only to know beforehand what is in a file;
messages are read from the front, of whole files and damaged ones alike, until the first damage.

Format: https://mcap.dev/spec. Nothing is read, nor unpacked, that is larger than it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
import struct
import zlib

from robot_identification.recording.bag_metadata import custom_data
from robot_identification.recording.compression import unpack
from robot_identification.recording.raw_bag import Damage, LARGEST_MESSAGE, RawBlock, Topic

MAGIC = b'\x89MCAP0\r\n'
# Larger ones are damage [bytes].
LARGEST_CHUNK = 200_000_000
LARGEST_SUMMARY = 100_000_000
LARGEST_DEFINITION = 10_000_000
# Log times are unsigned in the file and signed in ROS [ns].
_LATEST = 2**63 - 1
# Read at a time where records are walked through in the file [bytes].
_WINDOW = 1 << 18

_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX = 1, 2, 3, 4, 5, 6, 7
_ATTACHMENT, _STATISTICS, _METADATA, _DATA_END = 9, 11, 12, 15

_RECORD = struct.Struct('<BQ')
_MESSAGE_START = struct.Struct('<BQHIQQ')
_CHUNK_START = struct.Struct('<QQQII')
_FOOTER_AND_MAGIC = struct.Struct('<BQQQI8s')
_BEGINNING = _MESSAGE_START.size


@dataclass(frozen=True)
class _Channel:
    topic: str
    kind: str
    encoding: str


@dataclass(frozen=True)
class _Statistics:
    start: int
    end: int
    counts: Mapping[int, int]


@dataclass(frozen=True)
class _Region:
    """Records one after the other, in the file or in an unpacked chunk."""

    read: Callable[[int, int], bytes]  # Returns the bytes from a position on, so many of them
    start: int
    stop: int
    window: int = _WINDOW  # How many bytes to read at a time
    place: str = ''  # Where it is, for messages

    def load(self, position: int, size: int = 0) -> bytes:
        """Return the bytes from a position on: a window, or more if `size` is larger."""
        data = self.read(position, min(max(self.window, size), self.stop - position))
        if len(data) < size:
            raise Damage(f'it ends at byte {position + len(data)}{self.place}')
        return data

    def from_here(self, buffer: bytes, base: int, position: int) -> tuple[bytes, int]:
        """Return a buffer that goes on, and where it begins: itself, where no more follows."""
        if base + len(buffer) < self.stop:
            return self.load(position), position
        return buffer, base

    def last_start(self, rest: bytes, position: int) -> tuple[int, int, int, int, int, int]:
        """Return the start of a last record, which may be shorter than that of a message."""
        if self.stop - position < _RECORD.size:
            raise Damage(f'it ends at byte {self.stop}{self.place}, inside a record')
        return _MESSAGE_START.unpack(rest[:_BEGINNING].ljust(_BEGINNING, b'\0'))


class _File:
    """An open file; what the disk cannot give is damage."""

    def __init__(self, path: Path) -> None:
        try:
            self._stream = path.open('rb')
            self.size = self._stream.seek(0, 2)
        except OSError as error:
            raise Damage(f'it cannot be read: {error.strerror}') from error

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, position: int, size: int) -> bytes:
        """Return the bytes from a position on, so many of them or up to the end."""
        try:
            self._stream.seek(position)
            return self._stream.read(size)
        except OSError as error:
            raise Damage(f'it cannot be read at byte {position}: {error.strerror}') from error

    def region(self) -> _Region:
        """Return where its records are."""
        return _Region(self.read, len(MAGIC), self.size)


class _Content:
    """Fields of a record, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def left(self) -> int:
        """Bytes that were not taken yet."""
        return len(self._data) - self._position

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        if size > self.left:
            raise Damage(f'a record of {len(self._data)} bytes with a field of {size}')
        start = self._position
        self._position += size
        return self._data[start:self._position]

    def number(self, size: int) -> int:
        """Return an unsigned number of so many bytes."""
        return int.from_bytes(self.take(size), 'little')

    def text(self) -> str:
        """Return a text."""
        try:
            return self.take(self.number(4)).decode()
        except UnicodeDecodeError as error:
            raise Damage(f'a text that is not UTF-8: {error}') from None


class McapFile:
    """
    One file.

    Raise Damage if it does not begin as an MCAP file does, or damage comes before its first topic.
    """

    storage = 'mcap'

    def __init__(self, path: Path) -> None:
        self._path = path
        self._metadata_text = ''
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, _Channel] = {}
        with _File(path) as file:
            if file.read(0, len(MAGIC)) != MAGIC:
                raise Damage('it does not begin as an MCAP file does')
            statistics, self._index_damage = self._read_summary(file)
            counts = self._count(file) if statistics is None else statistics.counts
        # First and last log time by the file's own statistics [ns]
        self.span = (
            (statistics.start, statistics.end)
            if statistics is not None and any(counts.values()) else None
        )
        self.topics: dict[str, Topic] = {}  # Those in CDR
        for key, channel in self._channels.items():
            if channel.encoding == 'cdr':
                known = self.topics.get(channel.topic, Topic(channel.kind, 0))
                self.topics[channel.topic] = Topic(known.kind, known.count + counts.get(key, 0))

    @property
    def custom_data(self) -> dict[str, str]:
        """Return what the recorder noted last; known when the file was read to its end."""
        return custom_data(self._metadata_text) if self._metadata_text else {}

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """
        Yield the messages of some topics in the order of the file.

        Raise Damage after the last block that is good, if anything is wrong with the file.
        """
        wanted = {topic: RawBlock(topic) for topic in topics}
        walk = _Walk(self, wanted)
        damage = Damage(self._index_damage) if self._index_damage else None
        try:
            with _File(self._path) as file:
                yield from walk.records(file.region())
        except Damage as caught:
            damage = caught
        yield from (block for block in wanted.values() if len(block))
        if damage is not None:
            raise damage
        for topic in topics:
            found = sum(
                count for key, count in walk.counts.items() if self._channels[key].topic == topic
            )
            if topic in self.topics and found != self.topics[topic].count:
                raise Damage(
                    f'its statistics count {self.topics[topic].count} messages on {topic}, and '
                    f'there are {found}'
                )

    def define(self, kind: int, data: bytes) -> int:
        """Take note of a schema, a channel or metadata; return a channel's number."""
        content, key = _Content(data), -1
        if kind == _SCHEMA:
            self._schemas.setdefault(content.number(2), _three_part(content.text()))
        elif kind == _CHANNEL:
            key, schema = content.number(2), content.number(2)
            channel = _Channel(content.text(), self._schemas.get(schema, ''), content.text())
            if self._channels.setdefault(key, channel) != channel:
                raise Damage(f'channel {key} is defined in two ways')
        elif kind == _METADATA and content.text() == 'rosbag2':
            fields = _Content(content.take(content.number(4)))
            if fields.left and fields.text() == 'serialized_metadata':
                # A recorder writes it anew at the end; only the last one is parsed.
                self._metadata_text = fields.text()
        return key

    def topic_of(self, key: int) -> str:
        """Return the topic of a channel."""
        return self._channels[key].topic

    def _count(self, file: _File) -> Mapping[int, int]:
        """Count messages by channel where the file does not say it, up to the first damage."""
        walk = _Walk(self, {})
        try:
            for _ in walk.records(file.region()):
                pass
        except Damage:
            if not self._channels:
                raise
        return walk.counts

    def _read_summary(self, file: _File) -> tuple[_Statistics | None, str]:
        """Return the statistics, if they can be trusted, and what is wrong with the index."""
        start_of_footer = file.size - _FOOTER_AND_MAGIC.size
        if start_of_footer < len(MAGIC):
            return None, f'it ends at byte {file.size}, before its first message'
        footer = file.read(start_of_footer, _FOOTER_AND_MAGIC.size)
        kind, length, start, _, checksum, magic = _FOOTER_AND_MAGIC.unpack(footer)
        if (kind, length, magic) != (_FOOTER, 20, MAGIC):
            return None, 'it does not end as an MCAP file does; no message is lost'
        if not start:
            return None, ''
        damaged = 'its index is damaged; no message is lost'
        size = start_of_footer - start
        if start < len(MAGIC) or not 0 <= size <= LARGEST_SUMMARY:
            return None, damaged
        summary = file.read(start, size)
        if checksum and zlib.crc32(summary + footer[:-len(MAGIC) - 4]) != checksum:
            return None, damaged
        try:
            statistics = self._parse_summary(_Content(summary))
        except Damage:
            self._schemas, self._channels = {}, {}
            return None, damaged
        # An index need not repeat the channels.
        if statistics is not None and statistics.counts.keys() <= self._channels.keys():
            return statistics, ''
        return None, ''

    def _parse_summary(self, content: _Content) -> _Statistics | None:
        statistics = None
        while content.left:
            kind, size = content.number(1), content.number(8)
            data = content.take(size)
            if kind == _STATISTICS:
                statistics = _parse_statistics(_Content(data))
            else:
                self.define(kind, data)
        return statistics


def _parse_statistics(content: _Content) -> _Statistics:
    content.take(8 + 2 + 4 + 4 + 4 + 4)
    start, end = content.number(8), content.number(8)
    counts = _Content(content.take(content.number(4)))
    found = {}
    while counts.left:
        key = counts.number(2)
        found[key] = counts.number(8)
    return _Statistics(start, end, found)


def _three_part(kind: str) -> str:
    """Return a type's name as ROS 2 writes it; some recorders leave out the middle part."""
    package, _, name = kind.rpartition('/')
    return kind if not package or package.endswith('/msg') else f'{package}/msg/{name}'


def _implausible(length: int, log_time: int, place: str) -> Damage:
    """Return what is wrong with a message, by its length in bytes or its log time [ns]."""
    if length > LARGEST_MESSAGE:
        return Damage(f'a message of {length} bytes at byte {place}')
    return Damage(
        f'the log time {log_time} ns, more than {_LATEST}, of the message at byte {place}'
    )


def _chunk_head(
    region: _Region, position: int, length: int, where: str
) -> tuple[int, int, int, int, str]:
    """Return where a chunk's records start, their packed and unpacked size, CRC, compression."""
    head = region.load(position, min(256, region.stop - position))
    try:
        _, _, size, checksum, name_size = _CHUNK_START.unpack_from(head, _RECORD.size)
        content = _Content(head[_RECORD.size + _CHUNK_START.size:])
        compression = content.take(name_size).decode('latin-1')
        packed_size = content.number(8)
    except (struct.error, Damage):
        raise Damage(f'the beginning{where} is damaged or cut off') from None
    start = position + len(head) - content.left
    if start + packed_size != position + _RECORD.size + length:
        raise Damage(f'the lengths{where} contradict each other')
    return start, packed_size, size, checksum, compression


class _Walk:
    """One walk through the records of a file."""

    def __init__(self, file: McapFile, wanted: Mapping[str, RawBlock]) -> None:
        self._file = file
        self._wanted = wanted
        self._collectors: dict[int, RawBlock | None] = {}
        # Where indexes of messages may stand.
        self._behind_chunk = False
        self.counts: dict[int, int] = {}  # Messages met, by channel

    def records(self, region: _Region, in_chunk: bool = False) -> Iterator[RawBlock]:
        """
        Yield blocks of wanted messages that are full; what is left stays in them.

        Raise Damage at the first one.
        """
        position, stop = region.start, region.stop
        buffer, base = region.load(position), position
        collectors, counts = self._collectors, self.counts
        while position < stop:
            at = position - base
            if at + _BEGINNING > len(buffer):
                buffer, base = region.from_here(buffer, base, position)
                at = position - base
                kind, length, channel, _, log_time, _ = region.last_start(buffer[at:], position)
            else:
                kind, length, channel, _, log_time, _ = _MESSAGE_START.unpack_from(buffer, at)
            end = position + _RECORD.size + length
            if kind == _MESSAGE and channel in collectors and end <= stop:
                counts[channel] += 1
                collector = collectors[channel]
                if collector is not None:
                    if length > LARGEST_MESSAGE or log_time > _LATEST:
                        raise _implausible(length, log_time, f'{position}{region.place}')
                    if end - base > len(buffer):
                        buffer, base, at = region.load(position, end - position), position, 0
                    if collector.add(log_time, buffer[at + _BEGINNING:end - base]):
                        yield collector.take()
            elif kind in (_DATA_END, _FOOTER) and not in_chunk:
                return
            elif kind == _CHUNK and not in_chunk:
                yield from self._chunk(region, position, length)
                self._behind_chunk = True
            else:
                self._other(region, position, kind, length, in_chunk)
                self._behind_chunk &= kind == _MESSAGE_INDEX
            position = end
        self._check_end(stop, in_chunk)

    @staticmethod
    def _check_end(position: int, in_chunk: bool) -> None:
        if not in_chunk:
            raise Damage(
                f'it ends at byte {position} without the record that ends a bag: its recorder was '
                'killed, or the disk was full; how much is missing is not known'
            )

    def _other(
        self, region: _Region, position: int, kind: int, length: int, in_chunk: bool
    ) -> None:
        """
        Take note of a definition; step over what may be stepped over.

        Records of types that are not MCAP's own may not: a message whose type is damaged is one.
        """
        where = f'at byte {position}{region.place}'
        if position + _RECORD.size + length > region.stop:
            raise Damage(
                f'a record of {length} bytes {where} reaches beyond the end, byte {region.stop}'
            )
        if kind in (_SCHEMA, _CHANNEL) or (kind == _METADATA and not in_chunk):
            if length > LARGEST_DEFINITION:
                raise Damage(f'a definition of {length} bytes {where}')
            key = self._file.define(kind, region.read(position + _RECORD.size, length))
            if kind == _CHANNEL and key not in self._collectors:
                self._collectors[key] = self._wanted.get(self._file.topic_of(key))
                self.counts[key] = 0
        elif kind == _MESSAGE:
            raise Damage(f'a message of no known channel {where}')
        elif in_chunk or not (
            kind == _ATTACHMENT
            or (kind == _HEADER and position == region.start)
            or (kind == _MESSAGE_INDEX and self._behind_chunk)
        ):
            raise Damage(f'no record that can be {where}')

    def _chunk(self, region: _Region, position: int, length: int) -> Iterator[RawBlock]:
        """Yield full blocks from a chunk, of which the end may be missing."""
        where = f' of the chunk at byte {position}'
        start, packed_size, size, checksum, compression = _chunk_head(
            region, position, length, where
        )
        whole = start + packed_size <= region.stop
        present = min(packed_size, region.stop - start)
        checked = whole and checksum and size <= LARGEST_CHUNK
        if not (compression or checked):
            # Large messages of other topics are stepped over without being read.
            chunk = _Region(region.read, start, start + present, place=' of the file')
        else:
            if max(packed_size, size) > LARGEST_CHUNK:
                raise Damage(f'a chunk of {max(packed_size, size)} bytes at byte {position}')
            data = region.read(start, present)
            if compression:
                data = self._unpack(compression, data, size, where)
            if whole and len(data) != size:
                raise Damage(f'{len(data)} bytes instead of {size}{where}')
            if checked and zlib.crc32(data) != checksum:
                raise Damage(f'the checksum{where} is wrong')
            chunk = _Region(
                lambda first, count: data[first:first + count], 0, len(data), len(data), where
            )
        try:
            yield from self.records(chunk, in_chunk=True)
        except Damage:
            if whole:
                raise
        if not whole:
            raise Damage(
                f'it ends at byte {region.stop}, inside the chunk at byte {position}: it was cut '
                'off, its recorder was killed, or the disk was full'
            )

    @staticmethod
    def _unpack(compression: str, data: bytes, size: int, where: str) -> bytes:
        try:
            return unpack(compression, data, size)
        except Damage as damage:
            raise Damage(f'the content{where}: {damage}') from damage
