# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Intervals and tests from a covariance: of parameters, of several together, of nested models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.uncertainty.covariance import Covariance
import scipy

# Share of intervals that hold the truth; docs/statistics.md measures whether they do.
CONFIDENCE = 0.95


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


@dataclass(frozen=True)
class NestedTest:
    """Test of whether some parameters of a model are needed."""

    removed: tuple[str, ...]  # the parameters
    white: JointTest  # F-test by sums of squares, which takes residuals as white
    robust: JointTest  # the same by the covariance that was given


def nested_test(
    estimate: Estimate, covariance: Covariance, removed: Sequence[int]
) -> NestedTest:
    """
    Test whether some parameters are needed: F-test of the model without them.

    The estimate is that of the whole model, without prior; its covariance is 'hac' or 'blocks'.
    The sums of squares are those of the weighted rows. For white residuals this and the joint test
    with the covariance 'residual' are the same; for others only the joint test holds, with a
    covariance that accounts for their correlation. Raises DataError if there are no parameters to
    remove, none left, or too many for the covariance.
    """
    problem = estimate.problem
    at = np.asarray(removed, dtype=int)
    if problem is None or not 0 < len(at) < problem.size:
        raise DataError(
            f'{len(at)} parameters to remove: name one or more of the estimate, and not all'
        )
    R, z = problem.stacked(estimate.weights)
    held = np.append(estimate.active, np.zeros(problem.nuisance, dtype=bool))
    whole = np.flatnonzero(~held)
    smaller = np.setdiff1d(whole, at)
    squares, fewer = (_squares_left(R[:, kept], z) for kept in (whole, smaller))
    count = len(whole) - len(smaller)
    freedom = float(problem.samples.sum() - len(whole))
    statistic = (fewer - squares) / count / max(squares / freedom, np.finfo(float).tiny)
    return NestedTest(
        tuple(problem.reduction.names[i] for i in at),
        JointTest(
            statistic, (float(count), freedom),
            float(scipy.special.fdtrc(count, freedom, max(statistic, 0.0))),
        ),
        joint_test(estimate.theta, covariance, at.tolist()),
    )


def _squares_left(R: FloatArray, z: FloatArray) -> float:
    """Return the sum of squares that a least-squares fit leaves."""
    scale = np.linalg.norm(R, axis=0)
    scaled = R / np.where(scale > 0.0, scale, 1.0)
    x = np.linalg.lstsq(scaled, z, rcond=None)[0]
    return float(np.sum((z - scaled @ x) ** 2))
