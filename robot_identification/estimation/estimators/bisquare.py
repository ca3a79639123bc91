# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tukey's bisquare estimator: what lies very far off does not count at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.huber import HuberRegression
from robot_identification.estimation.estimators.options import check_count, check_positive
from robot_identification.estimation.estimators.reweighting import (
    describe_fit, fit_robustly, Start,
)
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import least_deviation, need_observations


@dataclass(frozen=True)
class BisquareLoss:
    """Squares of small residuals, a constant for large ones."""

    tuning: float = 4.685  # residuals of more standard deviations do not count

    def weight(self, u: FloatArray) -> FloatArray:
        """Return ``(1 - (u / tuning)^2)^2``, zero beyond `tuning`."""
        weights: FloatArray = np.maximum(1.0 - (u / self.tuning) ** 2, 0.0) ** 2
        return weights

    def slope(self, u: FloatArray) -> FloatArray:
        """Return the derivative of ``u * weight(u)``, negative for large residuals."""
        v = np.minimum((u / self.tuning) ** 2, 1.0)
        slopes: FloatArray = (1.0 - v) * (1.0 - 5.0 * v)
        return slopes


@dataclass(frozen=True)
class BisquareRegression(Estimator):
    r"""
    Minimize :math:`\sum_j \sum_k \rho((\tau_{jk} - W_{jk} \theta) / s_j)` [1]_.

    :math:`\rho` grows like a square and is constant beyond `tuning` standard deviations. It may
    have several minima; the one near Huber's estimate is taken. With normal noise the default
    tuning costs 5 % of the information.

    Attributes
    ----------
    tuning : float
        In standard deviations.
    equal_joints : bool
        Whether a newton metre of any joint counts the same, as in ordinary least squares.
    iterations : int
        Passes over the data at most, and as many for Huber's estimate before.
    tolerance : float
        Relative change of the parameters at which it ends.

    References
    ----------
    .. [1] A. Beaton, J. Tukey, "The fitting of power series, meaning polynomials, illustrated on
       band-spectroscopic data", Technometrics 16(2), 1974.

    """

    tuning: float = 4.685
    equal_joints: bool = False
    iterations: int = 50
    tolerance: float = 1.0e-8

    def __post_init__(self) -> None:
        check_positive(self.tuning, 'tuning of bisquare')
        check_count(self.iterations, 1, 'iterations of bisquare')
        check_positive(self.tolerance, 'tolerance of bisquare')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate by reweighting rows from Huber's estimate on; see `Estimator.estimate`."""
        observations = need_observations(problem, 'bisquare')
        huber = HuberRegression(
            equal_joints=self.equal_joints, iterations=self.iterations, tolerance=self.tolerance
        ).fit(problem)
        fit = fit_robustly(
            observations, BisquareLoss(self.tuning),
            Start(huber.theta, huber.residuals.scale, least_deviation(problem)), self,
        )
        return describe_fit(replace(fit, passes=huber.passes + fit.passes))
