# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics of a periodic motion: the derivatives of one Fourier series of the positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntegerArray, release
from robot_identification.errors import DataError
from robot_identification.model import KinematicFilter
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.fourier import (
    average_periods, fit_fourier, fold, FourierSeries, whole_periods,
)
from robot_identification.processing.smoothing import Kinematics, Samples

# What is farther from the series than this many standard deviations is not of the period, unless
# it is near on the scale of the motion.
FAR_DEVIATIONS = 5.0
NEAR_SHARE = 0.01  # of the travel [1]; chosen
# Harmonics up to this share of half the sampling rate.
HIGHEST_HARMONIC = 0.8


@dataclass(frozen=True, eq=False)
class PeriodicFindings:
    """Fourier series of a recording."""

    # Standard deviations (n,) of one sample about the mean of all periods, by signal
    noise: dict[str, FloatArray]
    notes: tuple[str, ...]  # How many periods, and what does not follow them


def follow_period(
    samples: Samples,
    kinematics: Kinematics,
    candidates: BoolArray,
    kinematic_filter: KinematicFilter,
) -> PeriodicFindings:
    """
    Replace velocity and acceleration by the derivatives of a Fourier series.

    The series is fitted to the recorded positions of the last whole periods (Swevers et al.
    1997). What does not follow it, such as the way to the start, keeps the kinematics it has.
    The effort is used for its noise alone.

    Raise DataError if the motion lasts no whole period, or the harmonics are too fast for the
    sampling rate.
    """
    period, harmonics = kinematic_filter.period, kinematic_filter.harmonics
    assert period is not None
    rate = 1.0 / samples.period
    if harmonics / period > HIGHEST_HARMONIC * rate / 2.0:
        raise DataError(
            f'{harmonics} harmonics of {period:g} s reach {harmonics / period:.3g} Hz, at '
            f'{rate:.4g} Hz at most {HIGHEST_HARMONIC * rate / 2.0:.3g} Hz can be distinguished: '
            'keep fewer harmonics'
        )
    rows = whole_periods(samples.stamps, candidates, period)
    if len(rows) < 2 * (2 * harmonics + 1):
        moved = samples.stamps[candidates]
        raise DataError(
            f'the motion lasts {np.ptp(moved) if moved.size else 0.0:.3g} s, which is no whole '
            f'period of {period:g} s: record whole periods, or choose another filter'
        )
    series = fit_fourier(samples.stamps, samples.q, rows, period, harmonics)
    follows = _follows(samples, series, rows) & kinematics.usable
    for block in row_blocks(len(samples.stamps)):
        chosen = block.start + np.flatnonzero(follows[block])
        at = samples.stamps[chosen] - samples.delay
        kinematics.dq[chosen] = series.evaluate(at, 1)
        kinematics.ddq[chosen] = series.evaluate(at, 2)
        release(kinematics.dq)
        release(kinematics.ddq)
    periods = round(float(np.ptp(samples.stamps[rows])) / period)
    notes = [f'kinematics are a Fourier series of {harmonics} harmonics over {periods} periods']
    others = int(np.count_nonzero(kinematics.usable & ~follows))
    if others:
        notes.append(
            f'{others} samples do not follow the period of {period:g} s; their kinematics are '
            'smoothed by the default filter'
        )
    signals = {'q': samples.q, 'effort': samples.effort}
    if samples.dq is not None:
        signals['dq'] = samples.dq
    noise = {
        name: _noise(samples.stamps, values, rows, period, rate)
        for name, values in signals.items()
    }
    return PeriodicFindings(noise, tuple(notes))


def _follows(samples: Samples, series: FourierSeries, rows: IntegerArray) -> BoolArray:
    """Return which samples are near the series, all joints of them."""
    deviation = np.array([
        np.sqrt(np.mean((samples.q[part] - series.evaluate(samples.stamps[part])) ** 2, axis=0))
        for part in (rows[block] for block in row_blocks(len(rows)))
    ]).max(axis=0)
    travel = np.abs(series.coefficients[1:]).sum(axis=0)
    near = np.maximum(FAR_DEVIATIONS * deviation, NEAR_SHARE * travel)
    follows = np.zeros(len(samples.stamps), dtype=bool)
    for block in row_blocks(len(samples.stamps)):
        error = np.abs(samples.q[block] - series.evaluate(samples.stamps[block]))
        follows[block] = np.all(error <= near, axis=1)
        release(samples.q)
    return follows


def _noise(
    stamps: FloatArray, values: FloatArray, rows: IntegerArray, period: float, rate: float
) -> FloatArray:
    """Return the standard deviation about the mean of all periods, joint by joint."""
    deviations = []
    for joint in range(values.shape[1]):
        folded = fold(stamps, values[:, joint: joint + 1], rows, period, rate)
        periods = max(round(float(np.ptp(stamps[rows])) / period), 1)
        deviations.append(float(np.sqrt(average_periods(folded, periods).variance[0])))
    return np.array(deviations)
