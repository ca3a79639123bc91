# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.linear import solve_weighted
from robot_identification.estimation.problem import IdentificationProblem


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
