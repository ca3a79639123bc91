# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The functions of motion that friction is a sum of.

A law declares one for each of its coefficients. Batch evaluation, in `FrictionLaw.columns`, and
evaluation of single samples of all joints at once, in `SampleBasis`, follow from the same
declaration. All curves are finite, and raise no warning, for every finite velocity: at rest, far
beyond the passage through zero, and where an exponential underflows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray

# A shape constant, or one for every velocity.
Constant = FloatArray | float
# Function of the position, with a memory; its constants are the radius and the step in which
# positions are read, or 0 [rad]. See `run_stops` and `steady_positions`.
STOP = 'stop'
# Width of the play to either side, over the step of positions [1]: half a step, and for rounding.
PLAY = 0.51


class BasisTerm(NamedTuple):
    """Function of motion that one coefficient of a friction law multiplies."""

    kind: str  # key of CURVES, or STOP
    constants: tuple[float, ...] = ()
    per_load: bool = False  # times the absolute torque that the joint transmits [N m]
    reference: float | None = None  # times the temperature above this one [deg C]


def smooth_sign(dq: FloatArray, width: Constant) -> FloatArray:
    """Return ``tanh(dq / width)``, shape (N,): the sign with a smooth passage through zero."""
    return np.tanh(dq / width)


def static_share(dq: FloatArray, velocity: Constant, exponent: Constant) -> FloatArray:
    """
    Return ``exp(-abs(dq / velocity)^exponent)``, shape (N,).

    The share of the static friction that is left at a velocity: one at rest, zero in sliding.
    """
    return np.exp(-_power(dq / velocity, exponent))


def _power(values: FloatArray, exponent: Constant) -> FloatArray:
    """Return ``abs(values)^exponent``; zero at rest, where its derivatives count as zero, too."""
    rest = values.real == 0.0
    moving = np.where(rest, 1.0, values)
    power: FloatArray = np.where(rest, 0.0, (np.sign(moving.real) * moving) ** exponent)
    return power


def _static_sign(
    dq: FloatArray, width: Constant, velocity: Constant, exponent: Constant
) -> FloatArray:
    return smooth_sign(dq, width) * static_share(dq, velocity, exponent)


def _one_way(dq: FloatArray, width: Constant, side: float) -> FloatArray:
    """Return the share of one direction, forwards (1) or backwards (-1): from 0 to 1."""
    return (1.0 + side * smooth_sign(dq, width)) / 2.0


# Functions of the velocity (N,) [rad/s] and of constants, which may be arrays that broadcast with
# it. They are analytic but where they jump or bend, and so take complex numbers: see `derivative`.
CURVES: MappingProxyType[str, Callable[..., FloatArray]] = MappingProxyType({
    'one': np.ones_like,
    'velocity': lambda dq, factor: factor * dq,
    'power': lambda dq, exponent: np.sign(dq.real) * _power(dq, exponent),
    'sign': lambda dq, zero: np.where(np.abs(dq.real) > zero, np.sign(dq.real), 0.0),
    'smooth_sign': smooth_sign,
    'static_sign': _static_sign,
    'kinetic_sign': lambda dq, width, *shape: (
        (1.0 - static_share(dq, *shape)) * smooth_sign(dq, width)
    ),
    'forward_sign': lambda dq, width: _one_way(dq, width, 1.0) * smooth_sign(dq, width),
    'backward_sign': lambda dq, width: _one_way(dq, width, -1.0) * smooth_sign(dq, width),
    'forward_velocity': lambda dq, width: _one_way(dq, width, 1.0) * dq,
    'backward_velocity': lambda dq, width: _one_way(dq, width, -1.0) * dq,
})


def derivative(
    kind: str, dq: FloatArray, constants: Sequence[float], by: int | None = None
) -> FloatArray:
    """
    Return how a curve changes with the velocity (N,), or with the constant number `by`.

    It is zero where the curve jumps. A step along the imaginary axis has no difference that loses
    digits, however small it is: W. Squire and G. Trapp, "Using complex variables to estimate
    derivatives of real functions", SIAM Review 40(1), 1998.
    """
    step = 1.0e-100
    moved: list[Any] = [dq, *constants]
    at = 0 if by is None else 1 + by
    moved[at] = moved[at] + step * 1j
    slope: FloatArray = np.imag(CURVES[kind](*moved)) / step
    return slope


