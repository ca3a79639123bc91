# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tests of correlated parameters, and of nested models.

References
----------
.. [1] D. A. Belsley, E. Kuh, R. E. Welsch, "Regression diagnostics", Wiley, 1980.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.estimation.problem import Estimate, IdentificationProblem
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.intervals import joint_test, JointTest
import scipy

# Correlation of two estimates above which the data hardly distinguish them.
STRONG_CORRELATION = 0.95


@dataclass(frozen=True)
class Pair:
    """Two parameters whose estimates go together; `correlation` from -1 to 1."""

    first: str
    second: str
    correlation: float


@dataclass(frozen=True)
class NestedTest:
    """Test of whether some parameters of a model are needed."""

    removed: tuple[str, ...]  # the parameters
    white: JointTest  # F-test by sums of squares, which takes residuals as white
    robust: JointTest  # the same by the covariance that was given


@dataclass(frozen=True)
class InformationCriteria:
    """Fit against number of parameters; differences between models of the same data count."""

    aic: float  # Akaike's, smaller is better
    bic: float  # Schwarz's
    samples: float  # independent ones of a joint that they count


def strong_pairs(
    names: Sequence[str], covariance: Covariance, limit: float = STRONG_CORRELATION
) -> tuple[Pair, ...]:
    """
    Return the pairs of parameters that the data hardly distinguish, strongest first.

    Their correlation exceeds `limit` in size. `names` are those of all b base parameters.
    """
    correlation = covariance.correlation
    first, second = np.triu_indices(len(names), 1)
    values = correlation[first, second]
    strong = np.flatnonzero(np.abs(np.nan_to_num(values)) > limit)
    order = strong[np.argsort(-np.abs(values[strong]), kind='stable')]
    return tuple(
        Pair(names[first[k]], names[second[k]], float(values[k])) for k in order
    )


def variance_inflation(problem: IdentificationProblem, weights: FloatArray) -> FloatArray:
    """
    Return how much the other parameters blur each one [1]_, shape (b,).

    That is the variance over what it would be if all others were known, at least 1; infinite where
    the others explain all of the column. Above 10 they explain 90 % of it.
    """
    R, _ = problem.stacked(weights)
    scale = np.linalg.norm(R, axis=0)
    _, singular, right = np.linalg.svd(
        R / np.where(scale > 0.0, scale, 1.0), full_matrices=False
    )
    rounding = singular[0] * np.finfo(float).eps * max(R.shape)
    unidentifiable = singular <= rounding
    inflation = np.sum((right / np.where(unidentifiable, 1.0, singular)[:, None]) ** 2, axis=0)
    # A column with a part along such a direction is not identifiable at all.
    blurred = np.any(np.abs(right[unidentifiable]) > np.sqrt(np.finfo(float).eps), axis=0)
    return np.where(blurred | (scale == 0.0), np.inf, inflation)[: problem.reduction.rank]


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
            float(scipy.stats.f.sf(statistic, count, freedom)),
        ),
        joint_test(estimate.theta, covariance, at.tolist()),
    )


def information_criteria(
    problem: IdentificationProblem, theta: FloatArray, independent_share: float = 1.0
) -> InformationCriteria:
    """
    Return Akaike's and Schwarz's criteria of a fit with its own noise on every joint.

    `theta` (size,) are all unknowns of the problem. `independent_share` is independent samples
    over samples: with correlated residuals all terms but the number of parameters count so much
    less.
    """
    squares = np.maximum(problem.squared_residuals(theta), np.finfo(float).tiny)
    fit = independent_share * float(
        np.sum(problem.samples * np.log(squares / problem.samples))
    )
    samples = independent_share * float(np.mean(problem.samples))
    count = problem.size + problem.n
    return InformationCriteria(
        fit + 2.0 * count,
        fit + count * math.log(max(samples * problem.n, 1.0)),
        samples,
    )


def _squares_left(R: FloatArray, z: FloatArray) -> float:
    """Return the sum of squares that a least-squares fit leaves."""
    scale = np.linalg.norm(R, axis=0)
    scaled = R / np.where(scale > 0.0, scale, 1.0)
    x = np.linalg.lstsq(scaled, z, rcond=None)[0]
    return float(np.sum((z - scaled @ x) ** 2))
