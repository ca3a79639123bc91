# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Generalized least squares with the residual covariance of all joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.options import check_count
from robot_identification.estimation.linear import describe_estimate
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, TriangularFactor,
)
from robot_identification.estimation.rows import ObservationBlock
from robot_identification.estimation.solving import (
    FIRST_REWEIGHTINGS, least_deviation, need_observations, renew_weights, solve_unknowns,
)

# Correlations need so many samples per joint in which every joint has a row.
SAMPLES_PER_JOINT = 10
# What is taken off every correlation, so that joints in step leave a matrix with an inverse.
CORRELATION_MARGIN = 1.0e-9


@dataclass(frozen=True)
class GeneralizedLeastSquares(Estimator):
    r"""
    Minimize :math:`\sum_k \rho_k^T \Sigma^{-1} \rho_k`, :math:`\rho_k = \tau_k - W_k \theta`.

    :math:`\Sigma` is the covariance of the joints' residuals at one instant, from the weighted
    least-squares residuals and renewed `reweightings` times [1]_: what disturbs several joints at
    once, as a payload's sway does, counts once. The rows of all joints are reduced side by side,
    in one pass, to a triangular factor from which any covariance and any whitening follow.

    Attributes
    ----------
    reweightings : int
        How often the covariance is renewed.

    References
    ----------
    .. [1] A. Zellner, "An efficient method of estimating seemingly unrelated regressions and
       tests for aggregation bias", J. American Statistical Association 57(298), 1962.

    """

    needs_rows: ClassVar[bool] = True
    reweightings: int = 3

    def __post_init__(self) -> None:
        check_count(self.reweightings, 1, 'reweightings of gls')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with the residuals' covariance; see `Estimator.estimate`."""
        observations = need_observations(problem, 'gls')
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        theta = solve_unknowns(problem, weights)
        rows = gather_rows(problem, observations, theta)
        for _ in range(self.reweightings):
            covariance = rows.residual_covariance(theta)
            weights = 1.0 / np.sqrt(np.diag(covariance))
            theta = solve_unknowns(rows.whiten(covariance), weights)
        whitened = rows.whiten(covariance, with_blocks=True)
        return replace(
            describe_estimate(whitened, weights, theta),
            sigma=np.sqrt(np.diag(rows.residual_covariance(theta))),
            passes=2,
            notes=(_describe_correlation(covariance),),
        )


@dataclass(frozen=True, eq=False)
class SampleRows:
    """
    Rows of all joints side by side, one row a sample, as triangular factors.

    Samples are of one kind where the same joints have a row in them.
    """

    problem: IdentificationProblem
    columns: tuple[IntArray, ...]  # unknowns of each joint's columns; then comes its torque
    present: tuple[BoolArray, ...]  # for every kind, (n,)
    triangles: tuple[tuple[FloatArray, ...], ...]  # of each kind, by contiguous parts of time
    samples: tuple[int, ...]  # of each kind

    def residual_covariance(self, theta: FloatArray) -> FloatArray:
        """
        Return the covariance of the joints' residuals, (n, n), positive definite [N^2 m^2].

        Variances are those of all rows of a joint, correlations those of the samples in which
        every joint has a row; too few of them make the correlations zero.
        """
        n = self.problem.n
        squares, count = np.zeros(n), np.zeros(n)
        correlation = np.eye(n)
        for present, parts, samples in zip(
            self.present, self.triangles, self.samples, strict=True
        ):
            residual = self._residuals(triangle_of(np.vstack(parts)), theta)
            products = residual.T @ residual
            squares[present] += np.diag(products)[present]
            count[present] += samples
            if present.all() and samples >= SAMPLES_PER_JOINT * n:
                length = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
                correlation = products / np.outer(length, length)
        correlation = (1.0 - CORRELATION_MARGIN) * correlation
        np.fill_diagonal(correlation, 1.0)
        freedom = np.maximum(count - self.problem.size / n, 1.0)
        deviation = np.maximum(np.sqrt(squares / freedom), least_deviation(self.problem))
        covariance: FloatArray = correlation * np.outer(deviation, deviation)
        return covariance

    def whiten(
        self, covariance: FloatArray, *, with_blocks: bool = False
    ) -> IdentificationProblem:
        """
        Return the problem whose rows have residuals that are independent of one another.

        Row i of a sample mixes the joints up to the i-th, so that every factor has all unknowns;
        its residual has the standard deviation of the i-th joint.
        """
        deviation = np.sqrt(np.diag(covariance))
        roots = []
        for present in self.present:
            root = np.linalg.inv(np.linalg.cholesky(covariance[np.ix_(present, present)]))
            roots.append(deviation[present][:, None] * root)
        whole = [triangle_of(np.vstack(parts)) for parts in self.triangles]
        blocks = list(zip(*self.triangles, strict=True)) if with_blocks else []
        return replace(
            self.problem,
            factors=self._mix(whole, roots),
            blocks=tuple(self._mix(block, roots) for block in blocks)
            if self.problem.blocks else (),
            phases=(),
        )

    def _mix(
        self, triangles: Sequence[FloatArray], roots: Sequence[FloatArray]
    ) -> tuple[TriangularFactor, ...]:
        """Return the factors of whitened rows."""
        size, n = self.problem.size, self.problem.n
        mixed: list[list[FloatArray]] = [[np.zeros((0, size + 1))] for _ in range(n)]
        for triangle, root, present in zip(triangles, roots, self.present, strict=True):
            joints = np.flatnonzero(present)
            parts = [self._widen(triangle, int(joint)) for joint in joints]
            for joint, coefficients in zip(joints, root, strict=True):
                mixed[joint].append(np.asarray(sum(
                    coefficient * part
                    for coefficient, part in zip(coefficients, parts, strict=True)
                    if coefficient
                )))
        everything = np.arange(size)
        return tuple(
            TriangularFactor(everything, triangle_of(np.vstack(rows))) for rows in mixed
        )

    def _widen(self, triangle: FloatArray, joint: int) -> FloatArray:
        """Return one joint's part of the rows with columns for all unknowns and the torque."""
        first = sum(len(columns) + 1 for columns in self.columns[:joint])
        columns = self.columns[joint]
        rows = np.zeros((len(triangle), self.problem.size + 1))
        rows[:, columns] = triangle[:, first: first + len(columns)]
        rows[:, -1] = triangle[:, first + len(columns)]
        return rows

    def _residuals(self, triangle: FloatArray, theta: FloatArray) -> FloatArray:
        """Return rows with the same products as the residuals of all samples, shape (m, n)."""
        unknowns = np.append(-theta, 1.0)
        return np.column_stack([
            self._widen(triangle, joint) @ unknowns for joint in range(self.problem.n)
        ])


