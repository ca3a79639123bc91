# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A motion given by its samples: what other programs' motions become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from robot_identification.arrays import FloatArray, IndexArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    LONGEST_PERIOD, Parametrization, within_period,
)
from robot_identification.files import is_number

# Of seven joints, what is still read back as a text file.
MAXIMUM_KNOTS = 30_000
# Limits are checked a thousand times a second. Between knots that are nearer than two of these
# instants, a motion could do what no check sees; a thousandth is for rounding [s].
SHORTEST_PIECE = 1.998e-3

# Polynomials, constants first, that are 1 in one of position, velocity and acceleration (rows) at
# the start or the end (columns) of a piece of length 1, and 0 in all others.
HERMITE = np.array([
    [[1.0, 0.0, 0.0, -10.0, 15.0, -6.0], [0.0, 0.0, 0.0, 10.0, -15.0, 6.0]],
    [[0.0, 1.0, 0.0, -6.0, 8.0, -3.0], [0.0, 0.0, 0.0, -4.0, 7.0, -3.0]],
    [[0.0, 0.0, 0.5, -1.5, 1.5, -0.5], [0.0, 0.0, 0.0, 0.5, -1.0, 0.5]],
])


@dataclass(frozen=True)
class SampledParametrization(Parametrization):
    """
    Quintics between knots that give position, velocity and acceleration.

    The coefficients of a joint are the position at the first knot, how far the position at each
    later one is off it, the velocities and the accelerations at all of them. Nothing makes such
    a motion rest at its ends, or end where it starts; its certification has to check that.
    """

    # Uneven, as knots may be.
    times: Sequence[float] = (0.0, 1.0, 3.0)  # when the m knots are passed [s], from 0 on

    name = 'sampled'
    closed = False

    def __post_init__(self) -> None:
        object.__setattr__(self, 'times', _checked_times(self.times))

    @property
    def n_coefficients(self) -> int:
        return 3 * len(self.times)

    @property
    def duration(self) -> float:
        return self.times[-1]

    @property
    def grid_samples(self) -> int:
        """Return the number of even samples with some in every piece."""
        shortest = float(np.diff(self.times).min())
        # Velocity and acceleration of a quintic turn at most four and three times.
        return math.ceil(8.0 * self.duration / shortest) + 1

    @property
    def pieces(self) -> FloatArray:
        return np.array(self.times)

    def options(self) -> dict[str, Any]:
        return {'times': list(self.times)}

    def bases(self, t: FloatArray) -> FloatArray:
        knot, weights = self._weights(t)
        bases = np.zeros((4, len(knot), 3, len(self.times)))
        rows = np.arange(len(knot))
        for side in range(2):
            bases[:, rows, :, knot + side] = weights[:, :, side].transpose(2, 0, 1)
        # Later positions are off the first one: it carries all of them.
        bases[:, :, 0, 0] = np.array([1.0, 0.0, 0.0, 0.0])[:, None]
        return bases.reshape(4, len(knot), -1)

    def sample(
        self, coefficients: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Return the motion from the two knots around each instant.

        The same as by the basis, which has a column for each coefficient and does not fit into
        memory for thousands of knots.
        """
        q, dq, ddq, _ = self._derivatives(coefficients, t)
        return coefficients[:, 0] + q, dq, ddq

    def jerk(self, coefficients: FloatArray, t: FloatArray) -> FloatArray:
        _, _, _, jerk = self._derivatives(coefficients, t)
        return jerk

    def _derivatives(self, coefficients: FloatArray, t: FloatArray) -> tuple[FloatArray, ...]:
        """Return how far the motion is off its start, and its derivatives, (N, n) each."""
        knot, weights = self._weights(t)
        states = coefficients.T.reshape(3, len(self.times), -1).copy()
        states[0, 0] = 0.0
        # Three states of the knots on both sides, (3, 2, N, n).
        around = np.stack([states[:, knot], states[:, knot + 1]], axis=1)
        return tuple(np.einsum('dsek,sekj->dkj', weights, around))

    def _weights(self, t: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Return the knot before each instant, and the weights of `_hermite_weights`."""
        times, T = np.array(self.times), self.duration
        t = np.asarray(t, dtype=float)
        # An end that is passed by rounding is the end: the start may be elsewhere.
        t = within_period(np.where(np.abs(t - T) <= 1e-9 * T, T, t), T)
        knot = np.clip(np.searchsorted(times, t, side='right') - 1, 0, len(times) - 2)
        h = np.diff(times)[knot]
        return knot, _hermite_weights((t - times[knot]) / h, h)


def knot_coefficients(q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
    """
    Return the coefficients (n, 3 m) of a sampled motion.

    Position [rad], velocity [rad/s] and acceleration [rad/s^2] at the knots are each (m, n).
    """
    offsets = q - q[0]
    offsets[0] = q[0]
    return np.vstack([offsets, dq, ddq]).T


def _hermite_weights(u: FloatArray, h: FloatArray) -> FloatArray:
    """
    Return the weights of the states at both ends of pieces within them, shape (4, 3, 2, N).

    By derivative of the motion, derivative at the end, start or end of the piece; `u` (N,) are
    shares of the pieces that are past, `h` (N,) their lengths [s].
    """
    return np.array([
        [
            polyval(u, polyder(HERMITE[state].T, order)) * h ** (state - order)
            for state in range(3)
        ]
        for order in range(4)
    ])


def _checked_times(times: Any) -> tuple[float, ...]:
    """Return the times of the knots; DescriptionError names the one that cannot be."""
    if not isinstance(times, (list, tuple)) or not 2 <= len(times) <= MAXIMUM_KNOTS:
        raise DescriptionError(
            f'times must be a list of 2 to {MAXIMUM_KNOTS} instants [s], got {_described(times)}: '
            'take fewer samples per second'
        )
    for number, time in enumerate(times):
        if not is_number(time):
            raise DescriptionError(f'times[{number}] is {time!r}, a number is needed')
        if not np.isfinite(time):
            raise DescriptionError(f'times[{number}] is {time} s, finite times are needed')
    if times[0] != 0.0 or times[-1] > LONGEST_PERIOD:
        raise DescriptionError(
            f'times go from {times[0]} to {times[-1]} s, they must start at 0 and end at '
            f'{LONGEST_PERIOD:.0f} at most'
        )
    steps = np.diff(np.array(times, dtype=float))
    short = np.flatnonzero(~(steps >= SHORTEST_PIECE))
    if short.size:
        k = int(short[0])
        raise DescriptionError(
            f'times[{k}] is {times[k]} s and times[{k + 1}] {times[k + 1]} s: knots must follow '
            'each other by two milliseconds at least; leave out those in between'
        )
    return tuple(float(time) for time in times)


def _described(times: Any) -> str:
    return f'{len(times)} of them' if isinstance(times, (list, tuple)) else f'{times!r:.40}'
