# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Stops that are proved before they are sent.

A joint-trajectory controller blends from where it is to the first point of what it is sent. Where
it is can only be estimated, so a stop is computed from every state that the controller may be in,
and sent only if speed and acceleration stay below the peaks of the planned motion in all of them,
or, where no such stop is found, if the acceleration stays below what the drives can do besides.
A controller that begins from the measured state instead of its own reference steps back by the
servo's lag; how hard depends on its servo, so of that one the speed alone is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution.path import (
    cubic_coefficients, evaluate_polynomials, quintic_coefficients, SentPath,
)
from robot_identification.model import NamedJoints
from robot_identification.simulation import TrajectoryPoints

# Positions, velocities and accelerations.
States = Sequence[FloatArray]

# How long a stop may take [s], the quickest first; each is 20 % longer than the one before. Where
# a goal can be cancelled instead, only the quick ones are tried.
DURATIONS = 0.5 * 1.2 ** np.arange(12)
QUICK = 8  # number of durations; chosen: up to 1.8 s (docs/execution.md)
# Where a stop on the path has its points, as shares of its duration: the first leaves room to
# blend, the others keep the arm on the path.
POINTS = np.array([0.4, 0.6, 0.8, 1.0])
# A stop away from the path leads half this long beyond the measured place [s] (docs/execution.md);
# chosen: the quickest stop.
TRAVEL_TIME = 0.5
# Speed and acceleration of a stop over the planned peaks (docs/execution.md); chosen: 1.1 is what
# a gentle stop may never exceed.
SHARE_OF_PEAKS = 1.05
# Acceleration of a stop over that of others where none of these is found, at most
# (docs/execution.md); chosen: a motion that touches its limit of acceleration has a stop at every
# place that is known within 0.08 s, and a hold, as of a cancelled goal, is ten times as hard.
HARDEST_SHARE = 1.5
# A joint that hardly moves may be stopped as this share of the fastest one's peaks allows; chosen:
# its noise and lag do not forbid a stop then.
LEAST_SHARE = 0.1
# How far the blend onto the path may be from the path [rad] (docs/execution.md); chosen: half the
# default tolerance of tracking.
LARGEST_DEVIATION = 0.05
# With a larger uncertainty of the time on the path no stop is looked for [s]; chosen: twice the
# timeout of joint states.
LARGEST_UNCERTAINTY = 0.4
# Between the places on the path that the controller may be at and from which a stop is tried [s];
# chosen: one knot, at 50 Hz.
PLACE_SPACING = 0.02
# Samples of each segment of a stop that is proved.
SEGMENT_SAMPLES = np.linspace(0.0, 1.0, 11)[:, None, None]
# Samples of the path that a blend is compared with; chosen: 0.05 s of a stop of 2 s.
PATH_SAMPLES = 41


@dataclass(frozen=True, eq=False)
class Peaks:
    """Largest speed and acceleration of each joint in a planned motion."""

    speed: FloatArray  # (n,): [rad/s]
    acceleration: FloatArray  # (n,): [rad/s^2]
    # Acceleration over that of a stop where there is no gentler one; {1, .., HARDEST_SHARE}
    hardest: float = 1.0

    @classmethod
    def of(cls, paths: Sequence[SentPath]) -> Peaks:
        """Return the largest of several motions; no joint has less than a tenth of another."""
        highest = np.max([path.peaks() for path in paths], axis=0)
        return cls(*(np.maximum(values, LEAST_SHARE * values.max()) for values in highest))

    def tried(self) -> list[Peaks]:
        """Return the peaks that a stop is tried with, the gentlest first."""
        if self.hardest <= 1.0:
            return [self]
        return [self, replace(self, acceleration=self.hardest * self.acceleration)]


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """State of a controller that follows a path, at one instant."""

    # Time on the path between which its reference is [s].
    earliest: float
    latest: float
    halted: bool  # whether it may also rest, at the earliest or where the arm was measured
    scaling: float  # present speed scaling, from 0 to 1
    # (n,): measured position [rad] and velocity [rad/s].
    q: FloatArray
    dq: FloatArray


def stop_on_path(
    path: SentPath, where: Whereabouts, peaks: Peaks, joints: NamedJoints,
    durations: int = QUICK,
) -> TrajectoryPoints:
    """
    Return the quickest of the gentlest proved stops on the path, whose places have been proved.

    Time on the path slows down to rest from the middle of where the controller may be; the first
    `durations` of the `DURATIONS` are tried. Raises UnsafeMotionError with the reason, by a name
    of `joints`, if no stop keeps to the peaks from every state that the controller may be in.
    """
    uncertainty = where.latest - where.earliest
    if uncertainty > LARGEST_UNCERTAINTY:
        raise UnsafeMotionError(
            f'the time on the path is known within {uncertainty:.2f} s, at most '
            f'{LARGEST_UNCERTAINTY:g} s are accepted'
        )
    problem = ''
    starts = _possible_states(path, where)
    middle, rate = 0.5 * (where.earliest + where.latest), where.scaling
    u = POINTS
    progress = u - u**3 + 0.5 * u**4
    share, bend = rate * (1.0 - 3.0 * u**2 + 2.0 * u**3), rate * 6.0 * (u**2 - u)
    for allowed in peaks.tried():
        for duration in DURATIONS[:durations]:
            q, dq, ddq = path.sample(middle + rate * duration * progress)
            speed = share[:, None] * dq
            acceleration = share[:, None] ** 2 * ddq + bend[:, None] / duration * dq
            knots = TrajectoryPoints(duration * u, q, speed, acceleration)
            places, problem = _places_within(starts, where, knots, allowed, joints)
            if problem:
                continue
            problem = _off_path(path, where, places, middle + rate * duration, joints)
            if not problem:
                return knots
            # A slower blend onto the path only cuts its corners more; a harder one is quicker.
            break
    raise UnsafeMotionError(problem)


