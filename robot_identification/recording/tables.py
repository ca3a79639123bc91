# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tables instead of bags: one row a joint state, columns as a mapping says or as their names do.

Docs: docs/formats/mapping.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
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
from robot_identification.recording.parquet_table import is_dataset
from robot_identification.recording.recognition import recognize
from robot_identification.recording.recording import (
    Channel, COMMAND_CHANNEL, Completeness, Recording,
)
from robot_identification.recording.series import describe_joints
from robot_identification.recording.table import Table
from robot_identification.recording.table_mapping import (
    Columns, find_mapping, TableMapping,
)
from robot_identification.recording.text_table import TEXT_SUFFIXES, TextTable

# As many nanoseconds as ROS counts [s].
_LATEST_TIME = 2.0**63 * 1e-9
# What every row has, by its usual unit; all else becomes a channel of the same name.
_STATES = {'q': 'rad', 'dq': 'rad/s', 'effort': ''}
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *ARRAY_SUFFIXES)
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


def open_table(path: Path, delimiter: str = '') -> Table:
    """Open a table; raise what `read_recording` raises, and MissingDependencyError."""
    if not path.exists():
        raise UsageError(f'no such bag: {path}')
    if path.is_dir():
        return ArrayTable(path)
    if not path.is_file():
        raise BagError(f'{path} is not a regular file: name a table')
    check_fetched(path)
    is_array = path.suffix.lower() in ARRAY_SUFFIXES
    return ArrayTable(path) if is_array else TextTable(path, delimiter)


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


def understand_table(
    path: Path,
    joint_names: Sequence[str],
    names: Mapping[str, str] | None = None,
    mapping: Path | None = None,
) -> Table:
    """Return a table with its mapping: that which was named, lies beside it, or is recognized."""
    given = find_mapping(path, mapping)
    table = open_table(path, given.delimiter if given else '')
    table.mapping = given or recognize(table, joint_names, names or {})
    return table


def describe_table(table: Table, position_units: Sequence[str] = ()) -> list[str]:
    """
    Return what the columns of a table are, in lines; those after the first are indented.

    `position_units` are those of the joints in the model, where these are known.
    """
    mapping = table.mapping
    how = 'understood as' if mapping.recognized else 'by its mapping'
    lines = [f'{table.path}: a table of {len(table.columns)} columns, {how}']
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
        others = [name for name in table.columns if name not in taken]
        more = f', and {len(others) - MOST_NAMED} more' if len(others) > MOST_NAMED else ''
        if others:
            lines.append(f'  not taken   {", ".join(others[:MOST_NAMED])}{more}')
    if table.left_out:
        lines.append(f'  not taken   {table.describe_left_out()}')
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
    table = understand_table(path, joint_names, names, mapping)
    return _to_recording(table, tuple(joint_names), names, encoders, others)


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
    table = understand_table(path, recording.joint_names, names, mapping)
    columns = table.mapping.command
    if columns is None:
        raise DataError(
            f'{path} has no commanded position of every joint, or several may be meant; its '
            f'columns are {", ".join(table.columns):.400}: name them in a mapping as '
            '`command: {columns: .., unit: ..}`'
        )
    table.mapping = replace(table.mapping, quantities={'q': columns})
    found = _to_recording(table, recording.joint_names, names, encoders)
    command = Channel(found.stamps + 1e-9 * (found.start - recording.start), found.q)
    return replace(recording, channels={**recording.channels, COMMAND_CHANNEL: command})


