# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Types of messages: their classes, and their definitions from the packages that are installed."""

from __future__ import annotations

import importlib
from pathlib import Path
import re
import struct
from typing import Any

from robot_identification.errors import BagError, DescriptionError, UsageError
from robot_identification.files import read_text
from robot_identification.recording import rosbags_library, uses_rosbag2

# A line of a .msg file that declares a field or a constant, up to its type.
_FIELD = re.compile(r'^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]', re.MULTILINE)
_PRIMITIVES = {
    'bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring',
    *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)),
}
STAMP_END = 12  # [bytes]; CDR: four in front, and a stamp of two 32-bit integers
_MOST_TYPES = 200  # number of types; chosen: far more than a message is nested of


def message_class(topic: str, kind: str) -> Any:
    """Return the Python class of a type; raise BagError if its package is not installed here."""
    try:
        package, folder, name = kind.split('/')
        return getattr(importlib.import_module(f'{package}.{folder}'), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BagError(
            f'{topic} cannot be recorded: its type {kind} is not installed here: install '
            f'ros-<distribution>-{kind.split("/")[0].replace("_", "-")}, or leave the topic out'
        ) from error


def has_header(message: Any) -> bool:
    """Return whether messages of a class begin with a header."""
    return next(iter(message.get_fields_and_field_types().values()), '') == 'std_msgs/Header'


def definitions_of(kind: str) -> dict[str, str]:
    """
    Return the text of the .msg files of a type and of all that it needs, by type.

    Standard types of ROS 2 are left out, and so is what is not installed; all are where rosbag2
    writes, which finds them itself.
    """
    if uses_rosbag2('mcap', 'rosbags'):
        return {}
    standard = rosbags_library().types.fielddefs
    found: dict[str, str] = {}
    wanted = [kind]
    while wanted and len(found) < _MOST_TYPES:
        name = wanted.pop()
        if name in standard or name in found:
            continue
        text = _installed_text(name)
        if text is not None:
            found[name] = text
            wanted += _types_in(text, name.split('/')[0])
    return found


def _types_in(text: str, package: str) -> list[str]:
    """Return the types that the fields of a definition have, other than primitive ones."""
    names = {name for name in _FIELD.findall(text) if name not in _PRIMITIVES}
    return [_full_name(name, package) for name in sorted(names)]


def _full_name(name: str, package: str) -> str:
    if name == 'Header':
        return 'std_msgs/msg/Header'
    parts = name.split('/')
    return f'{parts[0] if len(parts) > 1 else package}/msg/{parts[-1]}'


def _installed_text(kind: str) -> str | None:
    # Only ROS distributions have an index of what is installed.
    try:
        from ament_index_python.packages import get_package_share_directory

        package, _, name = kind.split('/')
        return read_text(Path(get_package_share_directory(package)) / 'msg' / f'{name}.msg')
    # A package that is not there is a KeyError, an index that is not there an OSError.
    except (ImportError, LookupError, OSError, ValueError, UsageError, DescriptionError):
        return None


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a serialized message that begins with a header, 0 without one."""
    if len(data) < STAMP_END:
        return 0
    # The second byte states how numbers are encoded; odd ones are little-endian.
    seconds, nanoseconds = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, 4)
    return int(seconds * 1_000_000_000 + nanoseconds)
