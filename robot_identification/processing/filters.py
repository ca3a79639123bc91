# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Filters of uniform samples: zero-phase, causal, and local regression."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from robot_identification.arrays import FloatArray
from robot_identification.model import CorrectionSignals, KinematicFilter, Motion
from robot_identification.processing.dataset import Dataset
import scipy

# Above this share of the Nyquist frequency a digital Butterworth no longer resembles one.
HIGHEST_CUTOFF = 0.8
# What is left of a transient after the memory of a filter.
FORGOTTEN = 1e-13


def low_pass(x: FloatArray, rate: float, kinematic_filter: KinematicFilter) -> FloatArray:
    """
    Return uniform samples (N, n) filtered forward and backward, without delay.

    Edges are padded, not dropped. `rate` is the sampling rate [Hz]; order and cut-off of the
    filter are those of one pass.
    """
    cutoff = _usable_cutoff(rate, kinematic_filter)
    sections = _butterworth(kinematic_filter.order, cutoff, rate)
    # Three time constants of the slowest pole, at most the signal itself.
    padding = min(int(np.ceil(3.0 * rate / cutoff)), len(x) - 1)
    filtered: FloatArray = scipy.signal.sosfiltfilt(
        sections, x, axis=0, padtype='odd', padlen=padding
    )
    return filtered


@lru_cache(maxsize=64)
def _butterworth(order: int, cutoff: float, rate: float) -> FloatArray:
    """Return the sections of a low-pass, which many short signals go through."""
    sections: FloatArray = scipy.signal.butter(order, cutoff, fs=rate, output='sos')
    return sections


def _usable_cutoff(rate: float, kinematic_filter: KinematicFilter) -> float:
    return min(kinematic_filter.cutoff, HIGHEST_CUTOFF * rate / 2.0)


@lru_cache(maxsize=64)
def low_pass_memory(rate: float, kinematic_filter: KinematicFilter) -> int:
    """
    Return how many samples away `low_pass` no longer depends on a sample.

    Blocks that overlap by this much are filtered as the whole is, up to FORGOTTEN.
    """
    cutoff = _usable_cutoff(rate, kinematic_filter)
    _, poles, _ = scipy.signal.butter(kinematic_filter.order, cutoff, fs=rate, output='zpk')
    return int(np.ceil(np.log(FORGOTTEN) / np.log(np.max(np.abs(poles)))))


def window_length(span: float, rate: float, shortest: int) -> int:
    """Return the odd number of samples nearest to `span` seconds, at least `shortest`."""
    return max(2 * round((span * rate - 1.0) / 2.0) + 1, shortest)


def local_polynomial(
    x: FloatArray, rate: float, span: float, degree: int, derivative: int = 0
) -> FloatArray:
    """
    Smooth or differentiate uniform samples (N, n) by Savitzky-Golay filters.

    A polynomial is fitted in a window that moves along; at the ends the first and the last one
    go on.
    """
    window = min(window_length(span, rate, degree + 1 + degree % 2), len(x) - 1 + len(x) % 2)
    smooth: FloatArray = scipy.signal.savgol_filter(
        x, window, min(degree, window - 1), deriv=derivative, delta=1.0 / rate, axis=0,
        mode='interp',
    )
    return smooth


def central_difference(x: FloatArray, rate: float) -> FloatArray:
    """Differentiate uniform samples (N, n) by central differences, one-sided at the ends."""
    derivative: FloatArray = np.gradient(x, 1.0 / rate, axis=0, edge_order=2)
    return derivative


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


# A causal filter has to be faster than the zero-phase one of identification, or it lags [Hz].
CAUSAL_CUTOFF = 30.0
CAUSAL_ORDER = 2  # of the Butterworth filter
# After a pause of more periods, or a clock that goes back, causal filters start anew.
CAUSAL_GAP_PERIODS = 10.0


def causal_coefficients(rate: float, cutoff: float) -> tuple[FloatArray, FloatArray]:
    """Return numerator and denominator (3,) of the causal low-pass at a rate [Hz]."""
    limited = min(cutoff, HIGHEST_CUTOFF * rate / 2.0)
    section = scipy.signal.butter(CAUSAL_ORDER, limited, fs=rate, output='sos')[0]
    return section[:3], section[3:]


def causal_signals(dataset: Dataset) -> CorrectionSignals | None:
    """
    Return position, velocity and acceleration of a recording as live prediction has them.

    None where the velocity of a joint was not recorded. Velocity is low-passed, acceleration is
    the low-passed difference of that; both begin anew after a pause.
    """
    measured = dataset.measured_dq
    if measured is None or not np.isfinite(measured).all():
        return None
    stamps, rate = dataset.stamps, dataset.rate
    elapsed = np.diff(stamps, prepend=-np.inf)
    fresh = np.flatnonzero(elapsed != 0.0)
    begins = np.flatnonzero(~((elapsed > 0.0) & (elapsed <= CAUSAL_GAP_PERIODS / rate))[fresh])
    b, a = causal_coefficients(rate, CAUSAL_CUTOFF)
    steady = scipy.signal.lfilter_zi(b, a)
    q, dq = np.asarray(dataset.motion.q)[fresh], np.asarray(measured)[fresh]
    smooth, ddq = np.empty_like(q), np.empty_like(q)
    for first, last in pairwise([*begins, len(fresh)]):
        rows = slice(first, last)
        smooth[rows], _ = scipy.signal.lfilter(
            b, a, dq[rows], axis=0, zi=np.outer(steady, dq[first])
        )
        difference = rate * np.diff(smooth[rows], axis=0, prepend=dq[first][None])
        ddq[rows] = scipy.signal.lfilter(b, a, difference, axis=0)
    # A repeated stamp has what was known at it before.
    place = np.cumsum(elapsed != 0.0) - 1
    motion = Motion(
        q[place], smooth[place], ddq[place], dataset.motion.temperature,
        starts=tuple(int(row) for row in fresh[begins]),
    )
    return CorrectionSignals(motion, dq[place], rate)


