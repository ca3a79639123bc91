# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions from point to point: with rests, trapezoidal velocities, or smooth through points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, LONGEST_PERIOD, Parametrization, with_centre, within_period,
)
from robot_identification.files import to_switch
import scipy

# A step from 0 to 1 and its three derivatives at shares u of the time it takes.
Step = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray, FloatArray]]

# Shares of a move nearer than this to a jump of the acceleration are at the jump.
AT_JUMP = 1.0e-9
# A grid of a thousand samples per second cannot miss this much of an acceleration [s].
SHORTEST_BLEND = 0.01

PASSAGES = ('smooth', 'rest')
DEGREE = 5  # of the splines of a smooth passage


@dataclass(frozen=True)
class Itinerary:
    """The order in which poses are visited, and when."""

    stops: tuple[int, ...]  # numbers of the poses; first and last are 0, the start
    rests: tuple[float, ...]  # at each stop but the first and the last [s]
    move_time: float  # from one stop to the next [s]

    def __post_init__(self) -> None:
        if self.duration > LONGEST_PERIOD:
            raise DescriptionError(
                f'{len(self.stops) - 1} moves of {self.move_time} s with {sum(self.rests):g} s of '
                f'dwell take {self.duration:g} s, at most {LONGEST_PERIOD:.0f} are allowed: take '
                'fewer poses, or a shorter dwell or move_time'
            )

    @property
    def move_starts(self) -> FloatArray:
        """Starts of the moves [s], one less than there are stops."""
        return np.concatenate([[0.0], np.cumsum(self.move_time + np.array(self.rests))])

    @property
    def duration(self) -> float:
        """Time from the first stop to the last [s]."""
        return float(self.move_starts[-1] + self.move_time)

    def instants(self, *shares: float) -> FloatArray:
        """Return the instants at some shares of every move [s], ascending, without repetition."""
        found = np.add.outer(self.move_starts, self.move_time * np.array(shares))
        instants = np.unique(found)
        # Instants that are one but for rounding are one.
        kept: FloatArray = instants[np.append(True, np.diff(instants) > AT_JUMP * self.move_time)]
        return kept

    def bases(self, t: FloatArray, step: Step) -> FloatArray:
        """
        Return the bases of the start and the poses' offsets, shape (4, N, 1 + poses).

        See `Parametrization.bases`; `step` leads from one stop to the next.
        """
        t, starts = within_period(t, self.duration), self.move_starts
        move = np.clip(np.searchsorted(starts, t, side='right') - 1, 0, len(starts) - 1)
        u = (t - starts[move]) / self.move_time
        steps = step(np.clip(u, 0.0, 1.0))
        # A rest has no jerk, and neither has what is before the first move.
        steps[3][(u < 0.0) | (u > 1.0)] = 0.0
        stops, rows = np.array(self.stops), np.arange(len(t))
        bases = np.zeros((4, len(t), stops.max() + 1))
        for order, arriving in enumerate(steps):
            bases[order, rows, stops[move]] = (1.0 if order == 0 else 0.0) - arriving
            bases[order, rows, stops[move + 1]] = arriving
            bases[order] /= self.move_time**order
        # The poses are off the start: it carries all of them.
        bases[:, :, 0] = np.array([1.0, 0.0, 0.0, 0.0])[:, None]
        return bases