def _to_recording(
    table: Table, joint_names: tuple[str, ...], names: Mapping[str, str],
    encoders: JointEncoders, others: Collection[str] = (),
) -> Recording:
    """Return the rows of a table with any value of a joint, in units and order of a recording."""
    mapping = table.mapping
    time = [] if mapping.rate is not None else _place(
        table, [str(mapping.time.names), *filter(None, [mapping.nanoseconds])]
    )
    finder = JointColumns(str(table.path), joint_names, {} if mapping.recognized else names)
    places = _place_quantities(table, finder)
    held = _place_others(table, places['q'], joint_names, names, others)
    clock, values, other_rows, empty = _read_rows(table, time, places, held, encoders)
    if not len(clock):
        raise BagError(f'{table.path} holds no row{table.cut_off and f": {table.cut_off}"}')
    stamps, start = _stamps(mapping, clock)
    notes = [*finder.notes, *_lengths_beside_angles(table, joint_names, encoders)]
    if empty:
        notes.append(f'{table.path}: {empty} rows without a value of a joint are left out')
    others_stamps, moved = stamps, _with_other_stamps(values)
    if moved:
        stamps, values = _at_positions(stamps, values, moved)
        notes.append(
            f'{table.path}: {" and ".join(moved)} has other stamps than q and is interpolated to '
            'those'
        )
    return Recording(
        source=str(table.path),
        topic='',
        joint_names=joint_names,
        stamps=stamps,
        q=values['q'],
        dq=values['dq'],
        effort=values['effort'],
        start=start,
        metadata=mapping.metadata,
        completeness=Completeness(
            'recovered' if table.cut_off else 'complete', float(np.ptp(stamps)), None,
            table.cut_off,
        ),
        channels={
            name: Channel(stamps, values[name]) for name in values if name not in _STATES
        },
        held={
            name: Channel(others_stamps, other_rows[:, [column]])
            for column, name in enumerate(held) if np.isfinite(other_rows[:, column]).any()
        },
        assumes_degrees='q' in mapping.checks and mapping.quantities['q'].unit == 'deg',
        notes=(
            *notes, *table.notes, *(f'{table.path}: {note}' for note in _converted_units(mapping)),
        ),
    )


def _read_rows(
    table: Table, time: Sequence[int], places: Mapping[str, Sequence[int]],
    held: Mapping[str, int], encoders: JointEncoders,
) -> tuple[FloatArray, dict[str, FloatArray], FloatArray, int]:
    """
    Return the rows with any value of a joint, and how many others there are.

    They are columns of the time (N, 1 or 2), or the number of each row, values of the model by
    quantity (N, n), and positions of other joints.
    """
    n, begin = len(places['q']), len(time)
    end = begin + n * len(places)
    clock, others = GrowingArray(max(begin, 1)), GrowingArray(len(held))
    arrays = {quantity: GrowingArray(n) for quantity in {**_STATES, **places}}
    columns = [*time, *(place for group in places.values() for place in group), *held.values()]
    count = empty = 0
    for block in table.blocks(columns, time[0] if time else None):
        known = np.asarray(np.isfinite(block[:, begin:end]).any(axis=1))
        times = block[:, :begin] if time else np.arange(count, count + len(block))[:, None]
        if time:
            _check_times(table, block[:, 0], known)
        count += len(block)
        empty += len(block) - int(np.count_nonzero(known))
        block = block[known]
        clock.append(times[known])
        others.append(table.mapping.quantities['q'].scale * block[:, end:])
        for quantity, array in arrays.items():
            readings = np.full((len(block), n), np.nan)
            if quantity in places:
                first = begin + n * list(places).index(quantity)
                scale = _scale(table.mapping.quantities[quantity], encoders)
                readings = scale * block[:, first:first + n]
            array.append(to_model(quantity, readings, encoders))
    values = {quantity: array.finish() for quantity, array in arrays.items()}
    return clock.finish(), values, others.finish(), empty


def _place(table: Table, names: Sequence[str]) -> list[int]:
    """Return where columns are; raise DataError if they are missing, or there several times."""
    header, path = table.columns, table.path
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


def _place_quantities(table: Table, finder: JointColumns) -> dict[str, list[int]]:
    """Return where the columns of every quantity are, in the order of the model's joints."""
    header, mapping = table.columns, table.mapping
    listed = () if mapping.recognized else mapping.joints
    joints = listed or mapping.quantities['q'].joints_in(header) or finder.joint_names
    order = finder.columns(JointFields(0, joints, {}))
    finder.check_found()
    assert order is not None
    if not mapping.recognized and not listed and joints == finder.joint_names:
        for quantity, named in mapping.quantities.items():
            if named.of_joint(len(joints), '') in header:
                raise DataError(
                    f'{table.path} has more columns of {quantity} than the model has joints, '
                    f'{", ".join(joints)}: list the joints of all columns as `joints` in the '
                    'mapping'
                )
    return {
        quantity: _place(table, [named.of_joint(k, joints[k]) for k in order.tolist()])
        for quantity, named in mapping.quantities.items()
    }


