# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Segments of a motion beside the one that is searched: rests and slow reversals.

A periodic motion of all joints passes standstill quickly and never rests, so that friction at rest
and before sliding is not in its recording. These segments hold both; they start and end where the
searched motion does. To add one: write its class, add one line to SEGMENTS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization,
)
from robot_identification.excitation.parametrizations.stop_and_go import (
    check_dwell, StaticPosesParametrization,
)
from robot_identification.excitation.parametrizations.via_points import ViaPointsParametrization

# Shares of the travel that a joint goes to either side; chosen: reversals of several lengths.
SHORTEST_TRAVEL = 0.3


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

        A joint that starts near an end of its range reverses beside its start.
        """
        shape = (len(lower), self.reversals)
        distance = self.travel * rng.uniform(SHORTEST_TRAVEL, 1.0, shape)
        first = rng.choice([-1.0, 1.0], (len(lower), 1))
        sides = first * np.resize([1.0, -1.0], self.reversals)
        aside = np.where(upper < self.travel, -1.0, np.where(-lower < self.travel, 1.0, 0.0))
        points: FloatArray = self.travel * aside[:, None] + sides * distance
        return points


SEGMENTS: dict[str, type[Segment]] = {one.name: one for one in (Stops, SlowReversals)}


def segments_from_content(
    content: Mapping[str, Any], form: Parametrization, source: str
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
            f'{source}: segments is {entries!r:.60}, it must be a list of {", ".join(SEGMENTS)}'
        )
    before = entries.index(form.name) if form.name in entries else 0
    found = tuple(
        _segment(entry, form, source)
        for entry in (*entries[:before], *entries[before + (form.name in entries):])
    )
    if found and content.get('bounds') == 'conservative':
        raise DescriptionError(
            f'{source}: bounds is conservative, which are sums over the harmonics of the form, '
            'and segments have none: leave bounds or segments out'
        )
    if found and not (form.closed and form.smooth):
        raise DescriptionError(
            f'{source}: the acceleration of {form.name} jumps, and segments follow smooth forms '
            'only: leave segments out, or take another form'
        )
    return found, before


def _segment(entry: Any, form: Parametrization, source: str) -> Segment:
    options = dict(entry) if isinstance(entry, Mapping) else {'name': entry}
    name = options.pop('name', None)
    if name not in SEGMENTS:
        raise DescriptionError(
            f'{source}: unknown segment {name!r:.60}; known are {", ".join(SEGMENTS)}, and '
            f'{form.name} once, the form of the motion'
        )
    try:
        return SEGMENTS[name](**options)
    except TypeError as error:
        raise DescriptionError(f'{source}: segment {name}: {error}') from error
