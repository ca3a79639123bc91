# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A paper beside what is found here: tables, pictures, claims and misprints, as JSON and as a page.

What a paper says stands in `pages/SEED.yaml`: its printed numbers, and the words of every table,
claim and misprint, with places in braces for what is computed. `pages/SEED.md.j2` is the prose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import importlib
import io
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, Literal, Protocol

from jinja2 import Environment, StrictUndefined
import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.files import read_yaml, to_plain, write_atomically, write_results
from robot_identification.report.formatting import json_text, number

# In the order of the papers' years; each is a module of this folder and two files in `pages`.
SEEDS = ('rajagopal_2017', 'madsen_2020', 'porcelli_2020', 'tika_2020', 'raviola_2021')
PAGES = Path(__file__).resolve().parent / 'pages'
# 2: claims have a negative control, and what could not be compared is untested.
SCHEMA_VERSION = 2
# Other digits differ from machine to machine.
KEPT_DIGITS = 6
NO_VALUE = '-'
SHOWN_DIGITS = 4
# Under every table of claims.
RULE = (
    'A claim agrees or is better only where its negative control came out otherwise: the same '
    'computation in a case whose answer must be another one. Without that, and where neither '
    'answer can be had here, it is untested.'
)
# Colours of what is measured, and of models of it.
COLOURS = ('#202020', '#2060c0', '#c03020', '#2a8a3a')

Cell = str | float | int | None
Outcome = Literal['agrees', 'better', 'differs', 'untested']
# Outcomes that a claim may have only where its opposite would have been seen.
CONTROLLED: tuple[Outcome, ...] = ('agrees', 'better')
# Takes the share that is done, from 0 to 1, and what is begun then.
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Pieces:
    """
    A folder of results of long computations as JSON, one file a piece.

    A folder belongs to one version of the sources and to one BLAS kernel. Without a folder
    everything is computed.
    """

    folder: Path | None = None

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a result, plain data, from its file or by computing and keeping it."""
        path = None if self.folder is None else self.folder / f'{name}.json'
        if path is not None and path.exists():
            return json.loads(path.read_text(encoding='utf-8'))
        text = json.dumps(to_plain(compute()))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        # Read back from its text, so that kept and computed results are the same.
        return json.loads(text)


@dataclass(frozen=True)
class Claim:
    """
    A figure of the paper, ours, and what to think of the two.

    Raises ValueError if it agrees, or is better, without a word on how the opposite would have
    been seen.
    """

    what: str
    printed: str
    ours: str
    outcome: Outcome
    why: str
    control: str

    def __post_init__(self) -> None:
        if self.outcome in CONTROLLED and not self.control:
            raise ValueError(f'claim {self.what!r}: {self.outcome}, but nothing was controlled')


class SeedModule(Protocol):
    """Interface of the module of a paper."""

    @staticmethod
    def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
        """Add the paper's results beside ours."""


def load_seed(seed: str) -> SeedModule:
    """Return the module of a paper by its name in `SEEDS`."""
    module: Any = importlib.import_module(f'reproductions.{seed}')
    loaded: SeedModule = module
    return loaded


def printed_values(seed: str) -> SimpleNamespace:
    """Return the printed numbers of a paper by name; lists of numbers with a point are arrays."""
    return SimpleNamespace(**_with_arrays(read_yaml(PAGES / f'{seed}.yaml')['printed']))


