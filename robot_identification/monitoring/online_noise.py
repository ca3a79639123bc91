# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Variance and correlation time of the residuals of a live estimate.

Errors of friction and gears last for parts of a second, so that neighbouring samples are no
independent evidence. What counts for errors of an estimate is the long-run variance: the variance
times ``1 + 2 sum of correlations`` (Newey and West, Econometrica 55(3), 1987).
"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray

# Correlations are watched over this time [s].
LONGEST_CORRELATION = 1.0
# Until residuals have been seen: unit variance, correlated over this time [s], with the weight of
# so many seconds of samples.
ASSUMED_CORRELATION, ASSUMED_SECONDS = 0.1, 5.0
# Smallest variance, as a part of that of the model's residual: less is a simulation.
LEAST_VARIANCE = 1.0e-4


class ResidualNoise:
    """
    Tracks variance and correlation of the whitened residuals of n joints.

    The `rate` is in Hz, the `memory` in seconds.
    """

    def __init__(self, n: int, rate: float, memory: float) -> None:
        lags = max(round(LONGEST_CORRELATION * rate), 1)
        self._kept = 1.0 - 1.0 / max(memory * rate, 2.0)
        count = ASSUMED_SECONDS * rate
        self._counts = np.full((lags + 1, n), count)
        assumed = np.exp(-np.arange(lags + 1) / (ASSUMED_CORRELATION * rate))
        self._sums = count * np.tile(assumed[:, None], n)
        self._bartlett = 1.0 - np.arange(lags + 1) / (lags + 1.0)
        self._past = np.full((lags + 1, n), np.nan)

    def interrupt(self) -> None:
        """Note that what comes does not follow what was."""
        self._past[:] = np.nan

    def step(self, residual: FloatArray, taken: BoolArray) -> None:
        """Take residuals (n,) in units of the expected noise, of which `taken` (n,) count."""
        self._past[1:] = self._past[:-1]
        self._past[0] = np.where(taken, residual, np.nan)
        products = self._past * self._past[0]
        there = np.isfinite(products)
        self._sums = np.where(there, self._kept * self._sums + products, self._sums)
        self._counts = np.where(there, self._kept * self._counts + 1.0, self._counts)

    @property
    def variance(self) -> FloatArray:
        """Variance of each joint's whitened residual, shape (n,)."""
        found: FloatArray = np.maximum(self._sums[0] / self._counts[0], LEAST_VARIANCE)
        return found

    @property
    def inflation(self) -> FloatArray:
        """Return how many samples are worth one that is independent, shape (n,), at least 1."""
        correlations = self._sums / self._counts / self.variance
        total = 2.0 * (self._bartlett[1:] @ correlations[1:])
        found: FloatArray = 1.0 + np.maximum(total, 0.0)
        return found

    @property
    def level(self) -> FloatArray:
        """Long-run variance of each joint's whitened residual, shape (n,)."""
        return self.variance * self.inflation