ITERATIONS = 5  # as Tika et al. 2020, docs/processing.md
# Residuals beyond this many median absolute deviations of their window do not count.
BISQUARE_WIDTH = 6.0
# A quadratic needs three samples; with five, one of them may be an outlier.
SHORTEST_WINDOW = 5
# Windows that are handled at once.
CHUNK = 4096
# Below this share of the weights' own size a quadratic is not determined by what is left.
SINGULAR = 1e-9


def rloess(x: FloatArray, rate: float, span: float) -> FloatArray:
    """
    Return uniform samples (N, n) smoothed by robust local quadratics over a span [s].

    Weights are tricube. In five iterations samples are weighted by the bisquare of their residual
    over the median absolute residual of the window, so that outliers count less. At the ends the
    windows are asymmetric. Quadratics are reproduced. See W. S. Cleveland, "Robust locally
    weighted regression and smoothing scatterplots", Journal of the American Statistical
    Association 74, 1979.
    """
    window = min(window_length(span, rate, SHORTEST_WINDOW), len(x) - 1 + len(x) % 2)
    smooth = np.empty(x.shape)
    for column in range(x.shape[1]):
        smooth[:, column] = _smooth_column(np.ascontiguousarray(x[:, column]), window)
    return smooth


def rloess_memory(rate: float, span: float) -> int:
    """Return how many samples away `rloess` no longer depends on a sample."""
    return (ITERATIONS + 1) * 2 * window_length(span, rate, SHORTEST_WINDOW)


def _smooth_column(x: FloatArray, window: int) -> FloatArray:
    trust = np.ones(len(x))
    smooth = _fit(x, trust, window, x)
    for _ in range(ITERATIONS):
        trust = _trust(x - smooth, window)
        smooth = _fit(x, trust, window, smooth)
    return smooth


def _moments(values: FloatArray, window: int, powers: int) -> FloatArray:
    """
    Return tricube-weighted sums of values times powers of the distance, shape (N, powers).

    The distance is counted in windows, so that its powers are of the size of one. At the ends the
    window stays where it is, and what it is for moves out of its middle.
    """
    size, half = len(values), window // 2
    sums = np.empty((size, powers))
    inner = sliding_window_view(values, window)
    kernel = _kernel(window, half, powers)
    for start in range(0, len(inner), CHUNK):
        sums[half + start: half + start + CHUNK][: len(inner) - start] = (
            inner[start: start + CHUNK] @ kernel
        )
    for row in (*range(half), *range(half + len(inner), size)):
        first = min(max(row - half, 0), size - window)
        sums[row] = values[first: first + window] @ _kernel(window, row - first, powers)
    return sums


def _kernel(window: int, centre: int, powers: int) -> FloatArray:
    """Return tricube weights times powers of the distance from the centre, shape (m, powers)."""
    distance = np.arange(window) - float(centre)
    u = distance / (np.abs(distance).max() + 1.0)
    kernel: FloatArray = (1.0 - np.abs(u[:, None]) ** 3) ** 3 * u[:, None] ** np.arange(powers)
    return kernel


def _fit(x: FloatArray, trust: FloatArray, window: int, otherwise: FloatArray) -> FloatArray:
    """Return the weighted quadratics at their centres; `otherwise` where there is none."""
    s0, s1, s2, s3, s4 = _moments(trust, window, 5).T
    t0, t1, t2 = _moments(trust * x, window, 3).T
    # The value at the centre is that of the first coefficient: Cramer's rule for it.
    minor0, minor1, minor2 = s2 * s4 - s3 * s3, s1 * s4 - s2 * s3, s1 * s3 - s2 * s2
    determinant = s0 * minor0 - s1 * minor1 + s2 * minor2
    is_known = determinant > SINGULAR * s0**3
    value = t0 * minor0 - t1 * minor1 + t2 * minor2
    return np.where(is_known, value / np.where(is_known, determinant, 1.0), otherwise)


def _trust(residual: FloatArray, window: int) -> FloatArray:
    """Return the bisquare weights of residuals, each by the median one around it."""
    size, half = np.abs(residual), window // 2
    middle = scipy.ndimage.median_filter(size, window, mode='nearest')
    # At the ends the windows are those of the fit.
    middle[:half] = np.median(size[:window])
    middle[len(size) - half:] = np.median(size[-window:])
    # Rounding errors are no outliers.
    floor = 1e-12 * max(float(size.max()), np.finfo(float).tiny)
    share = np.minimum(size / np.maximum(BISQUARE_WIDTH * middle, floor), 1.0)
    trust: FloatArray = (1.0 - share**2) ** 2
    return trust