def run_stops(q: FloatArray, radii: FloatArray, z: FloatArray, q_before: float) -> FloatArray:
    """
    Return deflections (N, m) [rad] of stops along consecutive positions of one joint.

    ``z <- clip(z + q_k - q_(k-1), -r, r)``, sample by sample, is a spring that slips at the force
    of its radius r: friction before sliding follows displacement. Such steps compose to
    steps ``z -> clip(z + shift, low, high)``, so that many are done at once by doubling.

    `q` (N,) are the positions [rad], `radii` (m,) the largest deflections, positive [rad], and `z`
    (m,) the deflections [rad] at `q_before` [rad], the position before the first. Stop operator of
    A. Visintin, "Differential Models of Hysteresis", Springer, 1994.
    """
    steps = np.empty(len(q))
    steps[:1], steps[1:] = q[:1] - q_before, q[1:] - q[:-1]
    shift, low, high = np.empty((3, len(q), len(radii)))
    shift[:], low[:], high[:] = steps[:, None], -radii, radii
    # After the pass with distance d every row holds the last 2 d steps as one.
    distance = 1
    while distance < len(q):
        later = shift[distance:]
        earlier_low = _clip(low[:-distance] + later, low[distance:], high[distance:])
        earlier_high = _clip(high[:-distance] + later, low[distance:], high[distance:])
        shift[distance:] = later + shift[:-distance].copy()
        low[distance:], high[distance:] = earlier_low, earlier_high
        distance *= 2
    return _clip(z + shift, low, high)


def steady_positions(
    q: FloatArray, step: float, played: float, q_before: float
) -> tuple[FloatArray, float]:
    """
    Return positions without the jumps of a last digit, and where the play stands after them.

    A change by one step against the last motion is left out until a second one follows: at rest a
    reading may jump between two neighbours for ever. A play operator (A. Visintin, "Differential
    Models of Hysteresis", Springer, 1994) tells the two apart; where it follows, the position is
    the reading.

    `q` (N,) are the positions and `step` that in which they are read [rad]; `played` and
    `q_before` are where the play and the steady position were before [rad]. Return the positions
    (N,) and where the play stands after the last one [rad].
    """
    half = PLAY * step
    of_play = q - run_stops(q, np.array([half]), np.zeros(1), played)[:, 0]
    moves = np.diff(of_play, prepend=played)
    moves[np.abs(moves) < 1.0e-3 * step] = 0.0  # rounding
    directions = np.append(np.sign(q_before - played), np.sign(moves))
    last = np.maximum.accumulate(np.where(directions, np.arange(len(directions)), 0))[1:]
    return of_play + half * directions[last], float(of_play[-1])


