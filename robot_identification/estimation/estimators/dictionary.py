# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The dictionary fit: bodies and offsets free, friction not negative, a fixed number of passes.

Sources: the lasso-free sparsity of non-negative least squares [1]_, Huber's weights [2]_ and a
regularization towards the CAD prior in base space.

References
----------
.. [1] M. Slawski, M. Hein, "Non-negative least squares for high-dimensional linear models",
   Electronic Journal of Statistics 7, 2013.
.. [2] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
   Statistics 35(1), 1964.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate, Estimator, PriorTerm
from robot_identification.estimation.estimators.huber import HuberWeights
from robot_identification.estimation.estimators.least_squares import not_negative_parameters
from robot_identification.estimation.prior import CadPrior
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import (
    column_scales, describe_estimate, need_observations, solve_bounded, solve_weighted,
)
from robot_identification.model import BaseReduction

# A column shorter than this part of the weights' length is scaled as if it were as long: a term
# that hardly acts in the training data must not get a large coefficient.
SHORTEST_COLUMN = 0.01


@dataclass(frozen=True)
class SparseNonnegativeRegression(Estimator):
    """
    Friction by non-negative least squares, all else free, in a fixed number of passes.

    The first pass weighs joints by the deviation of their torque and leaves the load out. The
    others weigh by the residuals of the pass before, damp outliers and take the load from it.
    """

    passes: int = 4  # how often it passes over the data
    huber: float = 1.345  # residuals beyond this many standard deviations count linearly
    # Added to the squares, per squared coefficient of a column of unit length.
    shrinkage: float = 1.0e-4
    prior: CadPrior | None = None  # what the URDF says
    prior_weight: float = 1.0  # on its squares
    # Standard deviation of offsets before the data are seen, over the root mean square of the
    # torque of the joint. In a joint that moved in one direction only, the data show the sum of
    # its offset and its Coulomb friction, and noise alone would divide that.
    offset_deviation: float = 0.1

    def __post_init__(self) -> None:
        for name, lowest in (('passes', 1), ('huber', 0.1), ('shrinkage', 0.0),
                             ('prior_weight', 0.0), ('offset_deviation', 1.0e-6)):
            value = getattr(self, name)
            if not lowest <= value < np.inf:
                raise UsageError(
                    f'{name} of the dictionary fit is {value!r}, it must be {lowest} or more'
                )

    @property
    def chooses_terms(self) -> bool:
        """Return true: the non-negative coefficients that stay are the terms it chooses."""
        return True

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate a friction dictionary; see `Estimator.estimate`."""
        last, weights, theta, weighted = self._iterate(problem)
        return replace(self._describe(last, weights, theta, self.passes), weighted=weighted)

    def start(self, problem: IdentificationProblem) -> tuple[FloatArray, FloatArray]:
        """Return unknowns (size,) and the deviation of their residuals (n,) [N m]."""
        _, weights, theta, _ = self._iterate(problem)
        return theta, 1.0 / weights

    def finish(
        self, problem: IdentificationProblem, deviation: FloatArray, passes: int
    ) -> Estimate:
        """
        Return the estimate of rows that have their weights and loads already.

        `deviation` (n,) is that of the residuals of the estimate that these are from [N m].
        """
        weights = 1.0 / deviation
        _check_free(problem, weights)
        used = np.ones(problem.size, dtype=bool)
        theta = self._solve(problem, weights, used, self.prior_weight)
        return self._describe(problem, weights, theta, passes)

    def _describe(
        self, problem: IdentificationProblem, weights: FloatArray, theta: FloatArray, passes: int
    ) -> Estimate:
        return replace(
            describe_estimate(
                problem, weights, theta,
                active=bounded_friction(problem) & (theta <= 0.0),
                prior=self._prior_term(problem, self.prior_weight),
            ),
            passes=passes,
            damping=_damping_term(problem, weights, self.shrinkage),
        )

    def estimate_each(
        self, problem: IdentificationProblem, prior_weights: Sequence[float]
    ) -> list[FloatArray]:
        """
        Return the unknowns (size,) under other weights of the prior, from one set of passes.

        Outliers and load hardly depend on that weight, so that the last pass serves all.
        """
        problem, weights, _, _ = self._iterate(problem)
        used = np.ones(problem.size, dtype=bool)
        return [
            self._solve(problem, weights, used, prior_weight) for prior_weight in prior_weights
        ]

    def _prior_term(self, problem: IdentificationProblem, prior_weight: float) -> PriorTerm:
        offsets = offset_prior(problem, self.offset_deviation)
        if self.prior is None:
            return offsets
        bodies = self.prior.term(problem.reduction, problem.size, prior_weight)
        return offsets if bodies is None else bodies.beside(offsets)

    def _iterate(
        self, problem: IdentificationProblem
    ) -> tuple[IdentificationProblem, FloatArray, FloatArray, bool]:
        """
        Return the problem of the last pass, its weights and the unknowns.

        And whether its rows are known to have weights of their own.
        """
        observations = need_observations(problem, 'dictionary')
        loaded = observations.loaded
        weights = 1.0 / torque_deviation(problem)
        _check_free(problem, weights)
        theta = self._solve(problem, weights, ~loaded, self.prior_weight)
        deviation = np.sqrt(problem.squared_residuals(theta) / problem.samples)
        used = np.ones(problem.size, dtype=bool)
        weighted = False
        for _ in range(self.passes - 1):
            floor = 1e-9 / weights
            huber = HuberWeights(np.maximum(deviation, floor), self.huber)
            problem = observations.factor(theta, huber)
            deviation = huber.deviation
            weights = 1.0 / np.maximum(deviation, floor)
            theta = self._solve(problem, weights, used, self.prior_weight)
            weighted = huber.differ_from_one
        return problem, weights, theta, weighted

    def _solve(
        self,
        problem: IdentificationProblem,
        weights: FloatArray,
        used: BoolArray,
        prior_weight: float,
    ) -> FloatArray:
        R, z = problem.stacked(weights)
        prior = self._prior_term(problem, prior_weight)
        R = np.vstack([R, prior.matrix])
        z = np.append(z, prior.side)
        bounded = bounded_friction(problem)
        shortest = _shortest_columns(problem, weights)
        theta = np.zeros(problem.size)
        theta[used] = solve_bounded(
            R[:, used], z, bounded[used], shortest[used], self.shrinkage
        )
        return theta


def _shortest_columns(problem: IdentificationProblem, weights: FloatArray) -> FloatArray:
    """Return as how long columns are scaled at least, shape (size,)."""
    lengths = np.zeros(problem.size)
    for factor, samples, weight in zip(problem.factors, problem.samples, weights, strict=True):
        lengths[factor.columns] = np.maximum(
            lengths[factor.columns], SHORTEST_COLUMN * weight * np.sqrt(samples)
        )
    return lengths


def _damping_term(
    problem: IdentificationProblem, weights: FloatArray, shrinkage: float
) -> PriorTerm:
    """Return the rows by which `solve_bounded` shrinks friction coefficients."""
    bounded = np.flatnonzero(bounded_friction(problem))
    R, _ = problem.stacked(weights)
    scale, shortness = column_scales(R[:, bounded], _shortest_columns(problem, weights)[bounded])
    matrix = np.zeros((len(bounded), problem.size))
    matrix[np.arange(len(bounded)), bounded] = np.sqrt(shrinkage) * shortness**2 * scale
    return PriorTerm(matrix, np.zeros(len(bounded)))


def _check_free(problem: IdentificationProblem, weights: FloatArray) -> None:
    """Refuse, by name, free parameters that the data do not determine."""
    reduction = problem.reduction
    free = np.flatnonzero(~bounded_friction(problem)[: reduction.rank])
    whole = replace(problem, blocks=(), phases=(), observations=None)
    solve_weighted(whole.select(free), weights)


def torque_deviation(problem: IdentificationProblem) -> FloatArray:
    """Return the standard deviation of the torque of each joint [N m], shape (n,)."""
    squares = problem.squared_torque
    for joint, row in _offset_rows(problem.reduction).items():
        factor = problem.factors[joint]
        for ones in factor.triangle[:, np.flatnonzero(factor.columns == row)].T:
            if ones.any():
                squares[joint] -= (ones @ factor.triangle[:, -1]) ** 2 / (ones @ ones)
    largest = squares.max()
    deviation: FloatArray = np.sqrt(
        np.maximum(squares, 1e-12 * largest if largest else 1.0) / problem.samples
    )
    return deviation


def offset_prior(problem: IdentificationProblem, deviation: float) -> PriorTerm:
    """
    Return the rows that regularize the offset of each joint in each recording towards zero.

    `deviation` is the standard deviation of an offset over the root mean square of the torque of
    its joint [1]. A joint whose torque is zero throughout has no rows.
    """
    n, b = problem.n, problem.reduction.rank
    distances = problem.nuisance // n
    # Unknowns are the mean offset and the distances from it of the recordings after the first;
    # all distances together are zero.
    distance_of_recording = np.vstack([-np.ones((1, distances)), np.eye(distances)])
    squared_torque = problem.squared_torque
    matrix = np.zeros((0, problem.size))
    for joint, row in _offset_rows(problem.reduction).items():
        if not squared_torque[joint] > 0.0:
            continue
        rows = np.zeros((1 + distances, problem.size))
        rows[:, row] = 1.0
        rows[:, b + joint::n] = distance_of_recording
        rms = np.sqrt(squared_torque[joint] / problem.samples[joint])
        matrix = np.vstack([matrix, rows / (deviation * rms)])
    return PriorTerm(matrix, np.zeros(len(matrix)))


def _offset_rows(reduction: BaseReduction) -> dict[int, int]:
    """Return by joint which base parameter its offset is, of joints that have one."""
    row_of = {int(column): row for row, column in enumerate(reduction.independent)}
    return {
        term.joint: row_of[columns.start]
        for term, columns in reduction.parameters.friction_columns
        if term.law.is_offset and columns.start in row_of
    }


def bounded_friction(problem: IdentificationProblem) -> BoolArray:
    """Return which unknowns are friction coefficients that cannot be negative, shape (size,)."""
    reduction = problem.reduction
    return np.append(
        not_negative_parameters(reduction, rotors=False)[reduction.independent],
        np.zeros(problem.nuisance, dtype=bool),
    )
