# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Huber's estimator: what lies far off counts linearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.options import check_count, check_positive
from robot_identification.estimation.estimators.reweighting import (
    describe_fit, fit_robustly, RobustFit, start_robustly,
)
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import need_observations


@dataclass(frozen=True)
class HuberLoss:
    """Squares of small residuals, sizes of large ones."""

    tuning: float = 1.345  # standard deviations beyond which a residual counts linearly

    def weight(self, u: FloatArray) -> FloatArray:
        """Return ``min(1, tuning / abs(u))``."""
        weights: FloatArray = 1.0 / np.maximum(np.abs(u) / self.tuning, 1.0)
        return weights

    def slope(self, u: FloatArray) -> FloatArray:
        """Return one where residuals count in full, else zero."""
        slopes: FloatArray = (np.abs(u) <= self.tuning).astype(float)
        return slopes


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
        """Estimate by reweighting rows; see `Estimator.estimate`."""
        return describe_fit(self.fit(problem))

    def fit(self, problem: IdentificationProblem) -> RobustFit:
        """Return the end of the reweighting, from which others may go on."""
        observations = need_observations(problem, 'huber')
        start = start_robustly(problem, equal_joints=self.equal_joints)
        return fit_robustly(observations, HuberLoss(self.tuning), start, self)
