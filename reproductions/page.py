# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page of a reproduction, from its JSON file and the prose in `pages`."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
import math
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment, StrictUndefined
from reproductions.reproduction import (
    Cell, Outcome, picture_file, Reproduction, reproduction_content,
)
from robot_identification.files import write_results
from robot_identification.report.formatting import json_text, number
from robot_identification.report.page import render_page

_PAGES = Path(__file__).resolve().parent / 'pages'
NO_VALUE = '-'
SHOWN_DIGITS = 4
# Under every table of claims.
RULE = (
    'A claim agrees or is better only where its negative control came out otherwise: the same '
    'computation in a case whose answer must be another one. Without that, and where neither '
    'answer can be had here, it is untested.'
)


def show_cell(cell: Cell) -> str:
    """Return a cell as text: numbers with four digits, a dash where there is no value."""
    if cell is None:
        return NO_VALUE
    if isinstance(cell, float):
        return number(cell, SHOWN_DIGITS) if math.isfinite(cell) else NO_VALUE
    return str(cell)


def prose_of(seed: str) -> str:
    """Return what was written by hand for a paper's page: Markdown with places for numbers."""
    return (_PAGES / f'{seed}.md.j2').read_text(encoding='utf-8')


def render_markdown(content: Mapping[str, Any], prose: str) -> str:
    """
    Return the page of a reproduction.

    Parameters
    ----------
    content : mapping
        What its JSON file holds.
    prose : str
        A template of the page, as `prose_of` returns it.

    Raises
    ------
    KeyError
        If the prose asks for a table, a picture or a cell that is not in the content.

    """
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def table(name: str) -> str:
        found = content['tables'][name]
        lines = [f'*{found["title"]}*', '', *_markdown_table(found['columns'], found['rows'])]
        return '\n'.join([*lines, '', found['note']] if found['note'] else lines)

    def picture(name: str) -> str:
        found = content['pictures'][name]
        return f'![{found["alternative"]}]({found["file"]})\n\n*{found["title"]}*'

    def cell(name: str, row: int | str, column: str) -> str:
        found = content['tables'][name]
        cells = found['rows'][row] if isinstance(row, int) else _row_called(name, found, row)
        return show_cell(cells[found['columns'].index(column)])

    def claims() -> str:
        lines = _markdown_table(
            ('What', 'Paper', 'Here', 'Outcome', 'Negative control', 'Why'),
            [
                (one['what'], one['printed'], one['ours'], one['outcome'], one.get('control', ''),
                 one['why'])
                for one in content['claims']
            ],
        )
        counted = count_outcomes(one['outcome'] for one in content['claims'])
        return '\n'.join([*lines, '', f'Outcomes: {counted}. {RULE}'])

    def misprints() -> str:
        return '\n'.join(_markdown_table(
            ('Where', 'Printed', 'Right', 'Shown by'),
            [
                (one['where'], one['printed'], one['correct'], one['shown_by'])
                for one in content['misprints']
            ],
        ))

    return environment.from_string(prose).render(
        title=content['title'], reference=content['reference'], table=table, picture=picture,
        cell=cell, claims=claims, misprints=misprints,
    )


def count_outcomes(outcomes: Iterable[str]) -> str:
    """Return how often there is each outcome, in words."""
    found = Counter(outcomes)
    return ', '.join(
        f'{outcome} {found[outcome]}' for outcome in get_args(Outcome) if found[outcome]
    )


def render_report(
    content: Mapping[str, Any], pixels: Mapping[str, bytes], command_line: str = ''
) -> str:
    """
    Return tables, pictures, claims and misprints as one HTML file, without the prose.

    Parameters
    ----------
    content : mapping
        What the JSON file of the reproduction holds.
    pixels : mapping
        PNG of each picture by its name.
    command_line : str
        What was typed.

    """
    sources = {
        name: 'data:image/png;base64,' + base64.b64encode(png).decode('ascii')
        for name, png in pixels.items()
    }
    return render_page(
        'reproduction.html.j2', content=content, sources=sources, show=show_cell,
        command_line=command_line,
    )


def _row_called(name: str, table: Mapping[str, Any], label: str) -> Sequence[Cell]:
    for row in table['rows']:
        if row[0] == label:
            cells: Sequence[Cell] = row
            return cells
    raise KeyError(f'table {name} has no row {label}')


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the lines of a table; numbers stand right."""
    right = [
        any(isinstance(row[at], float | int) for row in rows) for at in range(len(columns))
    ]
    return [
        _markdown_row(columns),
        '|' + '|'.join('--:' if numbers else ':--' for numbers in right) + '|',
        *(_markdown_row([show_cell(cell) for cell in row]) for row in rows),
    ]


def _markdown_row(cells: Sequence[str]) -> str:
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def write_reproduction(
    reproduction: Reproduction, title: str, reference: str, directory: Path, command_line: str,
    *, force: bool,
) -> tuple[str, ...]:
    """
    Write JSON, page, pictures and report of a reproduction; return the names of the files.

    Raises
    ------
    UsageError
        If one of them exists already and `force` is not set.

    """
    seed = reproduction.seed
    content = reproduction_content(reproduction, title, reference)
    pixels = {picture.name: picture.png for picture in reproduction.pictures}
    files: dict[str, str | bytes] = {
        f'{seed}.json': json_text(content),
        f'{seed}.md': render_markdown(content, prose_of(seed)),
        f'{seed}.html': render_report(content, pixels, command_line),
    }
    for name, png in pixels.items():
        files[picture_file(seed, name)] = png
    write_results(directory, files, force)
    return tuple(files)
