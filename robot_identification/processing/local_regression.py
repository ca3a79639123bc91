# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Robust local quadratic regression (rloess) on uniform samples."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from robot_identification.arrays import FloatArray
from robot_identification.processing.filters import window_length
import scipy

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
