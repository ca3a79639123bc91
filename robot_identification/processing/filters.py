# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Zero-phase low-pass, local polynomials and differences on uniform samples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import KinematicFilter
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
