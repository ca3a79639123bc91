# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tables instead of bags: one row a joint state, columns as a mapping says or as their names do.

Docs: docs/formats/mapping.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, GrowingArray
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.model import EFFORT_UNITS, JointEncoders, unit_of_joints
from robot_identification.recording.array_table import ARRAY_SUFFIXES, ArrayTable
from robot_identification.recording.column_words import ANGLES
from robot_identification.recording.joint_states import (
    JointColumns, JointFields, to_model,
)
from robot_identification.recording.other_files import check_fetched
from robot_identification.recording.parquet_table import is_dataset, PARQUET_SUFFIXES, ParquetTable
from robot_identification.recording.recognition import describe_joints, recognize
from robot_identification.recording.recording import (
    Channel, COMMAND_CHANNEL, Completeness, Recording,
)
from robot_identification.recording.table_mapping import find_mapping, TableMapping
from robot_identification.recording.table_source import TableSource
from robot_identification.recording.text_table import TEXT_SUFFIXES, TextTable

# As many nanoseconds as ROS counts [s].
_LATEST_TIME = 2.0**63 * 1e-9
# What every row has, by its usual unit; all else becomes a channel of the same name.
_STATES = {'q': 'rad', 'dq': 'rad/s', 'effort': ''}
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *ARRAY_SUFFIXES, *PARQUET_SUFFIXES)
_WORDS = {
    'time': 'time', 'q': 'position', 'dq': 'velocity', 'effort': 'effort',
    'temperature': 'temperature', 'rotor_position': 'rotor position',
}
# Share of rows with efforts at other stamps than positions that is no single lost message; chosen.
_OTHER_STAMPS = 0.1
MOST_NAMED = 20  # columns that are not taken


def is_table(path: Path) -> bool:
    """Return whether a path is taken for a table."""
    return is_dataset(path) if path.is_dir() else path.suffix.lower() in TABLE_SUFFIXES


def open_table(path: Path, delimiter: str = '') -> TableSource:
    """Open a table; raise what `read_recording` raises, and MissingDependencyError."""
    if not path.exists():
        raise UsageError(f'no such bag: {path}')
    if path.is_dir():
        return ParquetTable(path)
    if not path.is_file():
        raise BagError(f'{path} is not a regular file: name a table')
    check_fetched(path)
    suffix = path.suffix.lower()
    if suffix in ARRAY_SUFFIXES:
        return ArrayTable(path)
    return ParquetTable(path) if suffix in PARQUET_SUFFIXES else TextTable(path, delimiter)


def table_joint_names(path: Path, mapping: Path | None = None) -> tuple[str, ...]:
    """Return the joints of a table; where none is named, those its mapping or numbers count."""
    given = find_mapping(path, mapping)
    table = open_table(path, given.delimiter if given else '')
    if given is None:
        return describe_joints(table)
    if given.joints:
        return given.joints
    columns = given.quantities['q']
    if named := columns.joints_in(table.columns):
        return named
    found: list[str] = []
    while (name := columns.of_joint(len(found), '')) in table.columns:
        found.append(name)
    return tuple(found)


@dataclass(frozen=True)
class OpenedTable:
    """A table and what its columns are."""

    source: TableSource
    mapping: TableMapping


def understand_table(
    path: Path,
    joint_names: Sequence[str],
    names: Mapping[str, str] | None = None,
    mapping: Path | None = None,
) -> OpenedTable:
    """Return a table with its mapping: that which was named, lies beside it, or is recognized."""
    given = find_mapping(path, mapping)
    source = open_table(path, given.delimiter if given else '')
    if given is not None:
        return OpenedTable(source, given)
    return OpenedTable(source, recognize(source, joint_names, names or {}))


