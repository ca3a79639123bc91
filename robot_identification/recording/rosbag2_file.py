# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Libraries that write bags: rosbags and mcap, or rosbag2_py of ROS where these are not there.

The only file outside `nodes` that imports a package of ROS. Messages are serialized by `cdr`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
import importlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from robot_identification.errors import MissingDependencyError, needing

# What rosbag2 may keep of a file before it hands it to the system [bytes]; chosen: far more than
# the buffer of 4 kB that it was measured to keep without chunks.
_LARGEST_BUFFER = 1 << 20


def uses_rosbag2(*modules: str) -> bool:
    """
    Return whether rosbag2_py writes bags, because one of the modules from PyPI is missing.

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
def rosbags_library() -> Any:
    """Return what is used of rosbags, and its types of ROS 2 Jazzy."""
    with needing('rosbags', 'writing bags'):
        from rosbags import typesys
    return SimpleNamespace(
        type_errors=(typesys.TypesysError, KeyError),
        types=typesys.get_typestore(typesys.Stores.ROS2_JAZZY),
    )


@cache
def _rosbag2() -> Any:
    try:
        import rosbag2_py
    except ImportError:
        raise MissingDependencyError(
            'rosbags and mcap, or rosbag2_py of ROS', 'writing bags',
            'pip install rosbags mcap` or, with ROS 2, `sudo apt install '
            'ros-$ROS_DISTRO-rosbag2-py ros-$ROS_DISTRO-rosbag2-storage-mcap',
        ) from None
    return rosbag2_py


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

    def finish(self, metadata: str, sync: bool) -> None:
        """Close the file, with `sync` when the disk has it; rosbag2 notes its own metadata."""
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
