# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Iteratively reweighted least squares: each pass over the data damps what the one before left over.

References
----------
.. [1] P. Holland, R. Welsch, "Robust regression using iteratively reweighted least squares",
   Communications in Statistics A6(9), 1977.
.. [2] P. J. Huber, "Robust Statistics", Wiley, 1981, chapter 7.

"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimators.robust import NORMAL_DEVIATION, SizeMedian
from robot_identification.estimation.linear import describe_estimate, residual_deviation
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, stack_factors,
)
from robot_identification.estimation.solving import (
    FIRST_REWEIGHTINGS, least_deviation, propagate, renew_weights, rows_per_joint, solve_unknowns,
)

# Scales that change by less than this part are settled.
SCALE_TOLERANCE = 1.0e-6


class Loss(Protocol):
    """Loss of a residual, by its size in standard deviations."""

    def weight(self, u: FloatArray) -> FloatArray:
        """Return the weights of squared residuals of size `u`."""

    def slope(self, u: FloatArray) -> FloatArray:
        """Return the derivative of ``u * weight(u)``."""


class Reweighting(Protocol):
    """Options of estimators that reweight rows; see `HuberRegression`."""

    @property
    def equal_joints(self) -> bool:
        """Return whether a newton metre of any joint counts the same."""

    @property
    def iterations(self) -> int:
        """Return the most passes over the data."""

    @property
    def tolerance(self) -> float:
        """Return the relative change of the parameters at which it ends."""


class Start(NamedTuple):
    """Start of the reweighting."""

    theta: FloatArray  # unknowns, (size,)
    scale: FloatArray  # standard deviation of the residual of each joint, (n,) [N m]
    floor: float  # least scale [N m]


