# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Columns of Parquet files, and of the episodes of LeRobot datasets one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, GrowingArray
from robot_identification.errors import BagError, needing
from robot_identification.files import read_text
from robot_identification.recording.other_files import check_fetched
from robot_identification.recording.raw_bag import BLOCK_MESSAGES

PARQUET_SUFFIXES = ('.parquet', '.pq')
INFO_FILE = Path('meta') / 'info.json'
# Between the episodes of a dataset [s]: longer than any pause that is bridged. Chosen.
_PAUSE = 1.0
# Columns of a dataset that count, not measure.
_EPISODE, _TIMESTAMP = 'episode_index', 'timestamp'


def is_dataset(path: Path) -> bool:
    """Return whether a folder is a LeRobot dataset."""
    return (path / INFO_FILE).is_file()


def read_parquet(path: Path) -> tuple[dict[str, FloatArray], dict[str, str], tuple[str, ...]]:
    """Return the columns of a Parquet file or a dataset, their units, and notes."""
    with needing('pyarrow', f'reading {path.name}, which is in Parquet,'):
        import pyarrow  # noqa: F401
    files, names = [path], dict[str, Sequence[str]]()
    if path.is_dir():
        files, names = sorted((path / 'data').rglob('*.parquet')), _feature_names(path)
    if not files:
        raise BagError(
            f'{path} is a LeRobot dataset without data/chunk-*/*.parquet: download them, too'
        )
    columns, units = _read_columns(path, files, names)
    if path.is_dir() and {_EPISODE, _TIMESTAMP} <= set(columns):
        columns[_TIMESTAMP], count = _join_episodes(columns[_TIMESTAMP], columns[_EPISODE])
        if count > 1:
            return columns, units, (
                f'{path} has {count} episodes: they follow each other, with a pause of '
                f'{_PAUSE:g} s between two',
            )
    return columns, units, ()


def _read_columns(
    path: Path, files: Sequence[Path], names: Mapping[str, Sequence[str]]
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the columns of files that follow each other, and their units."""
    units: dict[str, str] = {}
    widths: dict[str, int] = {}
    found: tuple[str, ...] = ()
    rows = GrowingArray(0)
    for file in files:
        for batch in _batches(file):
            block = _columns_of(path, batch, names, units, widths)
            if not found:
                found, rows = tuple(block), GrowingArray(len(block))
            if not found:
                raise BagError(f'{path} has no column of numbers')
            if found != tuple(block):
                raise BagError(f'{file} has other columns than {files[0]}')
            rows.append(np.column_stack(list(block.values())))
    if not found:
        raise BagError(f'{files[0]} holds no row')
    return dict(zip(found, rows.finish().T, strict=True)), units


def _batches(file: Path) -> Iterator[Any]:
    """Yield the columns of numbers of a file in blocks; structures become STRUCTURE.FIELD."""
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            fields = _flat(opened.schema_arrow.empty_table()).schema
            wanted = [field.name for field in fields if _is_number(field.type)]
            for batch in opened.iter_batches(BLOCK_MESSAGES, columns=wanted):
                if batch.num_rows:
                    yield _flat(pyarrow.Table.from_batches([batch]))
    except Exception as error:
        check_fetched(file)
        # The library raises errors of its own, of several roots.
        raise BagError(f'{file} cannot be read as Parquet: {error}') from error


def _columns_of(
    path: Path, table: Any, names: Mapping[str, Sequence[str]], units: dict[str, str],
    widths: dict[str, int],
) -> dict[str, FloatArray]:
    """
    Return the columns of numbers, each place of lists one.

    Units are put among `units`, and into `widths` how long the first list of each column is.
    """
    import pyarrow

    columns: dict[str, FloatArray] = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        if _is_list(field.type):
            widths.setdefault(field.name, len(column[0].as_py() or ()))
            rows = _vectors(column.combine_chunks(), widths[field.name])
            if rows is None:
                raise BagError(
                    f'{path}: the lists of {field.name} have not all {widths[field.name]} numbers'
                )
            listed = names.get(field.name, ())
            for k, values in enumerate(rows.T):
                end = f'.{listed[k]}' if len(listed) == len(rows.T) else f'[{k}]'
                columns[field.name + end] = values
            continue
        if pyarrow.types.is_timestamp(field.type):
            units[field.name] = field.type.unit
            column = column.cast(pyarrow.int64())
        columns[field.name] = column.cast(pyarrow.float64()).to_numpy()
    return columns


def _flat(table: Any) -> Any:
    import pyarrow

    while any(pyarrow.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    )


def _is_number(kind: Any) -> bool:
    """Return whether a column holds numbers, or lists of them."""
    from pyarrow import types

    if _is_list(kind):
        return bool(types.is_floating(kind.value_type) or types.is_integer(kind.value_type))
    return bool(
        types.is_floating(kind) or types.is_integer(kind) or types.is_timestamp(kind)
        or types.is_boolean(kind) or types.is_decimal(kind)
    )


def _vectors(column: Any, width: int) -> FloatArray | None:
    """Return the rows of lists, NaN for one that is not there; None if one has another width."""
    import pyarrow

    valid = np.asarray(column.is_valid())
    numbers = column.drop_null().flatten().cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    if numbers.size != width * np.count_nonzero(valid):
        return None
    rows = np.full((len(column), width), np.nan)
    rows[valid] = numbers.reshape(-1, width)
    return rows


def _join_episodes(times: FloatArray, episodes: FloatArray) -> tuple[FloatArray, int]:
    """Return the times with every episode behind the one before, and how many there are."""
    starts = [0, *(np.flatnonzero(np.diff(episodes)) + 1).tolist()]
    joined = times.copy()
    for first, last in pairwise([*starts[1:], len(times)]):
        joined[first:last] += joined[first - 1] + _PAUSE - times[first]
    return joined, len(starts)


def _feature_names(path: Path) -> dict[str, Sequence[str]]:
    """Return the names of what is in every list, by column, as meta/info.json has them."""
    try:
        content = json.loads(read_text(path / INFO_FILE))
    except ValueError as error:
        raise BagError(f'{path / INFO_FILE} is not JSON: {error}') from error
    features = content.get('features') if isinstance(content, dict) else None
    return dict(_listed_names(features if isinstance(features, dict) else {}))


def _listed_names(features: dict[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    for name, feature in features.items():
        names = feature.get('names') if isinstance(feature, dict) else None
        if isinstance(names, dict):
            # Version 2 puts them under a key such as "motors".
            names = next((one for one in names.values() if isinstance(one, list)), None)
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            yield name, names
