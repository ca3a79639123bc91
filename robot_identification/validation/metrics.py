# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Errors on the recorded samples and the raw effort, in the bag's unit.

Beside the root mean square stand the figures that papers print, each by its own definition and
each with its number of samples: they cannot be compared without it.

References
----------
.. [1] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", 2020.
.. [2] A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of
   temperature and mounting configuration on the dynamic parameters identification of industrial
   robots", Robotics 10(3), 2021.
.. [3] E. Madsen, S. A. Timm, N. A. Ujfalusi, O. S. Rosenlund, D. Brandt, X. Zhang, "Dynamics
   parametrization and calibration of flexible-joint collaborative industrial robot
   manipulators", Mathematical Problems in Engineering, 2020.

"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray

# A signal that varies less than this, relative to its size, is constant: nothing to explain.
CONSTANT_SHARE = 1.0e-9
# The middle of the sizes of white noise lies at this multiple of its standard deviation.
MEDIAN_OF_NORMAL = 0.6745


def normalized_error(residual: FloatArray) -> tuple[FloatArray, float]:
    """
    Return the error that Tika et al. and Raviola et al. print, of each joint (n,) and in total.

    That of a joint is ``sqrt(r' r) / N`` of its residual, a column of (N, n), and not a root mean
    square, which is sqrt(N) times this. The total is over the n N rows of the regression [1]_;
    over the N points of the trajectory, one reading of [2]_, it is n times as much.
    """
    N = len(residual)
    joints = np.sqrt(np.sum(residual**2, axis=0)) / N
    return joints, float(np.sqrt(np.sum(residual**2)) / residual.size)


def square_over_mean(measured: FloatArray, residual: FloatArray) -> float:
    """
    Return the NMSE of Madsen et al. [3]_, in the unit of the effort.

    Sum over joints of the mean squared error over the mean absolute effort; `residual` is measured
    minus predicted, both (N, n). The definition follows from the printed unit, because the formula
    itself is not available; compare models on one recording only. Joints without effort are left
    out.
    """
    size = np.mean(np.abs(measured), axis=0)
    squares = np.mean(residual**2, axis=0)
    return float(np.sum(squares[size > 0.0] / size[size > 0.0]))


def variance_accounted_for(measured: FloatArray, residual: FloatArray) -> FloatArray:
    """
    Return 1 - var(residual) / var(measured), shape (n,); NaN where the signal is constant.

    Unlike ``R^2 = 1 - NRMSE^2`` it does not see a constant error.
    """
    constant = is_constant(measured)
    variance = np.where(constant, 1.0, np.var(measured, axis=0))
    return np.where(constant, np.nan, 1.0 - np.var(residual, axis=0) / variance)


def relative_error(measured: FloatArray, residual: FloatArray) -> FloatArray:
    """Return norm of the residual over norm of the effort, shape (n,); NaN where that is zero."""
    size = np.linalg.norm(measured, axis=0)
    return np.where(
        size > 0.0, np.linalg.norm(residual, axis=0) / np.where(size > 0.0, size, 1.0), np.nan
    )


def is_constant(measured: FloatArray) -> BoolArray:
    """Return which of n signals do not vary, shape (n,)."""
    largest = np.max(np.abs(measured), axis=0, initial=0.0)
    constant: BoolArray = np.std(measured, axis=0) <= CONSTANT_SHARE * np.maximum(largest, 1e-300)
    return constant


def noise_deviation(effort: FloatArray) -> FloatArray:
    """
    Return an upper bound (n,) of the standard deviation of white noise in a signal.

    `effort` (N, n) has consecutive samples; the result is in its unit, NaN for fewer than three
    samples. It is the median size of second differences, which hold little of a smooth signal and,
    by the median, nothing of its jumps. Noise that neighbouring samples share is not included.
    """
    if len(effort) < 3:
        return np.full(effort.shape[1], np.nan)
    second = np.abs(np.diff(effort, 2, axis=0))
    # The second difference of white noise has 1 + 4 + 1 times its variance.
    deviation: FloatArray = np.median(second, axis=0) / MEDIAN_OF_NORMAL / np.sqrt(6.0)
    return deviation


def partial_rms(residual: FloatArray, rows: BoolArray) -> FloatArray:
    """Return the root mean square of each column over its rows (N, n); NaN where it has none."""
    counts = np.count_nonzero(rows, axis=0)
    squares = np.sum(np.where(rows, residual, 0.0) ** 2, axis=0)
    return np.where(counts > 0, np.sqrt(squares / np.maximum(counts, 1)), np.nan)
