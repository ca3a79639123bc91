# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables in Parquet: a file, or a folder of them such as a LeRobot dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import BagError, needing
from robot_identification.files import read_text
from robot_identification.recording.other_files import check_fetched
from robot_identification.recording.raw_bag import BLOCK_MESSAGES
from robot_identification.recording.table_source import TableSource, WINDOW_ROWS, WINDOWS

PARQUET_SUFFIXES = ('.parquet', '.pq')
INFO_FILE = Path('meta') / 'info.json'
# Between the episodes of a dataset [s]: longer than any pause that is bridged. Chosen.
_PAUSE = 1.0
# Columns of a dataset that count, not measure.
_EPISODE, _TIMESTAMP = 'episode_index', 'timestamp'


def is_dataset(path: Path) -> bool:
    """Return whether a folder is a LeRobot dataset."""
    return (path / INFO_FILE).is_file()


class ParquetTable(TableSource):
    """A Parquet file, or the episodes of a LeRobot dataset one after the other."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._parquet = _library(path)
        self._is_dataset = path.is_dir()
        self._files = _find_files(path)
        self._names = _feature_names(path) if self._is_dataset else {}
        self._roots: dict[str, str] = {}  # Name in the file of each column
        self._widths: dict[str, int] = {}  # Length of the lists of a column
        self.columns = self._find_columns()

    def _open(self, file: Path) -> Any:
        try:
            return self._parquet.ParquetFile(file)
        except Exception as error:
            check_fetched(file)
            # The library raises errors of its own, of several roots.
            raise BagError(f'{file} cannot be read as Parquet: {error}') from error

    def _find_columns(self) -> tuple[str, ...]:
        with self._open(self._files[0]) as file:
            batch = next(self._batches(file, None, 1), None)
            if batch is None:
                raise BagError(f'{self._files[0]} holds no row')
            found = tuple(self._columns_of(batch))
        if not found:
            raise BagError(f'{self.path} has no column of numbers')
        return found

    def _batches(self, file: Any, names: Sequence[str] | None, size: int) -> Iterator[Any]:
        """Yield the batches of a file; structures become columns STRUCTURE.FIELD."""
        import pyarrow

        try:
            # Names of a structure's fields begin with its own.
            roots = None if names is None else list(dict.fromkeys(
                name if name in file.schema_arrow.names else name.partition('.')[0]
                for name in names
            ))
            for batch in file.iter_batches(batch_size=size, columns=roots):
                while any(pyarrow.types.is_struct(field.type) for field in batch.schema):
                    batch = pyarrow.Table.from_batches([batch]).flatten().combine_chunks()
                    batch = batch.to_batches()[0]
                yield batch
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise BagError(f'{self.path} cannot be read as Parquet: {error}') from error

    def _numbers(self, batch: Any, places: Sequence[int]) -> FloatArray:
        found = self._columns_of(batch)
        return np.column_stack([found[self.columns[place]] for place in places])

    def _columns_of(self, batch: Any) -> dict[str, FloatArray]:
        """Return the columns of numbers of a batch; each place of lists is one."""
        import pyarrow

        types, found = pyarrow.types, {}
        for field, column in zip(batch.schema, batch.columns, strict=True):
            name, kind = field.name, field.type
            if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
                if types.is_floating(kind.value_type) or types.is_integer(kind.value_type):
                    rows = self._vectors(name, column)
                    names = self._names.get(name, ())
                    for k in range(rows.shape[1]):
                        end = f'.{names[k]}' if len(names) == rows.shape[1] else f'[{k}]'
                        found[name + end] = rows[:, k]
                        self._roots[name + end] = name
            elif types.is_floating(kind) or types.is_integer(kind) or types.is_timestamp(kind) or (
                types.is_boolean(kind) or types.is_decimal(kind)
            ):
                if types.is_timestamp(kind):
                    self.units = {**self.units, name: kind.unit}
                    column = column.cast(pyarrow.int64())
                found[name] = column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
                self._roots[name] = name
        return found

    def _vectors(self, name: str, column: Any) -> FloatArray:
        """Return the rows of a column of lists; a row without a list holds NaN."""
        import pyarrow

        width = self._widths.setdefault(name, len(column[0].as_py() or ()))
        valid = np.asarray(column.is_valid())
        flat = column.drop_null().flatten().cast(pyarrow.float64())
        numbers = flat.to_numpy(zero_copy_only=False)
        if numbers.size != width * np.count_nonzero(valid):
            raise BagError(f'{self.path}: the lists of {name} have not all {width} numbers')
        rows = np.full((len(column), width), np.nan)
        rows[valid] = numbers.reshape(-1, width)
        return rows

    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns; times of a dataset's episodes follow each other."""
        # Number of the episode and its time at the end of the last block, and what is added [s].
        self._episode, self._end, self._offset = math.nan, -_PAUSE, 0.0
        self._first, self._episodes = 0, 0
        wanted = list(places)
        episode = self._episode_place(time)
        if episode is not None:
            wanted.append(episode)
        names = list(dict.fromkeys(self._roots[self.columns[place]] for place in wanted))
        for path in self._files:
            with self._open(path) as file:
                for batch in self._batches(file, names, BLOCK_MESSAGES):
                    if not batch.num_rows:
                        continue
                    block = self._numbers(batch, wanted)
                    if episode is not None and time is not None:
                        self._join_episodes(block, list(places).index(time))
                        block = block[:, :-1]
                    yield block
                    self._first += len(block)
        if self._episodes > 1:
            self.notes = (
                f'{self.path} has {self._episodes} episodes: they follow each other, with a '
                f'pause of {_PAUSE:g} s between two',
            )

    def _episode_place(self, time: int | None) -> int | None:
        if not self._is_dataset or time is None or self.columns[time] != _TIMESTAMP:
            return None
        return self.columns.index(_EPISODE) if _EPISODE in self.columns else None

    def _join_episodes(self, block: FloatArray, time: int) -> None:
        """Move the times of every episode behind those of the one before."""
        numbers = block[:, -1]
        starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()]
        for first, last in zip(starts, [*starts[1:], len(block)], strict=True):
            times = block[first:last, time]
            if numbers[first] != self._episode:
                # The first one keeps its times.
                self._offset = self._end + _PAUSE - times[0] if self._episodes else 0.0
                self._episodes += 1
            times += self._offset
            self._episode, self._end = float(numbers[first]), float(times[-1])

    def _windows(self) -> Iterator[FloatArray]:
        names = list(dict.fromkeys(self._roots.values()))
        every = range(len(self.columns))
        for path in self._files[::max(len(self._files) // WINDOWS, 1)]:
            with self._open(path) as file:
                rows = file.metadata.num_rows
                step = max(rows * min(len(self._files), WINDOWS) // WINDOWS, WINDOW_ROWS)
                at, due = 0, 0
                for batch in self._batches(file, names, WINDOW_ROWS):
                    if at >= due and batch.num_rows:
                        yield self._numbers(batch, every)
                        due = at + step
                    at += batch.num_rows


def _library(path: Path) -> Any:
    with needing('pyarrow', f'reading {path.name}, which is in Parquet,'):
        from pyarrow import parquet
    return parquet


def _find_files(path: Path) -> list[Path]:
    """Return the Parquet files of a dataset in order, or the one that is named."""
    if not path.is_dir():
        return [path]
    files = sorted((path / 'data').rglob('*.parquet'))
    if not files:
        raise BagError(
            f'{path} is a LeRobot dataset without data/chunk-*/*.parquet: download them, too'
        )
    return files


def _feature_names(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the names of what is in every list, by column, as meta/info.json has them."""
    try:
        content = json.loads(read_text(path / INFO_FILE))
    except ValueError as error:
        raise BagError(f'{path / INFO_FILE} is not JSON: {error}') from error
    features = content.get('features') if isinstance(content, dict) else None
    found = {}
    for name, feature in (features if isinstance(features, dict) else {}).items():
        names = feature.get('names') if isinstance(feature, dict) else None
        if isinstance(names, dict):
            # Version 2 puts them under a key such as "motors".
            names = next((one for one in names.values() if isinstance(one, list)), None)
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            found[name] = tuple(names)
    return found
