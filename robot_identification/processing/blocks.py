# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Long recordings in parts: what one hour needs in memory is what a minute needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import (
    allocate, BoolArray, FloatArray, IntegerArray, LARGEST_IN_MEMORY, release,
)

BLOCK_ROWS = 16384  # chosen: 0.8 MB a signal of six joints
SOME_INTERVALS = 50_000  # of a long recording; chosen: a share of 1 % is known within 0.05 %
LEAST_BLOCK = 16  # chosen: a call for each row would take longer than the rows
# Which rows of a recording, all where it is None.
Rows = slice | IntegerArray | None


def row_blocks(
    size: int, *arrays: NDArray[Any] | None, most: int | None = None
) -> Iterator[slice]:
    """
    Yield consecutive slices of at most so many rows, by default BLOCK_ROWS.

    What was read and written of `arrays` on the disk leaves memory after each.
    """
    most = BLOCK_ROWS if most is None else most
    for start in range(0, size, most):
        yield slice(start, min(start + most, size))
        for array in arrays:
            if array is not None:
                release(array)


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
    # Of few rows of a long recording a block reaches far in its file.
    span = int(rows.max() - rows.min()) + 1 if len(rows) else 1
    size = min(max(BLOCK_ROWS * len(rows) // span, LEAST_BLOCK), BLOCK_ROWS)
    for block in row_blocks(len(rows), values, taken, most=size):
        taken[block] = values[rows[block]]
    return taken


def thin_chosen(chosen: BoolArray, most: int) -> IntegerArray:
    """Return every k-th of the chosen rows (N,), of which there are then at least `most`."""
    step = max(int(np.count_nonzero(chosen)) // most, 1)
    found, before = [np.zeros(0, dtype=np.intp)], 0
    for block in row_blocks(len(chosen), chosen):
        rows = block.start + np.flatnonzero(chosen[block])
        # A view would keep all of them.
        found.append(rows[-before % step:: step].copy())
        before += len(rows)
    return np.concatenate(found)


def chosen_rows(mask: BoolArray, value: bool = True) -> IntegerArray:
    """Return the rows at which a mask (N,) has a value, on the disk where they are many."""
    count = int(np.count_nonzero(mask))
    rows: IntegerArray = allocate((count if value else len(mask) - count,), np.int64)
    written = 0
    for block in row_blocks(len(mask), mask, rows):
        found = block.start + np.flatnonzero(mask[block] == value)
        rows[written: written + len(found)] = found
        written += len(found)
    return rows


def first_chosen(chosen: BoolArray, most: int) -> IntegerArray:
    """Return the first rows of those that are chosen (N,), at most so many."""
    found, count = [np.zeros(0, dtype=np.intp)], 0
    for block in row_blocks(len(chosen)):
        if count >= most:
            break
        found.append(block.start + np.flatnonzero(chosen[block]))
        count += len(found[-1])
    return np.concatenate(found)[:most]


def some_intervals(times: FloatArray) -> FloatArray:
    """Return the intervals between neighbours, of a long recording some, evenly spread."""
    if len(times) <= LARGEST_IN_MEMORY:
        return np.diff(times)
    rows = np.arange(0, len(times) - 1, len(times) // SOME_INTERVALS + 1)
    return take_rows(times, rows + 1) - take_rows(times, rows)


def mask_where(
    size: int, is_there: Callable[[slice], BoolArray], *read: NDArray[Any]
) -> BoolArray:
    """
    Return a mask (size,) of what is asked for block by block, on the disk where it is long.

    The arrays that are `read` for it leave memory.
    """
    mask: BoolArray = allocate((size,), bool)
    for block in row_blocks(size, mask, *read):
        mask[block] = is_there(block)
    return mask


def take_off(mask: BoolArray, other: BoolArray, value: bool = True) -> int:
    """Clear a mask (N,) where another has a value; return how many rows these are."""
    count = 0
    for block in row_blocks(len(mask), mask, other):
        lost = mask[block] & (other[block] == value)
        mask[block] ^= lost
        count += int(np.count_nonzero(lost))
    return count


def rows_where(
    size: int, is_there: Callable[[slice], BoolArray], *read: NDArray[Any]
) -> IntegerArray:
    """Return the rows at which something is; see `mask_where`."""
    found = [np.zeros(0, dtype=np.intp)]
    found += [block.start + np.flatnonzero(is_there(block)) for block in row_blocks(size, *read)]
    return np.concatenate(found)


def extremes(
    size: int, values: Callable[[slice], FloatArray], *read: NDArray[Any]
) -> tuple[FloatArray, FloatArray]:
    """
    Return least and largest of the values (m, n) that are asked for block by block, (n,) each.

    NaN does not count; without any value they are infinite. The arrays that are `read` for it
    leave memory.
    """
    lowest, highest = np.array(np.inf), np.array(-np.inf)
    for block in row_blocks(size, *read):
        found = np.asarray(values(block))
        lowest = np.fmin(lowest, np.fmin.reduce(found, axis=0, initial=np.inf))
        highest = np.fmax(highest, np.fmax.reduce(found, axis=0, initial=-np.inf))
    return lowest, highest
