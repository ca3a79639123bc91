# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Stops that are proved before they are sent.

A joint-trajectory controller blends from where it is to the first point of what it is sent. Where
it is can only be estimated, so a stop is computed from every state that the controller may be in,
and sent only if speed and acceleration stay below the peaks of the planned motion in all of them,
or, where no such stop is found, if the acceleration stays below what the drives can do besides.
One of these states is that of a controller that has just ended its motion by itself, which is not
known before its answer comes.
A controller that begins from the measured state instead of its own reference steps back by the
servo's lag; how hard depends on its servo, so of that one the speed alone is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution.path import (
    cubic_coefficients, evaluate_polynomials, quintic_coefficients, SentPath,
)
from robot_identification.model import NamedJoints
from robot_identification.simulation import QUINTIC_PEAK, TrajectoryPoints

# Positions, velocities and accelerations.
States = Sequence[FloatArray]

# How far an arm may be from where its motion begins [rad]; as allowed_start_tolerance of MoveIt.
START_TOLERANCE = 0.01
# How long a stop may take [s], the quickest first; each is 20 % longer than the one before. Where
# a goal can be cancelled instead, only the quick ones are tried.
DURATIONS: FloatArray = 0.5 * 1.2 ** np.arange(12.0)
QUICK = 8  # number of durations; chosen: up to 1.8 s (docs/execution.md)
# Where a stop on the path has its points, as shares of its duration, in the order in which these
# are tried: the first point leaves room to blend, the others keep the arm on the path.
POINTS = tuple(np.array(shares) for shares in ([0.4, 0.6, 0.8, 1.0], [0.7, 0.85, 1.0], [1.0]))
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
# A controller that has ended its motion by itself says so within this, and the stop that it was
# sent is cancelled [s]; chosen: one period of the action monitor of ros2_controllers, 20 Hz, and
# the ways of both messages.
ENDED_TIME = 0.1
# Largest acceleration of a quintic from rest to rest, over distance / duration^2: 10 / 3^0.5.
QUINTIC_ACCELERATION_PEAK = 10.0 / 3.0**0.5
# Samples of each segment of a stop that is proved.
SEGMENT_SAMPLES = np.linspace(0.0, 1.0, 11)[:, None, None, None]
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
    starts, resting = _possible_states(path, where), _resting_places(path, where)
    middle = 0.5 * (where.earliest + where.latest)
    lengths = DURATIONS[:durations, None]
    tried = [
        _prove(starts, resting, where, lengths * shares, _on_path(path, where, shares, lengths))
        for shares in POINTS
    ]
    exceeded = left = ''
    for allowed, index, proof in product(peaks.tried(), range(durations), tried):
        exceeded = proof.problem(index, allowed, joints)
        if exceeded:
            continue
        end = middle + where.scaling * float(DURATIONS[index])
        left = _off_path(path, where, proof.blends[:, index], end, joints)
        if not left:
            return proof.knots(index)
    raise UnsafeMotionError(left or exceeded)


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
    end = np.tile(where.q + 0.5 * TRAVEL_TIME * dq, (QUICK, 1, 1))
    rest = np.zeros_like(end)
    proof = _prove(starts, where.q[None], where, DURATIONS[:QUICK, None], (end, rest, rest))
    problem = ''
    for allowed, index in product(peaks.tried(), range(QUICK)):
        problem = proof.problem(index, allowed, joints)
        if not problem:
            return proof.knots(index)
    raise UnsafeMotionError(problem)


def settle_first(
    knots: TrajectoryPoints, begin: FloatArray, offset: float, peaks: Peaks, shortest: float = 0.0
) -> TrajectoryPoints:
    """
    Return a motion that first rests where it begins, until a controller has come there.

    The controller holds the arm within `offset` of `begin` (n,) [rad], and takes at least
    `shortest` [s] to get there within the peaks: otherwise it would have to be at the first point
    one period later. A motion that already waits for so long is returned as it is. Raises
    UnsafeMotionError if the peaks allow no motion.
    """
    highest = np.array([peaks.speed.min(), peaks.acceleration.min()])
    if not highest.all():
        raise UnsafeMotionError('the plan has no motion that the arm could begin with')
    speed, acceleration = SHARE_OF_PEAKS * highest
    duration = max(
        shortest, QUINTIC_PEAK * offset / speed,
        float(np.sqrt(QUINTIC_ACCELERATION_PEAK * offset / acceleration)),
    )
    # A way ends where the motion begins but for its rounding.
    waits = knots.times[0] >= duration and np.allclose(knots.q[0], begin, rtol=0.0, atol=1e-9)
    if waits or knots.dq is None or knots.ddq is None:
        return knots
    rest = np.zeros_like(begin)
    return TrajectoryPoints(
        np.append(duration, duration + knots.times), np.vstack([begin, knots.q]),
        np.vstack([rest, knots.dq]), np.vstack([rest, knots.ddq]),
    )


