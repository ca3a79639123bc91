# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Write rosbag2 bags in MCAP, message by message or samples as joint states.

Chunks are whole records in the file as soon as they are written, and the custom data stand at its
front, so that a file whose writer was killed is good up to its last chunk.

Format: https://mcap.dev/spec, and the metadata.yaml of rosbag2, version 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
import shutil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.errors import BagError, needing, UsageError
from robot_identification.files import new_beside, write_atomically
from robot_identification.recording.cdr import Packer
from robot_identification.recording.joint_states import JOINT_STATE
from robot_identification.recording.raw_bag import METADATA_FILE
from robot_identification.recording.rosbag2_file import (
    Rosbag2Records, rosbags_library, uses_rosbag2,
)
import yaml

# Of a bag that is not read before it is whole [bytes].
CHUNK_SIZE = 1 << 20
_VERSION = 9  # of metadata.yaml
# rosbag2's time of the first message where there is none [ns].
_NO_TIME = (1 << 63) - 1

IntegerTimes = NDArray[np.int64]
# Type of the messages on a topic, and what packs one of the number of its row and a stamp [ns].
Maker = tuple[str, Callable[[int, int], bytes]]


@dataclass(frozen=True)
class OfferedQos:
    """Quality of service that a publisher offers, in rosbag2's words."""

    # As ROS names them, in small letters.
    reliability: str = 'reliable'
    durability: str = 'volatile'
    history: str = 'unknown'
    depth: int = 0  # length of the publisher's queue, 0 where it is not known
    liveliness: str = 'automatic'
    # Durations [ns].
    deadline: int = _NO_TIME
    lifespan: int = _NO_TIME
    lease: int = _NO_TIME

    def as_dict(self) -> dict[str, Any]:
        """Return it as metadata.yaml of version 9 holds it, every key and words for enums."""
        return {
            'history': self.history,
            'depth': self.depth,
            'reliability': self.reliability,
            'durability': self.durability,
            'deadline': _duration(self.deadline),
            'lifespan': _duration(self.lifespan),
            'liveliness': self.liveliness,
            'liveliness_lease_duration': _duration(self.lease),
            'avoid_ros_namespace_conventions': False,
        }


def _duration(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return {'sec': seconds, 'nsec': rest}


@dataclass
class _Topic:
    name: str
    kind: str
    type_hash: str
    qos: tuple[OfferedQos, ...]
    channel: Any  # what names it in the file
    count: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            'topic_metadata': {
                'name': self.name,
                'type': self.kind,
                'serialization_format': 'cdr',
                'offered_qos_profiles': [qos.as_dict() for qos in self.qos],
                'type_description_hash': self.type_hash,
            },
            'message_count': self.count,
        }


