# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Treatment of rows by published pipelines before they estimate; off by default.

Each function works on one part without a gap, of uniform samples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray
from robot_identification.model import KinematicFilter
from robot_identification.processing.dataset import Dataset, MOVING_SPEED
from robot_identification.processing.filters import local_polynomial, low_pass, rloess
from robot_identification.processing.fourier import spectral_derivative
from robot_identification.processing.smoothing import interpolate

PARALLEL_ORDER = 4  # of the Butterworth low-pass of Gautier (docs/processing.md)
# Of the new sampling rate, so much of half is passed by the filter.
DECIMATION_SHARE = 0.8
# By which a rate found from stamps is off: 999.999 Hz is a kilohertz.
RATE_ERROR = 1.0e-3


def decimation_step(rate: float, cutoff: float) -> int:
    """
    Return the step between rows that are needed after a low-pass.

    Sampling rate and cut-off are in Hz.
    """
    step = DECIMATION_SHARE * rate / (2.0 * cutoff)
    return max(int(step * (1.0 + RATE_ERROR)), 1)


def parallel_decimate(columns: FloatArray, rate: float, cutoff: float) -> FloatArray:
    """
    Return columns (N, k) filtered alike, every ``decimation_step(rate, cutoff)``-th row.

    The columns are those of the observation matrix of one joint and its effort: filtered in
    parallel, the equations between them hold as before (Gautier; Madsen et al. 2020). `rate` is
    the sampling rate [Hz], `cutoff` that of one pass of the zero-phase low-pass of order 4 [Hz].
    """
    filtered = low_pass(columns, rate, KinematicFilter(order=PARALLEL_ORDER, cutoff=cutoff))
    return filtered[:: decimation_step(rate, cutoff)]


def fast_enough(dq: FloatArray, slowest: float = MOVING_SPEED) -> BoolArray:
    """
    Return the rows (N, n) of each joint that are at least as fast as `slowest` [rad/s].

    `dq` (N, n) is in rad/s. Where friction is taken to have the sign of the velocity, slow samples
    have a random one.
    """
    fast: BoolArray = np.abs(dq) >= slowest
    return fast


def smooth_columns(
    x: FloatArray, rate: float, kinematic_filter: KinematicFilter
) -> FloatArray:
    """Smooth uniform samples (N, k), whole periods of them for the kind 'fourier'."""
    kind, span = kinematic_filter.kind, kinematic_filter.span
    if kind == 'butterworth':
        return low_pass(x, rate, kinematic_filter)
    if kind == 'rloess':
        return rloess(x, rate, span)
    if kind == 'savitzky_golay':
        return local_polynomial(x, rate, span, kinematic_filter.order)
    if kind == 'fourier':
        assert kinematic_filter.period is not None
        periods = max(round(len(x) / rate / kinematic_filter.period), 1)
        return spectral_derivative(x, rate, 0, kinematic_filter.harmonics * periods)
    return x


def with_smooth_effort(dataset: Dataset, kinematic_filter: KinematicFilter) -> Dataset:
    """
    Return a dataset with smoothed effort, as some publications use it.

    Errors computed with it do not hold for the recorded effort. The filter is of any kind except
    'fourier', for which see `average_periods`.
    """
    effort = allocate(dataset.effort.shape)
    effort[:] = dataset.effort
    for segment in dataset.segments:
        known = np.all(np.isfinite(dataset.effort[segment]), axis=1)
        known[1:] &= np.diff(dataset.stamps[segment]) > 0.0
        rows = segment.start + np.flatnonzero(known)
        if len(rows) < 2:
            continue
        times = dataset.stamps[rows]
        count = max(round(float(times[-1] - times[0]) * dataset.rate), 1) + 1
        grid = np.linspace(times[0], times[-1], count)
        rate = (count - 1) / float(times[-1] - times[0])
        smooth = smooth_columns(
            interpolate(grid, times, dataset.effort[rows]), rate, kinematic_filter
        )
        effort[rows] = interpolate(times, grid, smooth)
    note = f'effort was smoothed by {kinematic_filter.kind}: it is not what was recorded'
    return replace(dataset, effort=effort, notes=(*dataset.notes, note))
