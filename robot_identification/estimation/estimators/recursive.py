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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError, RankDeficientError, UsageError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.options import check_count, check_share
from robot_identification.estimation.linear import describe_estimate, RANK_TOLERANCE
from robot_identification.estimation.problem import IdentificationProblem, Observations
from robot_identification.estimation.solving import (
    need_observations, renew_weights, solve_unknowns,
)
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
    model may, forgets no faster than twice what comes in. Until the rows determine every unknown
    nothing is forgotten.
    """

    # (k + 1, k + 1): upper triangular R of ``[W tau] = Q R``, what is forgotten less.
    triangle: FloatArray
    rows: float = 0.0  # rows behind it, forgotten ones less
    # What the rows of one sample count for a sample later, from 0 (excluded) to 1 (for ever). The
    # memory is ``1 / (1 - forgetting)`` samples long, where they excite.
    forgetting: float = 1.0
    # (k, k): upper triangular factor of the rows that came last; by default there are none.
    recent: FloatArray | None = None

    def __post_init__(self) -> None:
        check_share(self.forgetting, 'forgetting of a recursive estimate')
        if self.triangle.ndim != 2 or self.triangle.shape[0] != self.triangle.shape[1]:
            raise UsageError(
                f'the triangle of a recursive estimate has shape {self.triangle.shape}: it must '
                'have a row and a column for each unknown and one more'
            )

    @classmethod
    def empty(cls, size: int, forgetting: float = 1.0) -> RecursiveState:
        """Return the state of `size` unknowns of which nothing is known."""
        return cls(np.zeros((size + 1, size + 1)), 0.0, forgetting)

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
        return cls(triangle_of(triangle), 0.0, forgetting)

    @property
    def size(self) -> int:
        """Return the number of unknowns."""
        return len(self.triangle) - 1

    @property
    def is_determined(self) -> bool:
        """Return whether the rows so far determine every unknown."""
        return _is_regular(self.triangle[:-1, :-1])

    @property
    def estimate(self) -> FloatArray:
        """
        Return the unknowns of least squared residuals, shape (k,).

        Raises
        ------
        RankDeficientError
            If the rows so far do not determine every unknown.

        """
        self._need_determined()
        theta: FloatArray = scipy.linalg.solve_triangular(
            self.triangle[:-1, :-1], self.triangle[:-1, -1]
        )
        return theta

    @property
    def covariance(self) -> FloatArray:
        """
        Return the covariance of the unknowns for rows with a noise of one, shape (k, k).

        Times `variance` it is that of rows which were not divided by their noise.

        Raises
        ------
        RankDeficientError
            If the rows so far do not determine every unknown.

        """
        self._need_determined()
        root = scipy.linalg.solve_triangular(self.triangle[:-1, :-1], np.eye(self.size))
        covariance: FloatArray = root @ root.T
        return covariance

    @property
    def variance(self) -> float:
        """Variance of the rows' residuals; NaN with no more rows than unknowns."""
        freedom = self.rows - self.size
        return float(self.triangle[-1, -1] ** 2 / freedom) if freedom > 0.0 else float('nan')

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
        old, share = self._forget(1.0 + float(instants[-1]))
        counts = self.forgetting**ages
        return replace(
            self,
            triangle=triangle_of(np.vstack([old, np.sqrt(counts)[:, None] * table])),
            rows=share * self.rows + float(np.sum(counts)),
            recent=self._renew(table[:, :-1], ages),
        )

    def _forget(self, samples: float) -> tuple[FloatArray, float]:
        """Return the factor as some samples later, and the share of rows that it stands for."""
        if self.forgetting == 1.0 or self.recent is None or not self.is_determined:
            return self.triangle, 1.0
        share, k = self.forgetting**samples, self.size
        # In coordinates in which all that is known is one in every direction.
        lengths, axes = np.linalg.svd(
            scipy.linalg.solve_triangular(self.triangle[:k, :k], self.recent.T, trans='T').T
        )[1:]
        fading = 1.0 - (1.0 - share) * np.minimum(lengths**2 / LEAST_EXCITATION, 1.0)
        less = self.triangle.copy()
        less[:k] = (axes.T * np.sqrt(fading)) @ (axes @ self.triangle[:k])
        less[k] *= np.sqrt(share)
        return less, share

    def _renew(self, matrix: FloatArray, ages: FloatArray) -> FloatArray | None:
        """Return the factor of the rows that came last, after some more."""
        if self.forgetting == 1.0:
            return None
        forgetting = self.forgetting**SHORTER_MEMORY
        new = np.sqrt(forgetting**ages)[:, None] * matrix
        if self.recent is not None:
            new = np.vstack([np.sqrt(forgetting ** (1.0 + ages[0])) * self.recent, new])
        return triangle_of(new)

    def _need_determined(self) -> None:
        if not self.is_determined:
            raise RankDeficientError(
                f'the {self.rows:.0f} rows so far do not determine {self.size} parameters: go on '
                'with a richer motion, or start from a model'
            )


