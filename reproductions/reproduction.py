# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Output of a reproduction of a paper: tables, pictures, claims and misprints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
import importlib
import io
from typing import Any, Literal, Protocol, TYPE_CHECKING

from reproductions.pieces import Pieces
from robot_identification.files import to_plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In the order of the papers' years; each is a module of this folder and a page in `pages`.
SEEDS = ('rajagopal_2017', 'madsen_2020', 'porcelli_2020', 'tika_2020', 'raviola_2021')
# 2: claims have a negative control, and what could not be compared is untested.
SCHEMA_VERSION = 2
# Other digits differ from machine to machine.
KEPT_DIGITS = 6

Cell = str | float | int | None
Outcome = Literal['agrees', 'better', 'differs', 'untested']
# Outcomes that a claim may have only where its opposite would have been seen.
CONTROLLED: tuple[Outcome, ...] = ('agrees', 'better')
# Takes the share that is done, from 0 to 1, and what is begun then.
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Table:
    """
    A table of the paper with our numbers beside its own.

    Attributes
    ----------
    name : str
        Key in the file and in the page.
    title : str
        What it shows, with the paper's number of it.
    columns : tuple of str
        Headings with units.
    rows : tuple of tuple
        Cells; None where there is no value. The first names the row.
    note : str
        What is written under it.

    Raises
    ------
    ValueError
        If a row has another number of cells than there are columns.

    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ''

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f'table {self.name}: {len(row)} cells in row {row[:1]}, '
                    f'{len(self.columns)} columns'
                )


@dataclass(frozen=True)
class Picture:
    """A figure of the paper drawn from our data, as PNG, with its words for those who hear it."""

    name: str
    title: str
    alternative: str
    png: bytes


@dataclass(frozen=True)
class Control:
    """
    Negative control of a claim: the same computation where the answer is known to be another one.

    Attributes
    ----------
    case : str
        What was changed, and what came out then.
    opposite : bool
        Whether the claim failed there, as it must. A claim whose control does not fail is
        untested: nothing would have shown its opposite.

    """

    case: str
    opposite: bool


@dataclass(frozen=True)
class Claim:
    """
    A figure of the paper, ours, and what to think of the two.

    Raises
    ------
    ValueError
        If it agrees, or is better, without a word on how the opposite would have been seen.

    """

    what: str
    printed: str
    ours: str
    outcome: Outcome
    why: str = ''
    control: str = ''

    def __post_init__(self) -> None:
        if self.outcome in CONTROLLED and not self.control:
            raise ValueError(f'claim {self.what!r}: {self.outcome}, but nothing was controlled')


@dataclass(frozen=True)
class Misprint:
    """Printed value of the paper, correct value, and the evidence."""

    where: str
    printed: str
    correct: str
    shown_by: str


@dataclass(frozen=True)
class Reproduction:
    """A paper's results beside ours."""

    seed: str
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    claims: tuple[Claim, ...]
    misprints: tuple[Misprint, ...]


class SeedModule(Protocol):
    """Interface of the module of a paper."""

    TITLE: str
    REFERENCE: str

    @staticmethod
    def reproduce(report: Report, pieces: Pieces) -> Reproduction:
        """Return the paper's results beside ours."""


def load_seed(seed: str) -> SeedModule:
    """Return the module of a paper by its name in `SEEDS`."""
    module: Any = importlib.import_module(f'reproductions.{seed}')
    loaded: SeedModule = module
    return loaded