class _Proof(NamedTuple):
    """Speeds and accelerations of the arm under each of C motions."""

    times: FloatArray  # (C, K): of their points [s]
    points: States  # (C, K, n) each
    blends: FloatArray  # (S, C, H, n): places on the way to the first point [rad]
    # (C, n): largest speed, that of a controller that begins where the arm was measured [rad/s],
    # and acceleration [rad/s^2].
    speed: FloatArray
    measured_speed: FloatArray
    acceleration: FloatArray
    # (n,): speed of the fastest state that the controller may be in, and of the arm [rad/s].
    present: FloatArray
    measured: FloatArray

    def knots(self, index: int) -> TrajectoryPoints:
        """Return one of the motions."""
        return TrajectoryPoints(self.times[index], *(values[index] for values in self.points))

    def problem(self, index: int, peaks: Peaks, joints: NamedJoints) -> str:
        """Return in words where one of them exceeds the peaks; empty where it does not."""
        # What moves faster already is not made faster: the path by a knot, the arm by noise. What
        # was measured allows the controller's reference nothing.
        speed = np.maximum(SHARE_OF_PEAKS * peaks.speed, self.present)
        for unit, limit, values in (
            ('rad/s', speed, self.speed),
            ('rad/s', np.maximum(speed, self.measured), self.measured_speed),
            ('rad/s^2', SHARE_OF_PEAKS * peaks.acceleration, self.acceleration),
        ):
            needed = values[index]
            if np.any(needed > limit):
                joint = int(np.argmax(needed - limit))
                unit = joints.unit(unit, joint)
                return (
                    f'in a stop of {self.times[index, -1]:.1f} s {joints.names[joint]} may '
                    f'reach {needed[joint]:.3g} {unit}, at most {limit[joint]:.3g} {unit} are '
                    'accepted'
                )
        return ''


def _prove(
    starts: States, resting: FloatArray, where: Whereabouts, times: FloatArray, points: States
) -> _Proof:
    """
    Return what the arm may reach with motions of points (C, K, n) at times (C, K) [s].

    The controller begins from one of the states `starts` (H, n), or has ended its motion and rests
    at one of the places `resting` (H, n) [rad].
    """
    first, duration = [values[:, :1] for values in points], times[:, :1, None]
    between = np.diff(times)[..., None]
    still = np.zeros_like(resting)
    blends = _sample(quintic_coefficients(starts, first, duration), duration)
    later = _sample(
        quintic_coefficients(
            [values[:, :-1] for values in points], [values[:, 1:] for values in points], between
        ),
        between,
    )
    ended = _sample(
        quintic_coefficients((resting, still, still), first, duration),
        np.minimum(duration, ENDED_TIME),
    )
    measured = _sample(cubic_coefficients((where.q, where.dq), first[:2], duration), duration)
    speed, acceleration = (
        np.max([
            np.abs(one[order]).max(axis=(0, 2)) for one in (blends, later, ended) if one[0].size
        ], axis=0)
        for order in (1, 2)
    )
    return _Proof(
        times, points, blends[0], speed, np.abs(measured[1]).max(axis=(0, 2)), acceleration,
        np.abs(starts[1]).max(axis=0), np.abs(where.dq),
    )


def _on_path(
    path: SentPath, where: Whereabouts, shares: FloatArray, durations: FloatArray
) -> States:
    """Return points (C, K, n) on a path, of stops of `durations` (C, 1) at `shares` (K,) of it."""
    u, rate = shares, where.scaling
    progress = u - u**3 + 0.5 * u**4
    share = rate * (1.0 - 3.0 * u**2 + 2.0 * u**3)
    bend = rate * 6.0 * (u**2 - u) / durations
    times = 0.5 * (where.earliest + where.latest) + rate * durations * progress
    q, dq, ddq = (
        values.reshape(*times.shape, -1) for values in path.sample(times.ravel())
    )
    return (
        q, share[:, None] * dq, share[:, None] ** 2 * ddq + bend[:, :, None] * dq,
    )


def _resting_places(path: SentPath, where: Whereabouts) -> FloatArray:
    """Return where (H, n) [rad] a controller may rest that has ended its motion by itself."""
    first = where.earliest - ENDED_TIME
    count = 2 + int((where.latest - first) / PLACE_SPACING)
    return path.sample(np.linspace(first, where.latest, count))[0]


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


def _sample(coefficients: FloatArray, durations: FloatArray) -> States:
    """Return polynomials (6, C, H, n), each up to a duration (C, H or 1, 1): (S, C, H, n) each."""
    return evaluate_polynomials(coefficients, SEGMENT_SAMPLES * durations)


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
