# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
MCAP files by rosbag2_py, on machines that have ROS from apt, and neither rosbags nor mcap.

The only file outside `nodes` that imports a package of ROS: `identify` works without ROS where
rosbags is, and without rosbags where ROS is. Messages are serialized and decoded by `cdr` on both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
import importlib
import os
from pathlib import Path
from typing import Any, BinaryIO

from robot_identification.errors import MissingDependencyError
from robot_identification.recording.mcap_file import check_counts, MAGIC, three_part
from robot_identification.recording.raw_bag import Damage, LARGEST_MESSAGE, RawBlock, Topic

# What rosbag2 may keep of a file before it hands it to the system [bytes]; chosen: far more than
# the buffer of 4 kB that it was measured to keep without chunks.
_LARGEST_BUFFER = 1 << 20


def uses_rosbag2(*modules: str) -> bool:
    """
    Return whether rosbag2_py does the work of modules from PyPI, because one of them is missing.

    Raise MissingDependencyError if it is not there either.
    """
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError:
        _rosbag2()
        return True
    return False


@cache
def _rosbag2() -> Any:
    try:
        import rosbag2_py
    except ImportError:
        raise MissingDependencyError(
            'rosbags and mcap, or rosbag2_py of ROS', 'reading and writing bags',
            'pip install rosbags mcap` or, with ROS 2, `sudo apt install '
            'ros-$ROS_DISTRO-rosbag2-py ros-$ROS_DISTRO-rosbag2-storage-mcap',
        ) from None
    return rosbag2_py


class Rosbag2File:
    """One file to read; of a damaged one, rosbag2 gives what it finds before the damage."""

    storage = 'mcap'
    suits_rosbags = False

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open('rb') as stream:
            stream.seek(-len(MAGIC), os.SEEK_END)
            self._is_closed = stream.read() == MAGIC
        metadata = self._open().get_metadata()
        # What the recorder noted; Humble's rosbag2_py does not tell it.
        self.custom_data: dict[str, str] = dict(getattr(metadata, 'custom_data', {}))
        # First and last log time by the file's own statistics [ns].
        self.span: tuple[int, int] | None = None
        if self._is_closed and metadata.message_count:
            start = metadata.starting_time.nanoseconds
            self.span = (start, start + metadata.duration.nanoseconds)
        self.topics = {  # those in CDR
            found.topic_metadata.name: Topic(
                three_part(found.topic_metadata.type), found.message_count
            )
            for found in metadata.topics_with_message_count
            if found.topic_metadata.serialization_format == 'cdr'
        }

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """Yield the messages of some topics; raise Damage behind the last good block."""
        wanted = {topic: RawBlock(topic) for topic in topics}
        found: Counter[str] = Counter()
        damage = None if self._is_closed else Damage(
            'it does not end as an MCAP file does: its recorder was killed, or it was cut off; '
            'rosbag2_py may have left out a last part that `pip install mcap` lets be read'
        )
        try:
            for topic, payload, log_time in self._messages(topics):
                if len(payload) > LARGEST_MESSAGE or log_time < 0:
                    raise Damage(
                        f'a message of {len(payload)} bytes at {log_time} ns on {topic} behind '
                        f'{found[topic]} others'
                    )
                found[topic] += 1
                if wanted[topic].add(log_time, payload):
                    yield wanted[topic].take()
        except (Damage, RuntimeError) as caught:
            damage = Damage(str(caught))
        yield from (block for block in wanted.values() if len(block))
        if damage is not None:
            raise damage
        check_counts(self.topics, {topic: found[topic] for topic in topics})

    def _messages(self, topics: Collection[str]) -> Iterator[tuple[str, bytes, int]]:
        # An empty filter would let every topic pass.
        if not topics:
            return
        library, reader = _rosbag2(), self._open()
        # Humble's reads in this order, and takes no other.
        if hasattr(reader, 'set_read_order'):
            reader.set_read_order(library.ReadOrder(library.ReadOrderSortBy.File, False))
        reader.set_filter(library.StorageFilter(topics=list(topics)))
        while reader.has_next():
            yield reader.read_next()

    def _open(self) -> Any:
        library = _rosbag2()
        reader = library.SequentialReader()
        try:
            reader.open(
                library.StorageOptions(uri=str(self.path), storage_id=self.storage),
                library.ConverterOptions('', ''),
            )
        except RuntimeError as error:
            raise Damage(f'rosbag2_py cannot open it: {error}') from error
        return reader


class Rosbag2Records:
    """
    The records of a new file, without chunks: a killed process loses what rosbag2 buffers.

    rosbag2 names the file by its folder, which it makes, notes its own metadata, and finds the
    definitions of types itself. It does not notice that the disk refuses data, so what is in the
    file is compared with what was written.
    """

    def __init__(self, file: Path, custom_data: Mapping[str, str]) -> None:
        library = _rosbag2()
        options = library.StorageOptions(
            uri=str(file.parent), storage_id='mcap', storage_preset_profile='fastwrite'
        )
        if hasattr(options, 'custom_data'):  # Humble's has none
            options.custom_data = dict(custom_data)
        self._payload = 0
        self._writer = library.SequentialWriter()
        with _disk_errors():
            self._writer.open(options, library.ConverterOptions('', ''))
        self._stream: BinaryIO | None = file.open('rb')
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes in the file."""
        if self._stream is not None:
            self._size = os.fstat(self._stream.fileno()).st_size
        return self._size

    def start(self, text: str) -> None:
        """Do nothing: the file has begun."""

    def declare(
        self, topic: str, msgtype: str, definitions: Mapping[str, str], profiles: str
    ) -> tuple[str, str]:
        """Declare a topic; return what names it, and no hash of its type."""
        words = {'name': topic, 'type': msgtype, 'serialization_format': 'cdr'}
        make = _rosbag2().TopicMetadata
        try:
            metadata = make(id=0, **words)
        except TypeError:  # before Jazzy
            metadata = make(**words)
        with _disk_errors():
            self._writer.create_topic(metadata)
        return topic, ''

    def write(self, topic: str, log_time: int, data: bytes) -> None:
        """Write a message at a log time [ns]."""
        with _disk_errors():
            self._writer.write(topic, data, log_time)
        self._payload += len(data)

    def flush(self, buffered: int = _LARGEST_BUFFER) -> None:
        """Raise OSError if the file lacks more of what was written than `buffered` bytes."""
        if self.size + buffered < self._payload:
            raise OSError(
                f'{self._payload} bytes were written, and {self.size} are in the file: the disk '
                'is full'
            )

    def note(self, text: str) -> None:
        """Do nothing: rosbag2 notes its own metadata."""

    def finish(self, sync: bool) -> None:
        """Close the file, with `sync` when the disk has it."""
        assert self._stream is not None
        self._writer.close()
        self.flush(buffered=0)
        if sync:
            os.fsync(self._stream.fileno())
        self._end()

    def close(self) -> None:
        """Close the file if it is open; rosbag2 writes its end, and a metadata.yaml next to it."""
        if self._stream is not None:
            self._writer.close()
            self._end()

    def _end(self) -> None:
        assert self._stream is not None
        self._size = self.size
        self._stream.close()
        self._stream = None
        # Closed once more at its deletion, it would write its metadata.yaml over ours.
        self._writer = None


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Raise what rosbag2 says as an error of the disk."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(str(error)) from error
