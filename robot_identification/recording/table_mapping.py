# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Mappings: which columns of a table hold what, and in which unit.

Docs: docs/formats/mapping.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import check_keys, check_schema_version, is_number, read_yaml
from robot_identification.model import share_directory
from robot_identification.recording.column_words import QUANTITIES, UNITS
import yaml

SCHEMA_VERSION = 1  # of mappings


@dataclass(frozen=True)
class Columns:
    """Columns of one quantity."""

    # A pattern with `{joint}`, `{i}` (from 0) or `{number}` (from 1), or one name a joint
    names: str | tuple[str, ...]
    unit: str = ''  # One of UNITS; empty where it is the user's to say, of the effort alone
    scale: float = 1.0  # From the unit of the table to that of the recording

    def of_joint(self, index: int, joint: str) -> str:
        """Return the column of a joint; there is none beyond a list of names."""
        if isinstance(self.names, str):
            return fill(self.names, index, joint)
        return self.names[index] if index < len(self.names) else ''

    def joints_in(self, header: Sequence[str]) -> tuple[str, ...]:
        """Return the joints whose columns a header has, none where no pattern names them."""
        if not isinstance(self.names, str) or '{joint}' not in self.names:
            return ()
        before, _, after = self.names.partition('{joint}')
        return tuple(
            name[len(before):len(name) - len(after)] for name in header
            if name.startswith(before) and name.endswith(after)
            and len(name) > len(before) + len(after)
        )

    def shown(self) -> str:
        """Return the names in one line; of many the first and the last."""
        if isinstance(self.names, str):
            return self.names
        if len(self.names) > 3:
            return f'{self.names[0]} .. {self.names[-1]}'
        return ', '.join(self.names)


def make_columns(quantity: str, names: str | Sequence[str], unit: str) -> Columns:
    """Return the columns of a quantity in one of its units; an empty unit changes nothing."""
    given = names if isinstance(names, str) else tuple(names)
    return Columns(given, unit, UNITS[quantity].get(unit, 1.0))


def fill(pattern: str, index: int, joint: str) -> str:
    """Return the column that a pattern means for a joint, counted from 0."""
    for word, value in (('{joint}', joint), ('{i}', index), ('{number}', index + 1)):
        pattern = pattern.replace(word, str(value))
    return pattern


@dataclass(frozen=True)
class TableMapping:
    """Meaning of the columns of a table."""

    time: Columns  # One column; its name is empty where `rate` serves
    # 'q', and what there is of 'dq', 'effort', 'temperature' and 'rotor_position'
    quantities: Mapping[str, Columns]
    # Joints in the order of the columns; empty where the columns name them, or where they are the
    # model's
    joints: tuple[str, ...] = ()
    delimiter: str = ''  # Between columns of a text; empty where it is to be found
    # 'effort_unit' and 'robot', as far as they are stated
    metadata: Mapping[str, str] = field(default_factory=dict)
    nanoseconds: str = ''  # Column with the nanoseconds to be added to whole seconds, if any
    rate: float | None = None  # Rows per second, where no column holds the time [Hz]
    command: Columns | None = None  # Positions that were commanded, in a unit of `q`
    recognized: bool = False  # Whether it was found from the names of the columns
    # How units that no header states were found, by quantity
    checks: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # What a reader should know


def load_mapping(path: Path) -> TableMapping:
    """Return a mapping; raise UsageError if there is no file, DescriptionError if it is none."""
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content, source, {'schema_version', 'time', 'q'},
        {*QUANTITIES, 'command', 'joints', 'delimiter', 'robot'} - {'q'},
    )
    delimiter = content.get('delimiter', '')
    if delimiter != '' and not (
        isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'
    ):
        raise DescriptionError(f'{source}: delimiter is {delimiter!r}, it must be one character')
    joints = content.get('joints', [])
    if not _are_texts(joints) or len(set(joints)) != len(joints):
        raise DescriptionError(f'{source}: joints must be a list of different names')
    time, nanoseconds, rate = _load_time(content['time'], f'{source}: time')
    quantities, metadata = {}, {}
    for quantity in QUANTITIES:
        if quantity in content:
            where = f'{source}: {quantity}'
            found = _load_columns(content[quantity], where, quantity, 'columns', joints)
            quantities[quantity] = found
            if quantity == 'effort' and found.unit:
                metadata['effort_unit'] = found.unit.removeprefix('m')
    if 'robot' in content:
        metadata['robot'] = str(content['robot'])
    command = None
    if 'command' in content:
        command = _load_columns(content['command'], f'{source}: command', 'q', 'columns', joints)
    return TableMapping(
        time, quantities, tuple(joints), delimiter, metadata, nanoseconds, rate, command
    )