def describe_table(opened: OpenedTable, position_units: Sequence[str] = ()) -> list[str]:
    """
    Return what the columns of a table are, in lines; those after the first are indented.

    `position_units` are those of the joints in the model, where these are known.
    """
    source, mapping = opened.source, opened.mapping
    how = 'understood as' if mapping.recognized else 'by its mapping'
    lines = [f'{source.path}: a table of {len(source.columns)} columns, {how}']
    rows = [('time', _describe_time(mapping))]
    for quantity, columns in mapping.quantities.items():
        unit = unit_of_joints(columns.unit, position_units) or 'unit not stated'
        rows.append((quantity, f'{columns.shown()} [{unit}]'))
    for quantity, text in rows:
        check = mapping.checks.get(quantity)
        reason = f' ({check})' if check else ''
        lines.append(f'  {_WORDS[quantity]:<11} {text}{reason}')
    without_effort = (
        'nothing can be identified' if mapping.command is None else
        f'{mapping.command.shown()} are commands, --effort-from command takes them'
    )
    for quantity, loss in (
        ('dq', 'it is differentiated from position'), ('effort', without_effort),
    ):
        if quantity not in mapping.quantities:
            lines.append(f'  {_WORDS[quantity]:<11} not there: {loss}')
    if mapping.recognized:
        lines.append(f'  joints      {", ".join(mapping.joints)}, in this order')
    lines += [f'  note        {note}' for note in mapping.notes]
    if mapping.recognized:
        quantities = [mapping.time, *mapping.quantities.values(), *filter(None, [mapping.command])]
        taken = {mapping.nanoseconds, *(name for one in quantities for name in (
            [one.names] if isinstance(one.names, str) else one.names
        ))}
        others = [name for name in source.columns if name not in taken]
        more = f', and {len(others) - MOST_NAMED} more' if len(others) > MOST_NAMED else ''
        if others:
            lines.append(f'  not taken   {", ".join(others[:MOST_NAMED])}{more}')
    if source.left_out:
        lines.append(f'  not taken   {source.describe_left_out()}')
    return lines


def _describe_time(mapping: TableMapping) -> str:
    if mapping.rate is not None:
        return f'from the number of the row, {mapping.rate:g} Hz'
    nanoseconds = f' and {mapping.nanoseconds} [ns]' if mapping.nanoseconds else ''
    return f'{mapping.time.shown()} [{mapping.time.unit}]{nanoseconds}'


def read_table(
    path: Path,
    joint_names: Sequence[str],
    names: Mapping[str, str],
    encoders: JointEncoders,
    mapping: Path | None = None,
    others: Collection[str] = (),
) -> Recording:
    """
    Read a table as if it were a bag.

    Raise what `read_recording` raises, and DescriptionError if the mapping cannot be used.
    """
    opened = understand_table(path, joint_names, names, mapping)
    return _Rows(opened, tuple(joint_names), names, encoders, others).recording()


def read_command(
    recording: Recording,
    names: Mapping[str, str],
    encoders: JointEncoders,
    mapping: Path | None = None,
) -> Recording:
    """
    Return a recording of a table with the positions that were commanded as a channel.

    Raise UsageError if it is of no table, DataError if the table has none, or several may be
    meant; else what `read_table` raises.
    """
    path = Path(recording.source)
    if not is_table(path):
        raise UsageError(
            f'{path} is no table: commanded positions are read from logs and LeRobot datasets '
            'alone; write positions and commands to a CSV file'
        )
    opened = understand_table(path, recording.joint_names, names, mapping)
    columns = opened.mapping.command
    if columns is None:
        raise DataError(
            f'{path} has no commanded position of every joint, or several may be meant; its '
            f'columns are {", ".join(opened.source.columns):.400}: name them in a mapping as '
            '`command: {columns: .., unit: ..}`'
        )
    commands = replace(opened, mapping=replace(opened.mapping, quantities={'q': columns}))
    found = _Rows(commands, recording.joint_names, names, encoders).recording()
    command = Channel(found.stamps + 1e-9 * (found.start - recording.start), found.q)
    return replace(recording, channels={**recording.channels, COMMAND_CHANNEL: command})


