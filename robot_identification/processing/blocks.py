# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Long recordings in parts: what one hour needs in memory is what a minute needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from robot_identification.arrays import allocate, FloatArray, IntegerArray, release

BLOCK_ROWS = 16384  # chosen: 0.8 MB a signal of six joints
# Which rows of a recording, all where it is None.
Rows = slice | IntegerArray | None


def row_blocks(size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most BLOCK_ROWS rows."""
    for start in range(0, size, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, size))


def block_of(values: FloatArray, rows: Rows, block: slice) -> FloatArray:
    """Return a block of the chosen rows, read from the file where `values` is one."""
    if rows is None:
        return np.asarray(values[block])
    if isinstance(rows, slice):
        return np.asarray(values[rows][block])
    return np.asarray(values[rows[block]])


def take_rows(values: FloatArray, rows: Rows) -> FloatArray:
    """Return the chosen rows: a view where they are consecutive, else a copy made in blocks."""
    if rows is None:
        return values
    if isinstance(rows, slice):
        return values[rows]
    taken = allocate((len(rows), *values.shape[1:]))
    for block in row_blocks(len(rows)):
        taken[block] = values[rows[block]]
        release(values)
        release(taken)
    return taken