def stop_where_measured(
    path: SentPath, where: Whereabouts, peaks: Peaks, joints: NamedJoints
) -> TrajectoryPoints:
    """
    Return the quickest of the gentlest proved stops of an arm that is not on its path.

    It ends where the arm, slowed down evenly within half a second, would come to rest. Raises
    UnsafeMotionError as `stop_on_path` does.
    """
    starts = _possible_states(path, where)
    # A velocity that neither rest nor the path has is measured wrongly.
    dq = np.clip(where.dq, np.minimum(starts[1].min(axis=0), 0.0),
                 np.maximum(starts[1].max(axis=0), 0.0))
    end = (where.q + 0.5 * TRAVEL_TIME * dq)[None]
    rest = np.zeros_like(end)
    problem = ''
    for allowed, duration in product(peaks.tried(), DURATIONS[:QUICK]):
        knots = TrajectoryPoints(np.array([duration]), end, rest, rest)
        _, problem = _places_within(starts, where, knots, allowed, joints)
        if not problem:
            return knots
    raise UnsafeMotionError(problem)


def _possible_states(path: SentPath, where: Whereabouts) -> States:
    """Return every state (H, n) of its own reference from which the controller may begin."""
    places = 3 + int((where.latest - where.earliest) / PLACE_SPACING)
    q, dq, ddq = path.sample(np.linspace(where.earliest, where.latest, places))
    rest = np.zeros((1, where.q.size))
    states = [(q, dq, ddq)]
    if where.scaling < 1.0:
        states.append((q, where.scaling * dq, where.scaling**2 * ddq))
    if where.halted:
        states += [(q[:1], rest, rest), (where.q[None], rest, rest)]
    return [np.vstack(column) for column in zip(*states, strict=True)]


def _places_within(
    starts: States, where: Whereabouts, knots: TrajectoryPoints, peaks: Peaks,
    joints: NamedJoints,
) -> tuple[FloatArray, str]:
    """Return the positions (S, H, n) of the blends, and in words where they exceed the peaks."""
    assert knots.dq is not None
    assert knots.ddq is not None
    points = knots.q, knots.dq, knots.ddq
    first = [values[:1] for values in points]
    speed, acceleration = (
        SHARE_OF_PEAKS * values for values in (peaks.speed, peaks.acceleration)
    )
    blends = _sample(quintic_coefficients(starts, first, knots.times[0]), knots.times[:1])
    between = np.diff(knots.times)
    later = _sample(
        quintic_coefficients(
            [values[:-1] for values in points], [values[1:] for values in points],
            between[:, None],
        ),
        between,
    )
    measured = _sample(
        cubic_coefficients((where.q, where.dq), first[:2], knots.times[0]), knots.times[:1]
    )
    # What moves faster already is not made faster: the path by a knot, the arm by noise. What was
    # measured allows the controller's reference nothing.
    speed = np.maximum(speed, np.abs(starts[1]).max(axis=0))
    for order, unit, limit, parts in (
        (1, 'rad/s', speed, (blends, later)),
        (1, 'rad/s', np.maximum(speed, np.abs(where.dq)), (measured,)),
        (2, 'rad/s^2', acceleration, (blends, later)),
    ):
        values = [one[order].reshape(-1, where.q.size) for one in parts]
        needed = np.abs(np.vstack(values)).max(axis=0)
        if np.any(needed > limit):
            joint = int(np.argmax(needed / limit))
            unit = joints.unit(unit, joint)
            return blends[0], (
                f'in a stop of {knots.times[-1]:.1f} s {joints.names[joint]} may reach '
                f'{needed[joint]:.3g} {unit}, at most {limit[joint]:.3g} {unit} are accepted'
            )
    return blends[0], ''


def _sample(coefficients: FloatArray, durations: FloatArray) -> States:
    """Return polynomials (6, H, n) of some duration (H,) or (1,) sampled: (S, H, n) each."""
    return evaluate_polynomials(coefficients, SEGMENT_SAMPLES * durations[:, None])


def _off_path(
    path: SentPath, where: Whereabouts, places: FloatArray, end: float, joints: NamedJoints
) -> str:
    """Return in words by how much blends leave the path, from the earliest place to the end."""
    around = path.sample(np.linspace(where.earliest, end, PATH_SAMPLES))[0]
    flat = places.reshape(-1, 1, places.shape[-1])
    distance = float(np.abs(flat - around).max(axis=2).min(axis=1).max())
    # The arm may be measured off the path already, by as much as its servo errs.
    allowed = LARGEST_DEVIATION + np.abs(where.q - around).max(axis=1).min()
    if distance <= allowed:
        return ''
    unit = joints.units('rad')
    return (
        f'a stop may leave the path by {distance:.3f} {unit}, at most {allowed:.3f} {unit} are '
        'accepted'
    )
