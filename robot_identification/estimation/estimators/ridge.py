# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Ridge regression on the standard parameters, as in the youBot report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator, PriorTerm,
)
from robot_identification.estimation.prior import whitened_prior
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import (
    describe_estimate, least_squares, need_observations, propagate, renew_weights,
    residual_deviation, rows_per_joint, without,
)
from robot_identification.model import prior_deviation, prior_inertial_parameters
import scipy

RULES = ('smallest_eigenvalue', 'cross_validation', 'fixed')
# Penalties that cross-validation tries, from a part of the smallest to one of the largest
# eigenvalue, and their number; between two of them the minimum is searched.
LEAST_PART, GREATEST_PART, CANDIDATES = 1.0e-6, 1.0e3, 121
_Center = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class RidgeRegression(Estimator):
    r"""
    Minimize :math:`\lVert \tau - W \pi \rVert^2 + \lambda \lVert \pi \rVert^2` [1]_, eq. 3.73.

    The unknowns are all standard parameters :math:`\pi`, base parameters :math:`K \pi` are the
    result. As the observation matrix of the standard parameters is that of the base parameters
    times :math:`K`, the factors of the base parameters are enough.

    With the report's penalty, the smallest eigenvalue of :math:`W^T W` that is not zero, the
    solution has no part in the null space of :math:`W`, and its part along the direction that the
    data show least is half of what the data say. Units matter: a kilogram costs as much as a
    kilogram square metre. The offset of single recordings is not penalized.

    References
    ----------
    .. [1] J. Rajagopal, "Dynamic robot model parameter identification via domain specific
       optimization", R&D report, Hochschule Bonn-Rhein-Sieg, 2017.
    .. [2] G. Golub, M. Heath, G. Wahba, "Generalized cross-validation as a method for choosing a
       good ridge parameter", Technometrics 21(2), 1979.

    """

    # how the penalty is chosen; 'cross_validation' is the generalized one [2]_
    rule: str = 'smallest_eigenvalue'
    penalty: float | None = None  # the penalty of rule 'fixed'
    # regularize towards the URDF's parameters instead of zero, in units of how far those may be
    # wrong (`prior_deviation`), so that units do not matter
    toward_prior: bool = False
    # how often each joint's weight is renewed from its residual; the report has no weights
    reweightings: int = 0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UsageError(
                f'unknown rule {self.rule!r} of ridge: known are {", ".join(RULES)}'
            )
        if (self.penalty is None) == (self.rule == 'fixed'):
            raise UsageError(
                f'rule {self.rule!r} of ridge with penalty {self.penalty}: give a penalty with '
                'rule fixed, and with no other'
            )
        if self.penalty is not None:
            check_positive(self.penalty, 'penalty of ridge')
        check_count(self.reweightings, 0, 'reweightings of ridge')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with the penalty; see `Estimator.estimate`."""
        center = self._center(problem)
        weights = renew_weights(
            problem,
            self.reweightings,
            lambda weights: _solve(problem, weights, self._prior(problem, weights, center)[0]),
        )
        prior, note = self._prior(problem, weights, center)
        theta = _solve(problem, weights, prior)
        b = problem.reduction.rank
        R, _ = problem.stacked(weights)
        # The regularization has no scatter: what it adds is a bias.
        deviation = rows_per_joint(problem, weights * residual_deviation(problem, theta))
        covariance = propagate(
            np.vstack([R, prior.matrix]), np.append(deviation, np.zeros(len(prior.side)))
        )
        return replace(
            describe_estimate(problem, weights, theta, prior=prior),
            covariance=covariance[:b, :b],
            notes=(note, 'standard errors do not contain the bias that the penalty causes'),
        )

    def _center(self, problem: IdentificationProblem) -> _Center:
        """Return the standard parameters (p,) that are regularized towards, and their units."""
        size = problem.reduction.parameters.size
        if not self.toward_prior:
            return np.zeros(size), np.ones(size)
        robot = need_observations(problem, 'ridge with toward_prior').robot
        values = np.zeros(size)
        values[: 10 * robot.n] = prior_inertial_parameters(robot)
        return values, prior_deviation(robot, size)

    def _prior(
        self, problem: IdentificationProblem, weights: FloatArray, center: _Center
    ) -> tuple[PriorTerm, str]:
        """Return the rows that penalize, and how strongly in words."""
        spectrum = _Spectrum(problem, weights, center)
        if self.rule == 'fixed':
            penalty = float(self.penalty or 0.0)
        elif self.rule == 'cross_validation':
            penalty = spectrum.cross_validated()
        else:
            penalty = float(spectrum.seen[-1] ** 2)
        unseen = problem.reduction.rank - len(spectrum.seen)
        note = (
            f'ridge penalty {penalty:.3g} by rule {self.rule}; the eigenvalues that are not zero '
            f'run from {spectrum.seen[-1] ** 2:.3g} to {spectrum.seen[0] ** 2:.3g} (singular '
            f'values above {spectrum.tolerance:.1e} of the largest count)'
        )
        if unseen:
            note += f'; {unseen} combinations have no data, only the penalty decides them'
        rows = np.arange(problem.reduction.rank)
        return whitened_prior(problem.reduction, problem.size, rows, *center, penalty), note


class _Spectrum:
    """
    Singular values of the observation matrix of the standard parameters.

    `seen` are those that are not zero, descending; parts of the largest below `tolerance` are.
    """

    def __init__(
        self, problem: IdentificationProblem, weights: FloatArray, center: _Center
    ) -> None:
        b, K = problem.reduction.rank, problem.reduction.K
        R, z = problem.stacked(weights)
        nuisance, _ = np.linalg.qr(R[:, b:])
        side = without(nuisance, z - R[:, :b] @ (K @ center[0]))
        standard = without(nuisance, R[:, :b]) @ (K * center[1])
        left, singular, _ = np.linalg.svd(standard, full_matrices=False)
        self.tolerance = 10.0 * max(standard.shape) * float(np.finfo(float).eps)
        count = int(np.count_nonzero(singular > self.tolerance * singular[0]))
        if count == 0:
            raise RankDeficientError('the data show no parameter at all: record a motion')
        self.seen: FloatArray = singular[:count]
        self._shares = left[:, :count].T @ side
        self._rest = float(np.maximum(side @ side - self._shares @ self._shares, 0.0))
        self._rows = float(problem.samples.sum() - problem.nuisance)

    def cross_validated(self) -> float:
        """Return the penalty of least generalized cross-validation error."""
        candidates = np.linspace(
            np.log(LEAST_PART * self.seen[-1] ** 2),
            np.log(GREATEST_PART * self.seen[0] ** 2),
            CANDIDATES,
        )
        best = int(np.argmin([self._error(value) for value in candidates]))
        around = candidates[max(best - 1, 0)], candidates[min(best + 1, CANDIDATES - 1)]
        found = scipy.optimize.minimize_scalar(self._error, bounds=around, method='bounded')
        return float(np.exp(found.x))

    def _error(self, logarithm: float) -> float:
        kept = self.seen**2 / (self.seen**2 + np.exp(logarithm))
        squares = self._rest + np.sum(((1.0 - kept) * self._shares) ** 2)
        return float(squares / (self._rows - np.sum(kept)) ** 2)


def _solve(
    problem: IdentificationProblem, weights: FloatArray, prior: PriorTerm
) -> FloatArray:
    R, z = problem.stacked(weights)
    try:
        return least_squares(np.vstack([R, prior.matrix]), np.append(z, prior.side))
    except np.linalg.LinAlgError:
        raise RankDeficientError(
            f'the data determine fewer than {len(problem.reduction.names)} base parameters, and '
            'the penalty of ridge is too small to decide the others: give a larger one, or '
            'record a richer motion'
        ) from None
