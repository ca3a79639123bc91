# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The functions of motion of all joints at one sample, those of one kind evaluated at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.model.friction.basis import CURVES, STOP
from robot_identification.model.friction.stop_operator import PLAY


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
                self._curves.append((CURVES[kind], rows, [one[:, None] for one in constants]))
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
