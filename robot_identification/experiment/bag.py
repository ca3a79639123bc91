# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Read and write rosbag2 bags.

Third-party errors become BagError here. A backend is anything that fulfils `BagBackend`; the one
in this file uses rosbags, which needs no ROS.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
import shutil
import struct
from types import SimpleNamespace
from typing import Any
from typing import Protocol

import numpy as np
from robot_identification.errors import BagError
from robot_identification.errors import DataError
from robot_identification.errors import MissingDependencyError
from robot_identification.errors import UsageError
from robot_identification.experiment.recording import FloatArray
from robot_identification.experiment.recording import Recording
from robot_identification.model.robot_model import JointEncoders
from robot_identification.model.robot_model import plain_encoders

JOINT_STATE = 'sensor_msgs/msg/JointState'
BLOCK_MESSAGES = 10_000
# Messages of one publisher may overtake each other by this much [ns]; a clock jumps by more.
LARGEST_DISORDER = 1_000_000_000
# What rosbags lets through from damaged files, besides its own errors.
_STRAY_ERRORS = (
    OSError, OverflowError, ValueError, KeyError, IndexError, AssertionError, struct.error,
    EOFError, MemoryError, RuntimeError,
)


@cache
def _rosbags() -> Any:
    """
    Return what we use of rosbags, with its types of ROS 2 Jazzy.

    Raises
    ------
    MissingDependencyError
        If it is not installed: on a robot machine it does not come with ROS.

    """
    try:
        from rosbags import rosbag2
        from rosbags import serde
        from rosbags import typesys
    except ImportError:
        raise MissingDependencyError(
            'rosbags', 'reading and writing bags', 'pip install rosbags'
        ) from None
    return SimpleNamespace(
        Reader=rosbag2.Reader,
        StoragePlugin=rosbag2.StoragePlugin,
        Writer=rosbag2.Writer,
        WriterError=rosbag2.WriterError,
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


class BagBackend(Protocol):
    """What reads a bag: rosbags here, rosbag2_py possible where ROS has it."""

    def topics(self, path: Path) -> dict[str, tuple[str, int]]:
        """Return type and message count by topic."""
        ...

    def metadata(self, path: Path) -> dict[str, str]:
        """Return the custom data of the bag."""
        ...

    def joint_states(self, path: Path, topic: str) -> Iterator[JointStateMessage]:
        """Yield the joint states of a topic in the order recorded."""
        ...


class RosbagsBackend:
    """Bags by the rosbags library: folders or single files, MCAP or sqlite3."""

    @contextmanager
    def _open(self, path: Path) -> Iterator[Any]:
        if not path.exists():
            raise UsageError(f'no such bag: {path}')
        if path.is_file() and path.stat().st_size == 0:
            raise BagError(f'{path} is an empty file: the recording was never written')
        try:
            with _rosbags().Reader(path) as reader:
                yield reader
        except FileNotFoundError as error:
            raise BagError(
                f'{path} is not a rosbag2 bag: no metadata.yaml in it; name the .mcap or .db3 '
                'file itself if the recorder was killed'
            ) from error
        except _rosbags().errors as error:
            raise BagError(f'{path} cannot be read as a rosbag2 bag: {error}') from error

    def topics(self, path: Path) -> dict[str, tuple[str, int]]:
        """Return type and message count by topic."""
        with self._open(path) as reader:
            return {c.topic: (c.msgtype, c.msgcount) for c in reader.connections}

    def metadata(self, path: Path) -> dict[str, str]:
        """Return the custom data of the bag."""
        with self._open(path) as reader:
            custom = reader.storage.metadata.custom or {}
            return {str(key): str(value) for key, value in custom.items()}

    def joint_states(self, path: Path, topic: str) -> Iterator[JointStateMessage]:
        """Yield the joint states of a topic in the order recorded."""
        with self._open(path) as reader:
            connections = [c for c in reader.connections if c.topic == topic]
            for _, log_time, raw in reader.messages(connections=connections):
                message: Any = _rosbags().types.deserialize_cdr(raw, JOINT_STATE)
                stamp = message.header.stamp
                yield JointStateMessage(
                    log_time,
                    stamp.sec * 1_000_000_000 + stamp.nanosec,
                    tuple(message.name),
                    message.position,
                    message.velocity,
                    message.effort,
                )


def find_joint_state_topic(
    path: Path, topic: str | None, backend: BagBackend | None = None
) -> str:
    """
    Return the joint-state topic of a bag.

    Parameters
    ----------
    path : Path
        The bag.
    topic : str, optional
        The topic asked for; by default /joint_states, or the only joint-state topic there is.
    backend : BagBackend, optional
        By default rosbags.

    Raises
    ------
    BagError
        If the bag is empty or has no such topic of joint states.

    """
    topics = (backend or RosbagsBackend()).topics(path)
    candidates = [name for name, (kind, _) in topics.items() if kind == JOINT_STATE]
    if not topics or not any(count for _, count in topics.values()):
        raise BagError(f'{path} holds no message: the recording is empty')
    chosen = topic or ('/joint_states' if '/joint_states' in candidates else None)
    if chosen is None and len(candidates) == 1:
        chosen = candidates[0]
    if chosen not in candidates:
        listing = ', '.join(f'{name} ({kind})' for name, (kind, _) in sorted(topics.items()))
        wanted = f'no topic {chosen} of joint states' if chosen else 'no topic of joint states'
        raise BagError(f'{path} has {wanted}; it has {listing}: name one with --topic')
    if not topics[chosen][1]:
        raise BagError(f'{path}: the topic {chosen} holds no message')
    return chosen


def read_recording(
    path: Path,
    joint_names: Sequence[str],
    *,
    topic: str | None = None,
    names: Mapping[str, str] | None = None,
    encoders: JointEncoders | None = None,
    backend: BagBackend | None = None,
) -> Recording:
    """
    Read the joint states of a bag, every message by joint name.

    Parameters
    ----------
    path : Path
        A rosbag2 folder, or its .mcap or .db3 file.
    joint_names : sequence of str
        Model names of the n joints, kinematic order.
    topic : str, optional
        By default /joint_states, or the only joint-state topic there is.
    names : mapping, optional
        Model name by bag name, where they differ.
    encoders : JointEncoders, optional
        How the driver's readings relate to the model; by default they are the model's.
    backend : BagBackend, optional
        By default rosbags.

    Raises
    ------
    UsageError
        If there is no such bag.
    BagError
        If it cannot be read or has no joint states.
    DataError
        If joints are missing from it.

    """
    backend = backend or RosbagsBackend()
    chosen = find_joint_state_topic(path, topic, backend)
    blocks = list(_blocks(backend.joint_states(path, chosen), path, joint_names, names or {}))
    log_times, stamps, q, dq, effort = (
        np.concatenate([block[i] for block in blocks]) for i in range(5)
    )
    encoders = plain_encoders(len(joint_names)) if encoders is None else encoders
    times, stamps_from = (log_times, 'log') if _are_broken(stamps) else (stamps, 'header')
    return Recording(
        source=str(path),
        topic=chosen,
        joint_names=tuple(joint_names),
        stamps=(times - times[0]) * 1e-9,
        q=encoders.to_model(q),
        dq=encoders.sign * dq,
        effort=encoders.sign * effort,
        start=int(times[0]),
        stamps_from=stamps_from,
        metadata=backend.metadata(path),
    )


def _are_broken(stamps: Any) -> bool:
    """
    Return whether header stamps, shape (N,) [ns], cannot serve as the time base.

    A stamp of zero means that nobody set it, but a simulated clock may start there. Neighbours
    may come out of order; a clock that was set back by more than that, or stands still, is broken.
    """
    absent = np.count_nonzero(stamps == 0) > 1
    steps = np.diff(stamps)
    still = steps.size > 0 and np.count_nonzero(steps == 0) > 0.5 * steps.size
    set_back = steps.size > 0 and steps.min() < -LARGEST_DISORDER
    return bool(absent or still or set_back)


def _blocks(
    messages: Iterable[JointStateMessage],
    path: Path,
    joint_names: Sequence[str],
    names: Mapping[str, str],
) -> Iterator[tuple[Any, ...]]:
    """Yield log times, stamps, positions, velocities and efforts of up to BLOCK_MESSAGES."""
    columns: dict[tuple[str, ...], list[int]] = {}
    others: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = []
    for message in messages:
        known = {names.get(name, name) for name in message.name}
        if message.name and not known & set(joint_names):
            # A gripper that publishes on the same topic.
            others = message.name
            continue
        if message.name not in columns:
            columns[message.name] = _columns_by_name(message.name, path, joint_names, names)
        index = columns[message.name]
        size = len(message.name)
        rows.append((
            message.log_time,
            message.stamp,
            *(
                values[index] if len(values) == size else np.full(len(index), np.nan)
                for values in (message.position, message.velocity, message.effort)
            ),
        ))
        if len(rows) == BLOCK_MESSAGES:
            yield tuple(np.array(column) for column in zip(*rows, strict=True))
            rows = []
    if rows:
        yield tuple(np.array(column) for column in zip(*rows, strict=True))
    if not columns:
        _columns_by_name(others, path, joint_names, names)


def _columns_by_name(
    found: tuple[str, ...], path: Path, joint_names: Sequence[str], names: Mapping[str, str]
) -> list[int]:
    renamed = [names.get(name, name) for name in found]
    missing = [name for name in joint_names if name not in renamed]
    if missing:
        raise DataError(
            f'{path} lacks the joint{"s" if len(missing) > 1 else ""} {", ".join(missing)} of the '
            f'model; a message names {", ".join(found) or "no joint"}: choose joints with '
            '--joints, or say what is what with --joint-names BAG=MODEL,..'
        )
    return [renamed.index(name) for name in joint_names]


class BagWriter:
    """
    A rosbag2 MCAP bag being written, message by message, as serialised bytes.

    Parameters
    ----------
    path : Path
        Folder of the bag; it must not exist.
    metadata : mapping of str to str
        Custom data of the bag (robot, effort unit, ...).

    Raises
    ------
    UsageError
        If `path` exists.

    """

    def __init__(self, path: Path, metadata: Mapping[str, str]) -> None:
        if path.exists():
            raise UsageError(f'{path} exists already: name another bag')
        rosbags = _rosbags()
        self._writer = rosbags.Writer(
            path, version=9, storage_plugin=rosbags.StoragePlugin.MCAP
        )
        for key, value in metadata.items():
            self._writer.set_custom_data(key, value)
        try:
            self._writer.open()
        except (OSError, rosbags.WriterError) as error:
            raise BagError(f'{path} cannot be written: {error}') from error
        self._connections: dict[str, Any] = {}
        self.path = path
        self.message_count = 0

    def add_topic(self, topic: str, msgtype: str) -> None:
        """
        Declare a topic before its first message.

        Raises
        ------
        BagError
            If the definition of its type is not known.

        """
        try:
            self._connections[topic] = self._writer.add_connection(
                topic, msgtype, typestore=_rosbags().types
            )
        except _rosbags().type_errors as error:
            raise BagError(
                f'{topic} cannot be recorded: its type {msgtype} is not one of the standard '
                'messages of ROS 2; leave it out'
            ) from error

    def write(self, topic: str, log_time: int, data: bytes) -> None:
        """Write one serialised message; `log_time` in ns."""
        try:
            self._writer.write(self._connections[topic], log_time, data)
        except OSError as error:
            raise BagError(f'{self.path} cannot be written on: {error}') from error
        self.message_count += 1

    def close(self) -> None:
        """Write the bag's index and metadata.yaml."""
        self._writer.close()


def write_joint_states(
    path: Path,
    joint_names: Sequence[str],
    stamps: FloatArray,
    samples: Mapping[str, tuple[FloatArray, FloatArray, FloatArray]],
    metadata: Mapping[str, str],
) -> None:
    """
    Write a bag of joint states, whole or not at all.

    Parameters
    ----------
    path : Path
        Folder of the bag; it must not exist.
    joint_names : sequence of str
        Names in the messages.
    stamps : ndarray, shape (N,)
        Header stamps [s].
    samples : mapping
        Position [rad], velocity [rad/s] and effort, each of shape (N, n), by topic.
    metadata : mapping of str to str
        Custom data of the bag.

    Raises
    ------
    UsageError
        If `path` exists.

    """
    if path.exists():
        raise UsageError(f'{path} exists already: name another bag')
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f'.{path.name}.partial')
    shutil.rmtree(partial, ignore_errors=True)
    types = _rosbags().types
    header = types.types['std_msgs/msg/Header']
    time = types.types['builtin_interfaces/msg/Time']
    joint_state = types.types[JOINT_STATE]
    # The folder is renamed at the end, the file in it keeps the name it was written under.
    writer = BagWriter(partial / path.name, metadata)
    try:
        for topic in samples:
            writer.add_topic(topic, JOINT_STATE)
        # The serialiser wants rows that lie in one piece.
        rows = {
            topic: tuple(np.ascontiguousarray(values, dtype=float) for values in arrays)
            for topic, arrays in samples.items()
        }
        nanoseconds = np.round(np.asarray(stamps) * 1e9).astype(np.int64)
        for k, stamp in enumerate(nanoseconds.tolist()):
            seconds, rest = divmod(stamp, 1_000_000_000)
            for topic, (q, dq, effort) in rows.items():
                message = joint_state(
                    header(time(seconds, rest), ''), list(joint_names), q[k], dq[k], effort[k]
                )
                data = types.serialize_cdr(message, JOINT_STATE)
                writer.write(topic, stamp, bytes(data))
    except BaseException:
        writer.close()
        shutil.rmtree(partial, ignore_errors=True)
        raise
    writer.close()
    writer.path.replace(path)
    shutil.rmtree(partial, ignore_errors=True)
