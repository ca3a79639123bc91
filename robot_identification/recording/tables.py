# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tables (CSV) instead of bags: one row a joint state, columns as a mapping says.

Docs: docs/formats/bag.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import csv
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any, TextIO

import numpy as np
from robot_identification.arrays import FloatArray, GrowingArray
from robot_identification.errors import BagError, DataError, DescriptionError, UsageError
from robot_identification.files import check_keys, check_schema_version, read_yaml
from robot_identification.model import JointEncoders, share_directory
from robot_identification.recording.joint_states import JointColumns, JointFields
from robot_identification.recording.raw_bag import BLOCK_MESSAGES
from robot_identification.recording.recording import (
    Channel, Completeness, Recording, ROTOR_CHANNEL,
)

SCHEMA_VERSION = 1  # of mappings
TABLE_SUFFIX = '.csv'
_LARGEST_LINE = 1_000_000  # [characters]; a longer one is no table
# As many nanoseconds as ROS counts [s].
_LATEST_TIME = 2.0**63 * 1e-9

# What to multiply with to get s, rad, rad/s, A or N m, and deg C.
UNITS: Mapping[str, Mapping[str, float]] = {
    'time': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': np.pi / 180.0},
    'dq': {'rad/s': 1.0, 'deg/s': np.pi / 180.0},
    'effort': {'A': 1.0, 'mA': 1e-3, 'Nm': 1.0},
    'temperature': {'deg C': 1.0},
    'rotor_position': {'rad': 1.0, 'deg': np.pi / 180.0},
}
QUANTITIES = tuple(quantity for quantity in UNITS if quantity != 'time')
# What becomes a channel of the recording, of the same name.
CHANNELS = ('temperature', ROTOR_CHANNEL)


@dataclass(frozen=True)
class Columns:
    """Columns of one quantity."""

    # A pattern with `{joint}`, `{i}` (from 0) or `{number}` (from 1), or one name a joint
    names: str | tuple[str, ...]
    scale: float = 1.0  # From the unit of the table to that of the recording

    def of_joint(self, index: int, joint: str) -> str:
        """Return the column of a joint; there is none beyond a list of names."""
        if isinstance(self.names, str):
            return _fill(self.names, index, joint)
        return self.names[index] if index < len(self.names) else ''


def _fill(pattern: str, index: int, joint: str) -> str:
    for word, value in (('{joint}', joint), ('{i}', index), ('{number}', index + 1)):
        pattern = pattern.replace(word, str(value))
    return pattern


@dataclass(frozen=True)
class TableMapping:
    """Meaning of the columns of a table; by default that of their names."""

    time: Columns = field(default_factory=lambda: Columns('time'))  # One column
    # 'q', and what there is of 'dq', 'effort', 'temperature' and 'rotor_position'
    quantities: Mapping[str, Columns] = field(default_factory=lambda: {
        quantity: Columns(f'{quantity}_{{joint}}') for quantity in QUANTITIES
    })
    optional: bool = True  # Whether columns of all but time and q may be absent
    # Joints in the order of the columns; empty where the columns name them, or where they are the
    # model's
    joints: tuple[str, ...] = ()
    delimiter: str = ','  # Between columns
    # 'effort_unit' and 'robot', as far as they are stated
    metadata: Mapping[str, str] = field(default_factory=dict)


def is_table(path: Path) -> bool:
    """Return whether a path is taken for a table."""
    return path.suffix.lower() == TABLE_SUFFIX and not path.is_dir()


def find_mapping(path: Path, mapping: Path | None) -> TableMapping:
    """
    Return what the columns of a table are.

    Raise UsageError if there is no such mapping. Raise DescriptionError if it cannot be used.
    """
    neighbor = path.with_name(f'{path.name}.yaml')
    if mapping is None:
        return load_mapping(neighbor) if neighbor.exists() else TableMapping()
    if mapping.exists():
        return load_mapping(mapping)
    folder = share_directory() / 'config' / 'csv'
    known = {file.stem: file for file in sorted(folder.glob('*.yaml'))}
    if str(mapping) not in known:
        raise UsageError(f'no such mapping: {mapping}; known by name are {", ".join(known)}')
    return load_mapping(known[str(mapping)])