class _Rows:
    """The rows of a table, in the units and order of a recording."""

    def __init__(
        self, opened: OpenedTable, joint_names: tuple[str, ...], names: Mapping[str, str],
        encoders: JointEncoders, others: Collection[str] = (),
    ) -> None:
        self._table, self._mapping = opened.source, opened.mapping
        self._joint_names, self._encoders = joint_names, encoders
        self._times: list[FloatArray] = []
        self._origin: float | None = None
        self._empty = 0
        # Columns of the time, of each quantity in the order of the model, and of other joints
        self._time: list[int] = []
        if self._mapping.rate is None:
            time = [str(self._mapping.time.names), self._mapping.nanoseconds]
            self._time = self._place([name for name in time if name])
        columns = JointColumns(
            str(self._table.path), joint_names, {} if self._mapping.recognized else names
        )
        self._places = self._place_quantities(columns)
        self._notes = [*columns.notes, *self._lengths_beside_angles()]
        own = {model: log for log, model in names.items()}
        self._others = self._place_others({name: own.get(name, name) for name in others},
                                          [own.get(name, name) for name in joint_names])
        self._held = GrowingArray(len(self._others))
        self._arrays = {
            quantity: GrowingArray(len(joint_names)) for quantity in {**_STATES, **self._places}
        }
        # Which rows have all positions, velocities, efforts
        self._whole: dict[str, list[BoolArray]] = {name: [] for name in _STATES}

    def _place(self, names: Sequence[str]) -> list[int]:
        header, path = self._table.columns, self._table.path
        missing = [name for name in names if name not in header]
        if missing:
            raise DataError(
                f'{path} has no column {", ".join(missing)}; its columns are '
                f'{", ".join(header):.500}: say what they are in {path.name}.yaml'
            )
        repeated = [name for name in names if header.count(name) > 1]
        if repeated:
            raise DataError(f'{path} has several columns {repeated[0]}: rename them')
        return [header.index(name) for name in names]

    def _place_quantities(self, columns: JointColumns) -> dict[str, list[int]]:
        """Return where the columns of every quantity are, in the order of the model's joints."""
        header, mapping = self._table.columns, self._mapping
        listed = () if mapping.recognized else mapping.joints
        joints = listed or mapping.quantities['q'].joints_in(header) or self._joint_names
        order = columns.columns(JointFields(0, joints, {}))
        columns.check_found()
        assert order is not None
        if not mapping.recognized and not listed and joints == self._joint_names:
            for quantity, named in mapping.quantities.items():
                if named.of_joint(len(joints), '') in header:
                    raise DataError(
                        f'{self._table.path} has more columns of {quantity} than the model has '
                        f'joints, {", ".join(joints)}: list the joints of all columns as '
                        '`joints` in the mapping'
                    )
        return {
            quantity: self._place([named.of_joint(k, joints[k]) for k in order.tolist()])
            for quantity, named in mapping.quantities.items()
        }

    def _place_others(self, others: Mapping[str, str], joints: Sequence[str]) -> dict[str, int]:
        """Return the position columns of other joints, named as those of the model's joints."""
        header = self._table.columns
        columns = [header[place] for place in self._places['q']]
        before, _, after = columns[0].partition(joints[0])
        if columns != [f'{before}{joint}{after}' for joint in joints]:
            return {}
        found = {name: f'{before}{own}{after}' for name, own in others.items()}
        return {name: header.index(column) for name, column in found.items()
                if header.count(column) == 1}

    def _read(self) -> None:
        """Read all rows; those without any value of a joint are left out."""
        n, begin = len(self._joint_names), len(self._time)
        places = [*self._time, *(place for group in self._places.values() for place in group)]
        time = self._time[0] if self._time else None
        count, end = 0, len(places)
        for block in self._table.blocks([*places, *self._others.values()], time):
            known: BoolArray = np.asarray(np.isfinite(block[:, begin:end]).any(axis=1))
            self._empty += len(known) - int(np.count_nonzero(known))
            self._times.append(self._block_times(block, count, known))
            count += len(block)
            if not known.all():
                block = block[known]
            self._held.append(self._mapping.quantities['q'].scale * block[:, end:])
            for quantity, array in self._arrays.items():
                readings = np.full((len(block), n), np.nan)
                if quantity in self._places:
                    first = begin + n * list(self._places).index(quantity)
                    readings = self._scales(quantity) * block[:, first:first + n]
                array.append(to_model(quantity, readings, self._encoders))
                if quantity in _STATES:
                    self._whole[quantity].append(np.isfinite(readings).all(axis=1))

    def _scales(self, quantity: str) -> FloatArray | float:
        """Return what readings are multiplied by; a unit of angles is none of lengths."""
        columns, slides = self._mapping.quantities[quantity], self._encoders.slides
        if slides is None or columns.unit not in ANGLES:
            return columns.scale
        scales: FloatArray = np.where(slides, 1.0, columns.scale)
        return scales

    def _lengths_beside_angles(self) -> list[str]:
        """Return which readings are taken for lengths, beside others in a unit of angles."""
        slides = self._encoders.slides
        if slides is None or not slides.any():
            return []
        names = ', '.join(np.array(self._joint_names)[slides])
        return [
            f'{self._table.path}: {quantity} of {names} is taken for {unit}, as what slides is '
            f'not in {columns.unit}'
            for quantity, unit in (('q', 'm'), ('dq', 'm/s'))
            if (columns := self._mapping.quantities.get(quantity)) and columns.unit in ANGLES
        ]

    def _block_times(self, block: FloatArray, count: int, known: BoolArray) -> FloatArray:
        """Return the times of those rows after the first one that hold something [s]."""
        if not self._time:
            assert self._mapping.rate is not None
            self._origin = 0.0
            times: FloatArray = np.arange(count, count + len(block)) / self._mapping.rate
            return times[known]
        raw, scale = block[:, 0], self._mapping.time.scale
        timeless = np.flatnonzero(~(np.abs(raw * scale) < _LATEST_TIME) & known)
        if timeless.size:
            row = int(timeless[0])
            raise DataError(
                f'{self._table.path}: {str(raw[row])!r} in {self._table.row_name(row)} is no '
                f'time: a number of at most {_LATEST_TIME:.2g} s is needed'
            )
        raw = raw[known]
        if self._origin is None:
            self._origin = float(raw[0]) if len(raw) else None
        # The difference first: nanoseconds of a calendar have more digits than a number holds.
        times = (raw - (self._origin or 0.0)) * scale
        return times + 1e-9 * block[known, 1] if self._mapping.nanoseconds else times

    def recording(self) -> Recording:
        """Read all rows and return the recording; raise BagError if there was no row."""
        self._read()
        table = self._table
        times = np.concatenate(self._times) if self._times else np.empty(0)
        if not len(times):
            raise BagError(f'{table.path} holds no row{table.cut_off and f": {table.cut_off}"}')
        assert self._origin is not None
        values = {quantity: array.finish() for quantity, array in self._arrays.items()}
        stamps = times - times[0]
        if self._empty:
            self._notes.append(
                f'{table.path}: {self._empty} rows without a value of a joint are left out'
            )
        held, held_stamps = self._held.finish(), stamps
        stamps, values = self._at_positions(stamps, values)
        channels = {name: Channel(stamps, values[name]) for name in values if name not in _STATES}
        duration = float(np.ptp(stamps))
        return Recording(
            source=str(table.path),
            topic='',
            joint_names=self._joint_names,
            stamps=stamps,
            q=values['q'],
            dq=values['dq'],
            effort=values['effort'],
            start=round((self._origin * self._mapping.time.scale + float(times[0])) * 1e9),
            metadata=self._mapping.metadata,
            completeness=Completeness(
                'recovered' if table.cut_off else 'complete', duration, None, table.cut_off
            ),
            channels=channels,
            held={
                name: Channel(held_stamps, held[:, [column]])
                for column, name in enumerate(self._others)
                if np.isfinite(held[:, column]).any()
            },
            assumes_degrees=(
                'q' in self._mapping.checks and self._mapping.quantities['q'].unit == 'deg'
            ),
            notes=(
                *self._notes, *table.notes,
                *(f'{table.path}: {note}' for note in self._converted_units()),
            ),
        )

    def _at_positions(
        self, stamps: FloatArray, values: dict[str, FloatArray]
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Return all quantities at the stamps of the positions, where they have others."""
        known = np.concatenate(self._whole['q'])
        moved = []
        for quantity in ('dq', 'effort'):
            if quantity not in self._places:
                continue
            own = np.concatenate(self._whole[quantity])
            elsewhere = int(np.count_nonzero(own & ~known))
            if elsewhere > _OTHER_STAMPS * max(int(np.count_nonzero(own)), 1):
                moved.append((quantity, own))
        if not moved or not known.any():
            return stamps, values
        for quantity, own in moved:
            values[quantity] = np.column_stack([
                np.interp(stamps, stamps[own], column[own], np.nan, np.nan)
                for column in values[quantity].T
            ])
        listing = ' and '.join(quantity for quantity, _ in moved)
        self._notes.append(
            f'{self._table.path}: {listing} has other stamps than q and is interpolated to those'
        )
        return stamps[known], {name: array[known] for name, array in values.items()}

    def _converted_units(self) -> list[str]:
        """Return which units were not stated and are not the usual ones, and how found."""
        mapping = self._mapping
        units = {name: one.unit for name, one in mapping.quantities.items()}
        units['time'] = mapping.time.unit
        return [
            *(f'{quantity} is taken for {units[quantity]}: {check}'
              for quantity, check in mapping.checks.items()
              if units[quantity] not in ('s', _STATES.get(quantity), *EFFORT_UNITS)),
            *mapping.notes,
        ]
