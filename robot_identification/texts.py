# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Texts with names from files and messages, as terminals and logs show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
import difflib
import html
from typing import Any

# What a spreadsheet takes for the beginning of a formula.
_FORMULA_STARTS = ('=', '+', '-', '@')
# Longer lines are shortened: no path, list of joints or cause of an error needs more characters.
LONGEST_LINE = 2000
# Lines of one text; longer messages are not read.
MOST_LINES = 10_000


def printable(text: str) -> str:
    """Return a text that cannot steer a terminal: control characters become '?'."""
    return ''.join(letter if letter.isprintable() else '?' for letter in text)


def shown(text: str) -> str:
    """Return a text as it is shown: lines printable, long lines and long texts shortened."""
    lines = text.split('\n', MOST_LINES)
    if len(lines) > MOST_LINES:
        lines[-1] = f'.. and {lines[-1].count(chr(10)) + 1} more lines'
    return '\n'.join(map(shown_line, lines))


def shown_line(line: str) -> str:
    """Return one line as it is shown: printable, and without its middle where it is endless."""
    left_out = len(line) - LONGEST_LINE
    if left_out > 0:
        half = LONGEST_LINE // 2
        line = f'{line[:half]} .. ({left_out} characters) .. {line[-half:]}'
    return printable(line)


def csv_cell(text: str) -> str:
    """Return a text for a cell of a CSV: printable, and no formula for a spreadsheet."""
    cell = printable(text)
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell


def suggestion(word: str, known: Iterable[str]) -> str:
    """
    Return a question for the known word that is nearest to one; empty if none is near.

    Capitals make no difference.
    """
    words = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(word.casefold(), words, n=1)
    return f'did you mean {words[near[0]]}?' if near else ''


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 recording``, ``2 recordings``."""
    return f'{number} {noun}{"" if number == 1 else "s"}'


def short_repr(instance: Any) -> str:
    """Return the fields of a dataclass in a line, large ones by kind and size: a `__repr__`."""
    shown_fields = ', '.join(
        f'{one.name}={_short(getattr(instance, one.name))}' for one in fields(instance) if one.repr
    )
    return f'{type(instance).__name__}({shown_fields})'


def html_of(instance: Any) -> str:
    """Return what `str` says of a result for a notebook: a `_repr_html_`."""
    return f'<pre>{html.escape(str(instance))}</pre>'


def _short(value: Any, longest: int = 60) -> str:
    text = repr(value)
    if len(text) <= longest and '\n' not in text:
        return text
    if getattr(value, 'shape', None):
        return f'<array {value.shape}>'
    if isinstance(value, str):
        return f'{value[:longest]!r}..'
    if is_dataclass(value) or not hasattr(value, '__len__'):
        return f'<{type(value).__name__}>'
    return f'<{type(value).__name__} of {len(value)}>'