def load_mapping(path: Path) -> TableMapping:
    """
    Return a mapping file's content.

    Raise UsageError if there is no such file. Raise DescriptionError if it cannot be used.
    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content, source, {'schema_version', 'time', 'q'},
        {*QUANTITIES, 'joints', 'delimiter', 'robot'} - {'q'},
    )
    delimiter = content.get('delimiter', ',')
    if not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'):
        raise DescriptionError(f'{source}: delimiter is {delimiter!r}, it must be one character')
    joints = content.get('joints', [])
    if not _are_texts(joints) or len(set(joints)) != len(joints):
        raise DescriptionError(f'{source}: joints must be a list of different names')
    time, _ = _columns(content['time'], f'{source}: time', 'time', 'column', joints)
    quantities, metadata = {}, {}
    for quantity in QUANTITIES:
        if quantity in content:
            where = f'{source}: {quantity}'
            quantities[quantity], unit = _columns(
                content[quantity], where, quantity, 'columns', joints
            )
            if quantity == 'effort':
                metadata['effort_unit'] = unit.removeprefix('m')
    if 'robot' in content:
        metadata['robot'] = str(content['robot'])
    return TableMapping(time, quantities, False, tuple(joints), delimiter, metadata)


def _columns(
    content: Any, where: str, quantity: str, key: str, joints: Sequence[str]
) -> tuple[Columns, str]:
    """Return the columns of a quantity, and their unit."""
    if not isinstance(content, dict):
        raise DescriptionError(f'{where} must hold {key} and unit, found {content!r:.60}')
    check_keys(content, where, {key, 'unit'}, set())
    names, unit, units = content[key], content['unit'], UNITS[quantity]
    if not isinstance(unit, str) or unit not in units:
        raise DescriptionError(f'{where}: unit {unit!r} is not one of {", ".join(units)}')
    if isinstance(names, str):
        if key == 'columns' and _fill(names, 0, 'a') == _fill(names, 1, 'b'):
            raise DescriptionError(
                f'{where}: {names!r} is the same for all joints, it lacks {{i}}, {{number}} or '
                '{joint}'
            )
        return Columns(names, units[unit]), unit
    if key == 'column' or not _are_texts(names) or (joints and len(names) != len(joints)):
        raise DescriptionError(
            f'{where}: {key} must be a pattern or one name for each joint, found {names!r:.60}'
        )
    return Columns(tuple(names), units[unit]), unit


def _are_texts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(item, str) and item for item in content)


def table_joint_names(path: Path, mapping: Path | None = None) -> tuple[str, ...]:
    """
    Return the joints of a table; where nothing names them, the columns of their positions.

    Raise UsageError if there is no such table. Raise BagError if it cannot be read.
    """
    table = _Table(path, find_mapping(path, mapping))
    if table.joints:
        return table.joints
    columns = table.mapping.quantities['q']
    found: list[str] = []
    while (name := columns.of_joint(len(found), '')) in table.header:
        found.append(name)
    return tuple(found)


def read_table(
    path: Path,
    joint_names: Sequence[str],
    names: Mapping[str, str],
    encoders: JointEncoders,
    mapping: Path | None = None,
) -> Recording:
    """
    Read a table as if it were a bag.

    Raise UsageError if there is no such table or mapping. Raise DescriptionError if the mapping
    cannot be used. Raise BagError if it is no table, or has no row. Raise DataError if columns are
    missing, or hold something else than numbers.
    """
    table = _Table(path, find_mapping(path, mapping))
    columns = JointColumns(str(path), joint_names, names)
    places = table.place_columns(columns, tuple(joint_names))
    arrays = {quantity: GrowingArray(len(joint_names)) for quantity in QUANTITIES}
    blocks = []
    wanted = [table.time_column, *(place for group in places.values() for place in group)]
    for block in table.blocks(wanted):
        blocks.append(block[:, 0] * table.mapping.time.scale)
        left = block[:, 1:]
        for quantity, array in arrays.items():
            readings = np.full((len(block), array.width), np.nan)
            if places[quantity]:
                scale = table.mapping.quantities[quantity].scale
                readings, left = scale * left[:, :array.width], left[:, array.width:]
            array.append(_to_model(quantity, readings, encoders))
    times = np.concatenate(blocks) if blocks else np.empty(0)
    if not len(times):
        raise BagError(f'{path} holds no row{table.cut_off and f": {table.cut_off}"}')
    values = {quantity: array.finish() for quantity, array in arrays.items()}
    stamps = times - times[0]
    channels = {name: Channel(stamps, values[name]) for name in CHANNELS if places[name]}
    duration = float(np.ptp(stamps))
    return Recording(
        source=str(path),
        topic='',
        joint_names=tuple(joint_names),
        stamps=stamps,
        q=values['q'],
        dq=values['dq'],
        effort=values['effort'],
        start=round(float(times[0]) * 1e9),
        metadata=table.mapping.metadata,
        completeness=Completeness(
            'recovered' if table.cut_off else 'complete', duration, None, table.cut_off
        ),
        channels=channels,
        notes=(*columns.notes, *table.notes),
    )


def _to_model(quantity: str, readings: FloatArray, encoders: JointEncoders) -> FloatArray:
    if quantity in ('q', ROTOR_CHANNEL):
        return encoders.to_model(readings)
    return readings if quantity == 'temperature' else encoders.sign * readings


class _Table:
    """A table and what its columns are."""

    def __init__(self, path: Path, mapping: TableMapping) -> None:
        if not path.exists():
            raise UsageError(f'no such bag: {path}')
        if not path.is_file():
            raise BagError(f'{path} is not a regular file: name a table')
        self._path = path
        self.mapping = mapping
        self.cut_off = ''  # What is wrong with the last line, known when all were read
        self.notes: list[str] = []  # What a reader should know of the columns
        self.header = next((tuple(row) for _, row in self._rows()), ())  # Names of the columns
        if len(self.header) < 2:
            raise BagError(
                f'{path} has no line with the names of columns, separated by '
                f'{mapping.delimiter!r}'
            )
        # In the order of the columns; empty where nothing names them
        self.joints = mapping.joints or self._joints_of_header()

    @property
    def time_column(self) -> int:
        """Where the time is."""
        return self._place([str(self.mapping.time.names)])[0]

    def _joints_of_header(self) -> tuple[str, ...]:
        pattern = self.mapping.quantities['q'].names
        if not isinstance(pattern, str) or '{joint}' not in pattern:
            return ()
        before, _, after = pattern.partition('{joint}')
        expression = re.compile(f'{re.escape(before)}(.+){re.escape(after)}')
        return tuple(
            found[1] for name in self.header if (found := expression.fullmatch(name)) is not None
        )

    def place_columns(
        self, columns: JointColumns, joint_names: tuple[str, ...]
    ) -> dict[str, list[int]]:
        """
        Return where the columns of every quantity are, in the order of the model's joints.

        Raise DataError if joints or columns are missing.
        """
        joints = self.joints or joint_names
        places = columns.columns(JointFields(0, joints, {}))
        columns.check_found()
        assert places is not None
        found = {}
        for quantity in QUANTITIES:
            named = self.mapping.quantities.get(quantity, Columns(()))
            wanted = [named.of_joint(int(index), joints[index]) for index in places]
            absent = not any(wanted) or not set(wanted) & set(self.header)
            if not self.joints and named.of_joint(len(joints), '') in self.header:
                raise DataError(
                    f'{self._path} has more columns of {quantity} than the model has joints, '
                    f'{", ".join(joints)}: list the joints of all columns as `joints` in the '
                    'mapping'
                )
            optional = quantity not in self.mapping.quantities or (
                self.mapping.optional and quantity != 'q'
            )
            lacking = [name for name in wanted if name not in self.header]
            if quantity == ROTOR_CHANNEL and optional and lacking and not absent:
                # A second encoder that cannot be used does not harm the first one.
                self.notes.append(
                    f'{self._path} has no column {", ".join(lacking)}: rotor positions are left '
                    'out'
                )
                absent = True
            found[quantity] = [] if absent and optional else self._place(wanted)
        return found

    def _place(self, names: Sequence[str]) -> list[int]:
        missing = [name for name in names if name not in self.header]
        if missing:
            raise DataError(
                f'{self._path} has no column {", ".join(missing)}; its columns are '
                f'{", ".join(self.header):.500}: say what they are in {self._path.name}.yaml'
            )
        repeated = [name for name in names if self.header.count(name) > 1]
        if repeated:
            raise DataError(f'{self._path} has several columns {repeated[0]}: rename them')
        return [self.header.index(name) for name in names]

    def blocks(self, columns: Sequence[int]) -> Iterator[FloatArray]:
        """Yield some of the columns, in blocks of rows."""
        rows: list[list[str]] = []
        lines: list[int] = []
        for line, row in self._rows():
            if self.cut_off:
                raise DataError(f'{self._path}: {self.cut_off}')
            if line == 1 or not row:
                continue
            if len(row) != len(self.header):
                # Only known to be the last line when no other comes.
                self.cut_off = f'line {line} has {len(row)} of {len(self.header)} columns'
                continue
            rows.append([row[column] or 'nan' for column in columns])
            lines.append(line)
            if len(rows) == BLOCK_MESSAGES:
                yield self._numbers(rows, lines, columns)
                rows, lines = [], []
        if rows:
            yield self._numbers(rows, lines, columns)

    def _numbers(
        self, rows: list[list[str]], lines: list[int], columns: Sequence[int]
    ) -> FloatArray:
        try:
            numbers = np.array(rows, dtype=np.float64)
        except ValueError:
            for line, row in zip(lines, rows, strict=True):
                for column, text in zip(columns, row, strict=True):
                    self._check_number(line, self.header[column], text)
            raise
        times = numbers[:, 0] * self.mapping.time.scale
        timeless = np.flatnonzero(~(np.abs(times) < _LATEST_TIME))
        if timeless.size:
            line, text = lines[timeless[0]], rows[timeless[0]][0]
            raise DataError(
                f'{self._path}: {text!r:.40} in line {line} is no time: a number of at most '
                f'{_LATEST_TIME:.2g} s is needed'
            )
        return numbers

    def _check_number(self, line: int, column: str, text: str) -> None:
        try:
            float(text)
        except ValueError:
            raise DataError(
                f'{self._path}: {column} is {text!r:.40} in line {line}, which is no number'
            ) from None

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield lines, counted from 1, split into columns."""
        try:
            with self._path.open(encoding='utf-8-sig', newline='') as stream:
                reader = csv.reader(
                    _lines(stream, self._path, self.mapping.delimiter),
                    delimiter=self.mapping.delimiter, skipinitialspace=True,
                )
                for row in reader:
                    yield reader.line_num, [text.strip() for text in row]
        except UnicodeDecodeError as error:
            raise BagError(f'{self._path} is not UTF-8 text: {error}') from error
        except csv.Error as error:
            raise BagError(f'{self._path} is not a table: {error}') from error
        except OSError as error:
            raise BagError(f'{self._path} cannot be read: {error.strerror}') from error


def _lines(stream: TextIO, path: Path, delimiter: str) -> Iterator[str]:
    """Yield the lines of a file, of which none may fill the memory."""
    while line := stream.readline(_LARGEST_LINE):
        if len(line) == _LARGEST_LINE:
            raise BagError(f'{path} has a line of more than {_LARGEST_LINE} characters')
        # A blank that ends a line is no column where blanks separate them.
        yield line.rstrip('\r\n ') + '\n' if delimiter == ' ' else line
