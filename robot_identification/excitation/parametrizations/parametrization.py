# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every trajectory parametrization."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import is_whole_number

# Of one repetition and of a first harmonic [s].
LONGEST_PERIOD = 600.0
# Step of the difference that a jerk is, by the length of a period: its error is the square of the
# phase that the fastest part of the motion makes in it, and 1e-9 of rounding.
JERK_STEP = 1.0e-6
# An even grid with so many misses extrema of smooth forms by less than two percent.
SAMPLES_OF_A_COEFFICIENT = 20


@dataclass(frozen=True)
class Parametrization(ABC):
    """
    A family of joint motions, linear in its coefficients.

    The first coefficient of a joint is the position it moves about; the others are amplitudes:
    scaling them scales the motion, its velocity and its acceleration.

    A closed form starts and ends at rest, without acceleration and in the same position,
    for any coefficients; only such a one can be designed. The acceleration of a smooth form
    is continuous; of others no jerk can be limited. Of an ordered form coefficients belong to each
    other: they are arranged once they are drawn, and then only scaled.
    """

    name: ClassVar[str]
    closed: ClassVar[bool] = True
    smooth: ClassVar[bool] = True

    @property
    @abstractmethod
    def n_coefficients(self) -> int:
        """Return the number of coefficients of one joint, the centre included."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of one period [s]."""

    @property
    def searched_span(self) -> tuple[float, float]:
        """Start and end of the part whose coefficients a search finds [s]."""
        return 0.0, self.duration

    @abstractmethod
    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return B, dB, ddB (N, c): ``q = coefficients @ B.T``, coefficients (n, c), and so on."""

    @property
    def is_ordered(self) -> bool:
        """Return whether coefficients of a joint have to follow each other in some order."""
        return False

    def arrange(self, coefficients: FloatArray, direction: FloatArray) -> FloatArray:
        """
        Return coefficients (n, c) [rad] as an ordered form needs them, made of random ones.

        `direction` (n,) is 1 or -1: the side of the first coefficient, which stays, that a joint
        may use.
        """
        return coefficients

    def suits(self, coefficients: FloatArray) -> bool:
        """Return whether coefficients (n, c) [rad] are as an ordered form needs them."""
        return True

    @property
    def grid_samples(self) -> int:
        """Return the number of even samples of a period that hardly miss an extremum."""
        return SAMPLES_OF_A_COEFFICIENT * self.n_coefficients

    def sample(
        self, coefficients: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q [rad], dq [rad/s] and ddq [rad/s^2] at times t [s], shape (N, n) each."""
        B, dB, ddB = self.basis(t)
        A = coefficients.T
        return B @ A, dB @ A, ddB @ A

    @property
    def pieces(self) -> FloatArray:
        """Times at which the jerk may jump [s], ascending, both ends of a period included."""
        return np.array([0.0, self.duration])

    def jerk_basis(self, t: FloatArray) -> FloatArray:
        """
        Return dddB (N, c): ``jerk = coefficients @ dddB.T``.

        By default the slope of the parabola through the accelerations at three instants of the
        same piece.
        """
        t, edges = within_period(t, self.duration), self.pieces
        piece = np.clip(np.searchsorted(edges, t, side='right') - 1, 0, len(edges) - 2)
        start, stop = edges[piece], edges[piece + 1]
        step = np.minimum(JERK_STEP * self.duration, 0.25 * (stop - start))
        centre = np.clip(t, start + step, stop - step)
        # Exactly on an edge the acceleration may be that of the next piece.
        sides = [
            self.basis(np.clip(at, np.nextafter(start, stop), np.nextafter(stop, start)))[2]
            for at in (centre - step, centre, centre + step)
        ]
        step, off = step[:, None], (t - centre)[:, None]
        bend = (sides[2] - 2.0 * sides[1] + sides[0]) / step**2
        slope: FloatArray = (sides[2] - sides[0]) / (2.0 * step) + bend * off
        return slope

    def jerk(self, coefficients: FloatArray, t: FloatArray) -> FloatArray:
        """Return the jerk of coefficients (n, c) at times [s], shape (N, n) [rad/s^3]."""
        jerk: FloatArray = self.jerk_basis(t) @ coefficients.T
        return jerk

    def options(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def with_centre(
    B: FloatArray, dB: FloatArray, ddB: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a basis (N, c - 1) and its derivatives with the column of the centre in front."""
    zero = np.zeros((len(B), 1))
    return np.hstack([zero + 1.0, B]), np.hstack([zero, dB]), np.hstack([zero, ddB])


def within_period(t: FloatArray, duration: float) -> FloatArray:
    """Return times [s] moved into the first period, both ends of which stay as they are."""
    t = np.asarray(t, dtype=float)
    return np.where((t < 0.0) | (t > duration), np.mod(t, duration), t)


def check_count(name: str, value: Any, least: int, most: int) -> None:
    """Check that an option is a whole number in its range; DescriptionError if not."""
    if not is_whole_number(value) or not least <= value <= most:
        raise DescriptionError(
            f'{name} is {value!r}, it must be a whole number from {least} to {most}'
        )


def check_seconds(name: str, value: float) -> None:
    """Check that a length of time is above 0 and at most 600 s; DescriptionError if not."""
    if not 0.0 < value <= LONGEST_PERIOD:
        raise DescriptionError(
            f'{name} is {value} s, it must be above 0 and at most {LONGEST_PERIOD:.0f}'
        )
