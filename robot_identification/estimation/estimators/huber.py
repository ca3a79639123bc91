# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Huber's estimator: what lies far off counts linearly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.estimators.robust import HuberWeights
from robot_identification.estimation.problem import IdentificationProblem, stack_factors
from robot_identification.estimation.solving import (
    describe_estimate, FIRST_REWEIGHTINGS, least_deviation, need_observations, propagate,
    relative_change, renew_weights, residual_deviation, rows_per_joint, solve_unknowns,
)

# Scales that change by less than this part are settled.
SCALE_TOLERANCE = 1.0e-6


@dataclass(frozen=True)
class HuberRegression(Estimator):
    r"""
    Minimize :math:`\sum_j \sum_k \rho((\tau_{jk} - W_{jk} \theta) / s_j)` [1]_.

    :math:`\rho` is half the square up to `tuning` and linear beyond. The scale :math:`s_j` of
    each joint is 1.4826 times the median size of its residuals. With normal noise the default
    tuning costs 5 % of the information.

    Attributes
    ----------
    tuning : float
        In standard deviations.
    equal_joints : bool
        Whether a newton metre of any joint counts the same, as in ordinary least squares.
    iterations : int
        Passes over the data at most.
    tolerance : float
        Relative change of the parameters at which it ends.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics 35(1), 1964.
    .. [2] P. Holland, R. Welsch, "Robust regression using iteratively reweighted least squares",
       Communications in Statistics A6(9), 1977.

    """

    tuning: float = 1.345
    equal_joints: bool = False
    iterations: int = 50
    tolerance: float = 1.0e-8

    def __post_init__(self) -> None:
        check_positive(self.tuning, 'tuning of huber')
        check_count(self.iterations, 1, 'iterations of huber')
        check_positive(self.tolerance, 'tolerance of huber')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """
        Estimate by solving and weighing rows in turn; see `Estimator.estimate`.

        A pass weighs by the scales of the pass before, so that one pass is enough for both; where
        it ends, they are the same [2]_.
        """
        observations = need_observations(problem, 'huber')
        weights = renew_weights(problem, 0 if self.equal_joints else FIRST_REWEIGHTINGS)
        theta, floor = solve_unknowns(problem, weights), least_deviation(problem)
        scale = np.maximum(residual_deviation(problem, theta), floor)
        passes = 0
        while passes < self.iterations:
            passes += 1
            residuals = HuberWeights(scale, self.tuning)
            problem = observations.factor(theta, residuals)
            weights = np.ones(len(scale)) if self.equal_joints else 1.0 / scale
            found = solve_unknowns(problem, weights)
            change = relative_change(problem, weights, theta, found)
            theta = found
            renewed = np.maximum(residuals.deviation, floor)
            settled = np.max(np.abs(renewed / scale - 1.0)) < SCALE_TOLERANCE
            if settled and change <= self.tolerance:
                notes: tuple[str, ...] = ()
                break
            scale = renewed
        else:
            notes = (
                f'reweighting stopped after {passes} passes without an end: the parameters still '
                f'changed by {change:.1e} of their size, {self.tolerance:.0e} was asked for',
            )
        estimate = _describe(problem, weights, theta, residuals, notes)
        # The pass that made the first factors counts.
        return replace(estimate, passes=1 + passes)


def _describe(
    problem: IdentificationProblem,
    weights: FloatArray,
    theta: FloatArray,
    residuals: HuberWeights,
    notes: tuple[str, ...],
) -> Estimate:
    """
    Return the estimate of a robust fit, with the sandwich covariance of M-estimators.

    Its `sigma` is the standard deviation that the medians of the residuals stand for, that of the
    noise without the outliers.
    """
    curvature, deviation = residuals.row_deviation(weights, problem.size / problem.n)
    R, _ = stack_factors(problem.factors, weights * curvature, problem.size)
    b = problem.reduction.rank
    damped = residuals.damped
    if damped.any():
        shares = ', '.join(f'{100.0 * share:.2g}' for share in damped)
        notes += (f'rows that count less than half, by joint: {shares} %',)
    return replace(
        describe_estimate(problem, weights, theta),
        covariance=propagate(R, rows_per_joint(problem, deviation))[:b, :b],
        sigma=residuals.scale,
        notes=notes,
    )