def quintic_step(u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """
    Return the quintic from 0 to 1 and three derivatives by the share of its time `u`.

    It is at rest and without acceleration at both ends.
    """
    return (
        u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
        30.0 * u**2 * (1.0 - u) ** 2,
        60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
        60.0 * (1.0 - 6.0 * u * (1.0 - u)),
    )


def trapezoidal_step(
    u: FloatArray, blend: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """
    Return as `quintic_step` a step with a velocity that rises, stays and falls evenly.

    `blend` is the share of the time in which the velocity rises, and in which it falls. At the
    four instants where the second derivative jumps it is zero, and the third is zero between them.
    """
    speed = 1.0 / (1.0 - blend)
    rise = speed / blend
    left = 1.0 - u
    rising, falling = u < blend, left < blend
    s = np.where(
        rising, 0.5 * rise * u**2,
        np.where(falling, 1.0 - 0.5 * rise * left**2, speed * (u - 0.5 * blend)),
    )
    ds = np.where(rising, rise * u, np.where(falling, rise * left, speed))
    inside = (np.minimum(u, left) > AT_JUMP) & (np.minimum(u, left) < blend - AT_JUMP)
    dds = np.where(inside, np.where(u < 0.5, rise, -rise), 0.0)
    return s, ds, dds, np.zeros_like(dds)


def check_dwell(name: str, value: Any, *, none_allowed: bool) -> None:
    """Check that the length of a rest is in its range; DescriptionError if not."""
    enough = value >= 0.0 if none_allowed else value > 0.0
    if not (enough and value <= LONGEST_PERIOD):
        least = 'at least 0' if none_allowed else 'above 0'
        raise DescriptionError(
            f'{name} is {value} s, it must be {least} and at most {LONGEST_PERIOD:.0f}'
        )


@dataclass(frozen=True)
class StaticPosesParametrization(Parametrization):
    """
    Rests at poses, with quintics from rest to rest between them.

    The torque that holds a joint at rest depends on the side that it came from: friction holds. In
    both directions, poses are visited in their order, then in reverse, with a rest at the start in
    between; a joint reaches a pose from either side where that lies between the poses before and
    after it.

    In a monotone motion that is so of every pose and joint: each joint goes one way, up or down,
    from the start through all poses to a turning point, and back. It does not rest at these two,
    which are reached from one side only.

    The coefficients of a joint are the position of the start and the offset of each pose, the
    turning point last.
    """

    poses: int = 6  # besides the start
    dwell: float = 2.0  # length of each rest [s]
    move_time: float = 2.0  # from one pose to the next [s]
    both_directions: bool = True  # whether poses are visited in reverse, too
    monotone: bool = False  # whether every joint reaches every pose from both sides

    name = 'static_poses'

    def __post_init__(self) -> None:
        check_count('poses', self.poses, 1, 100)
        check_dwell('dwell', self.dwell, none_allowed=False)
        check_seconds('move_time', self.move_time)
        for name in ('both_directions', 'monotone'):
            to_switch(getattr(self, name), name)
        if self.monotone and not self.both_directions:
            raise DescriptionError(
                'monotone is true and both_directions false: poses are reached from both sides '
                'only where they are visited in reverse, too; leave one of them out'
            )
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + self.poses + self.monotone

    @property
    def duration(self) -> float:
        return self.itinerary.duration

    @property
    def grid_samples(self) -> int:
        # That misses the peaks of a quintic's speed and acceleration by a third of a percent.
        return math.ceil(40.0 * self.duration / self.move_time) + 1

    @property
    def itinerary(self) -> Itinerary:
        """Return the order in which poses are visited, and when."""
        if self.monotone:
            # There and back the same way; the start and the turning point are no poses to rest at.
            way = tuple(range(self.poses + 2))
            rests = (self.dwell,) * self.poses
            return Itinerary((*way, *way[-2::-1]), (*rests, 0.0, *rests), self.move_time)
        there = tuple(range(self.poses + 1))
        stops = (*there, 0, *there[:0:-1], 0) if self.both_directions else (*there, 0)
        return Itinerary(stops, (self.dwell,) * (len(stops) - 2), self.move_time)

    @property
    def pieces(self) -> FloatArray:
        return self.itinerary.instants(0.0, 1.0)

    @property
    def is_ordered(self) -> bool:
        return self.monotone

    def arrange(self, coefficients: FloatArray, direction: FloatArray) -> FloatArray:
        """Return poses one random step further each."""
        if not self.monotone:
            return coefficients
        steps = np.abs(coefficients[:, 1:])
        # The mean is added to every drawn step, so that few are too small.
        steps += steps.mean(axis=1, keepdims=True)
        offsets = direction[:, None] * np.cumsum(steps, axis=1)
        return np.hstack([coefficients[:, :1], offsets])

    def suits(self, coefficients: FloatArray) -> bool:
        """Return whether every joint goes one way, far enough."""
        if not self.monotone:
            return True
        steps = np.diff(coefficients[:, 1:], prepend=0.0, axis=1)
        # Friction reverses in much less than 0.02 rad, and `find_dwells` sees the side that a
        # joint came from in a quarter of it.
        return bool(np.all(steps * np.sign(steps[:, :1]) >= 0.02))

    def options(self) -> dict[str, Any]:
        """Return the options by name, `monotone` only if it is so."""
        options = super().options()
        if not self.monotone:
            # Older files do not have it, nor do the hashes of what they say.
            del options['monotone']
        return options

    def bases(self, t: FloatArray) -> FloatArray:
        return self.itinerary.bases(t, quintic_step)


@dataclass(frozen=True)
class TrapezoidalParametrization(Parametrization):
    """
    Moves from point to point, each with a velocity that rises, stays and falls evenly.

    The acceleration is piecewise constant; where it jumps, it is given as zero. All joints
    accelerate together. The motion starts and ends at the centre; the coefficients of a joint are
    the centre and the offset of each point.
    """

    points: int = 6  # between start and end
    dwell: float = 0.5  # at each point [s]
    move_time: float = 1.5  # from one point to the next [s]
    # share of `move_time` in which the arm accelerates, and in which it brakes
    blend: float = 0.25

    name = 'trapezoidal'
    smooth = False

    def __post_init__(self) -> None:
        check_count('points', self.points, 1, 100)
        check_dwell('dwell', self.dwell, none_allowed=True)
        check_seconds('move_time', self.move_time)
        if not 0.0 < self.blend <= 0.5:
            raise DescriptionError(f'blend is {self.blend}, it must be above 0 and at most 0.5')
        if self.blend * self.move_time < SHORTEST_BLEND:
            raise DescriptionError(
                f'blend is {self.blend} of a move_time of {self.move_time} s: the arm accelerates '
                f'in {self.blend * self.move_time:g} s, at least {SHORTEST_BLEND} s are needed; '
                'raise one of them'
            )
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + self.points

    @property
    def duration(self) -> float:
        return self.itinerary.duration

    @property
    def grid_samples(self) -> int:
        # Two while the arm accelerates, and one while it cruises or half a percent below the tip
        # of the triangle that is left without cruising.
        of_a_move = max(
            20.0, 2.0 / self.blend, 1.0 / (1.0 - 1.99 * self.blend)
        )
        return math.ceil(of_a_move * self.duration / self.move_time) + 1

    @property
    def itinerary(self) -> Itinerary:
        """Return the order in which points are visited, and when."""
        stops = (*range(self.points + 1), 0)
        return Itinerary(stops, (self.dwell,) * self.points, self.move_time)

    @property
    def pieces(self) -> FloatArray:
        return self.itinerary.instants(0.0, self.blend, 1.0 - self.blend, 1.0)

    def bases(self, t: FloatArray) -> FloatArray:
        return self.itinerary.bases(t, lambda u: trapezoidal_step(u, self.blend))


@dataclass(frozen=True)
class ViaPointsParametrization(Parametrization):
    """
    Piecewise quintic through via points, evenly spaced in time.

    The motion starts and ends at the centre, at rest and without acceleration. The coefficients of
    a joint are the centre and the offset of each via point. In a 'smooth' passage velocities and
    accelerations at the via points make the third and fourth derivatives continuous; with 'rest'
    both are zero there.
    """

    points: int = 6  # m, between start and end, passed at k T / (m + 1)
    passage: str = 'smooth'
    duration: float = 10.0  # T [s]

    name = 'via_points'

    def __post_init__(self) -> None:
        check_count('points', self.points, 1, 100)
        check_seconds('duration', self.duration)
        if self.passage not in PASSAGES:
            raise DescriptionError(
                f'passage is {self.passage!r}, it must be {" or ".join(PASSAGES)}'
            )

    @property
    def n_coefficients(self) -> int:
        return 1 + self.points

    @property
    def via_times(self) -> FloatArray:
        """Times at which the via points are passed [s], shape (m,)."""
        return np.linspace(0.0, self.duration, self.points + 2)[1:-1]

    @property
    def pieces(self) -> FloatArray:
        ends = np.array([0.0, self.duration])
        return ends if self.passage == 'smooth' else np.union1d(ends, self.via_times)

    def bases(self, t: FloatArray) -> FloatArray:
        return with_centre(
            self._smooth(t) if self.passage == 'smooth' else self._with_rests(t)
        )

    def _smooth(self, t: FloatArray) -> list[FloatArray]:
        """
        Return the quintic splines that are 1 at one via point and 0 at all others.

        Quintics with four continuous derivatives are the splines whose knots are the via times;
        as many of them are at rest at both ends as there are via points.
        """
        knots = np.concatenate([
            np.zeros(DEGREE), np.linspace(0.0, self.duration, self.points + 2),
            np.full(DEGREE, self.duration),
        ])
        # Three control points at each end, for position, velocity and acceleration there, stay
        # zero.
        free = np.eye(self.points + 6)[:, 3:-3]
        spline = scipy.interpolate.BSpline(knots, free, DEGREE)
        to_control_points = np.linalg.inv(spline(self.via_times))
        t = within_period(t, self.duration)
        return [spline(t, nu=order) @ to_control_points for order in range(4)]

    def _with_rests(self, t: FloatArray) -> list[FloatArray]:
        """Return a step up into each via point, and down out of it, from rest to rest."""
        t, piece = within_period(t, self.duration), self.duration / (self.points + 1)
        starts = piece * np.arange(self.points + 1)
        u = np.clip(np.subtract.outer(t, starts) / piece, 0.0, 1.0)
        steps = quintic_step(u)
        # The third derivative of a step that is not under way is zero.
        under_way = np.clip(np.searchsorted(starts, t, side='right') - 1, 0, self.points)
        steps[3][under_way[:, None] != np.arange(self.points + 1)] = 0.0
        return [
            (step[:, :-1] - step[:, 1:]) / piece**order for order, step in enumerate(steps)
        ]