def compare(
    what: str,
    printed: float,
    ours: float,
    *,
    control: tuple[str, float] | None = None,
    relative: float = 0.0,
    absolute: float = 0.0,
    unit: str = '',
    better: Literal['less', 'more'] | None = None,
    why: str = '',
) -> Claim:
    """
    Return a claim whose outcome follows from its numbers.

    Parameters
    ----------
    what : str
        What the number is.
    printed, ours : float
        The paper's value and ours, in `unit`.
    control : tuple of str and float, optional
        A case whose number must be another one, and what the same computation gives there.
        Without one, or where it has the outcome of `ours`, nothing better than untested comes out.
    relative, absolute : float
        Up to `absolute + relative * abs(printed)` apart they agree; beyond the digits that the
        paper prints this needs a reason in `why`.
    unit : str
        Of both.
    better : {'less', 'more'}, optional
        Which side of the printed value is an improvement, where there is one.
    why : str
        The reason for a difference, or for the tolerance.

    """

    def judge(value: float) -> Outcome:
        if abs(value - printed) <= absolute + relative * abs(printed):
            return 'agrees'
        return 'better' if (better == 'less' and value < printed) or (
            better == 'more' and value > printed
        ) else 'differs'

    def words(value: float, digits: int) -> str:
        return f'{value:.{digits}g} {unit}'.strip()

    found = None if control is None else Control(
        f'{control[0]}: {words(control[1], 4)}', judge(control[1]) == 'differs'
    )
    claim = Claim(what, words(printed, 6), words(ours, 4), 'differs', why)
    return judged(claim, judge(ours), found)


def judged(claim: Claim, outcome: Outcome, control: Control | None) -> Claim:
    """Return a claim with its outcome, or as untested where no control shows the opposite."""
    if outcome not in CONTROLLED:
        return replace(claim, outcome=outcome)
    if control is None or not control.opposite:
        words = 'no control' if control is None else f'the control is the same, {control.case}'
        return replace(claim, outcome='untested', control=words)
    return replace(claim, outcome=outcome, control=control.case)


def statement(
    what: str, printed: str, ours: str, holds: bool | None, why: str = '', *,
    control: Control | None = None,
) -> Claim:
    """
    Return a claim in words, whose outcome is whether what was found bears it out.

    Parameters
    ----------
    what, printed, ours : str
        What the paper says, in its words and in ours.
    holds : bool, optional
        Whether it does; None where it cannot be told.
    why : str
        The reason for a difference, or for the limit of what holds.
    control : Control, optional
        See `compare`.

    """
    outcome: Outcome = 'untested' if holds is None else 'agrees' if holds else 'differs'
    return judged(Claim(what, printed, ours, 'differs', why), outcome, control)


def untested(what: str, printed: str, ours: str, why: str) -> Claim:
    """Return a claim that nothing here can bear out or refute."""
    return Claim(what, printed, ours, 'untested', why)


def picture_of(name: str, title: str, alternative: str, figure: Figure) -> Picture:
    """Return a figure as a picture; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format='png', metadata={'Software': None})
    return Picture(name, title, alternative, buffer.getvalue())


def picture_file(seed: str, name: str) -> str:
    """Return where a picture stands, relative to the page."""
    return f'images/{seed}/{name}.png'


def reproduction_content(
    reproduction: Reproduction, title: str, reference: str
) -> Mapping[str, Any]:
    """Return what the JSON file of a reproduction holds, all but the pixels."""
    seed = reproduction.seed
    return {
        'schema_version': SCHEMA_VERSION,
        'seed': seed,
        'title': title,
        'reference': reference,
        'tables': {
            table.name: {
                'title': table.title,
                'columns': list(table.columns),
                'rows': [[_kept(cell) for cell in row] for row in table.rows],
                'note': table.note,
            }
            for table in reproduction.tables
        },
        'pictures': {
            picture.name: {
                'title': picture.title,
                'alternative': picture.alternative,
                'file': picture_file(seed, picture.name),
            }
            for picture in reproduction.pictures
        },
        'claims': [vars(claim) for claim in reproduction.claims],
        'misprints': [vars(misprint) for misprint in reproduction.misprints],
    }


def _kept(cell: Cell) -> Cell:
    plain: Cell = to_plain(cell)
    return float(f'{plain:.{KEPT_DIGITS}g}') if isinstance(plain, float) else plain
