# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Motions one after the other, all from and to the start of one of them, and segments for that.

A periodic motion of all joints passes standstill quickly and never rests, so that friction at rest
and before sliding is not in its recording. Segments hold both; they start and end where the
searched motion does. To add one: write its class, add one line to SEGMENTS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
import math
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, within_period,
)
from robot_identification.excitation.parametrizations.point_to_point import (
    check_dwell, StaticPosesParametrization, ViaPointsParametrization,
)
from robot_identification.removed import describe_unknown

# Forms that parts may have: they rest at both ends, and their acceleration is continuous.
PART_FORMS: dict[str, type[Parametrization]] = {
    form.name: form for form in (
        FourierParametrization, ViaPointsParametrization, StaticPosesParametrization,
    )
}
MOST_PARTS = 10  # chosen: a motion has two or three
# A short motion with two rests.
USUAL_PARTS = (
    {'form': 'fourier', 'harmonics': 5, 'base_period': 10.0},
    {'form': 'static_poses', 'poses': 2, 'dwell': 1.0, 'move_time': 1.0,
     'both_directions': False},
)


@dataclass(frozen=True)
class CompositeParametrization(Parametrization):
    """
    Parts that follow each other, each a motion of a form of its own.

    Every part starts and ends where the one that is searched starts, at rest and without
    acceleration. The coefficients of a joint are the position that this part moves about, and the
    amplitudes of all parts in their order.
    """

    # The form of each part as `form`, and its options beside it.
    parts: Sequence[Mapping[str, Any]] = USUAL_PARTS
    searched: int = 0  # number of the part that is searched, from 0 on

    name = 'composite'

    def __post_init__(self) -> None:
        parts = self.parts
        if not isinstance(parts, (list, tuple)) or not 1 <= len(parts) <= MOST_PARTS:
            raise DescriptionError(f'parts must be a list of 1 to {MOST_PARTS} forms')
        object.__setattr__(self, 'parts', tuple(dict(part) for part in parts))
        check_count('searched', self.searched, 0, len(parts) - 1)
        check_seconds('duration', self.duration)

    @cached_property
    def forms(self) -> tuple[Parametrization, ...]:
        """Forms of the parts."""
        return tuple(_form_of(number, part) for number, part in enumerate(self.parts))

    @cached_property
    def edges(self) -> FloatArray:
        """Instants at which the parts begin, and the end [s]."""
        return np.concatenate([[0.0], np.cumsum([form.duration for form in self.forms])])

    @property
    def n_coefficients(self) -> int:
        return 1 + sum(form.n_coefficients - 1 for form in self.forms)

    @property
    def duration(self) -> float:
        return float(self.edges[-1])

    @property
    def searched_span(self) -> tuple[float, float]:
        """Start and end of the part that alone is searched [s]."""
        return float(self.edges[self.searched]), float(self.edges[self.searched + 1])

    @property
    def grid_samples(self) -> int:
        rate = max(form.grid_samples / form.duration for form in self.forms)
        return math.ceil(rate * self.duration) + 1

    @property
    def pieces(self) -> FloatArray:
        return np.unique(np.concatenate([
            start + form.pieces for start, form in zip(self.edges, self.forms, strict=False)
        ]))

    def options(self) -> dict[str, Any]:
        """Return the parts, each with all options of its form."""
        return {
            'parts': [{'form': form.name, **form.options()} for form in self.forms],
            'searched': self.searched,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompositeParametrization) and (
            (self.forms, self.searched) == (other.forms, other.searched)
        )

    def __hash__(self) -> int:
        return hash((self.forms, self.searched))

    def bases(self, t: FloatArray) -> FloatArray:
        t = within_period(t, self.duration)
        bases = np.zeros((4, len(t), self.n_coefficients))
        bases[0, :, 0] = 1.0
        for number, (form, columns, rows, local) in enumerate(self._places(t)):
            amplitudes = form.bases(local)[:, :, 1:]
            if number == self.searched:
                bases[0, :, columns] += _at_start(form)
            # A part begins where that one does, wherever its own form would.
            amplitudes[0] -= _at_start(form)
            bases[:, rows, columns] += amplitudes
        return bases

    def coefficients(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return those of all parts as one (n, c), with the centre of the searched one."""
        return np.hstack([parts[self.searched][:, :1], *(part[:, 1:] for part in parts)])

    def _places(
        self, t: FloatArray
    ) -> list[tuple[Parametrization, slice, Any, FloatArray]]:
        """Return each part with its amplitudes' columns, its rows, and their times in it [s]."""
        part = np.clip(np.searchsorted(self.edges, t, side='right') - 1, 0, len(self.forms) - 1)
        places, column = [], 1
        for number, form in enumerate(self.forms):
            rows = np.flatnonzero(part == number)
            local = np.clip(t[rows] - self.edges[number], 0.0, form.duration)
            end = column + form.n_coefficients - 1
            places.append((form, slice(column, end), rows, local))
            column = end
        return places


def _at_start(form: Parametrization) -> FloatArray:
    """Return where a motion starts, by its amplitudes (c - 1,)."""
    start: FloatArray = form.basis(np.zeros(1))[0][0, 1:]
    return start


def _form_of(number: int, part: Mapping[str, Any]) -> Parametrization:
    """Return the form of a part; DescriptionError names the part that has none."""
    options = dict(part)
    name = options.pop('form', None)
    if name not in PART_FORMS:
        raise DescriptionError(f'parts[{number}]: {describe_unknown("form", name, PART_FORMS)}')
    try:
        return PART_FORMS[name](**options)
    except TypeError as error:
        raise DescriptionError(f'parts[{number}]: {error}') from error


@dataclass(frozen=True)
class Segment(ABC):
    """A segment: its form, and what a random one is."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def form(self) -> Parametrization:
        """Form of the motion."""

    @abstractmethod
    def offsets(
        self, lower: FloatArray, upper: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """
        Return random amplitudes (n, c - 1) [rad], which are then scaled into all limits.

        `lower` and `upper` (n,) are the ends of the position range, seen from the start.
        """

    def content(self) -> dict[str, Any]:
        """Return the segment as in an experiment file."""
        return {'name': self.name, **asdict(self)}


@dataclass(frozen=True)
class Stops(Segment):
    """Rests at random poses, from point to point."""

    poses: int = 4  # besides the start
    dwell: float = 0.5  # length of each rest [s]
    move_time: float = 1.2  # from one pose to the next [s]

    name = 'stops'

    def __post_init__(self) -> None:
        check_count('poses', self.poses, 1, 100)
        check_dwell('dwell', self.dwell, none_allowed=False)
        check_seconds('move_time', self.move_time)

    @property
    def form(self) -> Parametrization:
        return StaticPosesParametrization(
            self.poses, self.dwell, self.move_time, both_directions=False
        )

    def offsets(
        self, lower: FloatArray, upper: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return poses (n, poses) anywhere in the range."""
        return rng.uniform(lower, upper, (self.poses, len(lower))).T


@dataclass(frozen=True)
class SlowReversals(Segment):
    """Reversals of all joints within a short travel, without a rest in between."""

    reversals: int = 6
    travel: float = 0.03  # to either side of the start, at most [rad or m]
    move_time: float = 1.0  # from one reversal to the next [s]

    name = 'slow_reversals'

    def __post_init__(self) -> None:
        check_count('reversals', self.reversals, 1, 100)
        check_seconds('move_time', self.move_time)
        if not 0.0 < self.travel <= 1.0:
            raise DescriptionError(
                f'travel is {self.travel} rad, it must be above 0 and at most 1'
            )

    @property
    def form(self) -> Parametrization:
        return ViaPointsParametrization(
            self.reversals, 'rest', (self.reversals + 1) * self.move_time
        )

    def offsets(
        self, lower: FloatArray, upper: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """
        Return turning points (n, reversals) on alternating sides, at random distances.

        A joint that starts near an end of its range reverses next to its start.
        """
        shape = (len(lower), self.reversals)
        # Reversals of several lengths.
        distance = self.travel * rng.uniform(0.3, 1.0, shape)
        first = rng.choice([-1.0, 1.0], (len(lower), 1))
        sides = first * np.resize([1.0, -1.0], self.reversals)
        side = np.where(upper < self.travel, -1.0, np.where(-lower < self.travel, 1.0, 0.0))
        points: FloatArray = self.travel * side[:, None] + sides * distance
        return points


SEGMENTS: dict[str, type[Segment]] = {one.name: one for one in (Stops, SlowReversals)}


def segments_from_content(
    content: Mapping[str, Any], form: Parametrization
) -> tuple[tuple[Segment, ...], int]:
    """
    Return the segments that an experiment file asks for, and how many come before the motion.

    They are a comma list or a list of names, or mappings of `name` and options. The name of the
    `form` stands where its motion is; without it, that is first. Raises DescriptionError for
    another one.
    """
    entries = content.get('segments', [])
    if isinstance(entries, str):
        entries = [name.strip() for name in entries.split(',')]
    if not isinstance(entries, list):
        raise DescriptionError(
            f'segments is {entries!r:.60}, it must be a list of {", ".join(SEGMENTS)}'
        )
    before = entries.index(form.name) if form.name in entries else 0
    found = tuple(
        _segment(entry, form)
        for entry in (*entries[:before], *entries[before + (form.name in entries):])
    )
    if found and content.get('bounds') == 'conservative':
        raise DescriptionError(
            'bounds is conservative, which are sums over the harmonics of the form, and segments '
            'have none: leave bounds or segments out'
        )
    if found and not (form.closed and form.smooth):
        raise DescriptionError(
            f'the acceleration of {form.name} jumps, and segments follow smooth forms only: leave '
            'segments out, or take another form'
        )
    return found, before


def _segment(entry: Any, form: Parametrization) -> Segment:
    options = dict(entry) if isinstance(entry, Mapping) else {'name': entry}
    name = options.pop('name', None)
    if name not in SEGMENTS:
        raise DescriptionError(
            f'unknown segment {name!r:.60}; known are {", ".join(SEGMENTS)}, and {form.name} '
            'once, the form of the motion'
        )
    try:
        return SEGMENTS[name](**options)
    except TypeError as error:
        raise DescriptionError(f'segment {name}: {error}') from error
