# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
MCAP files: what is in them by their index, and their messages from the front.

An index does not name what was written after a recorder was killed, and may be damaged. It only
says beforehand what is in a file, and whether rosbags can read it. All other files are read by
mcap's stream reader, record by record up to the first damage.

Format: https://mcap.dev/spec. Nothing is read, nor unpacked, that is larger than it can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
import struct
from types import SimpleNamespace
from typing import Any, BinaryIO
import zlib

import numpy as np
from robot_identification.errors import needing
from robot_identification.recording.bag_metadata import custom_data
from robot_identification.recording.compression import unpack
from robot_identification.recording.raw_bag import Damage, LARGEST_MESSAGE, RawBlock, Topic

MAGIC = b'\x89MCAP0\r\n'
# Larger ones are damage [bytes]; chosen: recorders write chunks of about 1 MB.
LARGEST_RECORD = 200_000_000
# Log times are unsigned in the file and signed in ROS [ns].
_LATEST = 2**63 - 1

_RECORD = struct.Struct('<BQ')
_INDEX_START = struct.Struct('<BQHI')  # of the messages of a chunk, before 16 bytes for each
_FOOTER_AND_MAGIC = struct.Struct('<BQQQI8s')


@cache
def _mcap() -> Any:
    """Return what is used of the mcap library to read."""
    with needing('mcap', 'reading bags'):
        from mcap import data_stream, exceptions, opcode, records, stream_reader
    return SimpleNamespace(
        StreamReader=stream_reader.StreamReader,
        DataStream=data_stream.ReadDataStream,
        records=records,
        kinds={int(kind): kind.name for kind in opcode.Opcode},
        errors=(exceptions.McapError, UnicodeDecodeError, struct.error),
    )


@dataclass(frozen=True)
class _Channel:
    topic: str
    kind: str
    encoding: str


class _Records:
    """
    A file, or an unpacked chunk, from which mcap's stream reader reads.

    No record is given more than its own bytes; `place` says where it is, for messages.
    """

    def __init__(self, stream: BinaryIO, place: str = '') -> None:
        self._stream = stream
        # What is in memory cannot give more than it has, and is read at once.
        self._source = stream if isinstance(stream, BytesIO) else self
        self.size = stream.seek(0, 2)
        self.place = place
        self._end = self.size

    def read(self, size: int) -> bytes:
        """Return so many bytes, or what is left of the record."""
        try:
            return self._stream.read(max(min(size, self._end - self._stream.tell()), 0))
        except OSError as error:
            raise Damage(f'it cannot be read: {error.strerror}') from error

    def read_at(self, position: int, size: int) -> bytes:
        """Return bytes at a position."""
        self._stream.seek(position)
        self._end = self.size
        return self.read(size)

    def walk(self, position: int) -> Iterator[tuple[int, Any]]:
        """
        Yield the records from a position on, each with where it begins; a last chunk may be cut.

        Raise Damage behind the last good one. Records of types that are not MCAP's own are damage:
        a message whose type is damaged is one.
        """
        library = _mcap()
        self._stream.seek(position)
        reader = iter(library.StreamReader(
            self._source, skip_magic=True, emit_chunks=True, record_size_limit=None
        ).records)
        while position < self.size:
            head = self.read_at(position, _RECORD.size)
            if len(head) < _RECORD.size:
                raise Damage(f'it ends at byte {self.size}{self.place}, inside a record')
            kind, length = _RECORD.unpack(head)
            end = position + _RECORD.size + length
            if kind not in library.kinds:
                raise Damage(f'no record that can be at byte {position}{self.place}')
            if end > self.size and library.kinds[kind] == 'CHUNK':
                yield position, self._cut_chunk(position)
            if end > self.size or length > LARGEST_RECORD:
                raise Damage(
                    f'a record of {length} bytes at byte {position}{self.place} is too large, or '
                    f'reaches beyond the end, byte {self.size}'
                )
            self._stream.seek(position)
            self._end = end
            try:
                record = next(reader)
            except library.errors as error:
                raise Damage(
                    f'the record at byte {position}{self.place} is damaged: {error}'
                ) from error
            if self._stream.tell() != end:
                raise Damage(f'the record at byte {position}{self.place} contradicts itself')
            yield position, record
            position = end

    def _cut_chunk(self, position: int) -> Any:
        """Return a chunk of which the end is missing."""
        library = _mcap()
        self._end = self.size
        self._stream.seek(position + _RECORD.size)
        try:
            return library.records.Chunk.read(library.DataStream(self))
        except library.errors:
            raise Damage(
                f'the beginning of the chunk at byte {position} is damaged or cut off'
            ) from None


