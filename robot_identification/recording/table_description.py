# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A table in words: what its columns were taken for, and how that is known."""

from __future__ import annotations

from robot_identification.recording.table_mapping import TableMapping
from robot_identification.recording.tables import OpenedTable

_WORDS = {
    'time': 'time', 'q': 'position', 'dq': 'velocity', 'effort': 'effort',
    'temperature': 'temperature', 'rotor_position': 'rotor position',
}


def describe_table(opened: OpenedTable) -> list[str]:
    """Return what the columns of a table are, in lines; those after the first are indented."""
    source, mapping = opened.source, opened.mapping
    how = 'understood as' if mapping.recognized else 'by its mapping'
    lines = [f'{source.path}: a table of {len(source.columns)} columns, {how}']
    rows = [('time', _describe_time(mapping))]
    for quantity, columns in mapping.quantities.items():
        unit = columns.unit or 'unit not stated'
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
    return [*lines, *(f'  note        {note}' for note in mapping.notes)]


def _describe_time(mapping: TableMapping) -> str:
    if mapping.rate is not None:
        return f'from the number of the row, {mapping.rate:g} Hz'
    nanoseconds = f' and {mapping.nanoseconds} [ns]' if mapping.nanoseconds else ''
    return f'{mapping.time.shown()} [{mapping.time.unit}]{nanoseconds}'
