# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every kind of table: names of columns, and numbers in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from robot_identification.arrays import FloatArray


class TableSource(Protocol):
    """A table; `places` count its columns from 0, and `time` is the place of a time."""

    path: Path
    columns: tuple[str, ...]  # Names of the columns
    units: Mapping[str, str]  # Units that a line of units states, by column
    rate: float | None  # Rows per second that the file states [Hz]
    joints: tuple[str, ...]  # Joints that the file states in the order of numbered columns
    cut_off: str  # What is wrong with the end of the table, known when all was read
    notes: tuple[str, ...]  # What a reader should know

    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns, in blocks of rows."""

    def sample(self, places: Sequence[int], time: int | None) -> list[FloatArray]:
        """Return windows of consecutive rows from all over the table."""

    def row_name(self, row: int) -> str:
        """Return where a row of the last block stands."""