def _clip(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return what `np.clip` does, in a third of its time for the few numbers of a live sample."""
    clipped: FloatArray = np.minimum(np.maximum(values, low), high)
    return clipped


class JointFunction(NamedTuple):
    """A function of the motion of one joint; see `BasisTerm`."""

    kind: str
    constants: tuple[float, ...]
    joint: int


def evaluation_order(function: JointFunction) -> tuple[bool, JointFunction]:
    """Return the key that functions of a `SampleBasis` are sorted by."""
    return function.kind not in ('one', STOP), function


class SampleBasis:
    """
    Evaluation of functions in `evaluation_order`, sample after sample, of an arm with `n` joints.

    Stop operators remember the sample before; all start at rest. One product with a matrix that is
    laid out once divides the velocities by the constants of all functions; from these ratios the
    common curves are evaluated in place, the others by `CURVES`. Functions are rows, so that those
    of a kind lie together in memory. The next call overwrites what is returned.
    """

    def __init__(self, n: int, functions: Sequence[JointFunction]) -> None:
        self._joints: IntArray = np.array([function.joint for function in functions], dtype=int)
        self._curves: list[tuple[Callable[..., FloatArray], slice, list[FloatArray]]] = []
        self._radii, factors, sliding = np.zeros(0), np.zeros(len(functions)), np.zeros(0)
        self._signs = self._static = self._stops = slice(0, 0)
        self._play = np.zeros(n)
        first = 0  # of the functions of velocity
        for kind, group in groupby(range(len(functions)), key=lambda row: functions[row].kind):
            found = list(group)
            rows = slice(found[0], found[-1] + 1)
            constants = np.array([functions[row].constants for row in found]).T
            if kind == 'one':
                first = rows.stop
            elif kind == STOP:
                first, self._stops, self._radii = rows.stop, rows, constants[0]
                np.maximum.at(self._play, self._joints[rows], PLAY * constants[1])
            elif kind == 'velocity':
                factors[rows] = constants[0]
            elif kind == 'smooth_sign':
                self._signs, factors[rows] = rows, 1.0 / constants[0]
            elif kind == 'static_sign' and np.all(constants[2] == 2.0):
                # They follow the smooth signs, where there are any.
                start = self._signs.start if self._signs.stop else rows.start
                self._signs = slice(start, rows.stop)
                self._static, factors[rows], sliding = rows, 1.0 / constants[0], 1.0 / constants[1]
            else:
                columns = [one[:, None] for one in constants]
                self._curves.append((CURVES[kind], rows, columns))
        unit = np.eye(n)
        slides = sliding[:, None] * unit[self._joints[self._static]]
        # Behind the functions of velocity: those over the ones of static friction, and negative.
        self._factors = np.vstack([
            factors[first:, None] * unit[self._joints[first:]], slides, -slides
        ])
        self._first, self._stopped = first, self._joints[self._stops]
        self._is_stepped = bool(self._play.any())
        self._unit = unit
        self._make_room(0)

    def _make_room(self, m: int) -> None:
        """Lay out the arrays for m velocities, with a view of each kind of function."""
        size, slides = len(self._joints), self._static.stop - self._static.start
        room = np.ones((size + 2 * slides, m))
        self._ratios = room[self._first:]
        self._values, self._slide, self._backwards = np.split(room, [size, size + slides])
        self._smooth, self._of_static, self._of_stops = (
            self._values[rows] for rows in (self._signs, self._static, self._stops)
        )
        self.restart()

    def restart(self) -> None:
        """Forget the samples before."""
        self._q: FloatArray | None = None

    def _start(self, m: int) -> None:
        """Put the stops to rest; the same for every velocity, as sums of equals are quickest."""
        self._of_stops[:] = 0.0
        self._upper = np.ones_like(self._of_stops)
        self._lower, self._way = -self._upper, np.zeros_like(self._of_stops)
        self._flat_way = self._way.reshape(-1)
        per_radius = self._unit[self._stopped] / self._radii[:, None]
        self._per_radius = np.repeat(per_radius, m, axis=0)

    @property
    def stops(self) -> tuple[IntArray, FloatArray]:
        """Return the joints of the stop operators, and their radii [rad], shape (s,)."""
        return self._stopped, self._radii

    def at(self, dq: FloatArray, deflections: FloatArray) -> FloatArray:
        """Return the values (k, m) at dq (m, n) [rad/s] and deflections (m, s) of the stops."""
        values = self._moving(dq)
        self._of_stops[:] = (deflections / self._radii).T
        return values

    def _moving(self, dq: FloatArray) -> FloatArray:
        """Return the values (k, m); those of the stops are as they were."""
        if len(dq) != self._values.shape[1]:
            self._make_room(len(dq))
        self._factors.dot(dq.T, self._ratios)
        np.tanh(self._smooth, out=self._smooth)
        if self._slide.size:
            np.multiply(self._slide, self._backwards, out=self._slide)
            np.exp(self._slide, out=self._slide)
            np.multiply(self._of_static, self._slide, out=self._of_static)
        for curve, rows, constants in self._curves:
            self._values[rows] = curve(dq.T.take(self._joints[rows], axis=0), *constants)
        return self._values

    def step(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """
        Return the values (k, m) of the next sample at q (n,) [rad] and dq (m, n) [rad/s].

        From one restart to the next m stays the same, and `at` is not called.
        """
        values = self._moving(dq)
        if self._radii.size:
            if self._q is None:
                self._start(len(dq))
                self._played, self._direction = q, np.zeros(len(q))
            else:
                bends = self._of_stops
                if self._is_stepped:
                    q = self._steady(q)
                self._per_radius.dot(q - self._q, self._flat_way)
                np.add(bends, self._way, out=bends)
                np.minimum(bends, self._upper, out=bends)
                np.maximum(bends, self._lower, out=bends)
            self._q = q
        return values

    def _steady(self, q: FloatArray) -> FloatArray:
        """Return positions (n,) without the jumps of a last digit; see `steady_positions`."""
        played = np.minimum(np.maximum(self._played, q - self._play), q + self._play)
        moves = np.sign(played - self._played)
        self._direction = np.where(moves, moves, self._direction)
        self._played = played
        return played + self._play * self._direction