def _load_time(content: Any, where: str) -> tuple[Columns, str, float | None]:
    """Return the column of the time, that of nanoseconds, and the rate in the place of both."""
    if isinstance(content, dict) and 'rate' in content:
        check_keys(content, where, {'rate'}, set())
        rate = content['rate']
        if not is_number(rate) or not 0.0 < rate < np.inf:
            raise DescriptionError(f'{where}: rate is {rate!r}, it must be a positive number [Hz]')
        return Columns(''), '', float(rate)
    nanoseconds = ''
    if isinstance(content, dict) and 'nanoseconds' in content:
        content = dict(content)
        nanoseconds = content.pop('nanoseconds')
        if not isinstance(nanoseconds, str) or not nanoseconds:
            raise DescriptionError(f'{where}: nanoseconds must name a column')
    return _load_columns(content, where, 'time', 'column', []), nanoseconds, None


def _load_columns(
    content: Any, where: str, quantity: str, key: str, joints: Sequence[str]
) -> Columns:
    """Return the columns of a quantity; only the effort may be without a unit."""
    if not isinstance(content, dict):
        raise DescriptionError(f'{where} must hold {key} and unit, found {content!r:.60}')
    optional = {'unit'} if quantity == 'effort' else set()
    check_keys(content, where, {key, 'unit'} - optional, optional)
    names, unit, units = content[key], content.get('unit', ''), UNITS[quantity]
    if 'unit' in content and (not isinstance(unit, str) or unit not in units):
        raise DescriptionError(f'{where}: unit {unit!r} is not one of {", ".join(units)}')
    if isinstance(names, str):
        if key == 'columns' and fill(names, 0, 'a') == fill(names, 1, 'b') and len(joints) != 1:
            raise DescriptionError(
                f'{where}: {names!r} is the same for all joints, it lacks {{i}}, {{number}} or '
                '{joint}'
            )
        return make_columns(quantity, names, unit)
    if key == 'column' or not _are_texts(names) or (joints and len(names) != len(joints)):
        raise DescriptionError(
            f'{where}: {key} must be a pattern or one name for each joint, found {names!r:.60}'
        )
    return make_columns(quantity, names, unit)


def _are_texts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(item, str) and item for item in content)


def find_mapping(path: Path, mapping: Path | None) -> TableMapping | None:
    """Return the mapping that was named or lies beside a table; None if there is none."""
    if mapping is None:
        neighbor = path.with_name(f'{path.name}.yaml')
        return load_mapping(neighbor) if neighbor.exists() else None
    if mapping.exists():
        return load_mapping(mapping)
    folder = share_directory() / 'config' / 'csv'
    known = {file.stem: file for file in sorted(folder.glob('*.yaml'))}
    if str(mapping) not in known:
        raise UsageError(f'no such mapping: {mapping}; known by name are {", ".join(known)}')
    return load_mapping(known[str(mapping)])


def mapping_text(mapping: TableMapping, remarks: Mapping[str, str] | None = None) -> str:
    """Return a mapping as a file, a quantity a line; `remarks` are put behind their lines."""
    time: dict[str, Any] = (
        {'rate': mapping.rate} if mapping.rate is not None
        else {'column': mapping.time.names, 'unit': mapping.time.unit}
    )
    if mapping.nanoseconds:
        time['nanoseconds'] = mapping.nanoseconds
    content: dict[str, Any] = {'schema_version': SCHEMA_VERSION}
    if 'robot' in mapping.metadata:
        content['robot'] = mapping.metadata['robot']
    if mapping.delimiter:
        content['delimiter'] = mapping.delimiter
    if mapping.joints:
        content['joints'] = list(mapping.joints)
    content['time'] = time
    command = {} if mapping.command is None else {'command': mapping.command}
    for quantity, columns in {**mapping.quantities, **command}.items():
        names = columns.names if isinstance(columns.names, str) else list(columns.names)
        content[quantity] = {'columns': names, **({'unit': columns.unit} if columns.unit else {})}
    remarks = remarks or {}
    lines = []
    for key, value in content.items():
        text = yaml.safe_dump(
            [value], default_flow_style=True, width=100_000, allow_unicode=True, sort_keys=False,
        ).strip()
        text = f'{key}: {text[1:-1]}'
        lines.append(text + (f'  # {remarks[key]}' if key in remarks else ''))
    return '\n'.join(lines) + '\n'