class McapFile:
    """One file; damage that comes before its first topic is raised."""

    storage = 'mcap'

    def __init__(self, path: Path) -> None:
        self.path = path
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, _Channel] = {}
        self._metadata_text = ''
        self._index_damage = ''
        self._chunks: list[Any] | None = None  # None where the index does not name them all
        with _open(path) as stream:
            records = _Records(stream)
            if records.read_at(0, len(MAGIC)) != MAGIC:
                raise Damage('it does not begin as an MCAP file does')
            statistics = self._read_summary(records)
            counts = statistics.channel_message_counts if statistics else self._count(records)
        # First and last log time by the file's own statistics [ns].
        self.span: tuple[int, int] | None = None
        if statistics and any(counts.values()):
            self.span = (statistics.message_start_time, statistics.message_end_time)
        self.topics: dict[str, Topic] = {}  # those in CDR
        for key, channel in self._channels.items():
            if channel.encoding == 'cdr':
                known = self.topics.get(channel.topic, Topic(channel.kind, 0))
                self.topics[channel.topic] = Topic(known.kind, known.count + counts.get(key, 0))

    @property
    def custom_data(self) -> dict[str, str]:
        """Return what the recorder noted last; known when the file was read to its end."""
        return custom_data(self._metadata_text) if self._metadata_text else {}

    @cached_property
    def suits_rosbags(self) -> bool:
        """
        Return whether rosbags reads the messages in the order of the file, and within bounds.

        It sorts by log time, which would mix what is before and after a clock was set back, and it
        unpacks a chunk of any size.
        """
        if self._index_damage or self._chunks is None:
            return False
        starts = [chunk.message_start_time for chunk in self._chunks]
        ends = [chunk.message_end_time for chunk in self._chunks]
        if any(start < end for start, end in zip(starts[1:], ends, strict=False)):
            return False
        try:
            with _open(self.path) as stream:
                records = _Records(stream)
                return all(
                    chunk.message_index_offsets and _is_in_order(records, chunk)
                    and _has_its_size(records, chunk)
                    for chunk in self._chunks
                )
        except (Damage, StopIteration, struct.error, ValueError):
            return False

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """Yield the messages of some topics; raise Damage behind the last good block."""
        wanted = {topic: RawBlock(topic) for topic in topics}
        found: Counter[str] = Counter()
        damage = Damage(self._index_damage) if self._index_damage else None
        try:
            with _open(self.path) as stream:
                for key, log_time, payload, where in self._messages(_Records(stream)):
                    topic = self._channels[key].topic
                    found[topic] += 1
                    block = wanted.get(topic)
                    if block is not None:
                        _check_message(log_time, payload, where)
                        if block.add(log_time, payload):
                            yield block.take()
        except Damage as caught:
            damage = caught
        yield from (block for block in wanted.values() if len(block))
        if damage is not None:
            raise damage
        check_counts(self.topics, {topic: found[topic] for topic in topics})

    def _messages(self, records: _Records) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield channel, log time, payload and place of all messages up to the first damage."""
        kinds = _mcap().records
        for position, record in records.walk(len(MAGIC)):
            if isinstance(record, kinds.DataEnd | kinds.Footer):
                return
            if isinstance(record, kinds.Chunk):
                yield from self._chunk_messages(records, position, record)
            elif isinstance(record, kinds.Header) and position != len(MAGIC):
                raise Damage(f'no record that can be at byte {position}')
            else:
                yield from self._take(record, f'{position}{records.place}')
        raise Damage(
            f'it ends at byte {records.size} without the record that ends a bag: its recorder was '
            'killed, or the disk was full; how much is missing is not known'
        )

    def _chunk_messages(
        self, records: _Records, position: int, chunk: Any
    ) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield the messages of a chunk, of which the end may be missing."""
        kinds, where = _mcap().records, f' of the chunk at byte {position}'
        _, length = _RECORD.unpack(records.read_at(position, _RECORD.size))
        is_whole = position + _RECORD.size + length <= records.size
        inner = _Records(BytesIO(_unpack_chunk(chunk, is_whole, where)), where)
        try:
            for start, record in inner.walk(0):
                if not isinstance(record, kinds.Message | kinds.Schema | kinds.Channel):
                    raise Damage(f'no record that can be at byte {start}{where}')
                yield from self._take(record, f'{start}{where}')
        except Damage:
            if is_whole:
                raise
        if not is_whole:
            raise Damage(
                f'it ends at byte {records.size}, inside the chunk at byte {position}: it was cut '
                'off, its recorder was killed, or the disk was full'
            )

    def _take(self, record: Any, where: str) -> Iterator[tuple[int, int, bytes, str]]:
        """Yield a message; take note of a schema, a channel or metadata."""
        kinds = _mcap().records
        if isinstance(record, kinds.Message):
            if record.channel_id not in self._channels:
                raise Damage(f'a message of no known channel at byte {where}')
            yield record.channel_id, record.log_time, record.data, where
        elif isinstance(record, kinds.Schema):
            self._schemas.setdefault(record.id, three_part(record.name))
        elif isinstance(record, kinds.Channel):
            channel = _Channel(
                record.topic, self._schemas.get(record.schema_id, ''), record.message_encoding
            )
            if self._channels.setdefault(record.id, channel) != channel:
                raise Damage(f'channel {record.id} is defined in two ways')
        elif isinstance(record, kinds.Metadata) and record.name == 'rosbag2':
            # A recorder writes it anew at the end; only the last one is parsed.
            self._metadata_text = record.metadata.get('serialized_metadata', self._metadata_text)

    def _count(self, records: _Records) -> Counter[int]:
        """Count messages by channel up to the first damage, which may not be before a channel."""
        counts: Counter[int] = Counter()
        try:
            for key, *_ in self._messages(records):
                counts[key] += 1
        except Damage:
            if not self._channels:
                raise
        return counts

    def _read_summary(self, records: _Records) -> Any:
        """Return the statistics, None if they cannot be trusted; say what is wrong with them."""
        start_of_footer = records.size - _FOOTER_AND_MAGIC.size
        if start_of_footer < len(MAGIC):
            self._index_damage = f'it ends at byte {records.size}, before its first message'
            return None
        footer = records.read_at(start_of_footer, _FOOTER_AND_MAGIC.size)
        kind, length, start, _, checksum, magic = _FOOTER_AND_MAGIC.unpack(footer)
        if (_mcap().kinds.get(kind), length, magic) != ('FOOTER', 20, MAGIC):
            self._index_damage = 'it does not end as an MCAP file does; no message is lost'
            return None
        if not start:
            return None
        size = start_of_footer - start
        try:
            if not (start >= len(MAGIC) and 0 <= size <= LARGEST_RECORD):
                raise Damage('its length cannot be')
            summary = records.read_at(start, size)
            if checksum and zlib.crc32(summary + footer[:-len(MAGIC) - 4]) != checksum:
                raise Damage('its checksum is wrong')
            return self._parse_summary(records, summary)
        except Damage:
            self._schemas, self._channels = {}, {}
            self._index_damage = 'its index is damaged; no message is lost'
            return None

    def _parse_summary(self, records: _Records, summary: bytes) -> Any:
        kinds = _mcap().records
        statistics, chunks, metadata = None, [], []
        for _, record in _Records(BytesIO(summary)).walk(0):
            if isinstance(record, kinds.Statistics):
                statistics = record
            elif isinstance(record, kinds.ChunkIndex):
                chunks.append(record)
            elif isinstance(record, kinds.MetadataIndex):
                metadata.append(record)
            else:
                list(self._take(record, ''))
        # An index need not repeat the channels.
        if statistics is None or not statistics.channel_message_counts.keys() <= set(
            self._channels
        ):
            return None
        if (len(chunks), len(metadata)) == (statistics.chunk_count, statistics.metadata_count):
            self._chunks = sorted(chunks, key=lambda chunk: int(chunk.chunk_start_offset))
            if metadata:
                last = max(index.offset for index in metadata)
                list(self._take(next(records.walk(last))[1], ''))
        return statistics


