# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recursive least squares by orthogonal transformations: rows are used as they come, once.

References
----------
.. [1] G. Bierman, "Factorization methods for discrete sequential estimation", Academic Press,
   1977.
.. [2] L. Cao, H. Schwartz, "A directional forgetting algorithm based on the decomposition of the
   information matrix", Automatica 36(11), 2000.

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError
import scipy

# The memory that decides what is excited, as a part of the memory of the estimate.
SHORTER_MEMORY = 4
# Its part of the information below which forgetting fades; under steady excitation it has a
# quarter.
LEAST_EXCITATION = 0.125


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
    lose them. A state that knows more than its memory can hold, as one that starts from a
    model may, forgets no faster than twice what comes in.
    """

    # (k + 1, k + 1): upper triangular R of ``[W tau] = Q R``, what is forgotten less.
    triangle: FloatArray
    # What the rows of one sample count for a sample later, from 0 (excluded) to 1 (for ever). The
    # memory is ``1 / (1 - forgetting)`` samples long, where they excite.
    forgetting: float = 1.0
    # (k, k): upper triangular factor of the rows that came last; by default there are none.
    recent: FloatArray | None = None

    @classmethod
    def known(
        cls, theta: FloatArray, covariance: FloatArray, forgetting: float = 1.0
    ) -> RecursiveState:
        """
        Return the state that an earlier identification left.

        Parameters
        ----------
        theta : ndarray, shape (k,)
            The unknowns, SI units.
        covariance : ndarray, shape (k, k)
            Of their errors, in units of the noise of the rows to come: where rows are divided by
            their standard deviation, the covariance as it stands.
        forgetting : float
            As in the class.

        Raises
        ------
        DataError
            If the covariance is not positive definite.

        """
        deviation = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
        try:
            root = np.linalg.cholesky(covariance / np.outer(deviation, deviation))
        except np.linalg.LinAlgError:
            raise DataError(
                f'the covariance of {len(theta)} parameters to start from is not positive '
                'definite: leave out the parameters that a bound holds'
            ) from None
        rows = scipy.linalg.solve_triangular(root, np.diag(1.0 / deviation), lower=True)
        triangle = np.zeros((len(theta) + 1, len(theta) + 1))
        triangle[:-1] = np.column_stack([rows, rows @ theta])
        return cls(triangle_of(triangle), forgetting)

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
        self, matrix: FloatArray, torque: FloatArray, instants: IntArray | None = None
    ) -> RecursiveState:
        """
        Return the state after some more rows.

        Parameters
        ----------
        matrix : ndarray, shape (m, k)
            Rows of the observation matrix, best divided by the standard deviation of their noise.
        torque : ndarray, shape (m,)
            Measured torques, divided by the same.
        instants : ndarray of int, shape (m,), optional
            Which sample of this update each row is of, from 0, never descending; by default all
            are of one.

        Raises
        ------
        DataError
            If the rows do not fit, or hold numbers that are none: the state stays as it is.

        """
        if matrix.shape != (len(torque), self.size) or torque.ndim != 1:
            raise DataError(
                f'{matrix.shape} numbers and {torque.shape} torques for a recursive estimate of '
                f'{self.size} unknowns: give (m, {self.size}) and (m,)'
            )
        if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(torque))):
            raise DataError('rows with numbers that are not finite: leave them out')
        if not len(torque):
            return self
        if instants is None:
            instants = np.zeros(len(torque), dtype=int)
        ages = (instants[-1] - instants).astype(float)
        table = np.column_stack([matrix, torque])
        counts = self.forgetting**ages
        return replace(
            self,
            triangle=triangle_of(np.vstack([
                self._forget(1.0 + float(instants[-1])), np.sqrt(counts)[:, None] * table
            ])),
            recent=self._renew(table[:, :-1], ages),
        )

    def _forget(self, samples: float) -> FloatArray:
        """Return the factor as some samples later."""
        if self.forgetting == 1.0 or self.recent is None:
            return self.triangle
        share, k = self.forgetting**samples, self.size
        # In coordinates in which all that is known is one in every direction.
        lengths, axes = np.linalg.svd(
            scipy.linalg.solve_triangular(self.triangle[:k, :k], self.recent.T, trans='T').T
        )[1:]
        fading = 1.0 - (1.0 - share) * np.minimum(lengths**2 / LEAST_EXCITATION, 1.0)
        less = self.triangle.copy()
        less[:k] = (axes.T * np.sqrt(fading)) @ (axes @ self.triangle[:k])
        less[k] *= np.sqrt(share)
        return less

    def _renew(self, matrix: FloatArray, ages: FloatArray) -> FloatArray | None:
        """Return the factor of the rows that came last, after some more."""
        if self.forgetting == 1.0:
            return None
        forgetting = self.forgetting**SHORTER_MEMORY
        new = np.sqrt(forgetting**ages)[:, None] * matrix
        if self.recent is not None:
            new = np.vstack([np.sqrt(forgetting ** (1.0 + ages[0])) * self.recent, new])
        return triangle_of(new)
