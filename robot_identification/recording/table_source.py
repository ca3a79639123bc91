# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Base of every kind of table: names of columns, and numbers in blocks of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from robot_identification.arrays import FloatArray

# Windows that units are judged from, and their rows; chosen.
WINDOWS, WINDOW_ROWS = 24, 200


class TableSource(ABC):
    """A table; `places` count its columns from 0, and `time` is the place of a time."""

    columns: tuple[str, ...]  # Names of the columns
    units: Mapping[str, str] = {}  # Units that a line of units states, by column
    rate: float | None = None  # Rows per second that the file states [Hz]
    joints: tuple[str, ...] = ()  # Joints that it states in the order of numbered columns
    cut_off = ''  # What is wrong with the end of the table, known when all was read
    notes: tuple[str, ...] = ()  # What a reader should know

    def __init__(self, path: Path) -> None:
        self.path = path
        self._first = 0  # Row that the last block begins with

    @abstractmethod
    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns, in blocks of rows."""

    @abstractmethod
    def sample(self, places: Sequence[int], time: int | None) -> list[FloatArray]:
        """Return windows of consecutive rows from all over the table."""

    def row_name(self, row: int) -> str:
        """Return where a row of the last block stands."""
        return f'row {self._first + row + 1}'