class _RecordFile:
    """
    A new file of whole records: one that does not fit on the disk is taken back.

    The mcap library hands over whole records, and nothing is buffered here, so what is written
    outlives the process.
    """

    def __init__(self, path: Path) -> None:
        self._stream = path.open('xb', buffering=0)
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write records, all of them or none."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._stream.write(view):]
        except OSError:
            with suppress(OSError):
                self._stream.truncate(self.size)
            raise
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the position behind the last record."""
        return self.size

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self, sync: bool) -> None:
        """Close it, with `sync` when the disk has it."""
        if sync:
            os.fsync(self._stream.fileno())
        self._stream.close()


class _McapRecords:
    """The records of a new file by the mcap library, with definitions and hashes of rosbags."""

    def __init__(self, file: Path, chunk_size: int, metadata: str) -> None:
        with needing('mcap', 'writing bags'):
            from mcap.writer import CompressionType, Writer
        file.parent.mkdir(parents=True)
        self._file = _RecordFile(file)
        make: Any = Writer  # typed for files of Python alone
        self._writer = make(self._file, chunk_size=chunk_size, compression=CompressionType.NONE)
        self._schemas: dict[str, int] = {}
        try:
            self._writer.start(profile='ros2', library='robot_identification')
            self._note(metadata)
        except OSError:
            self.close()
            shutil.rmtree(file.parent, ignore_errors=True)
            raise

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self._file.size

    def declare(
        self, topic: str, msgtype: str, definitions: Mapping[str, str], profiles: str
    ) -> tuple[int, str]:
        """Declare a topic; return its channel and the hash of its type."""
        definition, type_hash = _definition_of(topic, msgtype, definitions)
        if msgtype not in self._schemas:
            self._schemas[msgtype] = self._writer.register_schema(
                msgtype, 'ros2msg', definition.encode()
            )
        return self._writer.register_channel(
            topic, 'cdr', self._schemas[msgtype],
            {'offered_qos_profiles': profiles, 'topic_type_hash': type_hash},
        ), type_hash

    def write(self, channel: int, log_time: int, data: bytes) -> None:
        """Write a message at a log time [ns]."""
        self._writer.add_message(channel, log_time, data, log_time)

    def flush(self) -> None:
        """Write the collected messages."""
        self._writer.flush()

    def _note(self, metadata: str) -> None:
        """Put a copy of metadata.yaml into the file, as rosbag2 does."""
        self._writer.add_metadata('rosbag2', {'serialized_metadata': metadata})

    def finish(self, metadata: str, sync: bool) -> None:
        """Write metadata and index and close the file, with `sync` when the disk has it."""
        self._note(metadata)
        self._writer.finish()
        self._file.close(sync)

    def close(self) -> None:
        """Close the file as it is."""
        self._file.close(sync=False)


class BagWriter:
    """
    Writer of a rosbag2 MCAP bag, message by message, as serialized bytes.

    `path` is the folder of the bag and must not exist; `metadata` is its custom data (robot,
    effort unit, ...), kept in `custom_data`, which may be added to until `close` writes it.
    `chunk_size` bytes of messages are collected before they are written; if the process is killed,
    the collected ones are missing. With `sync`, `close` waits until the disk has everything.
    `file` holds the messages, `message_count` of them; `failed` is true once the disk has refused
    a write, and nothing is written any more. Raises UsageError if `path` exists, BagError if it
    cannot be created, MissingDependencyError if a library is not installed.
    """

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        *,
        chunk_size: int = CHUNK_SIZE,
        sync: bool = False,
    ) -> None:
        if path.exists():
            raise UsageError(f'{path} exists already: name another bag')
        self.path = path
        # `ros2 bag reindex` finds no file without a number.
        self.file = path / f'{path.name}_0.mcap'
        self.message_count = 0
        self.custom_data = dict(metadata)
        self._topics: dict[str, _Topic] = {}
        self._first, self._last = _NO_TIME, 0
        self._sync = sync
        self.failed = False
        try:
            self._records: _McapRecords | Rosbag2Records = (
                Rosbag2Records(self.file, metadata) if uses_rosbag2('mcap', 'rosbags')
                else _McapRecords(self.file, chunk_size, self._note())
            )
        except OSError as error:
            raise BagError(f'{path} cannot be written: {error}') from error
        self._empty = self._records.size

    @property
    def byte_count(self) -> int:
        """Bytes in the file."""
        return self._records.size

    def add_topic(
        self,
        topic: str,
        msgtype: str,
        *,
        definitions: Mapping[str, str] | None = None,
        qos: Sequence[OfferedQos] = (),
    ) -> None:
        """
        Declare a topic before its first message.

        `definitions` maps types that are no standard messages of ROS 2 to the text of their .msg
        files; `qos` is offered by the publishers of the topic. Raises BagError if the definition
        of `msgtype` is unknown.
        """
        profiles = _dump([offer.as_dict() for offer in qos])
        channel, type_hash = self._records.declare(topic, msgtype, definitions or {}, profiles)
        self._topics[topic] = _Topic(topic, msgtype, type_hash, tuple(qos), channel)

    def write(self, topic: str, log_time: int, data: bytes) -> None:
        """Write a serialized message at a log time [ns]; BagError if the disk refuses it."""
        entry = self._topics[topic]
        with self._whole_records():
            self._records.write(entry.channel, log_time, data)
        entry.count += 1
        self.message_count += 1
        self._first, self._last = min(self._first, log_time), max(self._last, log_time)

    def flush(self) -> None:
        """Write the collected messages; raises BagError if the disk refuses them."""
        with self._whole_records():
            self._records.flush()

    def abandon(self) -> None:
        """Close the file and touch nothing else: what is at its place may be another program's."""
        self._records.close()

    def discard(self) -> None:
        """Close the file and remove the bag."""
        self._records.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """
        Write the index and the metadata.yaml of the bag.

        After a disk error the file stays as it is, valid up to its last chunk; a bag without a
        chunk is removed. Raises BagError if the disk refuses the data.
        """
        try:
            if not self.failed:
                self._finish()
        finally:
            self._records.close()
            if self.failed and self._records.size == self._empty:
                self.discard()

    def _finish(self) -> None:
        with self._whole_records():
            self._records.flush()
            self._records.finish(self._note(), self._sync)
            text = _dump({'rosbag2_bagfile_information': self._information()})
            write_atomically(self.path / METADATA_FILE, text)

    @contextmanager
    def _whole_records(self) -> Iterator[None]:
        if self.failed:
            raise BagError(f'{self.path} could not be written on: it ends before this')
        try:
            yield
        except OSError as error:
            self.failed = True
            raise BagError(
                f'{self.path} cannot be written on: {error}; what it holds up to then can be '
                'read: make room on the disk'
            ) from error

    def _note(self) -> str:
        """Return the copy of metadata.yaml that is in the file."""
        return _dump(self._information()).strip()

    def _information(self) -> dict[str, Any]:
        name = self.file.name
        start = {'nanoseconds_since_epoch': self._first}
        duration = {'nanoseconds': max(self._last - self._first, 0)}
        return {
            'version': _VERSION,
            'storage_identifier': 'mcap',
            'duration': duration,
            'starting_time': start,
            'message_count': self.message_count,
            'topics_with_message_count': [topic.as_dict() for topic in self._topics.values()],
            'compression_format': '',
            'compression_mode': '',
            'relative_file_paths': [name],
            'files': [{
                'path': name,
                'starting_time': start,
                'duration': duration,
                'message_count': self.message_count,
            }],
            'custom_data': {
                key: _Text(value) for key, value in self.custom_data.items()
            } or None,
            'ros_distro': os.environ.get('ROS_DISTRO', 'robot_identification'),
        }


