# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Ordinary least squares, and those weighted with the residual variance of each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.estimation.estimate import check_count, Estimate, Estimator
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import renew_weights, solve_weighted


@dataclass(frozen=True)
class OrdinaryLeastSquares(Estimator):
    r"""
    Minimize :math:`\lVert \tau - W \theta \rVert^2` [1]_.

    Every joint's newton metre counts the same, so the noise of the strong joints hides what the
    weak ones know; `WeightedLeastSquares` is better for arms with joints of several sizes.

    References
    ----------
    .. [1] M. Gautier, W. Khalil, "Exciting trajectories for the identification of base inertial
       parameters of robots", IJRR 11(4), 1992.

    """

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with equal weights; see `Estimator.estimate`."""
        return solve_weighted(problem, np.ones(len(problem.samples)))


@dataclass(frozen=True)
class WeightedLeastSquares(Estimator):
    r"""
    Minimize :math:`\sum_j \lVert \tau_j - W_j \theta \rVert^2 / \sigma_j^2` [1]_.

    The standard deviations are those of the ordinary least-squares residuals, renewed
    `reweightings` times.

    References
    ----------
    .. [1] M. Gautier, P. Poignet, "Extended Kalman filtering and weighted least squares dynamic
       identification of robot", Control Engineering Practice 9(12), 2001.

    """

    reweightings: int = 3  # how often the weights are renewed

    def __post_init__(self) -> None:
        check_count(self.reweightings, 0, 'reweightings of wls')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with residual weights; see `Estimator.estimate`."""
        weights = renew_weights(problem, self.reweightings)
        return solve_weighted(problem, weights)
