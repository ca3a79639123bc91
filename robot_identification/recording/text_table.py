# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tables that are text: CSV, TSV, columns separated by blanks; with what loggers put before them.

Separators, decimal commas, comments, a line of units and the line with the names are found from
the first lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
import csv
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
import io
from pathlib import Path
import re
from typing import BinaryIO

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import BagError, DataError
from robot_identification.recording.column_names import is_unit
from robot_identification.recording.raw_bag import BLOCK_MESSAGES
from robot_identification.recording.table import Table, WINDOWS

TEXT_SUFFIXES = ('.csv', '.tsv', '.txt', '.log', '.dat', '.asc')
_LARGEST_LINE = 1_000_000  # [characters]; a longer one is no table
# What is read to find out how a text is laid out [bytes, lines]; chosen: headers of loggers have
# up to some fifty lines.
_HEAD_BYTES, _HEAD_LINES = 4_000_000, 200
_WINDOW_BYTES = 40_000  # length of the windows that units are judged from; chosen
_DELIMITERS = (',', ';', '\t', '|', ' ')
_COMMENT = re.compile(r'^\s*(#|%|//)+\s*')
# Texts of a cell that holds no value, in lower case.
_NOTHING = frozenset({'', 'nan', 'na', 'n/a', 'null', 'none', '-', '--', 'nil', '<na>'})
_CLOCK = re.compile(r'(?:(\d+) days? )?(-?\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)$')
_DURATION = re.compile(r'(\S+)\s*(?:s|sec|secs|seconds)$')


@dataclass(frozen=True)
class Layout:
    """Layout of a text."""

    encoding: str
    delimiter: str
    decimal_comma: bool
    header: int  # Lines before the first row
    names: tuple[str, ...]
    units: tuple[str, ...]  # Of the columns, from a line of units; empty where there is none
    # Lines before the first row: where a log was appended to another, they come again
    lead: frozenset[str] = frozenset()