class ResidualWeights:
    """
    Square roots of the weights of rows, and sums of the residuals that they were asked for.

    `scale` (n,) is the standard deviation of each joint's residual [N m].
    """

    def __init__(self, loss: Loss, scale: FloatArray) -> None:
        self._loss, self.scale = loss, scale
        self._medians = [SizeMedian() for _ in scale]
        self._sums = np.zeros((6, len(scale)))

    def __call__(self, joint: int, residual: FloatArray) -> FloatArray:
        """Return the factors on rows of a joint with residuals of shape (m,) [N m]."""
        u = residual / self.scale[joint]
        weight, slope = self._loss.weight(u), self._loss.slope(u)
        self._medians[joint].add(residual)
        self._sums[:, joint] += np.array([
            len(u), weight.sum(), np.sum((weight * u) ** 2), slope.sum(), np.sum(slope**2),
            np.count_nonzero(weight < 0.5),
        ])
        roots: FloatArray = np.sqrt(weight)
        return roots

    def merge(self, other: ResidualWeights) -> None:
        """Take the residuals that another has seen, too."""
        for median, theirs in zip(self._medians, other._medians, strict=True):
            median.merge(theirs)
        self._sums += other._sums

    @property
    def deviation(self) -> FloatArray:
        """Return the standard deviation by the median of the residuals seen, shape (n,) [N m]."""
        return NORMAL_DEVIATION * np.array([median.value for median in self._medians])

    @property
    def damped(self) -> FloatArray:
        """Share of each joint's rows that count less than half, shape (n,)."""
        share: FloatArray = self._sums[5] / np.maximum(self._sums[0], 1.0)
        return share

    def row_deviation(
        self, joint_weights: FloatArray, parameters: float
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return how the weighted rows of each joint scatter, as far as the solution is concerned.

        First the factors (n,) on them that turn their squares into the curvature of the loss, then
        the standard deviations (n,) of the rows multiplied by these. Averages over the joint stand
        for those of single rows, with Huber's correction for the number of `parameters` that each
        joint pays for [2]_, eq. 7.6.
        """
        count, weight, score, slope, squared_slope, _ = self._sums
        mean_slope = np.maximum(slope / count, np.finfo(float).eps)
        variance = score / np.maximum(count - parameters, 1.0)
        scatter = np.maximum(squared_slope / count - mean_slope**2, 0.0)
        correction = 1.0 + parameters / count * scatter / mean_slope**2
        curvature: FloatArray = np.sqrt(mean_slope / (weight / count))
        deviation: FloatArray = (
            correction * joint_weights * self.scale * np.sqrt(variance / mean_slope)
        )
        return curvature, deviation


@dataclass(frozen=True, eq=False)
class RobustFit:
    """Result of the reweighting."""

    problem: IdentificationProblem  # solved last, its rows weighted
    theta: FloatArray  # its solution, (size,)
    joint_weights: FloatArray  # factor on the rows of each joint in it, (n,)
    residuals: ResidualWeights  # that its rows were weighted by
    passes: int  # over the data
    note: str  # how it ended


def fit_robustly(
    observations: Observations, loss: Loss, start: Start, options: Reweighting
) -> RobustFit:
    """
    Solve and weigh until neither the parameters nor the residuals' scales change [1]_.

    A pass weighs by the scales of the pass before, so that one pass is enough for both; where it
    ends, they are the same.
    """
    theta, scale, floor = start
    note, passes = '', 0
    while passes < options.iterations:
        passes += 1
        residuals = ResidualWeights(loss, scale)
        problem = observations.factor(theta, residuals)
        joint_weights = np.ones(len(scale)) if options.equal_joints else 1.0 / scale
        found = solve_unknowns(problem, joint_weights)
        change = relative_change(problem, joint_weights, theta, found)
        theta = found
        renewed = np.maximum(residuals.deviation, floor)
        settled = np.max(np.abs(renewed / scale - 1.0)) < SCALE_TOLERANCE
        if settled and change <= options.tolerance:
            break
        scale = renewed
    else:
        note = (
            f'reweighting stopped after {passes} passes without an end: the parameters still '
            f'changed by {change:.1e} of their size, {options.tolerance:.0e} was asked for'
        )
    return RobustFit(problem, theta, joint_weights, residuals, passes, note)


def relative_change(
    problem: IdentificationProblem,
    joint_weights: FloatArray,
    theta: FloatArray,
    found: FloatArray,
) -> float:
    """Return the change of the unknowns over their size, in units that do not matter."""
    lengths = np.linalg.norm(problem.stacked(joint_weights)[0], axis=0)
    size = float(np.linalg.norm(lengths * found))
    return float(np.linalg.norm(lengths * (found - theta))) / (size or 1.0)


def start_robustly(problem: IdentificationProblem, *, equal_joints: bool) -> Start:
    """Return least squares and the deviations of its residuals, from which reweighting starts."""
    weights = renew_weights(problem, 0 if equal_joints else FIRST_REWEIGHTINGS)
    theta, floor = solve_unknowns(problem, weights), least_deviation(problem)
    return Start(theta, np.maximum(residual_deviation(problem, theta), floor), floor)


def describe_fit(fit: RobustFit) -> Estimate:
    """
    Return the estimate of a robust fit, with the sandwich covariance of M-estimators.

    Its `sigma` is the standard deviation that the medians of the residuals stand for, that of the
    noise without the outliers.
    """
    problem, residuals = fit.problem, fit.residuals
    curvature, deviation = residuals.row_deviation(fit.joint_weights, problem.size / problem.n)
    R, _ = stack_factors(problem.factors, fit.joint_weights * curvature, problem.size)
    b = problem.reduction.rank
    damped = residuals.damped
    notes = [fit.note] if fit.note else []
    if damped.any():
        shares = ', '.join(f'{100.0 * share:.2g}' for share in damped)
        notes.append(f'rows that count less than half, by joint: {shares} %')
    return replace(
        describe_estimate(problem, fit.joint_weights, fit.theta),
        covariance=propagate(R, rows_per_joint(problem, deviation))[:b, :b],
        sigma=residuals.scale,
        # The pass that made the first factors counts.
        passes=1 + fit.passes,
        notes=tuple(notes),
    )
