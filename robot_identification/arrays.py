# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Types of arrays, their triangular factors, and arrays that outgrow memory.

The rows of large ones lie in unnamed temporary files. A file is deleted as soon as it is open
(where the system allows it), so its space is given back when the last array on it is gone or the
process ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
import mmap
import os
from pathlib import Path
import tempfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray
from robot_identification.errors import DataError, UsageError
import scipy

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
IntegerArray = NDArray[np.integer]
IndexArray = NDArray[np.intp]

# Arrays with more rows than this go to the disk: 20 min at 250 Hz, 15 MB for six joints.
LARGEST_IN_MEMORY = 300_000


def as_floats(name: str, values: object) -> FloatArray:
    """Return numbers, as lists or of another type, as an array; UsageError if there are none."""
    if isinstance(values, np.ndarray):
        return values
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f'{name} is {values!r:.60}, an array of numbers is needed') from None


def joint_vectors(n: int, **given: object) -> list[FloatArray]:
    """Return arrays of shape (n,) by their names; raise UsageError if one has another shape."""
    found = []
    for name, values in given.items():
        array = as_floats(name, values)
        if array.shape != (n,):
            raise UsageError(
                f'{name} has the shape {array.shape}, needed is ({n},): a number for each joint'
            )
        found.append(array.astype(float, copy=False))
    return found


def triangle_of(rows: FloatArray) -> FloatArray:
    """
    Return the upper triangular R (k, k) of ``rows = Q R`` for rows (m, k).

    Rows below are zero where m < k; rows in Fortran order are overwritten.
    """
    m, k = rows.shape
    triangle = np.zeros((k, k))
    if m:
        # LAPACK works on 32 columns at once, where it is given the room.
        factored = scipy.linalg.lapack.dgeqrf(rows, lwork=32 * k, overwrite_a=1)[0]
        triangle[: min(m, k)] = factored[:k]
    # What lies below are the reflections.
    triangle *= _upper(k)
    return triangle


@cache
def _upper(k: int) -> FloatArray:
    return np.triu(np.ones((k, k)))


def folder() -> Path:
    """Return where the files are: $TMPDIR, else /var/tmp, because /tmp may be memory."""
    disk = Path('/var/tmp')
    if 'TMPDIR' not in os.environ and os.access(disk, os.W_OK):
        return disk
    return Path(tempfile.gettempdir())


def allocate(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """
    Return a writable array of zeros, in memory or, with many rows, on the disk.

    The rows come first in the shape. Raises DataError if the disk has no room for it.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if shape[0] <= LARGEST_IN_MEMORY or not size:
        return np.zeros(shape, dtype)
    with _enough_room(size), tempfile.TemporaryFile(dir=folder()) as file:
        # Room that is only found missing when a page is written would end the process.
        if hasattr(os, 'posix_fallocate'):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        return np.memmap(file, dtype, 'r+', shape=shape)


class GrowingArray:
    """Array of `width` columns whose rows come in blocks; their number is known at the end."""

    def __init__(self, width: int, dtype: DTypeLike = np.float64) -> None:
        self.width = width
        self._dtype = np.dtype(dtype)
        self._rows = 0
        self._blocks: list[NDArray[Any]] = []
        self._file: BinaryIO | None = None

    def append(self, block: NDArray[Any]) -> None:
        """Add rows, shape (m, width); raises DataError if the disk has no room for them."""
        self._rows += len(block)
        self._blocks.append(block)
        if self._rows > LARGEST_IN_MEMORY:
            self._write()

    def _write(self) -> None:
        blocks, self._blocks = self._blocks, []
        with _enough_room(sum(block.nbytes for block in blocks)):
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=folder())
            for block in blocks:
                self._file.write(np.ascontiguousarray(block, dtype=self._dtype).data)
            self._file.flush()

    def finish(self) -> NDArray[Any]:
        """Return all rows, shape (N, width); nothing can be added any more."""
        if self._file is None:
            blocks, self._blocks = self._blocks, []
            return (
                np.concatenate(blocks) if blocks else np.empty((0, self.width), self._dtype)
            )
        file, self._file = self._file, None
        with file:
            return np.memmap(file, self._dtype, 'r+', shape=(self._rows, self.width))


@contextmanager
def _enough_room(size: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f'{folder()} has no room for {size / 1e6:.0f} MB of a long recording '
            f'({error.strerror}): set TMPDIR to a folder on a larger disk'
        ) from error


def release(array: NDArray[Any]) -> None:
    """
    Drop the pages of an array on the disk from memory; they are read again when needed.

    Nothing is lost. An array in memory is left alone, and so is everything on a platform that
    cannot do it.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, 'MADV_DONTNEED'):
        base.madvise(mmap.MADV_DONTNEED)


def slices_of(size: int) -> Iterator[slice]:
    """Yield consecutive slices of rows that are gone through at a time."""
    at_a_time = 50_000
    for start in range(0, size, at_a_time):
        yield slice(start, min(start + at_a_time, size))


def span_of(keep: BoolArray) -> slice:
    """Return the rows from the first to the last one that a mask (N,) keeps; none of none."""
    with_any = [rows for rows in slices_of(len(keep)) if keep[rows].any()]
    if not with_any:
        return slice(0, 0)
    first, last = with_any[0], with_any[-1]
    return slice(
        first.start + int(np.argmax(keep[first])), last.stop - int(np.argmax(keep[last][::-1]))
    )


def select(array: NDArray[Any], keep: NDArray[np.bool_]) -> NDArray[Any]:
    """
    Return the rows of an array (N, ..) that a mask (N,) keeps.

    It is a view if these are a first part of the array, else a copy where `allocate` puts it.
    """
    count = int(np.count_nonzero(keep))
    if keep[:count].all():
        return array[:count]
    chosen = allocate((count, *array.shape[1:]), array.dtype)
    written = 0
    for rows in slices_of(len(array)):
        block = array[rows][keep[rows]]
        chosen[written:written + len(block)] = block
        written += len(block)
        for mapped in (array, keep, chosen):
            release(mapped)
    return chosen
