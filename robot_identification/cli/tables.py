# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that are tables: what was understood of them, on the screen and as a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_identification.cli.output import show
from robot_identification.errors import UsageError
from robot_identification.files import check_writable, write_atomically
from robot_identification.recording import (
    describe_table, is_table, mapping_text, Table, understand_table,
)
from robot_identification.texts import shown_line


def understand_tables(
    paths: Sequence[Path], joint_names: Sequence[str], names: Mapping[str, str],
    mapping: Path | None,
) -> list[Table]:
    """Return what the columns are of those recordings that are tables."""
    return [
        understand_table(path, joint_names, names, mapping) for path in paths
        if path.exists() and is_table(path)
    ]


def show_tables(tables: Sequence[Table], position_units: Sequence[str]) -> None:
    """Print what was understood, with units of the joints; of several alike the first."""
    seen: set[str] = set()
    for opened in tables:
        lines = describe_table(opened, position_units)
        if (text := mapping_text(opened.mapping)) in seen:
            lines = [f'{opened.path}: a table of the same form']
        seen.add(text)
        for line in lines:
            show(shown_line(line))


def save_mapping(file: Path | None, tables: Sequence[Table], force: bool) -> None:
    """Write the mapping of the first table; raise UsageError if there is none."""
    if file is None:
        return
    if not tables:
        raise UsageError('--save-mapping: no recording is a table: name a CSV, Parquet, MAT or '
                         'NPZ file')
    check_writable(file, force)
    write_atomically(file, mapping_text(tables[0].mapping, tables[0].mapping.checks))
