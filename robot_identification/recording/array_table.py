# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables that are arrays in one file: NPZ, MAT of all versions, HDF5 and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray, release
from robot_identification.errors import BagError, needing
from robot_identification.recording.column_names import take_apart, time_rank
from robot_identification.recording.parquet_table import PARQUET_SUFFIXES, read_parquet
from robot_identification.recording.raw_bag import BLOCK_MESSAGES
from robot_identification.recording.table import Table, WINDOW_ROWS, WINDOWS
import scipy

if TYPE_CHECKING:
    import h5py

# Wider arrays are images or the like, not joints; chosen.
_MOST_COLUMNS = 64
# Structures in structures; chosen, no log goes deeper.
_DEEPEST = 6
_HDF5 = 2  # version of MAT files that are HDF5, as scipy counts
_RATES = ('fs', 'rate', 'fps', 'hz', 'frequency', 'sample_rate', 'sampling_rate')
_PERIODS = ('ts', 'dt', 'tsample', 'sample_time', 'period', 'sampling_period')
_JOINTS = ('joint_names', 'joints', 'names', 'name', 'jointnames')

Arrays = dict[str, NDArray[Any]]


class ArrayTable(Table):
    """A table of arrays; raise BagError if the file holds none."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        suffix, lost = path.suffix.lower(), list[str]()
        if suffix in PARQUET_SUFFIXES or path.is_dir():
            self._columns: Arrays
            self._columns, self.units, self.notes = read_parquet(path)
        else:
            arrays = _READERS[suffix](path, lost)
            self.rate, self.joints = _find_rate(arrays), _find_joints(arrays)
            self._columns, others = _to_columns(path, arrays)
            self.left_out = dict.fromkeys(lost, '(cannot be read)') | others
        if lost:
            self.notes = (f'{path}: {", ".join(lost):.400} cannot be read and is left out',)
        self.columns = tuple(self._columns)

    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns in blocks of rows (m, k)."""
        count = len(self._columns[self.columns[0]])
        for self._first in range(0, count, BLOCK_MESSAGES):
            yield self._rows(places, slice(self._first, self._first + BLOCK_MESSAGES))

    def row_name(self, row: int) -> str:
        """Return where a row of the last block stands."""
        return f'row {self._first + row + 1}'

    def _rows(self, places: Sequence[int], rows: slice) -> FloatArray:
        columns = [self._columns[self.columns[place]] for place in places]
        found = np.column_stack([np.asarray(one[rows], dtype=np.float64) for one in columns])
        release(columns[-1])
        return found

    @cached_property
    def windows(self) -> list[FloatArray]:
        """Consecutive rows of all columns, from all over the table."""
        count, every = len(self._columns[self.columns[0]]), range(len(self.columns))
        return [
            self._rows(every, slice(first, first + WINDOW_ROWS))
            for first in range(0, count, max(count // WINDOWS, WINDOW_ROWS))
        ]


def _read_npz(path: Path, lost: list[str]) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: np.asarray(stored[name]) for name in stored.files}
    except Exception as error:
        # Reading ZIP and the header of arrays raises any exception in a damaged file.
        raise BagError(f'{path} cannot be read as NPZ: {error}') from error


def _read_mat(path: Path, lost: list[str]) -> Arrays:
    """Return the arrays of a MAT file, those of structures under STRUCTURE.FIELD."""
    try:
        version = scipy.io.matlab.matfile_version(str(path))[0]
    except Exception as error:
        raise BagError(f'{path} cannot be read as MAT: {error}') from error
    if version == _HDF5:
        return _read_hdf5(path, lost)
    try:
        content = scipy.io.loadmat(str(path), simplify_cells=True)
    except Exception as error:
        # The reader raises any exception in a damaged file.
        raise BagError(f'{path} cannot be read as MAT: {error}') from error
    arrays: Arrays = {}
    own = {name: value for name, value in content.items() if not name.startswith('__')}
    _flatten('', own, arrays)
    return arrays


def _read_hdf5(path: Path, lost: list[str]) -> Arrays:
    """Return the arrays of an HDF5 file; MAT files of version 7.3 have their axes reversed."""
    kind, what, fix = 'HDF5', f'{path.name}, an HDF5 file,', 'pip install h5py'
    if path.suffix.lower() == '.mat':
        kind, what = 'MAT 7.3', f'{path.name}, a MAT file of version 7.3,'
        fix += "` (or save it in MATLAB with `save(file, '-v7')"
    with needing('h5py', f'reading {what}', fix):
        import h5py
    arrays: Arrays = {}
    try:
        with h5py.File(path, 'r') as file:
            _flatten_h5(file, '', (arrays, lost), h5py)
    except Exception as error:
        # The reader raises any exception in a damaged file.
        raise BagError(f'{path} cannot be read as {kind}: {error}') from error
    return arrays


def _flatten_h5(
    group: h5py.Group, prefix: str, found: tuple[Arrays, list[str]], library: Any
) -> None:
    arrays, lost = found
    for name, item in group.items():
        if name.startswith('#'):
            continue
        if isinstance(item, library.Group):
            if prefix.count('.') < _DEEPEST:
                _flatten_h5(item, f'{prefix}{name}.', found, library)
        elif item is None:
            lost.append(prefix + name)
        elif isinstance(item, library.Dataset) and item.dtype.kind in 'fiu':
            # What is larger in all but two directions is no table; only its shape is kept.
            is_flat = sum(size > 1 for size in item.shape) <= 2
            arrays[prefix + name] = (
                np.asarray(item).T.squeeze() if is_flat else np.broadcast_to(0, item.shape)
            )


def _read_json(path: Path, lost: list[str]) -> Arrays:
    """Return the arrays of a JSON file: of one object, or of a record for every row."""
    data = path.read_bytes()
    try:
        if path.suffix.lower() == '.json':
            content = json.loads(data)
        else:
            content = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise BagError(f'{path} cannot be read as JSON: {error}') from error
    arrays: Arrays = {}
    if isinstance(content, dict):
        _flatten('', content, arrays)
        return arrays
    rows: list[Arrays] = []
    for record in content if isinstance(content, list) else ():
        if isinstance(record, dict):
            rows.append({})
            _flatten('', record, rows[-1])
    for name in dict.fromkeys(name for row in rows for name in row):
        found = [row.get(name) for row in rows]
        texts = [value for value in found if value is not None and value.dtype.kind != 'f']
        if texts:
            arrays[name] = texts[0]
            continue
        # Of a record without a value, or with another number of them than most, nothing is known.
        shape, _ = Counter(value.shape for value in found if value is not None).most_common(1)[0]
        arrays[name] = np.array([
            value if value is not None and value.shape == shape else np.full(shape, np.nan)
            for value in found
        ])
    return arrays


_READERS: Mapping[str, Callable[[Path, list[str]], Arrays]] = {
    '.npz': _read_npz, '.mat': _read_mat, '.h5': _read_hdf5, '.hdf5': _read_hdf5,
    '.json': _read_json, '.jsonl': _read_json, '.ndjson': _read_json,
}
ARRAY_SUFFIXES = (*_READERS, *PARQUET_SUFFIXES)


def _flatten(prefix: str, content: Mapping[str, Any], arrays: Arrays, depth: int = 0) -> None:
    """Put the numbers and texts of an object, and of those in it, among the arrays."""
    for name, value in content.items():
        if isinstance(value, dict):
            if depth < _DEEPEST:
                _flatten(f'{prefix}{name}.', value, arrays, depth + 1)
            continue
        if isinstance(value, np.ndarray):
            arrays[prefix + name] = value
            continue
        items = value if isinstance(value, list) else []
        is_text = bool(items) and all(isinstance(item, str) for item in items)
        # Lists of several lengths, and integers beyond all floats, are no array, nor are cells.
        if not any(isinstance(item, np.ndarray) for item in items):
            with suppress(ValueError, TypeError, OverflowError):
                arrays[prefix + name] = np.array(value, dtype=str if is_text else np.float64)


def _find_rate(arrays: Arrays) -> float | None:
    """Return the rows per second that a number of the file states [Hz]."""
    for name, array in arrays.items():
        last = name.rpartition('.')[2].lower()
        if array.size == 1 and array.dtype.kind in 'fiu':
            value = float(array.reshape(-1)[0])
            if value > 0.0 and np.isfinite(value) and last in (*_RATES, *_PERIODS):
                return value if last in _RATES else 1.0 / value
    return None


def _find_joints(arrays: Arrays) -> tuple[str, ...]:
    """Return the names of joints that the file lists."""
    for name, array in arrays.items():
        if name.rpartition('.')[2].lower() in _JOINTS and array.ndim == 1 and (
            array.dtype.kind in 'UO' and all(isinstance(one, str) for one in array.tolist())
        ):
            return tuple(one.strip() for one in array.tolist())
    return ()


def _to_columns(
    path: Path, arrays: Arrays
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """
    Return the columns of arrays, and the shapes of arrays that are none.

    The rows are as many as times, or as most arrays have. Directions of one element, as of a
    simulator with one environment, do not count.
    """
    every = {
        name: array for name, array in arrays.items()
        if array.dtype.kind in 'fiub' and array.size > 1
    }
    numbers = {
        name: array if array.ndim <= 2 else squeezed for name, array in every.items()
        if (squeezed := array.squeeze()).ndim <= 2
    }
    times = [
        max(array.shape) for name, array in numbers.items()
        if time_rank(take_apart(name)) is not None and array.size == max(array.shape)
    ]
    lengths = Counter(max(array.shape) for array in numbers.values())
    if not lengths:
        raise BagError(f'{path} holds no arrays of numbers with a row for each sample')
    count = max(times) if times else max(lengths, key=lambda one: (lengths[one], one))
    columns: dict[str, NDArray[Any]] = {}
    for name, array in numbers.items():
        if array.ndim == 1 or 1 in array.shape:
            if array.size == count:
                columns[name] = array.reshape(-1)
            continue
        if array.shape[0] != count:
            array = array.T
        if array.shape[0] == count and array.shape[1] <= _MOST_COLUMNS:
            for k in range(array.shape[1]):
                columns[f'{name}[{k}]'] = array[:, k]
    if not columns:
        raise BagError(f'{path} holds no array with a row for each of {count} samples')
    taken = {name.partition('[')[0] for name in columns}
    return columns, {name: str(array.shape) for name, array in every.items() if name not in taken}
