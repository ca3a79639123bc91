# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Periodic motions: averages over periods, Fourier series, spectral derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntegerArray
from robot_identification.processing.blocks import row_blocks


def spectral_derivative(
    x: FloatArray, rate: float, order: int = 1, harmonics: int | None = None
) -> FloatArray:
    """
    Differentiate uniform samples (N, n) of whole periods in the frequency domain.

    Exact for what is limited to the harmonics that are kept.
    """
    N = len(x)
    spectrum = np.fft.rfft(x, axis=0)
    omega = 2.0 * np.pi * np.fft.rfftfreq(N, 1.0 / rate)
    spectrum *= ((1j * omega) ** order)[:, None]
    if harmonics is not None:
        spectrum[harmonics + 1:] = 0.0
    if N % 2 == 0 and order % 2 == 1:
        # The sine at half the sampling rate is zero at every sample: its phase is unknown.
        spectrum[-1] = 0.0
    derivative: FloatArray = np.fft.irfft(spectrum, N, axis=0)
    return derivative


@dataclass(frozen=True, eq=False)
class PeriodAverage:
    """The mean over periods."""

    mean: FloatArray  # shape (M, n); of the M samples of a period
    # shape (n,); of one sample about the mean of all periods; NaN with one period only
    variance: FloatArray
    periods: int  # How many were averaged


def average_periods(x: FloatArray, periods: int) -> PeriodAverage:
    """
    Average uniform samples (P M, n) over P whole periods (Swevers et al. 1997).

    Raise ValueError if the rows are no multiple of the periods.
    """
    if periods < 1 or len(x) % periods or not len(x):
        raise ValueError(f'{len(x)} samples are no {periods} whole periods')
    mean = np.zeros((len(x) // periods, x.shape[1]))
    squares = np.zeros_like(mean)
    # Welford's recursion: one period in memory after the other.
    for number, period in enumerate(np.split(x, periods), start=1):
        difference = period - mean
        mean += difference / number
        squares += difference * (period - mean)
    freedom = (periods - 1) * len(mean)
    variance = squares.sum(axis=0) / freedom if freedom else np.full(x.shape[1], np.nan)
    return PeriodAverage(mean, variance, periods)


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """Sum of harmonics."""

    period: float  # of the first harmonic [s]
    # (2 K + 1, n): constant, then cosine and sine of each of the K harmonics.
    coefficients: FloatArray

    def evaluate(self, t: FloatArray, order: int = 0) -> FloatArray:
        """Return the series (N, n) at times (N,) [s], or its derivative of an order."""
        harmonics = (len(self.coefficients) - 1) // 2
        turned = self.coefficients.copy()
        omega = 2.0 * np.pi / self.period * np.arange(1, harmonics + 1)[:, None]
        for _ in range(order):
            cosine, sine = turned[1::2].copy(), turned[2::2].copy()
            turned[0] = 0.0
            turned[1::2], turned[2::2] = omega * sine, -omega * cosine
        return _harmonic_columns(t, self.period, harmonics) @ turned


def fit_fourier(
    t: FloatArray, x: FloatArray, rows: IntegerArray, period: float, harmonics: int
) -> FourierSeries:
    """
    Return a Fourier series fitted to samples at their true times by least squares.

    `t` (N,) [s] and `x` (N, n) are times and samples, `rows` (M,) the indices of those to fit,
    `period` that of the motion [s]. Each signal has ``2 harmonics + 1`` coefficients.
    """
    size = 2 * harmonics + 1
    factor = np.zeros((0, size + x.shape[1]))
    for block in row_blocks(len(rows)):
        part = rows[block]
        extended = np.hstack([_harmonic_columns(t[part], period, harmonics), x[part]])
        factor = np.asarray(np.linalg.qr(np.vstack([factor, extended]), mode='r'))
    coefficients = np.linalg.lstsq(factor[:size, :size], factor[:size, size:], rcond=None)[0]
    return FourierSeries(period, coefficients)


def _harmonic_columns(t: FloatArray, period: float, harmonics: int) -> FloatArray:
    columns = np.ones((len(t), 2 * harmonics + 1))
    angle = 2.0 * np.pi / period * t[:, None] * np.arange(1, harmonics + 1)
    columns[:, 1::2], columns[:, 2::2] = np.cos(angle), np.sin(angle)
    return columns


def whole_periods(t: FloatArray, rows: BoolArray, period: float) -> IntegerArray:
    """
    Return the rows of the last whole periods [s] among those given.

    The first period has the transient of the start, and is the one that is cut.
    """
    chosen = np.flatnonzero(rows)
    if not chosen.size:
        return chosen
    # A sample stands for the time to the next one, so that P periods of M samples are P M samples.
    step = float(np.median(np.diff(t[chosen]))) if chosen.size > 1 else 0.0
    last = float(t[chosen[-1]]) + step
    count = int((last - float(t[chosen[0]])) / period + 1e-6)
    return chosen[t[chosen] >= last - count * period - 0.5 * step] if count else chosen[:0]


def fold(
    t: FloatArray, x: FloatArray, rows: IntegerArray, period: float, rate: float
) -> FloatArray:
    """
    Return whole periods of samples (N, n) on common phases, for `average_periods`.

    Where a period is a whole number of samples, and these are uniform, the samples themselves
    are returned; between others it is interpolated, which makes the noise a little smaller.
    """
    size = max(round(period * rate), 1)
    times = t[rows]
    periods = max(round((times[-1] - times[0]) / period), 1)
    phases = times[0] + np.arange(periods * size) * (period / size)
    return np.column_stack([np.interp(phases, times, column) for column in x[rows].T])