def _place_others(
    table: Table, positions: Sequence[int], joint_names: Sequence[str], names: Mapping[str, str],
    others: Collection[str],
) -> dict[str, int]:
    """Return the position columns of other joints, named as those of the model's joints."""
    own = {model: log for log, model in names.items()}
    joints = [own.get(name, name) for name in joint_names]
    columns = [table.columns[place] for place in positions]
    before, _, after = columns[0].partition(joints[0])
    if columns != [f'{before}{joint}{after}' for joint in joints]:
        return {}
    found = {name: f'{before}{own.get(name, name)}{after}' for name in others}
    return {name: table.columns.index(column) for name, column in found.items()
            if table.columns.count(column) == 1}


def _check_times(table: Table, raw: FloatArray, known: BoolArray) -> None:
    """Raise DataError of a row of the last block that is known and has no time."""
    timeless = np.flatnonzero(~(np.abs(raw * table.mapping.time.scale) < _LATEST_TIME) & known)
    if timeless.size:
        row = int(timeless[0])
        raise DataError(
            f'{table.path}: {str(raw[row])!r} in {table.row_name(row)} is no time: a number of '
            f'at most {_LATEST_TIME:.2g} s is needed'
        )


def _stamps(mapping: TableMapping, clock: FloatArray) -> tuple[FloatArray, int]:
    """Return the seconds of rows after the first of them, and its stamp [ns]."""
    raw, scale = clock[:, 0], mapping.time.scale
    if mapping.rate is not None:
        times: FloatArray = raw / mapping.rate
        return times - times[0], round(float(times[0]) * 1e9)
    # The difference first: nanoseconds of a calendar have more digits than a number holds.
    times = (raw - raw[0]) * scale
    if mapping.nanoseconds:
        times += 1e-9 * clock[:, 1]
    return times - times[0], round((float(raw[0]) * scale + float(times[0])) * 1e9)


def _scale(columns: Columns, encoders: JointEncoders) -> FloatArray | float:
    """Return what readings are multiplied by; a unit of angles is none of lengths."""
    if encoders.slides is None or columns.unit not in ANGLES:
        return columns.scale
    scales: FloatArray = np.where(encoders.slides, 1.0, columns.scale)
    return scales


def _lengths_beside_angles(
    table: Table, joint_names: Sequence[str], encoders: JointEncoders
) -> list[str]:
    """Return which readings are taken for lengths, beside others in a unit of angles."""
    if encoders.slides is None or not encoders.slides.any():
        return []
    names = ', '.join(np.array(joint_names)[encoders.slides])
    return [
        f'{table.path}: {quantity} of {names} is taken for {unit}, as what slides is not in '
        f'{columns.unit}'
        for quantity, unit in (('q', 'm'), ('dq', 'm/s'))
        if (columns := table.mapping.quantities.get(quantity)) and columns.unit in ANGLES
    ]


def _with_other_stamps(values: Mapping[str, FloatArray]) -> list[str]:
    """Return those of velocity and effort that are mostly in rows without positions."""
    has = {name: np.isfinite(values[name]).all(axis=1) for name in _STATES}
    return [
        quantity for quantity in ('dq', 'effort')
        if has['q'].any() and np.sum(has[quantity] & ~has['q'])
        > _OTHER_STAMPS * np.sum(has[quantity])
    ]


def _at_positions(
    stamps: FloatArray, values: Mapping[str, FloatArray], moved: Sequence[str]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return all quantities at the stamps of the positions, those that have others moved."""
    found = dict(values)
    for quantity in moved:
        own = np.isfinite(values[quantity]).all(axis=1)
        found[quantity] = np.column_stack([
            np.interp(stamps, stamps[own], column[own], np.nan, np.nan)
            for column in values[quantity].T
        ])
    known = np.isfinite(values['q']).all(axis=1)
    return stamps[known], {name: array[known] for name, array in found.items()}


def _converted_units(mapping: TableMapping) -> list[str]:
    """Return which units were not stated and are not the usual ones, and how found."""
    units = {name: one.unit for name, one in mapping.quantities.items()}
    units['time'] = mapping.time.unit
    return [
        *(f'{quantity} is taken for {units[quantity]}: {check}'
          for quantity, check in mapping.checks.items()
          if units[quantity] not in ('s', _STATES.get(quantity), *EFFORT_UNITS)),
        *mapping.notes,
    ]