def gather_rows(
    problem: IdentificationProblem, observations: Observations, theta: FloatArray
) -> SampleRows:
    """
    Pass over the rows and reduce those of all joints side by side, under the load of `theta`.

    The time is cut into as many parts as the problem has blocks.
    """
    columns = tuple(observations.columns(joint) for joint in range(problem.n))
    width = sum(len(own) + 1 for own in columns)
    count = max(len(problem.blocks), 1)
    total = sum(int(part.rows.sum()) for part in observations.data)
    triangles: dict[bytes, list[FloatArray]] = {}
    samples: dict[bytes, int] = {}
    done = 0
    for block in observations.blocks():
        present, rows = _side_by_side(observations, block, theta, width)
        part = (done + np.arange(len(rows))) * count // total
        done += len(rows)
        for kind in np.unique(present, axis=0):
            key = kind.tobytes()
            of_kind = np.all(present == kind, axis=1)
            samples[key] = samples.get(key, 0) + int(of_kind.sum())
            parts = triangles.setdefault(key, [np.zeros((width, width))] * count)
            for number in np.unique(part[of_kind]):
                chosen = rows[of_kind & (part == number)]
                parts[number] = triangle_of(np.vstack([parts[number], chosen]))
    return SampleRows(
        problem,
        columns,
        tuple(np.frombuffer(key, dtype=bool) for key in triangles),
        tuple(tuple(parts) for parts in triangles.values()),
        tuple(samples.values()),
    )


def _side_by_side(
    observations: Observations, block: ObservationBlock, theta: FloatArray, width: int
) -> tuple[BoolArray, FloatArray]:
    """Return which joints have a row in each sample, (m, n), and the rows, (m, width)."""
    samples = np.unique(np.concatenate([rows.samples for rows in block.joints]))
    present = np.zeros((len(samples), len(block.joints)), dtype=bool)
    wide = np.zeros((len(samples), width))
    first = 0
    for joint, rows in enumerate(block.joints):
        matrix = observations.matrix(joint, rows, theta)
        place = np.searchsorted(samples, rows.samples)
        last = first + matrix.shape[1]
        present[place, joint] = True
        wide[place, first:last] = matrix
        wide[place, last] = rows.tau
        first = last + 1
    return present, wide


def _describe_correlation(covariance: FloatArray) -> str:
    deviation = np.sqrt(np.diag(covariance))
    if len(deviation) == 1:
        return 'one joint has no correlation with others'
    correlation = np.triu(covariance / np.outer(deviation, deviation), 1)
    one, other = np.unravel_index(np.argmax(np.abs(correlation)), correlation.shape)
    return (
        f'largest correlation of residuals: {correlation[one, other]:.2f}, joints {one + 1} and '
        f'{other + 1}'
    )
