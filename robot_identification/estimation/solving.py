# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Steps that several estimators share between the factors and the estimate.

Solutions here come without condition numbers and covariances: estimators that solve many times
describe the last solution only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arrays import FloatArray, triangle_of
from robot_identification.errors import UsageError
from robot_identification.estimation.linear import (
    RANK_TOLERANCE, residual_deviation, solve_weighted,
)
from robot_identification.estimation.problem import IdentificationProblem, Observations
import scipy

# A residual smaller than this part of the largest torque is rounding: a joint without residual
# (simulated without noise) must not get all the weight.
LEAST_RESIDUAL = 1.0e-9
# Times that the joints' weights are renewed before an estimator passes over the rows.
FIRST_REWEIGHTINGS = 3


def least_squares(R: FloatArray, z: FloatArray) -> FloatArray:
    """
    Return the least-squares x (k,) of ``R @ x = z`` by QR with columns of unit length.

    Columns that are dependent to rounding raise a `numpy.linalg.LinAlgError`.
    """
    scale = np.linalg.norm(R, axis=0)
    if not np.all(scale > 0.0):
        raise np.linalg.LinAlgError('a column is zero')
    triangle = triangle_of(np.column_stack([R / scale, z]))[:-1]
    if np.min(np.abs(np.diag(triangle)), initial=1.0) < RANK_TOLERANCE:
        raise np.linalg.LinAlgError('columns are dependent')
    x: FloatArray = scipy.linalg.solve_triangular(triangle[:, :-1], triangle[:, -1]) / scale
    return x


def solve_unknowns(problem: IdentificationProblem, weights: FloatArray) -> FloatArray:
    """
    Return all unknowns (size,) of a problem weighted by joint (n,), nuisance ones too.

    A problem that is singular to rounding raises a `RankDeficientError`.
    """
    try:
        return least_squares(*problem.stacked(weights))
    except np.linalg.LinAlgError:
        # It looks closer, and says by name what the data lack.
        solve_weighted(problem, weights)
        raise


def propagate(R: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return the covariance (k, k) of a least-squares solution from deviations (m,) of rows."""
    scale = np.linalg.norm(R, axis=0)
    orthogonal, triangle = np.linalg.qr(R / scale)
    G = scipy.linalg.solve_triangular(triangle, orthogonal.T) / scale[:, None]
    covariance: FloatArray = (G * deviation**2) @ G.T
    return covariance


def rows_per_joint(problem: IdentificationProblem, values: FloatArray) -> FloatArray:
    """Return a value of each joint, shape (n,), for each row of the stacked problem."""
    return np.repeat(values, [len(factor.triangle) for factor in problem.factors])


def least_deviation(problem: IdentificationProblem) -> float:
    """Return the standard deviation below which a residual is rounding [N m]."""
    largest = float(np.max(problem.squared_torque / problem.samples))
    return LEAST_RESIDUAL * (np.sqrt(largest) if largest else 1.0)


def residual_weights(problem: IdentificationProblem, theta: FloatArray) -> FloatArray:
    """Return one over the standard deviation of each joint's residual, shape (n,) [1 / N m]."""
    weights: FloatArray = 1.0 / np.maximum(
        residual_deviation(problem, theta), least_deviation(problem)
    )
    return weights


def renew_weights(
    problem: IdentificationProblem,
    times: int,
    solve: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """
    Return the weights (n,) of the joints after some rounds of solving and weighing.

    `solve` returns the unknowns (size,) for weights (n,), by default `solve_unknowns`.
    """
    weights = np.ones(problem.n)
    for _ in range(times):
        found = solve_unknowns(problem, weights) if solve is None else solve(weights)
        weights = residual_weights(problem, found)
    return weights


def relative_change(
    problem: IdentificationProblem,
    weights: FloatArray,
    theta: FloatArray,
    found: FloatArray,
) -> float:
    """Return the change of the unknowns over their size, in units that do not matter."""
    lengths = np.linalg.norm(problem.stacked(weights)[0], axis=0)
    size = float(np.linalg.norm(lengths * found))
    return float(np.linalg.norm(lengths * (found - theta))) / (size or 1.0)


def need_observations(problem: IdentificationProblem, estimator: str) -> Observations:
    """Return the rows behind a problem; `UsageError` if only their factors were kept."""
    if problem.observations is None:
        raise UsageError(
            f'estimator {estimator} passes over the recordings again, and only their factors are '
            'here: identify from the bags, or choose --estimator wls'
        )
    return problem.observations


def need_motions(problem: IdentificationProblem, estimator: str) -> Observations:
    """
    Return the rows behind a problem, with the motions that they come from.

    Raises UsageError if only factors are given, or joints were recorded on both sides of their
    gears.
    """
    observations = need_observations(problem, estimator)
    for part in observations.data:
        if part.dataset.motion.rotor is not None:
            raise UsageError(
                f'{part.dataset.source}: estimator {estimator} takes joints as rigid, and rotors '
                'were recorded as well: choose --estimator wls'
            )
    return observations
