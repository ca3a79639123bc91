# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A motion that was sent, as a joint-trajectory controller interpolates it between its knots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.simulation import TrajectoryPoints

# Samples of each segment when its largest speed and acceleration are looked for; chosen: a quintic
# of one knot period is smooth.
PEAK_SAMPLES = 8


class SentPath:
    """Position, velocity and acceleration at every instant of a motion sent to an arm at `q`."""

    def __init__(self, q: FloatArray, knots: TrajectoryPoints) -> None:
        rest = np.zeros((1, q.size))
        self.times = np.append(0.0, knots.times)
        self.q = np.vstack([q, knots.q])
        if knots.dq is not None:
            ddq = np.zeros_like(knots.q) if knots.ddq is None else knots.ddq
            self._coefficients = quintic_coefficients(
                (self.q[:-1], np.vstack([rest, knots.dq])[:-1], np.vstack([rest, ddq])[:-1]),
                (knots.q, knots.dq, ddq), np.diff(self.times)[:, None],
            )
        else:
            slopes = np.diff(self.q, axis=0) / np.diff(self.times)[:, None]
            zeros = np.zeros_like(slopes)
            self._coefficients = np.stack([self.q[:-1], slopes, *4 * (zeros,)])

    @property
    def duration(self) -> float:
        """Time from the start to the end [s]."""
        return float(self.times[-1])

    @property
    def end(self) -> FloatArray:
        """Position at the end, (n,) [rad]."""
        end: FloatArray = self.q[-1]
        return end

    def sample(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, dq, ddq (N, n) at `times` on the path (N,) [s]; it rests before and after."""
        inside = np.clip(times, 0.0, self.duration)
        segment = np.clip(
            np.searchsorted(self.times, inside, side='right') - 1, 0, len(self.times) - 2
        )
        local = (inside - self.times[segment])[:, None]
        q, dq, ddq = evaluate_polynomials(self._coefficients[:, segment], local)
        moving = ((times >= 0.0) & (times < self.duration))[:, None]
        return q, np.where(moving, dq, 0.0), np.where(moving, ddq, 0.0)

    def positions(self, times: FloatArray) -> FloatArray:
        """Return the chords between the knots, (N, n) [rad], at `times` of shape (N,) [s]."""
        return np.column_stack([np.interp(times, self.times, column) for column in self.q.T])

    def peaks(self) -> tuple[FloatArray, FloatArray]:
        """Return the largest speed [rad/s] and acceleration [rad/s^2] of each joint, (n,)."""
        local = np.linspace(0.0, 1.0, PEAK_SAMPLES)[:, None, None] * np.diff(self.times)[:, None]
        _, dq, ddq = evaluate_polynomials(self._coefficients[:, None], local)
        return np.abs(dq).max(axis=(0, 1)), np.abs(ddq).max(axis=(0, 1))


def quintic_coefficients(
    start: Sequence[FloatArray], end: Sequence[FloatArray], duration: FloatArray | float
) -> FloatArray:
    """
    Return the coefficients (6, ..., n) of quintics between two states, lowest power first.

    A state is position, velocity and acceleration, shape (..., n) each; `duration` broadcasts.
    """
    (p0, v0, a0), (p1, v1, a1) = start, end
    T = duration
    distance = p1 - p0 - v0 * T - 0.5 * a0 * T**2
    speed = v1 - v0 - a0 * T
    bend = a1 - a0
    return np.stack(np.broadcast_arrays(
        p0, v0, 0.5 * a0,
        (10.0 * distance - 4.0 * speed * T + 0.5 * bend * T**2) / T**3,
        (-15.0 * distance + 7.0 * speed * T - bend * T**2) / T**4,
        (6.0 * distance - 3.0 * speed * T + 0.5 * bend * T**2) / T**5,
    ))


def cubic_coefficients(
    start: Sequence[FloatArray], end: Sequence[FloatArray], duration: FloatArray | float
) -> FloatArray:
    """Do the same for cubics, between positions and velocities."""
    (p0, v0), (p1, v1) = start, end
    T = duration
    zero = np.zeros_like(p0)
    return np.stack(np.broadcast_arrays(
        p0, v0, (3.0 * (p1 - p0) - (2.0 * v0 + v1) * T) / T**2,
        (-2.0 * (p1 - p0) + (v0 + v1) * T) / T**3, zero, zero,
    ))


def evaluate_polynomials(
    coefficients: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return value, first and second derivative at `t` of such coefficients."""
    c0, c1, c2, c3, c4, c5 = coefficients
    return (
        c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5)))),
        c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5))),
        2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5)),
    )