def _open(path: Path) -> BinaryIO:
    try:
        return path.open('rb')
    except OSError as error:
        raise Damage(f'it cannot be read: {error.strerror}') from error


def _is_in_order(records: _Records, chunk: Any) -> bool:
    """Return whether the log times of each channel of a chunk never go back, by its indexes."""
    for start in chunk.message_index_offsets.values():
        _, _, _, size = _INDEX_START.unpack(records.read_at(start, _INDEX_START.size))
        entries = np.frombuffer(records.read_at(start + _INDEX_START.size, size), dtype='<u8')
        times, places = entries.reshape(-1, 2).T
        times = times[np.argsort(places)]
        if len(times) != size // 16 or np.any(times[1:] < times[:-1]):
            return False
    return True


def _has_its_size(records: _Records, chunk: Any) -> bool:
    """Return whether a chunk unpacks to the size that its index claims."""
    size: int = chunk.uncompressed_size
    if size > LARGEST_RECORD:
        return False
    if not chunk.compression:
        return True
    packed = next(records.walk(chunk.chunk_start_offset))[1].data
    return len(unpack(chunk.compression, packed, size + 1)) == size


def _unpack_chunk(chunk: Any, is_whole: bool, where: str) -> bytes:
    """Return the content of a chunk, checked where all of it is there."""
    data: bytes = chunk.data
    size = chunk.uncompressed_size
    if size > LARGEST_RECORD:
        raise Damage(f'{size} bytes{where}')
    if chunk.compression:
        try:
            data = unpack(chunk.compression, data, size)
        except Damage as damage:
            raise Damage(f'the content{where}: {damage}') from damage
    if is_whole and len(data) != size:
        raise Damage(f'{len(data)} bytes instead of {size}{where}')
    if is_whole and chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        raise Damage(f'the checksum{where} is wrong')
    return data


def _check_message(log_time: int, payload: bytes, where: str) -> None:
    if len(payload) > LARGEST_MESSAGE:
        raise Damage(f'a message of {len(payload)} bytes at byte {where}')
    if log_time > _LATEST:
        raise Damage(
            f'the log time {log_time} ns, more than {_LATEST}, of the message at byte {where}'
        )


def three_part(kind: str) -> str:
    """Return a type's name as ROS 2 writes it; some recorders leave out the middle part."""
    package, _, name = kind.rpartition('/')
    return kind if not package or package.endswith('/msg') else f'{package}/msg/{name}'


def check_counts(topics: Mapping[str, Topic], found: Mapping[str, int]) -> None:
    """Raise Damage where a file holds more or fewer messages of a topic than it counts."""
    for topic, count in found.items():
        if topic in topics and count != topics[topic].count:
            raise Damage(
                f'its statistics count {topics[topic].count} messages on {topic}, and there are '
                f'{count}'
            )
