# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Intervals and tests from a covariance: of parameters, of several together, of needed terms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, RankDeficientError, UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.judgement import Identification
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import solve_unknowns
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.scatter import problem_of
from robot_identification.model import IdentifiedModel
from robot_identification.validation import MOST_FREEDOM
import scipy

# Share of intervals that hold the truth; docs/identification.md measures whether they do.
CONFIDENCE = 0.95
ROTOR = 'rotor inertia'
# A group is needed if chance makes it look so in one of a hundred cases at most.
LEVEL = 0.01


@dataclass(frozen=True)
class JointTest:
    """Test of several parameters together against a guess."""

    statistic: float  # squared distance in standard errors, scaled to Fisher's F
    freedom: tuple[float, float]  # of numerator and denominator
    p_value: float  # probability of a larger distance if the guess is true


def confidence_intervals(
    theta: FloatArray, covariance: Covariance, confidence: float = CONFIDENCE
) -> FloatArray:
    """
    Return lower and upper ends (b, 2) of the intervals of single parameters, SI units.

    `confidence` is the share of such intervals that hold the true value of the base parameter. NaN
    for parameters held by a bound. Raises UsageError if `confidence` is not between 0 and 1.
    """
    half = quantile(confidence, covariance.freedom) * covariance.standard_errors
    return np.column_stack([theta - half, theta + half])


def joint_test(
    difference: FloatArray, covariance: Covariance, chosen: Sequence[int]
) -> JointTest:
    """
    Test whether some parameters together differ from a guess by more than chance.

    `difference` (b,) is estimate minus guess, SI units; `chosen` are the q parameters that are
    tested. The points that are not rejected form the ellipsoid of the estimate. As the covariance
    is estimated, the squared distance has Hotelling's distribution, not the chi-square one. Raises
    DataError if the covariance rests on too little to test so many parameters, or one of them has
    none.
    """
    at = np.asarray(chosen, dtype=int)
    q = len(at)
    freedom = float(np.mean(covariance.freedom[at])) if q else 0.0
    second = freedom - q + 1.0
    if not q or second < 1.0:
        raise DataError(
            f'{q} parameters cannot be tested together with {freedom:.1f} degrees of freedom: '
            'test fewer of them, or record longer'
        )
    matrix = covariance.matrix[np.ix_(at, at)]
    errors = np.sqrt(np.diag(matrix))
    if not np.all(errors > 0.0):
        raise DataError(
            'parameters that a bound holds cannot be tested: leave them out of the choice'
        )
    scaled = difference[at] / errors
    try:
        factor = scipy.linalg.cho_factor(matrix / errors / errors[:, None])
    except np.linalg.LinAlgError as error:
        raise DataError(
            f'the covariance of {q} parameters is singular: test fewer of them'
        ) from error
    statistic = float(scaled @ scipy.linalg.cho_solve(factor, scaled)) * second / (freedom * q)
    return JointTest(
        statistic, (float(q), second), float(scipy.special.fdtrc(q, second, statistic))
    )


def quantile(confidence: float, freedom: FloatArray) -> FloatArray:
    """Return what Student's t is below in size with a probability, for degrees of freedom."""
    if not 0.0 < confidence < 1.0:
        raise UsageError(f'confidence is {confidence:g}, it must be between 0 and 1')
    quantile: FloatArray = scipy.special.stdtrit(freedom, 0.5 + 0.5 * confidence)
    return quantile


def nested_test(
    estimate: Estimate, removed: Sequence[int], independent_share: float = 1.0
) -> tuple[JointTest, float]:
    """
    Test whether some parameters are needed, by a fit of the model without them.

    First is the F-test by the sums of squares of the weighted rows, which takes residuals as
    white: for others only `joint_test` holds, with a covariance that accounts for their
    correlation. Second is by how much Schwarz's criterion grows without them. The estimate is that
    of the whole model, without prior. Raises DataError if there are no parameters to remove, or
    none left.
    """
    problem = problem_of(estimate)
    reduction, weights = problem.reduction, estimate.weights
    kept = np.setdiff1d(np.arange(reduction.rank), removed)
    count, freedom = reduction.rank - len(kept), float(problem.samples.sum() - problem.size)
    if not count or not len(kept):
        raise DataError(
            f'{count} parameters to remove: name one or more of the estimate, and not all'
        )
    # Factors are all that is asked of it: rows and blocks of time would be made anew.
    smaller = replace(problem, blocks=(), phases=(), observations=None).select(kept)
    without = solve_unknowns(smaller, weights)
    squares = float(weights**2 @ problem.squared_residuals(solve_unknowns(problem, weights)))
    fewer = float(weights**2 @ smaller.squared_residuals(without))
    statistic = (fewer - squares) / count / max(squares / freedom, np.finfo(float).tiny)
    growth = schwarz_criterion(smaller, without, independent_share) - schwarz_criterion(
        problem, estimate.unknowns, independent_share
    )
    return JointTest(
        statistic, (float(count), freedom),
        float(scipy.special.fdtrc(count, freedom, max(statistic, 0.0))),
    ), growth


