# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Intact bags by the rosbags library, which needs no ROS; it also defines types."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from robot_identification.errors import MissingDependencyError, needing
from robot_identification.recording.raw_bag import RawBlock

# What rosbags puts into a URI for sqlite3 as it is, where it means something else.
_SPECIAL = frozenset('?#%')


class NotIntactError(Exception):
    """A bag that rosbags cannot read as it was recorded, or not without harm."""


@cache
def rosbags_library() -> Any:
    """Return what is used of rosbags, and its types of ROS 2 Jazzy."""
    with needing('rosbags', 'reading bags'):
        from rosbags import rosbag2, typesys
    return SimpleNamespace(
        Reader=rosbag2.Reader,
        type_errors=(typesys.TypesysError, KeyError),
        types=typesys.get_typestore(typesys.Stores.ROS2_JAZZY),
    )


def read_by_rosbags(path: Path, topics: Collection[str]) -> Iterator[RawBlock]:
    """
    Yield the messages of some topics of a file in the order of their log times.

    Raise NotIntactError where rosbags fails, possibly behind good blocks.
    """
    if _SPECIAL & set(str(path)):
        raise NotIntactError
    blocks = {topic: RawBlock(topic) for topic in topics}
    try:
        make_reader = rosbags_library().Reader
    except MissingDependencyError:
        raise NotIntactError from None
    try:
        with make_reader(path) as reader:
            wanted = [c for c in reader.connections if c.topic in blocks]
            # No connection at all would mean every one of them.
            for connection, log_time, data in reader.messages(wanted) if wanted else ():
                block = blocks[connection.topic]
                if block.add(log_time, bytes(data)):
                    yield block.take()
    except Exception as error:
        # For any exception the careful readers state what is wrong.
        raise NotIntactError from error
    yield from (block for block in blocks.values() if len(block))