def _with_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_arrays(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    array = np.array(value) if value and not isinstance(value[0], str) else np.array('')
    return array if array.dtype == np.float64 else tuple(_with_arrays(one) for one in value)


class Paper:
    """What a paper says, and what is found beside it, in the order in which it is added."""

    def __init__(self, seed: str) -> None:
        said = read_yaml(PAGES / f'{seed}.yaml')
        self.seed: str = seed
        self.title: str = said['title']
        self.reference: str = said['reference']
        self.claims: list[Claim] = []
        self.pixels: dict[str, bytes] = {}
        self._said = said
        self._tables: dict[str, Any] = {}
        self._pictures: dict[str, Any] = {}
        self._misprints: list[dict[str, str]] = []

    def table(self, name: str, rows: Iterable[Sequence[Cell]], **words: object) -> None:
        """Add a table; None stands where there is no value, and the first cell names a row."""
        said = self._said['tables'][name]
        columns = said['columns']
        kept = [[_kept(cell) for cell in row] for row in rows]
        for row in kept:
            if len(row) != len(columns):
                raise ValueError(
                    f'table {name}: {len(row)} cells in row {row[:1]}, {len(columns)} columns'
                )
        self._tables[name] = {
            'title': said['title'].format(**words), 'columns': columns, 'rows': kept,
            'note': said.get('note', '').format(**words),
        }

    def picture(
        self, name: str, t: FloatArray, lines: Mapping[str, FloatArray], panels: Sequence[str]
    ) -> None:
        """Add a picture of signals (N, n) over time [s], by their labels, in n panels."""
        said = self._said['pictures'][name]
        self.pixels[name] = draw_panels(t, lines, panels, said['unit'])
        self._pictures[name] = {
            'title': said['title'], 'alternative': said['alternative'],
            'file': f'images/{self.seed}/{name}.png',
        }

    def misprints(self, **words: Any) -> None:
        """Add all misprints; one `for_each` word is said again for each of these."""
        for said in self._said['misprints']:
            again = words[said['for_each']] if 'for_each' in said else [{}]
            self._misprints += [
                {
                    key: said[key].format(**words | one)
                    for key in ('where', 'printed', 'correct', 'shown_by')
                }
                for one in again
            ]

    def compare(
        self, key: str, ours: float, control: float | None = None, *,
        printed: float | None = None, **words: object,
    ) -> None:
        """
        Add a claim whose outcome follows from its numbers.

        In its words `relative` and `absolute` say how far apart numbers may be that agree, beyond
        the printed digits with a reason in `why`; `better` says which side of the printed number
        is an improvement, if any; `unit` is of all numbers. `control` is what the same computation
        gives in another case. Without one, or where that has the same outcome, nothing better than
        untested comes out.
        """
        said = self._said['claims'][key]
        wanted: float = said['printed'] if printed is None else printed
        unit, better = said.get('unit', ''), said.get('better')

        def judge(value: float) -> Outcome:
            allowed = said.get('absolute', 0.0) + said.get('relative', 0.0) * abs(wanted)
            if abs(value - wanted) <= allowed:
                return 'agrees'
            return 'better' if (better == 'less' and value < wanted) or (
                better == 'more' and value > wanted
            ) else 'differs'

        def say(value: float, digits: int) -> str:
            return f'{value:.{digits}g} {unit}'.strip()

        opposite = None
        if control is not None:
            opposite = judge(control) == 'differs'
            words |= {'control': f'{said["control"]}: {say(control, 4)}'}
        self._add(
            key, judge(ours), opposite,
            {**words, 'printed': say(wanted, 6), 'ours': say(ours, 4)},
        )

    def statement(
        self, key: str, holds: bool | None, opposite: bool | None = None, **words: object
    ) -> None:
        """
        Add a claim in words, from whether what was found bears it out.

        `holds` is None where that cannot be told; `opposite` is whether the claim failed in its
        control, as it must: without that nothing would have shown its opposite.
        """
        outcome: Outcome = 'untested' if holds is None else 'agrees' if holds else 'differs'
        self.judge(key, outcome, opposite, **words)

    def judge(
        self, key: str, outcome: Outcome, opposite: bool | None = None, **words: object
    ) -> None:
        """Add a claim in words with its outcome; see `statement`."""
        self._add(key, outcome, opposite, words)

    def untested(self, key: str, **words: object) -> None:
        """Add a claim that nothing here can bear out or refute."""
        self._add(key, 'untested', None, words)

    def _add(
        self, key: str, outcome: Outcome, opposite: bool | None, words: Mapping[str, object]
    ) -> None:
        """Add a claim; it is untested where no control shows the opposite."""
        said = self._said['claims'][key]
        # Given words go before those of the file, which then are about something else.
        fields = {
            field: str(words.get(field, said.get(field, ''))).format(**words)
            for field in ('what', 'printed', 'ours', 'why', 'control')
        }
        if outcome not in CONTROLLED:
            fields['control'] = ''
        elif opposite is None:
            outcome, fields['control'] = 'untested', 'no control'
        elif not opposite:
            outcome = 'untested'
            fields['control'] = f'the control is the same, {fields["control"]}'
        self.claims.append(Claim(outcome=outcome, **fields))

    def content(self) -> dict[str, Any]:
        """Return what the JSON file holds, all but the pixels."""
        return {
            'schema_version': SCHEMA_VERSION,
            'seed': self.seed,
            'title': self.title,
            'reference': self.reference,
            'tables': self._tables,
            'pictures': self._pictures,
            'claims': [vars(claim) for claim in self.claims],
            'misprints': self._misprints,
        }

    def write(self, directory: Path, *, force: bool) -> tuple[str, ...]:
        """
        Write JSON, page and pictures; return the names of the files.

        Raises UsageError if one of them exists already and `force` is not set.
        """
        content = self.content()
        files: dict[str, str | bytes] = {
            f'{self.seed}.json': json_text(content),
            f'{self.seed}.md': render_markdown(content, prose_of(self.seed)),
        }
        for name, png in self.pixels.items():
            files[self._pictures[name]['file']] = png
        write_results(directory, files, force)
        return tuple(files)


def _kept(cell: Cell) -> Cell:
    plain: Cell = to_plain(cell)
    return float(f'{plain:.{KEPT_DIGITS}g}') if isinstance(plain, float) else plain


def draw_panels(
    t: FloatArray, lines: Mapping[str, FloatArray], panels: Sequence[str], unit: str
) -> bytes:
    """Return a picture of signals (N, n) over time [s] as PNG; the same ones give the same."""
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(8.0, 5.6), dpi=100.0, layout='constrained')
    axes = figure.subplots(math.ceil(len(panels) / 2), 2, squeeze=False).flat
    for joint, (panel, title) in enumerate(zip(axes, panels, strict=False)):
        for (label, values), colour in zip(lines.items(), COLOURS, strict=False):
            panel.plot(t, values[:, joint], color=colour, linewidth=1.0, label=label)
        panel.set_title(title, fontsize=8.0)
        panel.set_xlabel('time [s]' if joint > len(panels) - 3 else '', fontsize=7.0)
        panel.set_ylabel(unit, fontsize=7.0)
        panel.tick_params(labelsize=7.0)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside upper center', ncols=4, fontsize=8.0)
    for unused in figure.axes[len(panels):]:
        unused.set_axis_off()
    buffer, small = io.BytesIO(), io.BytesIO()
    figure.savefig(buffer, format='png', metadata={'Software': None})
    with Image.open(buffer) as image:
        # A few lines and letters need no more, and files are a third as large.
        image.convert('RGB').quantize(64, Image.Quantize.MAXCOVERAGE).save(
            small, 'PNG', optimize=True
        )
    return small.getvalue()


def show_cell(cell: Cell) -> str:
    """Return a cell as text: numbers with four digits, a dash where there is no value."""
    if cell is None:
        return NO_VALUE
    if isinstance(cell, float):
        return number(cell, SHOWN_DIGITS) if math.isfinite(cell) else NO_VALUE
    return str(cell)


def prose_of(seed: str) -> str:
    """Return what was written by hand for a paper's page: Markdown with places for numbers."""
    return (PAGES / f'{seed}.md.j2').read_text(encoding='utf-8')


def render_markdown(content: Mapping[str, Any], prose: str) -> str:
    """
    Return the page of a reproduction from the content of its JSON file and its prose.

    Raises KeyError if the prose asks for a table, a picture or a cell that is not there.
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