@dataclass(frozen=True)
class NeededGroup:
    """Some parameters of a joint, and whether the model would do without them."""

    # Joint, and friction law or kind of term.
    joint: str
    kind: str
    parameters: tuple[str, ...]  # the names of those with a standard error
    # Fisher's F of all of them being zero, and the chance of a larger one if they are; NaN where
    # the data cannot tell.
    statistic: float
    p_value: float
    # The same by sums of squares, which takes residuals as white; NaN with a prior or bounds.
    white_p: float
    bic: float  # by how much Schwarz's criterion grows without them; NaN with a prior or bounds

    @property
    def finding(self) -> str:
        """Return what the test says, in words."""
        if not math.isfinite(self.p_value):
            return 'not determined'
        return 'needed' if self.p_value < LEVEL else 'not shown to be needed'


def covariance_from_model(model: IdentifiedModel) -> Covariance:
    """Return the covariance of a model's base parameters, with its degrees of freedom."""
    b = len(model.theta_base)
    known = model.quality.get('degrees_of_freedom')
    return Covariance(
        model.covariance_kind,
        model.covariance,
        np.full(b, MOST_FREEDOM) if known is None else np.asarray(known, dtype=float),
        ~(np.diag(model.covariance) > 0.0),
    )


def find_needed_terms(
    identification: Identification, independent_share: float = 1.0
) -> tuple[NeededGroup, ...]:
    """
    Test group by group whether the model needs its friction and rotor inertias.

    `independent_share` is the number of independent samples over all samples of the residuals.
    """
    model, estimate = identification.model, identification.estimate
    covariance = covariance_from_model(model)
    is_plain = (
        estimate.problem is not None
        and estimate.problem.reduction.names == model.reduction.names
        and estimate.prior is None and estimate.damping is None and not estimate.active.any()
        and len(estimate.weights) == estimate.problem.n
    )
    found = []
    for (joint, kind), group in _groups(model).items():
        chosen = [row for row in group if not covariance.held[row]]
        statistic, p_value, white_p, bic = (math.nan,) * 4
        # With too little data for so many at once the page says that it is not determined.
        with suppress(DataError):
            if chosen:
                test = joint_test(model.theta_base, covariance, chosen)
                statistic, p_value = test.statistic, test.p_value
        with suppress(DataError, RankDeficientError):
            if chosen and is_plain:
                white, bic = nested_test(estimate, chosen, independent_share)
                white_p = white.p_value
        names = tuple(model.reduction.names[row] for row in chosen)
        found.append(NeededGroup(joint, kind, names, statistic, p_value, white_p, bic))
    return tuple(found)


def _groups(model: IdentifiedModel) -> dict[tuple[str, str], list[int]]:
    """Return the base parameters of each kind of friction, and of the rotor, by joint."""
    parameters, joints = model.parameters, model.robot.joint_names
    kinds: dict[int, tuple[int, str]] = {}
    for term, columns in parameters.friction_columns:
        for column, kind in zip(
            range(columns.start, columns.stop), term.law.kinds, strict=True
        ):
            kinds[column] = term.joint, kind
    if parameters.reflected_inertia:
        first = parameters.reflected_inertia_slice.start
        kinds |= {first + joint: (joint, ROTOR) for joint in range(parameters.n)}
    groups: dict[tuple[int, str], list[int]] = {}
    for row, column in enumerate(model.reduction.independent):
        if int(column) in kinds:
            groups.setdefault(kinds[int(column)], []).append(row)
    return {
        (joints[joint], kind): groups[joint, kind]
        for joint, kind in sorted(groups, key=lambda key: key[0])
    }


def schwarz_criterion(
    problem: IdentificationProblem, unknowns: FloatArray, independent_share: float
) -> float:
    """
    Return Schwarz's criterion (BIC) of a fit with its own noise on every joint.

    `independent_share` is independent samples over samples: with correlated residuals all terms
    but the number of parameters count so much less.
    """
    squares = np.maximum(problem.squared_residuals(unknowns), np.finfo(float).tiny)
    fit = independent_share * float(np.sum(problem.samples * np.log(squares / problem.samples)))
    rows = independent_share * float(np.sum(problem.samples))
    return fit + (problem.size + problem.n) * math.log(max(rows, 1.0))