class _Text(str):
    """A text that looks like one to every YAML reader, a hash such as 12e34 included."""


class _Dumper(yaml.SafeDumper):
    """Nothing is written as a reference to what stands before it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    _Text,
    lambda dumper, text: dumper.represent_scalar('tag:yaml.org,2002:str', str(text), style="'"),
)


def _dump(content: Any) -> str:
    return str(yaml.dump(content, Dumper=_Dumper, sort_keys=False, default_flow_style=False))


def _definition_of(topic: str, msgtype: str, definitions: Mapping[str, str]) -> tuple[str, str]:
    """Return the definition of a type with all that it needs, and its RIHS01 hash."""
    library = rosbags_library()
    try:
        types = library.types
        if definitions:
            types = _types_with(definitions)
        return types.generate_msgdef(msgtype, ros_version=2)[0], types.hash_rihs01(msgtype)
    except library.type_errors as error:
        raise BagError(
            f'{topic} cannot be recorded: its type {msgtype} is neither a standard message of '
            'ROS 2 nor defined here: install the package that defines it, or leave the topic out'
        ) from error


def _types_with(definitions: Mapping[str, str]) -> Any:
    """Return the standard types of ROS 2 Jazzy and others."""
    from rosbags import typesys

    types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    for name, text in definitions.items():
        types.register({
            key: value for key, value in typesys.get_types_from_msg(text, name).items()
            if key not in types.fielddefs
        })
    return types


@contextmanager
def new_bag(path: Path, metadata: Mapping[str, str]) -> Iterator[BagWriter]:
    """
    Write a bag whole or not at all.

    `metadata` is custom data of the bag. Raises UsageError if `path`, its folder, exists, and
    OSError if the disk is full.
    """
    if path.exists():
        raise UsageError(f'{path} exists already: name another bag')
    with new_beside(path, is_folder=True) as partial:
        # The folder is renamed at the end, the file in it keeps the name it was written under.
        writer = BagWriter(partial / path.name, metadata)
        try:
            try:
                yield writer
            finally:
                # On a full disk, closing fails as well.
                writer.close()
            writer.path.replace(path)
        except BagError as error:
            # Nothing is left that could be read, so it is the disk's error, as of any other file.
            if writer.failed and isinstance(error.__cause__, OSError):
                raise error.__cause__ from None
            raise


def write_samples(
    writer: BagWriter, nanoseconds: IntegerTimes, makers: Mapping[str, Maker]
) -> None:
    """Write a message on every topic at each log time (N,) [ns]; `makers` give type and maker."""
    for topic, (kind, _) in makers.items():
        writer.add_topic(topic, kind)
    for k, stamp in enumerate(nanoseconds.tolist()):
        for topic, (_, make) in makers.items():
            writer.write(topic, stamp, make(k, stamp))


def joint_state_maker(
    names: Sequence[str], q: FloatArray, dq: FloatArray, effort: FloatArray
) -> Maker:
    """Return what packs the joint state of a row of values (N, n), or (N, 0), at a stamp [ns]."""
    def pack(k: int, stamp: int) -> bytes:
        packer = Packer()
        packer.words(*divmod(stamp, 1_000_000_000))
        packer.texts([''])
        packer.words(len(names))
        packer.texts(names)
        for values in (q, dq, effort):
            packer.numbers(values[k])
        return bytes(packer.data)

    return JOINT_STATE, pack


def write_joint_states(
    path: Path,
    joint_names: Sequence[str],
    stamps: FloatArray,
    samples: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]],
    metadata: Mapping[str, str],
) -> None:
    """
    Write a bag of joint states, whole or not at all, stamped at `stamps` [s].

    By topic, samples are position [rad], velocity [rad/s] and effort, each (N, n). Raise
    UsageError if `path` exists.
    """
    with new_bag(path, metadata) as writer:
        write_samples(writer, np.round(np.asarray(stamps) * 1e9).astype(np.int64), {
            topic: joint_state_maker(joint_names, *arrays) for topic, arrays in samples.items()
        })
