# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Least squares by QR of the column-scaled factors; never normal equations."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.estimate import Estimate, PriorTerm
from robot_identification.estimation.problem import IdentificationProblem
import scipy

# A column shorter than this part of the longest says nothing; its standard error is unbounded.
LEAST_LENGTH = 1.0e-100
# Any larger standard error is stated as this: its square must be a number.
LARGEST_ERROR = 1.0e120
# Relative size below which a singular value of the column-scaled problem is rounding.
RANK_TOLERANCE = 1.0e-10


def residual_deviation(problem: IdentificationProblem, theta: FloatArray) -> FloatArray:
    """Return the standard deviation (n,) of the joints' residuals [N m] for unknowns (size,)."""
    freedom = np.maximum(problem.samples - problem.size / problem.n, 1.0)
    deviation: FloatArray = np.sqrt(problem.squared_residuals(theta) / freedom)
    return deviation


def describe_estimate(
    problem: IdentificationProblem,
    weights: FloatArray,
    theta: FloatArray,
    *,
    active: BoolArray | None = None,
    prior: PriorTerm | None = None,
) -> Estimate:
    """
    Return an estimate with its covariance from white residuals.

    `weights` (n,) are factors on the rows of each joint [1 / N m], `theta` (size,) all unknowns;
    those that are `active`, held by a bound, count as known exactly.
    """
    b = problem.reduction.rank
    active = np.zeros(problem.size, dtype=bool) if active is None else active
    sigma = residual_deviation(problem, theta)
    R, _ = problem.stacked(weights)
    deviation = np.repeat(weights * sigma, [len(factor.triangle) for factor in problem.factors])
    if prior is not None:
        R = np.vstack([R, prior.matrix])
        deviation = np.append(deviation, np.ones(len(prior.matrix)))
    free = R[:, ~active]
    scale = np.linalg.norm(free, axis=0)
    # One over it must be a number.
    scale = np.maximum(scale, max(LEAST_LENGTH * scale.max(initial=0.0), np.finfo(float).tiny))
    orthogonal, triangle = np.linalg.qr(free / scale)
    singular = np.linalg.svd(triangle, compute_uv=False)
    G = scipy.linalg.solve_triangular(triangle, orthogonal.T * deviation) / scale[:, None]
    largest = np.abs(G).max(axis=1, initial=0.0)
    G *= np.minimum(1.0, LARGEST_ERROR / np.maximum(largest, 1.0))[:, None]
    covariance = np.zeros((problem.size, problem.size))
    covariance[np.ix_(~active, ~active)] = G @ G.T
    return Estimate(
        theta=theta[:b],
        covariance=covariance[:b, :b],
        sigma=sigma,
        condition_number=float(np.linalg.cond(free)),
        condition_number_scaled=float(singular[0] / singular[-1]),
        singular_values=singular,
        problem=problem,
        weights=weights,
        active=active[:b],
        prior=prior,
        nuisance=theta[b:],
    )


def solve_weighted(problem: IdentificationProblem, weights: FloatArray) -> Estimate:
    """
    Minimize the weighted sum of squared residuals.

    `weights` (n,) are factors on the rows of each joint [1 / N m]. The covariance is ``(W' V^-1
    W)^-1``, where V holds the residual variance of each joint, propagated through the weights
    actually used (a sandwich, exact for any weights). Raises RankDeficientError if the weighted
    problem is singular to rounding.
    """
    R, z = problem.stacked(weights)
    scale = np.linalg.norm(R, axis=0)
    names = problem.reduction.names
    if not np.all(scale > 0.0):
        hidden = ', '.join(
            names[i] if i < len(names) else 'the offset of one recording'
            for i in np.flatnonzero(scale == 0.0)
        )
        raise RankDeficientError(f'the data do not show {hidden} at all')
    orthogonal, triangle = np.linalg.qr(R / scale)
    singular = np.linalg.svd(triangle, compute_uv=False)
    if singular[-1] < RANK_TOLERANCE * singular[0]:
        raise RankDeficientError(
            f'the data determine fewer than {len(names)} base parameters (smallest over largest '
            f'singular value {singular[-1] / singular[0]:.1e}): record a richer motion'
        )
    theta = scipy.linalg.solve_triangular(triangle, orthogonal.T @ z) / scale
    return describe_estimate(problem, weights, theta)
