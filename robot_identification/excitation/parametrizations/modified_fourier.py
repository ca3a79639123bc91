# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Fourier series brought to rest by a polynomial.

References
----------
.. [1] W. Wu et al., "Closed-loop dynamic parameter identification of robot manipulators using
   modified Fourier series", International Journal of Advanced Robotic Systems 9(1), 2012.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.parametrizations.fourier import harmonic_terms
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, with_centre, within_period,
)


@dataclass(frozen=True)
class ModifiedFourierParametrization(Parametrization):
    r"""
    Finite Fourier series plus a quintic polynomial that brings its ends to rest [1]_.

    .. math:: q(t) = q_0 + \sum_l a_l \sin(l \omega t) - b_l \cos(l \omega t) + p(t)

    The six coefficients of p follow from six conditions: zero velocity and acceleration at both
    ends, and p zero at both, so that the motion ends where it starts and is the Fourier series
    wherever that is at rest by itself. (In [1]_ the sixth one sets the position of the start.) The
    coefficients of a joint are :math:`q_0, a_1, .., a_K, b_1, .., b_K`, all of them free.
    """

    harmonics: int = 5  # K, at least 1
    base_period: float = 10.0  # of the first harmonic, and of the motion [s]

    name = 'modified_fourier'

    def __post_init__(self) -> None:
        check_count('harmonics', self.harmonics, 1, 50)
        check_seconds('base_period', self.base_period)

    @property
    def n_coefficients(self) -> int:
        return 1 + 2 * self.harmonics

    @property
    def duration(self) -> float:
        return self.base_period

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        T = self.duration
        t = within_period(t, T)
        rate = 2.0 * np.pi / T * np.arange(1, self.harmonics + 1)
        terms = harmonic_terms(t, self.harmonics, T)
        # A sine leaves and arrives with its rate, a cosine with the square of it.
        bases = [
            np.hstack([
                sine - np.outer(for_speed, rate), cosine - np.outer(for_acceleration, rate**2),
            ])
            for (sine, cosine), for_speed, for_acceleration in zip(
                terms, *_end_polynomials(t / T, T), strict=True
            )
        ]
        return with_centre(*bases)


def _end_polynomials(
    u: FloatArray, T: float
) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """
    Return two quintics over a period T with their derivatives; u is the share of it that is past.

    The first has velocity 1 at both ends, the second acceleration 1 at both; all else is zero
    there. They are the solution of the six conditions.
    """
    speed = (
        T * (u - 10.0 * u**3 + 15.0 * u**4 - 6.0 * u**5),
        1.0 - 30.0 * u**2 * (1.0 - u) ** 2,
        -60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / T,
    )
    acceleration = (
        T**2 * 0.5 * u**2 * (1.0 - u) ** 2,
        T * u * (1.0 - u) * (1.0 - 2.0 * u),
        1.0 - 6.0 * u + 6.0 * u**2,
    )
    return speed, acceleration
