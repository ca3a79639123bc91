# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables: named columns of numbers, from files of all formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from robot_identification.arrays import FloatArray

if TYPE_CHECKING:
    from robot_identification.recording.table_mapping import TableMapping

# Windows that units are judged from, and their rows; chosen.
WINDOWS, WINDOW_ROWS = 24, 200


class Table(ABC):
    """A table; `places` count its columns from 0, and `time` is the place of a time."""

    columns: tuple[str, ...]  # Names of the columns
    mapping: TableMapping  # What they are, once it is understood
    units: Mapping[str, str] = {}  # Units that a line of units states, by column
    rate: float | None = None  # Rows per second that the file states [Hz]
    joints: tuple[str, ...] = ()  # Joints that it states in the order of numbered columns
    cut_off = ''  # What is wrong with the end of the table, known when all was read
    notes: tuple[str, ...] = ()  # What a reader should know
    # Shapes of arrays of which no columns are made, by name, in words
    left_out: Mapping[str, str] = {}

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns in blocks of rows (m, k); that of the time may hold texts."""

    @cached_property
    @abstractmethod
    def windows(self) -> list[FloatArray]:
        """Consecutive rows of all columns, from all over the table, NaN for texts."""

    def describe_left_out(self) -> str:
        """Return which arrays are not taken and what to do; nothing where all are."""
        if not self.left_out:
            return ''
        listed = ', '.join(f'{name} {shape}' for name, shape in self.left_out.items())
        remedy = '; an array for a table has a row for each sample and a column for each joint'
        if any(shape.count(',') > 1 for shape in self.left_out.values()):
            remedy += ': choose one environment or robot, as array[:, 0]'
        return f'{listed:.400}{remedy}'

    @abstractmethod
    def row_name(self, row: int) -> str:
        """Return where a row of the last block stands."""
