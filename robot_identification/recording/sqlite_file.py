# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""sqlite3 files of rosbag2, read row by row until the first damage and never written to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, ExitStack, suppress
from itertools import count
import os
from pathlib import Path
import shutil
import sqlite3
import struct
import tempfile
from typing import Any

from robot_identification.arrays import folder as storage_folder
from robot_identification.recording.raw_bag import custom_data, Damage, LARGEST_MESSAGE, Topic

MAGIC = b'SQLite format 3\0'
# What a killed writer leaves next to the file: it holds, or takes back, the last messages.
LEFTOVERS = ('-wal', '-journal')
_HEADER_SIZE = 100  # [bytes], by sqlite3's file format
_TABLES = ('topics', 'messages', 'metadata')
# Damage that sqlite3 does not see may make it ask for more memory than there is.
_FAILURES = (sqlite3.Error, MemoryError)
# What sqlite3 may do [instructions]: a row takes some 30 and has a few bytes. Pages that name each
# other hold more rows than there are bytes.
_STEPS_PER_BYTE = 20
_STEPS_AT_LEAST = 10_000_000  # chosen: no small file needs them
_STEPS_BETWEEN_LOOKS = 10_000  # chosen: a look costs far less


class SqliteFile:
    """One file; raise Damage if its list of topics cannot be read."""

    storage = 'sqlite3'
    span: tuple[int, int] | None = None  # A table has no statistics of its own

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._copy: Path | None = None
        page_size, expected = _sizes(path)
        size = path.stat().st_size
        self._damage = f'it ends at byte {size} of {expected}' if size < expected else ''
        self._copy_if_needed(page_size, stack)
        try:
            with closing(self._connect()) as connection:
                _check_tables(connection)
                rows = connection.execute(
                    'SELECT id, name, type, serialization_format FROM topics ORDER BY id'
                ).fetchall()
                counts = _count(connection)
                self._damage = '; '.join(filter(None, (
                    self._damage, _compare_with_index(connection, counts.total())
                )))
                self.custom_data = _custom_data(connection)  # What the recorder noted
        except _FAILURES as error:
            cause = str(error) or 'it asks for more memory than there is'
            raise Damage(f'its list of topics cannot be read: {cause}') from error
        self._all_keys = [row[0] for row in rows]
        self._keys: dict[str, Any] = {}
        self.topics: dict[str, Topic] = {}  # Those in CDR
        for key, name, kind, encoding in rows:
            if encoding == 'cdr':
                self._keys[str(name)] = key
                self.topics[str(name)] = Topic(str(kind), counts[key])

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, log time and payload of some topics; Damage behind the last good one."""
        wanted = {self._keys[name]: name for name in topics if name in self._keys}
        damages = [self._damage] if self._damage else []
        with closing(self._connect()) as connection:
            try:
                yield from self._rows(connection, wanted)
            except (*_FAILURES, Damage) as error:
                damages.append(f'its messages can be read up to: {error}')
        if damages:
            raise Damage('; '.join(damages))

    def _rows(
        self, connection: sqlite3.Connection, wanted: Mapping[Any, str]
    ) -> Iterator[tuple[str, int, bytes]]:
        """Yield the wanted rows; the others are read without their data, and show damage, too."""
        known, last = set(self._all_keys), -1
        for row, key, timestamp, data in connection.execute(
            'SELECT id, topic_id, timestamp, CASE WHEN topic_id IN '
            f'({", ".join("?" * len(wanted))}) THEN data END FROM messages ORDER BY id',
            tuple(wanted),
        ):
            if row <= last or key not in known or not isinstance(timestamp, int):
                raise Damage(f'a row behind number {last} that is no message')
            last = row
            if key not in wanted:
                continue
            if not (isinstance(data, bytes) and len(data) <= LARGEST_MESSAGE):
                raise Damage(f'row {row}, whose data are no message')
            yield wanted[key], timestamp, data

    def _copy_if_needed(self, page_size: int, stack: ExitStack) -> None:
        """
        Copy a file that sqlite3 has to repair, or would make up with zeros.

        With what its writer left next to it, sqlite3 finishes the job; a last page that is cut off
        is left out.
        """
        leftovers = [
            file for ending in LEFTOVERS
            if (file := self.path.with_name(self.path.name + ending)).is_file()
            and file.stat().st_size
        ]
        size = self.path.stat().st_size
        cut_off = size % page_size if page_size else 0
        if leftovers:
            self._damage = (
                f'its writer was killed and left {" and ".join(file.name for file in leftovers)}'
            )
        if not (leftovers or cut_off):
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=storage_folder())))
        self._copy = folder / self.path.name
        try:
            for file in (self.path, *leftovers):
                shutil.copyfile(file, folder / file.name)
            os.truncate(self._copy, size - cut_off)
        except OSError as error:
            raise Damage(
                f'it needs a copy to be read, and {folder} has no room for it '
                f'({error.strerror}): set TMPDIR to a folder on a larger disk'
            ) from error

    def _connect(self) -> sqlite3.Connection:
        if self._copy is None:
            uri = f'{self.path.resolve().as_uri()}?mode=ro&immutable=1'
            connection = sqlite3.connect(uri, uri=True)
        else:
            connection = sqlite3.connect(self._copy)
        # Without it, a file that was cut off is refused as a whole.
        connection.execute('PRAGMA writable_schema = ON')
        connection.execute('PRAGMA cell_size_check = ON')
        connection.execute('PRAGMA trusted_schema = OFF')
        _limit_steps(connection, self.path.stat().st_size)
        return connection


def _limit_steps(connection: sqlite3.Connection, size: int) -> None:
    """Interrupt a query that takes more steps than a file of `size` bytes can need."""
    looks = count((_STEPS_AT_LEAST + _STEPS_PER_BYTE * size) // _STEPS_BETWEEN_LOOKS, -1)
    connection.set_progress_handler(lambda: next(looks) < 0, _STEPS_BETWEEN_LOOKS)


def _check_tables(connection: sqlite3.Connection) -> None:
    """Check that what is read are tables: a view or a computed column is a program."""
    for name in _TABLES:
        for _, _, kind, *_ in connection.execute(f'PRAGMA table_list({name})'):
            if kind != 'table':
                raise Damage(f'its {name} are a {kind}, a table is needed')
        computed = [
            column for _, column, *_, hidden in connection.execute(f'PRAGMA table_xinfo({name})')
            if hidden
        ]
        if computed:
            raise Damage(f'its table {name} computes the column {computed[0]!r:.40}')


def _count(connection: sqlite3.Connection) -> Counter[Any]:
    """Count messages by topic, up to the first damage, which is met again when they are read."""
    counts: Counter[Any] = Counter()
    with suppress(*_FAILURES):
        return Counter(dict(connection.execute(
            'SELECT topic_id, count(*) FROM messages GROUP BY topic_id'
        ).fetchall()))
    with suppress(*_FAILURES):
        for (key,) in connection.execute('SELECT topic_id FROM messages ORDER BY id'):
            counts[key] += 1
    return counts


def _compare_with_index(connection: sqlite3.Connection, count: int) -> str:
    """Say so where the index of the messages has more or fewer of them than their table."""
    try:
        indexed, = connection.execute(
            # A plain count(*) is one step however long it takes, see `_limit_steps`.
            'SELECT total(1) FROM messages INDEXED BY timestamp_idx'
        ).fetchone()
    except _FAILURES:
        # No such index, or it is damaged: nothing is read by it.
        return ''
    if indexed == count:
        return ''
    return f'its index counts {indexed:.0f} messages, and there are {count}'


def _custom_data(connection: sqlite3.Connection) -> dict[str, str]:
    try:
        rows = connection.execute('SELECT metadata FROM metadata ORDER BY id').fetchall()
    except _FAILURES:
        # Older files have no such table.
        return {}
    return custom_data(str(rows[-1][0])) if rows else {}


def _sizes(path: Path) -> tuple[int, int]:
    """Return the sizes of a page and of the file by its first page [bytes]."""
    with path.open('rb') as stream:
        head = stream.read(_HEADER_SIZE).ljust(_HEADER_SIZE, b'\0')
    page_size, = struct.unpack_from('>H', head, 16)
    pages, = struct.unpack_from('>I', head, 28)
    # A page of 64 KiB is written as 1.
    page_size = 65_536 if page_size == 1 else page_size
    return page_size, pages * page_size
