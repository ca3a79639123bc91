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
from robot_identification.estimation.problem import IdentificationProblem, stack_factors
from robot_identification.estimation.solving import (
    describe_estimate, FIRST_REWEIGHTINGS, least_deviation, need_observations, propagate,
    relative_change, renew_weights, residual_deviation, rows_per_joint, solve_unknowns,
)

# Scales that change by less than this part are settled.
SCALE_TOLERANCE = 1.0e-6
# Standard deviation of normal numbers over the median of their sizes.
NORMAL_DEVIATION = 1.4826
# Share of the squared residuals that weights must take away to differ from ones without looking
# at all rows again; chosen, far above rounding.
CLEAR_SHARE = 1.0e-3


class HuberWeights:
    """
    Square roots of Huber's weights [1]_, and sums of the residuals that they were asked for.

    `scale` (n,) is the standard deviation of each joint's residual [N m]; residuals beyond
    `tuning` of them count linearly.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics 35(1), 1964.
    .. [2] P. J. Huber, "Robust Statistics", Wiley, 1981, chapter 7.

    """

    def __init__(self, scale: FloatArray, tuning: float = 1.345) -> None:
        self.scale, self._tuning = scale, tuning
        self._medians = [SizeMedian() for _ in scale]
        self._sums = np.zeros((7, len(scale)))

    def __call__(self, joint: int, residual: FloatArray) -> FloatArray:
        """Return the factors on rows of a joint with residuals of shape (m,) [N m]."""
        u = np.abs(residual) / self.scale[joint]
        weight = 1.0 / np.maximum(u / self._tuning, 1.0)
        score = weight * u
        self._medians[joint].add(residual)
        self._sums[:, joint] += [
            len(u), weight.sum(), score @ score, np.count_nonzero(u <= self._tuning),
            np.count_nonzero(weight < 0.5), u @ u, score @ u,
        ]
        roots: FloatArray = np.sqrt(weight)
        return roots

    def merge(self, other: HuberWeights) -> None:
        """Take the residuals that another has seen, too."""
        for median, theirs in zip(self._medians, other._medians, strict=True):
            median.merge(theirs)
        self._sums += other._sums

    @property
    def differ_from_one(self) -> bool:
        """Return whether weights clearly take something away."""
        squares, weighted = self._sums[5:]
        return bool(np.any(weighted < (1.0 - CLEAR_SHARE) * squares))

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation by the median of the residuals seen, shape (n,) [N m]."""
        return NORMAL_DEVIATION * np.array([median.value for median in self._medians])

    @property
    def damped(self) -> FloatArray:
        """Share of each joint's rows that count less than half, shape (n,)."""
        share: FloatArray = self._sums[4] / np.maximum(self._sums[0], 1.0)
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
        count, weight, score, undamped = self._sums[:4]
        mean_slope = np.maximum(undamped / count, np.finfo(float).eps)
        variance = score / np.maximum(count - parameters, 1.0)
        correction = 1.0 + parameters / count * (1.0 - mean_slope) / mean_slope
        curvature: FloatArray = np.sqrt(mean_slope / (weight / count))
        deviation: FloatArray = (
            correction * joint_weights * self.scale * np.sqrt(variance / mean_slope)
        )
        return curvature, deviation


class SizeMedian:
    """
    Median of the sizes of numbers that come in parts, in memory that does not grow.

    Up to `LARGEST_SAMPLE` numbers it is exact. More are counted in classes of equal ratio, and
    the median is right to a part in 700.
    """

    LARGEST_SAMPLE = 200_000
    CLASSES_PER_DOUBLING = 512
    # Two to this power is the least and the greatest size that is distinguished.
    LEAST, GREATEST = -60, 40

    def __init__(self) -> None:
        self._sizes: list[FloatArray] = []
        self._number = 0
        self._counts: FloatArray | None = None

    def add(self, values: FloatArray) -> None:
        """Take more numbers, shape (m,)."""
        sizes = np.abs(values)
        self._number += len(sizes)
        if self._counts is not None:
            self._count(self._counts, sizes)
            return
        self._sizes.append(sizes)
        if self._number > self.LARGEST_SAMPLE:
            classes = (self.GREATEST - self.LEAST) * self.CLASSES_PER_DOUBLING
            self._counts = np.zeros(classes)
            for part in self._sizes:
                self._count(self._counts, part)
            self._sizes = []

    def merge(self, other: SizeMedian) -> None:
        """Take the numbers that another has, too; as if they had been added here."""
        if other._counts is None:
            for sizes in other._sizes:
                self.add(sizes)
            return
        if self._counts is None:
            self._counts = np.zeros(len(other._counts))
            for sizes in self._sizes:
                self._count(self._counts, sizes)
            self._sizes = []
        self._counts += other._counts
        self._number += other._number

    def _count(self, counts: FloatArray, sizes: FloatArray) -> None:
        powers = np.log2(np.maximum(sizes, 2.0**self.LEAST)) - self.LEAST
        classes = np.minimum((powers * self.CLASSES_PER_DOUBLING).astype(int), len(counts) - 1)
        counts += np.bincount(classes, minlength=len(counts))

    @property
    def value(self) -> float:
        """Return the median; zero of no numbers."""
        if self._number == 0:
            return 0.0
        if self._counts is None:
            return float(np.median(np.concatenate(self._sizes)))
        cumulated = np.cumsum(self._counts)
        place = int(np.searchsorted(cumulated, 0.5 * self._number))
        if place == 0:
            return 0.0
        inside = (0.5 * self._number - cumulated[place - 1]) / self._counts[place]
        return float(2.0 ** ((place + inside) / self.CLASSES_PER_DOUBLING + self.LEAST))


@dataclass(frozen=True)
class HuberRegression(Estimator):
    r"""
    Minimize :math:`\sum_j \sum_k \rho((\tau_{jk} - W_{jk} \theta) / s_j)` [1]_.

    :math:`\rho` is half the square up to `tuning` and linear beyond. The scale :math:`s_j` of
    each joint is 1.4826 times the median size of its residuals. With normal noise the default
    tuning costs 5 % of the information.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics 35(1), 1964.
    .. [2] P. Holland, R. Welsch, "Robust regression using iteratively reweighted least squares",
       Communications in Statistics A6(9), 1977.

    """

    tuning: float = 1.345  # in standard deviations
    # whether a newton metre of any joint counts the same, as in ordinary least squares
    equal_joints: bool = False
    iterations: int = 50  # passes over the data at most
    tolerance: float = 1.0e-8  # relative change of the parameters at which it ends

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