class TextTable(Table):
    """A table in a text file; raise BagError if it has no line with names."""

    def __init__(self, path: Path, delimiter: str = '') -> None:
        super().__init__(path)
        with self._open() as stream:
            head = stream.read(_HEAD_BYTES)
        self._layout = find_layout(path, head, delimiter)
        self.columns = self._layout.names
        self.units = dict(zip(self.columns, self._layout.units, strict=False))
        self._lines: list[int] = []  # Numbers of the lines of the last block

    def _open(self) -> BinaryIO:
        try:
            return self.path.open('rb')
        except OSError as error:
            raise BagError(f'{self.path} cannot be read: {error.strerror}') from error

    def row_name(self, row: int) -> str:
        """Return where a row of the last block stands."""
        return f'line {self._lines[row]}'

    def blocks(self, places: Sequence[int], time: int | None) -> Iterator[FloatArray]:
        """Yield some of the columns in blocks of rows (m, k); that of the time may hold texts."""
        lines: list[str] = []
        self._lines, self.cut_off = [], ''
        for number, line in self._numbered_lines():
            if self.cut_off:
                raise DataError(
                    f'{self.path}: {self.cut_off}, and other rows follow: complete that line, or '
                    'remove it'
                )
            width = self._width(line)
            if width != len(self.columns):
                # Only known to be the last line when no other comes.
                self.cut_off = f'line {number} has {width} of {len(self.columns)} columns'
                continue
            lines.append(line)
            self._lines.append(number)
            if len(lines) == BLOCK_MESSAGES:
                yield self._numbers(lines, places, time)
                lines, self._lines = [], []
        if lines:
            yield self._numbers(lines, places, time)

    @cached_property
    def windows(self) -> list[FloatArray]:
        """Consecutive rows of all columns, from all over the table, NaN for texts."""
        every, found = range(len(self.columns)), []
        with self._open() as stream:
            size = stream.seek(0, io.SEEK_END)
            starts = range(0, max(size - 1, 1), max(size // WINDOWS, _WINDOW_BYTES))
            if self._layout.encoding.startswith('utf-16'):
                starts = range(0, 1)
            for start in starts:
                stream.seek(start)
                text = stream.read(_WINDOW_BYTES).decode(self._layout.encoding, 'replace')
                # The first line may lack its beginning, the last one its end.
                lines = text.splitlines()[1 if start else self._layout.header:]
                if start + _WINDOW_BYTES < size:
                    lines = lines[:-1]
                rows = [
                    line for line in lines
                    if line.strip() and not _COMMENT.match(line)
                    and self._width(line) == len(self.columns)
                ]
                if rows:
                    found.append(self._numbers(rows, every, is_sample=True))
        return found

    def _numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of rows, counted from 1."""
        encoding = self._layout.encoding
        try:
            with self.path.open(encoding=encoding, newline='') as stream:
                number = 0
                while line := stream.readline(_LARGEST_LINE):
                    number += 1
                    if len(line) == _LARGEST_LINE:
                        raise BagError(
                            f'{self.path} has a line of more than {_LARGEST_LINE} characters'
                        )
                    line = line.rstrip('\r\n')
                    if number <= self._layout.header or line in self._layout.lead:
                        continue
                    if line.strip(' \t,;') and (
                        line[0] not in '#%/' or not _COMMENT.match(line)
                    ):
                        yield number, line
        except UnicodeDecodeError as error:
            raise BagError(f'{self.path} is not {encoding} text: {error}') from error
        except OSError as error:
            raise BagError(f'{self.path} cannot be read: {error.strerror}') from error

    def _width(self, line: str) -> int:
        """Return how many columns a line has; a separator at its end adds none."""
        delimiter, names = self._layout.delimiter, len(self.columns)
        if delimiter == ' ':
            return len(line.split() if '"' not in line else split_line(line, delimiter))
        width = line.count(delimiter) + 1
        if width == names:
            return width
        if '"' in line:
            width = len(split_line(line, delimiter))
        return width - 1 if width == names + 1 and line.rstrip().endswith(delimiter) else width

    def _numbers(
        self, lines: list[str], places: Sequence[int], time: int | None = None,
        is_sample: bool = False,
    ) -> FloatArray:
        """Return the numbers of some columns of lines; in a sample, other texts are NaN."""
        try:
            return self._fast_numbers(lines, places)
        except ValueError:
            pass
        numbers = np.full((len(lines), len(places)), np.nan)
        for row, text in enumerate(lines):
            cells = split_line(text, self._layout.delimiter)
            for column, place in enumerate(places):
                try:
                    numbers[row, column] = self._number(cells[place], is_sample or place == time)
                except ValueError:
                    if not is_sample:
                        raise DataError(
                            f'{self.path}: {self.columns[place]} is {cells[place]!r:.40} in '
                            f'{self.row_name(row)}, which is not a number'
                        ) from None
        return numbers

    def _fast_numbers(self, lines: list[str], places: Sequence[int]) -> FloatArray:
        """Return the numbers where all cells hold some, or nothing; else raise ValueError."""
        delimiter = self._layout.delimiter
        text = '\n'.join(lines)
        if '"' in text or '\0' in text:
            raise ValueError
        if self._layout.decimal_comma:
            text = text.replace(',', '.')
        double = delimiter + delimiter
        if delimiter != ' ' and (
            double in text or f'{delimiter}\n' in text or text.endswith(delimiter)
            or f'\n{delimiter}' in text or text.startswith(delimiter)
        ):
            one = re.escape(delimiter)
            text = re.sub(rf'(?m)(?:(?<={one})|^)(?={one}|$)', 'nan', text)
        numbers = np.loadtxt(
            text.split('\n'), delimiter=None if delimiter == ' ' else delimiter,
            usecols=list(places), ndmin=2, comments=None,
        )
        if len(numbers) != len(lines):
            raise ValueError
        return numbers

    def _number(self, text: str, is_time: bool) -> float:
        """Return the number or time of a cell; raise ValueError if it holds none."""
        if text.lower() in _NOTHING:
            return np.nan
        plain = text.replace(',', '.') if self._layout.decimal_comma else text
        try:
            return float(plain)
        except ValueError:
            if is_time and (seconds := parse_time(plain)) is not None:
                return seconds
            raise


def parse_time(text: str) -> float | None:
    """Return a time in words, of the clock or the calendar in seconds; None if it is none."""
    try:
        if found := _DURATION.match(text):
            return float(found[1])
        if found := _CLOCK.match(text):
            days, hours, minutes, seconds = found.groups()
            return (
                86400.0 * float(days or 0) + 3600.0 * float(hours) + 60.0 * float(minutes)
                + float(seconds)
            )
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return moment.timestamp()


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line; blanks around them are none of theirs."""
    if delimiter == ' ':
        line = line.replace('\t', ' ').strip()
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells]


def find_layout(path: Path, head: bytes, delimiter: str = '') -> Layout:
    """Return how a text is laid out; raise BagError if it is none, or has no line with names."""
    encoding = _find_encoding(path, head)
    # What is cut in the middle of a letter is not of interest.
    lines = head.decode(encoding, 'replace').split('\n', _HEAD_LINES)
    complete = len(lines) <= _HEAD_LINES and len(head) < _HEAD_BYTES
    if len(max(lines[:_HEAD_LINES], key=len)) >= _LARGEST_LINE:
        raise BagError(f'{path} has a line of more than {_LARGEST_LINE} characters')
    if not complete:
        lines = lines[:-1]
    lines = [line.rstrip('\r\n') for line in lines]
    layouts = [
        judged for one in ((delimiter,) if delimiter else _DELIMITERS)
        if (judged := _try_layout(lines, one, encoding)) is not None
    ]
    if not layouts:
        given = [line for line in lines if line.strip()]
        if len(given) == 1 and len(re.split(r'[,;\t| ]', given[0])) > 1:
            raise BagError(f'{path} holds no row under the line with the names of columns')
        said = f', separated by {delimiter!r}' if delimiter else ''
        raise BagError(
            f'{path} has no line with the names of columns{said}, followed by lines of numbers: '
            'put one before them, with a name for each column'
        )
    return max(layouts, key=lambda pair: pair[0])[1]


def _find_encoding(path: Path, head: bytes) -> str:
    if head.startswith((b'\xff\xfe', b'\xfe\xff')):
        return 'utf-16'
    try:
        head[:-8].decode('utf-8') if len(head) == _HEAD_BYTES else head.decode('utf-8')
    except UnicodeDecodeError as error:
        if b'\0' in head:
            raise BagError(f'{path} is not text: {error}') from error
        # A degree sign of a program that writes as Windows does.
        return 'cp1252'
    return 'utf-8-sig'


def _try_layout(lines: list[str], delimiter: str, encoding: str) -> tuple[float, Layout] | None:
    """Return how well a separator explains the lines, and the layout; None if it does not."""
    first = _first_row(lines, delimiter)
    if first is None:
        return None
    numbered = [
        (number, cells) for number, line in enumerate(lines[first:first + 40], start=first)
        if line.strip() and not _COMMENT.match(line) and (cells := split_line(line, delimiter))
    ]
    rows = [cells for _, cells in numbered]
    # That of most rows: the first one may be incomplete, and is then named where it is read.
    widths = Counter(map(len, rows))
    width = max(widths, key=lambda one: (widths[one], one))
    names, units = _find_names(lines[:first], delimiter, width)
    whole, cells = next((number, cells) for number, cells in numbered if len(cells) == width)
    if names is None and whole > first:
        # Numbers may stand above the names, such as a rate.
        below = whole + (_first_row(lines[whole:], delimiter) or 0)
        names, units = _find_names(lines[first + 1:below], delimiter, width)
        if names is not None:
            first = below
    echoed = _echoed_names(cells) if names is None else None
    if echoed is not None:
        names, units = echoed, ()
    is_named = names is not None
    if names is None:
        # A mapping can still say what each is.
        names = [f'column_{k + 1}' for k in range(width)]
    if len(names) < 2:
        return None
    every = [cell for row in rows for cell in row]
    points, commas = (
        sum(mark in cell and _is_number(cell, mark == ',') for cell in every) for mark in '.,'
    )
    comma = commas > points
    same = np.mean([len(row) in (len(names), len(names) + 1) for row in rows])
    numeric = np.mean([_is_number(cell, comma) or not cell for cell in every])
    score = 2.0 * same + numeric + 0.01 * min(len(names), 50) + 3.0 * is_named
    return float(score), Layout(
        encoding, delimiter, comma, first, tuple(names), tuple(units), frozenset(lines[:first])
    )


def _is_number(cell: str, comma: bool) -> bool:
    try:
        float(cell.replace(',', '.') if comma else cell)
    except ValueError:
        return False
    return True


def _first_row(lines: list[str], delimiter: str) -> int | None:
    """Return the first line of numbers, with decimal points or commas; None without one."""
    for number, line in enumerate(lines):
        if _COMMENT.match(line) or not line.strip():
            continue
        cells = [cell for cell in split_line(line, delimiter) if cell]
        numeric = max(sum(_is_number(cell, comma) for cell in cells) for comma in (False, True))
        if numeric >= max(0.5 * len(cells), 2):
            return number
    return None


def _find_names(
    lines: list[str], delimiter: str, width: int
) -> tuple[list[str] | None, Sequence[str]]:
    """Return the names of the columns and their units, from the lines before the first row."""
    units: Sequence[str] = ()
    rows = [
        cells for line in lines
        if (cells := _header_cells(_COMMENT.sub('', line), delimiter, width)) is not None
    ]
    if not rows:
        return None, units
    names = rows.pop()
    if rows and _are_units(names):
        units, names = names, rows.pop()
    if rows and len(set(names)) < len(names):
        # Two lines: one says what, the other of which joint; merged cells are empty.
        above, last = rows.pop(), ''
        for place, text in enumerate(above):
            last = text or last
            above[place] = last
        names = [f'{a}_{b}'.strip('_') for a, b in zip(above, names, strict=True)]
    while names and not names[-1] and len(names) > 1 and len(names) == width:
        # Of a separator at the end of the lines.
        names = names[:-1]
    return names, units


def _header_cells(line: str, delimiter: str, width: int) -> list[str] | None:
    """Return the cells of a line that may name the columns of rows of some width."""
    cells = split_line(line, delimiter)
    if delimiter == ' ':
        # A unit behind a blank belongs to the name before it.
        merged: list[str] = []
        for cell in cells:
            if merged and re.fullmatch(r'[\[(<].*[\])>]', cell) and len(cells) > width:
                merged[-1] += f' {cell}'
            else:
                merged.append(cell)
        cells = merged
    if len(cells) == width + 1 and not cells[-1]:
        cells = cells[:-1]
    if len(cells) not in (width, width - 1) or not any(cells):
        return None
    if len(cells) == width - 1:
        # The rows end with a separator.
        cells = [*cells, '']
    return cells


def _are_units(cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell]
    return bool(given) and sum(is_unit(cell) for cell in given) >= 0.5 * len(given)


def _echoed_names(cells: Sequence[str]) -> list[str] | None:
    """Return names for what `ros2 topic echo --csv` writes of a JointState: it has no header."""
    texts = 0
    while 3 + texts < len(cells) and not _is_number(cells[3 + texts], False):
        texts += 1
    joints, values = list(cells[3:3 + texts]), len(cells) - 3 - texts
    if not texts or values % texts or not all(joints) or values // texts not in (1, 2, 3):
        return None
    if not (cells[0].isdecimal() and cells[1].isdecimal()):
        return None
    quantities = ('position', 'velocity', 'effort')[:values // texts]
    return [
        'header.stamp.sec', 'header.stamp.nanosec', 'header.frame_id',
        *(f'name[{k}]' for k in range(texts)),
        *(f'{joint}.{quantity}' for quantity in quantities for joint in joints),
    ]
