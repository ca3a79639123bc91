# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Weighted and bounded least squares, and other steps from the factors to the estimate.

Some solutions come without condition numbers and covariances: estimators that solve many times
describe the last solution only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, triangle_of
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimate import Estimate, PriorTerm
from robot_identification.estimation.problem import IdentificationProblem, Observations
import scipy

# Smaller parts of the least length of a column are all one.
LEAST_SHARE = 1.0e-3
# A column shorter than this part of the longest says nothing; its standard error is unbounded.
LEAST_LENGTH = 1.0e-100
# Any larger standard error is stated as this: its square must be a number.
LARGEST_ERROR = 1.0e120
# Relative size below which a singular value of the column-scaled problem is rounding.
RANK_TOLERANCE = 1.0e-10
# A residual smaller than this part of the largest torque is rounding: a joint without residual
# (simulated without noise) must not get all the weight.
LEAST_RESIDUAL = 1.0e-9
# Times that the joints' weights are renewed before an estimator passes over the rows.
FIRST_REWEIGHTINGS = 3


def solve_bounded(
    R: FloatArray,
    z: FloatArray,
    bounded: BoolArray,
    shortest: FloatArray,
    shrinkage: float = 0.0,
) -> FloatArray:
    """
    Return the x (k,) of least ``|R @ x - z|``, bounded unknowns not negative.

    Free unknowns are eliminated first by QR, so that they are exact for any bounds.
    Bounded columns are scaled by the larger of their length and `shortest`. `shrinkage` is
    added to the squares, per squared unknown in that scale; the fourth power of the ratio times as
    much where the column is shorter.
    """
    x = np.zeros(len(bounded))
    free = R[:, ~bounded]
    lengths = np.maximum(np.linalg.norm(free, axis=0), np.finfo(float).tiny)
    orthogonal, triangle = np.linalg.qr(free / lengths)
    columns = R[:, bounded]
    scale, shortness = column_scales(columns, shortest[bounded])
    columns = columns / scale
    if columns.shape[1]:
        # The factor of the projected columns has at most as many rows as unknowns.
        reduced = triangle_of(np.column_stack([
            without(orthogonal, columns), without(orthogonal, z)
        ]))
        count = columns.shape[1]
        x[bounded] = scipy.optimize.nnls(
            np.vstack([reduced[:, :-1], np.sqrt(shrinkage) * np.diag(shortness**2)]),
            np.append(reduced[:, -1], np.zeros(count)),
        )[0]
    x[~bounded] = scipy.linalg.solve_triangular(
        triangle, orthogonal.T @ (z - columns @ x[bounded])
    ) / lengths
    x[bounded] /= scale
    return x


def column_scales(columns: FloatArray, shortest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return as how long each column counts, and how much longer that is than it is."""
    length = np.linalg.norm(columns, axis=0)
    scale = np.maximum(length, shortest)
    scale[scale == 0.0] = 1.0
    # That scale alone leaves a term with a thousandth of it free: it is shrunk by the square, too.
    return scale, scale / np.maximum(length, LEAST_SHARE * scale)


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


def without(orthogonal: FloatArray, columns: FloatArray) -> FloatArray:
    """Return what orthonormal columns leave of others."""
    rest: FloatArray = columns - orthogonal @ (orthogonal.T @ columns)
    return rest


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
