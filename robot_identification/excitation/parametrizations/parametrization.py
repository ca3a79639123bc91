# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Interface of every trajectory parametrization."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import is_whole_number

# Of one repetition and of a first harmonic [s].
LONGEST_PERIOD = 600.0
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
    def bases(self, t: FloatArray) -> FloatArray:
        """
        Return B and three derivatives (4, N, c): ``q = coefficients @ B.T``, coefficients (n, c).

        Where the third jumps, it is that of the piece that begins there.
        """

    def basis(self, t: FloatArray) -> FloatArray:
        """Return the bases of position, velocity and acceleration, (3, N, c)."""
        return self.bases(t)[:3]

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
        q, dq, ddq = self.basis(t) @ coefficients.T
        return q, dq, ddq

    @property
    def pieces(self) -> FloatArray:
        """Times at which the jerk may jump [s], ascending, both ends of a period included."""
        return np.array([0.0, self.duration])

    def jerk(self, coefficients: FloatArray, t: FloatArray) -> FloatArray:
        """Return the jerk of coefficients (n, c) at times [s], shape (N, n) [rad/s^3]."""
        jerk: FloatArray = self.bases(t)[3] @ coefficients.T
        return jerk

    def options(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)


def with_centre(bases: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """Return a basis (N, c - 1) and its derivatives with the column of the centre in front."""
    whole: FloatArray = np.pad(bases, ((0, 0), (0, 0), (1, 0)))
    whole[0, :, 0] = 1.0
    return whole


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
