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

"""Write rosbag2 bags in MCAP, message by message or samples as joint states."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
import shutil
from typing import Any

import numpy as np
from robot_identification.errors import BagError
from robot_identification.errors import UsageError
from robot_identification.experiment.joint_states import JOINT_STATE
from robot_identification.experiment.recording import FloatArray
from robot_identification.experiment.rosbags_backend import rosbags_library


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
        rosbags = rosbags_library()
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
                topic, msgtype, typestore=rosbags_library().types
            )
        except rosbags_library().type_errors as error:
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


@contextmanager
def new_bag(path: Path, metadata: Mapping[str, str]) -> Iterator[BagWriter]:
    """
    Write a bag whole or not at all.

    Parameters
    ----------
    path : Path
        Folder of the bag; it must not exist.
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
    # The folder is renamed at the end, the file in it keeps the name it was written under.
    writer = BagWriter(partial / path.name, metadata)
    try:
        try:
            yield writer
        finally:
            # On a full disk, closing fails as well.
            writer.close()
        writer.path.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
    types = rosbags_library().types
    header = types.types['std_msgs/msg/Header']
    time = types.types['builtin_interfaces/msg/Time']
    joint_state = types.types[JOINT_STATE]
    with new_bag(path, metadata) as writer:
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
