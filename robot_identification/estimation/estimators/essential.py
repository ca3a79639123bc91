# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Essential parameters: those that the data hardly show are left out, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.options import (
    check_count, check_not_negative, check_positive, check_share,
)
from robot_identification.estimation.linear import describe_estimate
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import least_squares, renew_weights
from robot_identification.estimation.uncertainty.covariance import Covariance, covariance_of
from robot_identification.estimation.uncertainty.model_tests import nested_test
from robot_identification.estimation.uncertainty.scatter import problem_of

KINDS = ('residual', 'blocks', 'hac')


@dataclass(frozen=True)
class EssentialParameters(Estimator):
    """
    Weighted least squares with the parameters that prediction needs, all others zero [1]_ [2]_.

    The parameter of largest relative standard error goes first, if its error is both above
    `limit` and `contrast` times the smallest. The rest is estimated again with the same weights.
    It ends when no parameter is that uncertain, when an F-test says that the next one is needed,
    or when the residuals without it grow too large.

    Which base parameters represent the arm matters: a combination that is needed may be spread
    over several that are uncertain each. What is left predicts motions like those of the
    recording; it is no better than all parameters where data are plentiful.

    Attributes
    ----------
    limit : float
        Relative standard error above which a parameter may go.
    contrast : float
        Times the smallest relative standard error that it must have, too.
    significance : float
        Probability below which an F-test keeps a parameter.
    growth : float
        Part by which the weighted residuals may grow in all.
    covariance : {'residual', 'blocks', 'hac'}
        Standard errors and test that decide: of white residuals, which are too small for
        recordings and keep more parameters, or of correlated ones (docs/statistics.md). The test
        is the F-test of the sums of squares for white residuals, else its robust form.
    reweightings : int
        How often each joint's weight is renewed from its residual with all parameters.

    References
    ----------
    .. [1] W. Khalil, E. Dombre, "Modeling, identification and control of robots", Hermes Penton,
       2002, chapter 12.
    .. [2] M. Gautier, W. Khalil, "Direct calculation of minimum set of inertial parameters of
       serial robots", IEEE Transactions on Robotics and Automation 6(3), 1990.

    """

    limit: float = 0.3
    contrast: float = 10.0
    significance: float = 0.05
    growth: float = 0.02
    covariance: str = 'residual'
    reweightings: int = 3

    def __post_init__(self) -> None:
        check_positive(self.limit, 'limit of essential')
        check_positive(self.contrast, 'contrast of essential')
        check_share(self.significance, 'significance of essential')
        check_not_negative(self.growth, 'growth of essential')
        if self.covariance not in KINDS:
            raise UsageError(
                f'unknown covariance {self.covariance!r} of essential: known are '
                f'{", ".join(KINDS)}'
            )
        check_count(self.reweightings, 0, 'reweightings of essential')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate and leave out in turn; see `Estimator.estimate`."""
        # Refuses by name what the data do not determine.
        weights = renew_weights(problem, self.reweightings)
        active = np.zeros(problem.size, dtype=bool)
        estimate = _solve_without(problem, weights, active)
        residual = first = _weighted_residual(problem, weights, estimate.unknowns)
        removed: list[str] = []
        while True:
            covariance = covariance_of(estimate, self.covariance)
            candidate, reason = self._candidate(estimate, covariance)
            if candidate is None:
                break
            error = _relative_errors(estimate, covariance)[candidate]
            tested = nested_test(estimate, covariance, [candidate])
            test = tested.white if self.covariance == 'residual' else tested.robust
            described = (
                f'{problem.reduction.names[candidate]} (standard error {100.0 * error:.0f} %, '
                f'p = {test.p_value:.2g})'
            )
            if test.p_value < self.significance:
                reason = f'the F-test needs {described}'
                break
            active[candidate] = True
            smaller = _solve_without(problem, weights, active)
            residual = _weighted_residual(problem, weights, smaller.unknowns)
            if residual > (1.0 + self.growth) * first:
                reason = (
                    f'without {described} the residuals would be '
                    f'{100.0 * (residual / first - 1.0):.2g} % larger than with all, more than '
                    f'{100.0 * self.growth:g} %'
                )
                break
            estimate = smaller
            removed.append(described)
        count = problem.reduction.rank
        notes = [
            f'{count - len(removed)} of {count} base parameters are essential; it ended as '
            f'{reason}'
        ]
        if removed:
            notes += [
                f'set to zero in this order: {", ".join(removed)}',
                'standard errors take the parameters that are zero as known',
            ]
        return replace(estimate, notes=tuple(notes))

    def _candidate(
        self, estimate: Estimate, covariance: Covariance
    ) -> tuple[int | None, str]:
        """Return the next parameter to leave out, or why there is none."""
        free = np.flatnonzero(~estimate.active)
        if len(free) < 2:
            return None, 'one parameter is left'
        errors = _relative_errors(estimate, covariance)[free]
        worst = int(np.argmax(errors))
        name = problem_of(estimate).reduction.names[free[worst]]
        if errors[worst] <= self.limit:
            return None, (
                f'the largest relative standard error, that of {name}, is '
                f'{100.0 * errors[worst]:.2g} %'
            )
        if errors[worst] <= self.contrast * errors.min():
            return None, (
                f'the relative standard error of {name} is only '
                f'{errors[worst] / errors.min():.2g} times the smallest'
            )
        return int(free[worst]), ''


def _solve_without(
    problem: IdentificationProblem, weights: FloatArray, active: BoolArray
) -> Estimate:
    """Return the weighted least-squares estimate with some unknowns at zero."""
    R, z = problem.stacked(weights)
    theta = np.zeros(problem.size)
    theta[~active] = least_squares(R[:, ~active], z)
    return describe_estimate(problem, weights, theta, active=active.copy())


def _weighted_residual(
    problem: IdentificationProblem, weights: FloatArray, theta: FloatArray
) -> float:
    """Return the root of the weighted sum of squared residuals."""
    return float(np.sqrt(np.sum(weights**2 * problem.squared_residuals(theta))))


def _relative_errors(estimate: Estimate, covariance: Covariance) -> FloatArray:
    """Return standard errors over sizes, shape (b,); what is zero has none that counts."""
    sizes = np.maximum(np.abs(estimate.theta), np.finfo(float).tiny)
    with np.errstate(over='ignore'):
        errors: FloatArray = np.nan_to_num(covariance.standard_errors) / sizes
    return errors
