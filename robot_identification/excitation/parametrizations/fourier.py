# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Finite Fourier series.

References
----------
.. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE T-RA 13(5), 1997.
.. [2] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", 2020.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, with_centre, within_period,
)

# Five conditions leave something free of four harmonics.
LEAST_HARMONICS_CUT = 4
# Condition number of the system for the eliminated coefficients. A tenth of the base period off
# a whole one it is 9e3; beyond, the eliminated ones are hundreds of times larger than the others.
WORST_CONDITION = 1.0e4
# Least singular value over the largest one of the motions that single amplitudes make, of equal
# size. Many harmonics on a short part of their period are nearly each other's combinations.
LEAST_INDEPENDENCE = 1.0e-8


@dataclass(frozen=True)
class FourierParametrization(Parametrization):
    r"""
    Finite Fourier series in the sum convention [1]_.

    .. math:: q(t) = q_0 + \sum_l a_l \sin(l \omega t) - b_l \cos(l \omega t)

    Zero velocity and zero acceleration at both ends are the linear conditions
    :math:`\sum_l l\,a_l = 0` and :math:`\sum_l l^2 b_l = 0`; they give :math:`a_1` and
    :math:`b_1`, so every choice of the others fulfils them. The coefficients of a joint are
    :math:`q_0, a_2, .., a_K, b_2, .., b_K`.

    A motion of another duration than the base period ends in the middle of the series. It has
    five conditions ([2]_ eq. 21, D_f v = 0): velocity and acceleration at either end, and the
    same position at both. They give :math:`a_1, a_2, b_1, b_2, b_3`; the coefficients of a joint
    are :math:`q_0, a_3, .., a_K, b_4, .., b_K`.
    """

    # Number of harmonics K, at least 2; at least 4 if the duration is not the base period.
    harmonics: int = 5
    base_period: float = 10.0  # period of the first harmonic [s]
    # Length of the motion [s], the base period if it is not given.
    duration: float = None  # type: ignore[assignment]  # a number once it is made

    name = 'fourier'

    def __post_init__(self) -> None:
        check_count('harmonics', self.harmonics, 2, 50)
        check_seconds('base_period', self.base_period)
        if self.duration is None:
            object.__setattr__(self, 'duration', self.base_period)
        check_seconds('duration', self.duration)
        if self.duration != self.base_period:
            self._check_cut()

    def _check_cut(self) -> None:
        if self.harmonics < LEAST_HARMONICS_CUT:
            raise DescriptionError(
                f'harmonics is {self.harmonics}, at least {LEAST_HARMONICS_CUT} are needed where '
                f'duration ({self.duration} s) is not base_period ({self.base_period} s)'
            )
        conditions = end_conditions(self.harmonics, self._end_angle)
        condition = np.linalg.cond(conditions[:, _cut_eliminated(self.harmonics)])
        if not condition <= WORST_CONDITION:
            raise DescriptionError(
                f'duration is {self.duration} s with base_period {self.base_period} s: rest at '
                'both ends does not determine a_1, a_2, b_1, b_2, b_3 (condition number '
                f'{condition:.1e}, allowed {WORST_CONDITION:.0e}); take half the base period, '
                'stay a tenth of it away from its whole multiples and off its thirds, or leave '
                'duration out and repeat the motion by `periods`'
            )
        B, _, _ = self.basis(np.linspace(0.0, self.duration, 20 * self.n_coefficients))
        singular = np.linalg.svd(B / np.linalg.norm(B, axis=0), compute_uv=False)
        if not singular[-1] >= LEAST_INDEPENDENCE * singular[0]:
            raise DescriptionError(
                f'harmonics is {self.harmonics}, too many for a duration of {self.duration} s '
                f'with base_period {self.base_period} s: their motions are not independent '
                f'(singular values {singular[-1] / singular[0]:.1e}, at least '
                f'{LEAST_INDEPENDENCE:.0e} is needed); take fewer, or a shorter base period'
            )

    @property
    def _end_angle(self) -> float:
        """Phase of the first harmonic at the end [rad]."""
        return 2.0 * np.pi * self.duration / self.base_period

    @property
    def n_coefficients(self) -> int:
        conditions = 2 if self.duration == self.base_period else 5
        return 1 + 2 * self.harmonics - conditions

    def options(self) -> dict[str, Any]:
        """Return the options by name, `duration` only if it is not the base period."""
        options = super().options()
        if self.duration == self.base_period:
            del options['duration']
        return options

    def series(self, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return amplitudes of sine and minus cosine [rad], (n, K), of coefficients (n, c)."""
        for_sine, for_cosine = self._elimination()
        return coefficients[:, 1:] @ for_sine.T, coefficients[:, 1:] @ for_cosine.T

    def bases(self, t: FloatArray) -> FloatArray:
        t = np.asarray(t, dtype=float)
        if self.duration != self.base_period:
            t = within_period(t, self.duration)
        for_sine, for_cosine = self._elimination()
        return with_centre([
            sine @ for_sine + cosine @ for_cosine
            for sine, cosine in harmonic_terms(t, self.harmonics, self.base_period)
        ])

    def _elimination(self) -> tuple[FloatArray, FloatArray]:
        """Return what the amplitudes make of sine and of cosine coefficients, (K, c - 1) each."""
        K = self.harmonics
        if self.duration == self.base_period:
            order, others, none = np.arange(1, K + 1), np.eye(K - 1), np.zeros((K, K - 1))
            return (
                np.hstack([np.vstack([-order[1:], others]), none]),
                np.hstack([none, np.vstack([-(order[1:] ** 2), others])]),
            )
        conditions = end_conditions(K, self._end_angle)
        eliminated = _cut_eliminated(K)
        free = np.setdiff1d(np.arange(2 * K), eliminated)
        elimination = np.zeros((2 * K, free.size))
        elimination[free, np.arange(free.size)] = 1.0
        elimination[eliminated] = -np.linalg.solve(conditions[:, eliminated], conditions[:, free])
        return elimination[:K], elimination[K:]


def _cut_eliminated(harmonics: int) -> FloatArray:
    """Return where a_1, a_2, b_1, b_2, b_3 stand in (a_1, .., a_K, b_1, .., b_K)."""
    return np.array([0, 1, harmonics, harmonics + 1, harmonics + 2])


def harmonic_rates(harmonics: int, base_period: float) -> FloatArray:
    """Return the rates of harmonics 1 to K of a base period [rad/s], shape (K,)."""
    rates: FloatArray = 2.0 * np.pi / base_period * np.arange(1.0, harmonics + 1.0)
    return rates


def harmonic_terms(
    t: FloatArray, harmonics: int, base_period: float
) -> list[tuple[FloatArray, FloatArray]]:
    """Return factors of a_l and b_l in position and three derivatives, (N, K) each."""
    rate = harmonic_rates(harmonics, base_period)
    phase = np.outer(t, rate)
    sine, cosine = np.sin(phase), np.cos(phase)
    return [
        (sine, -cosine), (rate * cosine, rate * sine), (-(rate**2) * sine, rate**2 * cosine),
        (-(rate**3) * cosine, -(rate**3) * sine),
    ]


def end_conditions(harmonics: int, angle: float) -> FloatArray:
    """
    Return the matrix D_f (5, 2 K) of the conditions D_f v = 0 at the ends ([2]_ eq. 21).

    Times v = (a_1, .., a_K, b_1, .., b_K) they are velocity and acceleration at the start,
    position at the end less that at the start, velocity and acceleration at the end, for a base
    rate of 1 rad/s. `angle` is the phase of the first harmonic at the end [rad].
    """
    ends = np.array([0.0, angle])
    q, dq, ddq, _ = map(np.hstack, harmonic_terms(ends, harmonics, 2.0 * np.pi))
    return np.vstack([dq[0], ddq[0], q[1] - q[0], dq[1], ddq[1]])
