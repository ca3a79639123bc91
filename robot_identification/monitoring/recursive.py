# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recursive least squares by orthogonal transformations, and the noise of its residuals.

References
----------
.. [1] G. Bierman, "Factorization methods for discrete sequential estimation", Academic Press,
   1977.
.. [2] L. Cao, H. Schwartz, "A directional forgetting algorithm based on the decomposition of the
   information matrix", Automatica 36(11), 2000.
.. [3] W. Newey, K. West, "A simple, positive semi-definite, heteroskedasticity and autocorrelation
   consistent covariance matrix", Econometrica 55(3), 1987.

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, triangle_of
import scipy

# The memory that decides what is excited, as a part of the memory of the estimate.
SHORTER_MEMORY = 4
# Its part of the information below which forgetting fades; under steady excitation it has a
# quarter.
LEAST_EXCITATION = 0.125
# Correlations are watched over this time [s].
LONGEST_CORRELATION = 1.0
# Until residuals have been seen: unit variance, correlated over this time [s], with the weight of
# so many seconds of samples.
ASSUMED_CORRELATION, ASSUMED_SECONDS = 0.1, 5.0
# Smallest variance, as a part of that of the model's residual: less is a simulation.
LEAST_VARIANCE = 1.0e-4


@dataclass(frozen=True, eq=False)
class RecursiveState:
    """
    Triangular factor of the rows so far in k unknowns [1]_.

    An update makes a new state, so that a live estimate may try one and drop it. The cost of an
    update does not depend on how many rows came before.

    Rows are forgotten exponentially along the directions of the unknowns that are excited, and
    nowhere else, as in directional forgetting [2]_. How much a direction is excited is seen in a
    second factor whose memory is a quarter as long: where that has less than an eighth of what is
    known, forgetting fades. While an arm stands still, or moves one joint only, the others keep
    their estimates, and their variances grow less than twofold; pure exponential forgetting would
    lose them. A state that knows more than its memory can hold forgets no faster than twice what
    comes in.
    """

    # (k + 1, k + 1): upper triangular R of ``[W tau] = Q R``, what is forgotten less.
    triangle: FloatArray
    # What the rows of one sample count for a sample later, from 0 (excluded) to 1 (for ever). The
    # memory is ``1 / (1 - forgetting)`` samples long, where they excite.
    forgetting: float = 1.0
    # (k, k): upper triangular factor of the rows that came last; by default there are none.
    recent: FloatArray | None = None

    @classmethod
    def expecting_zero(cls, deviation: FloatArray, forgetting: float = 1.0) -> RecursiveState:
        """
        Return the state before any rows: unknowns are zero, with a standard deviation (k,).

        That is in units of the unknowns where rows are divided by the standard deviation of their
        noise.
        """
        return cls(np.diag(np.append(1.0 / deviation, 0.0)), forgetting)

    @property
    def size(self) -> int:
        """Return the number of unknowns."""
        return len(self.triangle) - 1

    @property
    def estimate(self) -> FloatArray:
        """Return the unknowns of least squared residuals, shape (k,)."""
        theta: FloatArray = scipy.linalg.solve_triangular(
            self.triangle[:-1, :-1], self.triangle[:-1, -1]
        )
        return theta

    @property
    def covariance(self) -> FloatArray:
        """Return the covariance of the unknowns for rows with a noise of one, shape (k, k)."""
        root = scipy.linalg.solve_triangular(self.triangle[:-1, :-1], np.eye(self.size))
        covariance: FloatArray = root @ root.T
        return covariance

    def update(
        self, matrix: FloatArray, torque: FloatArray, samples: int = 1
    ) -> RecursiveState:
        """
        Return the state after the rows of so many samples, all of which count alike.

        `matrix` (m, k) are rows of the observation matrix, best divided by the standard deviation
        of their noise, `torque` (m,) the measured torques, divided by the same; all are finite.
        """
        share = self.forgetting**samples
        table = np.vstack([self._forget(share), np.column_stack([matrix, torque])])
        return replace(self, triangle=triangle_of(table), recent=self._renew(matrix, share))

    def _forget(self, share: float) -> FloatArray:
        """Return the factor of which a share is left where the last rows excite."""
        if share == 1.0 or self.recent is None:
            return self.triangle
        k = self.size
        # In coordinates in which all that is known is one in every direction.
        lengths, axes = np.linalg.svd(
            scipy.linalg.solve_triangular(self.triangle[:k, :k], self.recent.T, trans='T').T
        )[1:]
        fading = 1.0 - (1.0 - share) * np.minimum(lengths**2 / LEAST_EXCITATION, 1.0)
        less = self.triangle.copy()
        less[:k] = (axes.T * np.sqrt(fading)) @ (axes @ self.triangle[:k])
        less[k] *= np.sqrt(share)
        return less

    def _renew(self, matrix: FloatArray, share: float) -> FloatArray | None:
        """Return the factor of the rows that came last, after some more."""
        if share == 1.0:
            return None
        if self.recent is None:
            return triangle_of(matrix)
        root = share ** (0.5 * SHORTER_MEMORY)
        return triangle_of(np.vstack([root * self.recent, matrix]))


class ResidualNoise:
    """
    Tracks variance and correlation of the whitened residuals of n joints.

    Errors of friction and gears last for parts of a second, so that neighbouring samples are no
    independent evidence. What counts for errors of an estimate is the long-run variance: the
    variance times ``1 + 2 sum of correlations`` [3]_. The `rate` is in Hz, the `memory` in s.
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

    def step(self, residual: FloatArray, counted: BoolArray) -> None:
        """Update with residuals (n,) in units of the expected noise, of which some count (n,)."""
        self._past[1:] = self._past[:-1]
        self._past[0] = np.where(counted, residual, np.nan)
        products = self._past * self._past[0]
        known = np.isfinite(products)
        self._sums = np.where(known, self._kept * self._sums + products, self._sums)
        self._counts = np.where(known, self._kept * self._counts + 1.0, self._counts)

    @property
    def level(self) -> FloatArray:
        """Long-run variance of each joint's whitened residual, shape (n,)."""
        variance = np.maximum(self._sums[0] / self._counts[0], LEAST_VARIANCE)
        correlations = self._sums / self._counts / variance
        # How many samples are worth one that is independent, at least 1.
        inflation = 1.0 + np.maximum(2.0 * (self._bartlett[1:] @ correlations[1:]), 0.0)
        level: FloatArray = variance * inflation
        return level