@dataclass(frozen=True)
class RecursiveLeastSquares(Estimator):
    """
    Least squares row by row in the order of time, as an arm at work would be watched [1]_.

    Without forgetting the result is that of weighted least squares, for any blocks: it shows
    what a live estimate would end at. With forgetting it is that of the end of the last
    recording, and follows what changes on the way: friction that warms up, a tool that is taken.
    """

    needs_rows: ClassVar[bool] = True
    # What a sample counts for one sample later, at most 1; see `RecursiveState`. At 125 samples a
    # second 0.999 is a memory of 8 s.
    forgetting: float = 1.0
    block: int = 50  # samples that are used together. More are faster, and forget by block.
    # How often each joint's weight is renewed from its least-squares residual; the weights are
    # those of all rows. Without any it is ordinary least squares.
    reweightings: int = 3

    def __post_init__(self) -> None:
        check_share(self.forgetting, 'forgetting of recursive')
        check_count(self.block, 1, 'block of recursive')
        check_count(self.reweightings, 0, 'reweightings of recursive')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate block by block; see `Estimator.estimate`."""
        observations = need_observations(problem, 'recursive')
        # Refuses by name what the data do not determine.
        weights = renew_weights(problem, self.reweightings)
        whole = solve_unknowns(problem, weights)
        state = RecursiveState.empty(problem.size, self.forgetting)
        for matrix, torque, instants in in_time_order(observations, whole, weights, self.block):
            state = state.update(matrix, torque, instants)
        estimate = replace(
            describe_estimate(problem, weights, state.estimate), passes=2,
        )
        if self.forgetting == 1.0:
            return estimate
        b = problem.reduction.rank
        return replace(
            estimate,
            covariance=state.variance * state.covariance[:b, :b],
            notes=(
                f'parameters are those of the end: the last {1.0 / (1.0 - self.forgetting):.0f} '
                f'samples count most (forgetting {self.forgetting:g}), residuals are of all',
            ),
        )


def in_time_order(
    observations: Observations, theta: FloatArray, weights: FloatArray, count: int
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """
    Yield weighted rows (m, size) and torques (m,) of all joints, `count` samples at a time.

    Then the sample of each row, (m,), from 0 in each part, ascending. `theta` is what the load
    follows from.
    """
    for block in observations.blocks():
        parts, torques, samples = [], [], []
        for joint, rows in enumerate(block.joints):
            wide = np.zeros((len(rows.samples), len(theta)))
            wide[:, observations.columns(joint)] = observations.matrix(joint, rows, theta)
            parts.append(weights[joint] * wide)
            torques.append(weights[joint] * rows.tau)
            samples.append(rows.samples)
        found, instants = np.unique(np.concatenate(samples), return_inverse=True)
        order = np.argsort(instants, kind='stable')
        matrix, torque, instants = (
            np.concatenate(parts)[order], np.concatenate(torques)[order], instants[order]
        )
        edges = np.searchsorted(instants, [*range(0, len(found), count), len(found)])
        for first, last in pairwise(edges):
            yield matrix[first:last], torque[first:last], instants[first:last] - instants[first]


def _is_regular(triangle: FloatArray) -> bool:
    """Return whether an upper triangular matrix with unit columns has no zero on its diagonal."""
    lengths = np.linalg.norm(triangle, axis=0)
    diagonal = np.abs(np.diag(triangle))
    return bool(np.all(lengths > 0.0) and np.all(diagonal > RANK_TOLERANCE * lengths))
