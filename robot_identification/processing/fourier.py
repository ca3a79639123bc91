# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Periodic motions: Fourier series, and the noise about the mean of all periods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntegerArray
from robot_identification.processing.blocks import row_blocks

# Harmonics reach up to this share of half the sampling rate.
HIGHEST_HARMONIC = 0.8


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


def deviation_about_periods(
    t: FloatArray, x: FloatArray, rows: IntegerArray, period: float, rate: float
) -> FloatArray:
    """
    Return the standard deviation (n,) of one sample about the mean of all periods.

    Samples (N, n) at the times `t` (N,) [s], of which the `rows` are whole periods, are taken to
    common phases: themselves where a period is a whole number of uniform samples, else
    interpolated, which makes noise a little smaller. NaN with one period only (Swevers et al.
    1997).
    """
    size, times = max(round(period * rate), 1), t[rows]
    periods = max(round(float(np.ptp(times)) / period), 1)
    if periods == 1:
        return np.full(x.shape[1], np.nan)
    phases = times[0] + np.arange(periods * size) * (period / size)
    # One joint in memory at a time.
    folded = (
        np.interp(phases, times, x[rows, joint]).reshape(periods, size)
        for joint in range(x.shape[1])
    )
    return np.sqrt([one.var(axis=0, ddof=1).mean() for one in folded])
