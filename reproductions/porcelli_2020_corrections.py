# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The wrong characters of tables 4.1 and 4.2 of G. Porcelli's thesis.

The thesis says that its motion starts at rest (eq. 3.58). Three joints do not by the printed
coefficients. Every change of one character of their coefficients is tried here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.porcelli_2020_structure import LINK_NAMES
from reproductions.reproduction import Table
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.excitation.fourier_table import end_residuals, PRINTED_TOLERANCE

DIGITS = '0123456789'
# Of the tables, after the point.
PLACES = 4


def conservative_bounds(
    a: FloatArray, b: FloatArray, base_rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return bounds that a motion cannot exceed with any phases (eq. 3.57).

    Of position off the centre [rad], velocity [rad/s] and acceleration [rad/s^2], shape (n,) each.
    """
    rate = base_rate * np.arange(1.0, a.shape[1] + 1.0)
    size = np.hypot(a, b)
    return size.sum(axis=1), size @ rate, size @ rate**2


@dataclass(frozen=True)
class Change:
    """
    A printed coefficient with one character changed.

    Attributes
    ----------
    joint, harmonic : int
        From zero.
    letter : str
        'a' or 'b'.
    printed, changed : float
        Its value [rad].
    kind : str
        What happened to the character.

    """

    joint: int
    harmonic: int
    letter: str
    printed: float
    changed: float
    kind: str

    @property
    def name(self) -> str:
        """Return the coefficient in the thesis' words."""
        return f'{self.letter}_{self.joint + 1},{self.harmonic + 1}'

    def apply(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients with this one changed."""
        a, b = a.copy(), b.copy()
        (a if self.letter == 'a' else b)[self.joint, self.harmonic] = self.changed
        return a, b


def changes_of_text(text: str) -> dict[str, str]:
    """
    Return numbers that differ from a printed one by one character, each with what was changed.

    A sign is set or left out; a digit is another one, left out, put in, or has changed places with
    the character after it.
    """
    sign, body = ('-', text[1:]) if text.startswith('-') else ('', text)
    found = {body if sign else f'-{body}': 'sign'}

    def add(changed: str, kind: str) -> None:
        if changed != body and changed not in ('', '.'):
            found.setdefault(sign + changed, kind)

    for at, character in enumerate(body):
        for digit in DIGITS:
            if character in DIGITS:
                add(body[:at] + digit + body[at + 1:], 'digit')
        for digit in DIGITS:
            add(body[:at] + digit + body[at:], 'digit put in')
        if character in DIGITS:
            add(body[:at] + body[at + 1:], 'digit left out')
        if at + 1 < len(body):
            add(body[:at] + body[at + 1] + character + body[at + 2:], 'characters exchanged')
    for digit in DIGITS:
        add(body + digit, 'digit put in')
    return found


def changes_of_joint(joint: int) -> Iterator[Change]:
    """Return every change of one character of a joint's ten coefficients."""
    for letter, values in (('a', thesis.SINES), ('b', thesis.COSINES)):
        for harmonic, value in enumerate(values[joint]):
            seen = {float(value)}
            for text, kind in changes_of_text(f'{value:.{PLACES}f}').items():
                changed = float(text)
                if changed not in seen:
                    seen.add(changed)
                    yield Change(joint, harmonic, letter, float(value), changed, kind)


def rests(a: FloatArray, b: FloatArray, tolerance: float = PRINTED_TOLERANCE) -> BoolArray:
    """Return which joints start and end at rest, shape (n,)."""
    velocity, acceleration = end_residuals(a, b)
    at_rest: BoolArray = np.maximum(np.abs(velocity), np.abs(acceleration)) <= tolerance
    return at_rest


@dataclass(frozen=True)
class Solved:
    """The changes of a joint that were tried, and those that put it at rest."""

    joint: int
    tried: int
    at_rest: tuple[Change, ...]


def solve_joint(joint: int, tolerance: float = PRINTED_TOLERANCE) -> Solved:
    """Try every change of one character of a joint."""
    tried = list(changes_of_joint(joint))
    good = tuple(
        change for change in tried
        if rests(*change.apply(thesis.SINES, thesis.COSINES), tolerance)[joint]
    )
    return Solved(joint, len(tried), good)


def moving_joints() -> list[int]:
    """Return the joints that the printed coefficients do not leave at rest, from zero."""
    return [int(joint) for joint in np.flatnonzero(~rests(thesis.SINES, thesis.COSINES))]


@cache
def corrections() -> tuple[Change, ...]:
    """
    Return the one change of a character of each joint that puts it at rest.

    Raises
    ------
    ValueError
        If a joint has none or several.

    """
    solved = [solve_joint(joint) for joint in moving_joints()]
    for one in solved:
        if len(one.at_rest) != 1:
            raise ValueError(f'joint {one.joint + 1}: {len(one.at_rest)} changes put it at rest')
    return tuple(one.at_rest[0] for one in solved)


def corrected() -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of tables 4.1 and 4.2 without their misprints, each (6, 5) [rad]."""
    a, b = thesis.SINES, thesis.COSINES
    for change in corrections():
        a, b = change.apply(a, b)
    return a, b


def corrections_table() -> Table:
    """Return what was tried for each joint, and what puts it at rest."""
    before = conservative_bounds(thesis.SINES, thesis.COSINES, thesis.BASE_RATE)[2]
    after = conservative_bounds(*corrected(), thesis.BASE_RATE)[2]
    rows = []
    for joint in moving_joints():
        one, twice = solve_joint(joint), solve_joint(joint, 2.0 * PRINTED_TOLERANCE)
        change, = one.at_rest
        rows.append((
            LINK_NAMES[joint], one.tried, len(one.at_rest), change.name,
            f'{change.printed:.{PLACES}f}', f'{change.changed:.{PLACES}f}', change.kind,
            float(before[joint]), float(after[joint]), len(twice.at_rest),
        ))
    return Table(
        'corrections', 'Every change of one character of the joints that do not start at rest',
        ('joint', 'changes tried', 'at rest after it', 'coefficient', 'printed', 'right',
         'what is wrong', 'bound of acceleration before [rad/s²]', 'after [rad/s²]',
         'at rest with twice the tolerance'),
        tuple(rows),
        'A sign set or left out; a digit changed, left out, put in, or exchanged with the '
        'character after it. The bound is that of eq. 3.57, whose limit is π.',
    )
