# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Least squares: ordinary, weighted by residual variances, and with friction not negative."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation.estimate import check_count, Estimate, Estimator
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import (
    describe_estimate, renew_weights, solve_bounded, solve_unknowns, solve_weighted,
)
from robot_identification.model import BaseReduction

# A multiplier that misses the conditions of an optimum by more than this part of what column and
# right-hand side allow is no rounding.
OPTIMALITY_TOLERANCE = 1.0e-10


@dataclass(frozen=True)
class OrdinaryLeastSquares(Estimator):
    r"""
    Minimize :math:`\lVert \tau - W \theta \rVert^2` [1]_.

    Every joint's newton metre counts the same, so the noise of the strong joints hides what the
    weak ones know; `WeightedLeastSquares` is better for arms with joints of several sizes.

    References
    ----------
    .. [1] M. Gautier, W. Khalil, "Exciting trajectories for the identification of base inertial
       parameters of robots", IJRR 11(4), 1992.

    """

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with equal weights; see `Estimator.estimate`."""
        return solve_weighted(problem, np.ones(len(problem.samples)))


@dataclass(frozen=True)
class WeightedLeastSquares(Estimator):
    r"""
    Minimize :math:`\sum_j \lVert \tau_j - W_j \theta \rVert^2 / \sigma_j^2` [1]_.

    The standard deviations are those of the ordinary least-squares residuals, renewed
    `reweightings` times.

    References
    ----------
    .. [1] M. Gautier, P. Poignet, "Extended Kalman filtering and weighted least squares dynamic
       identification of robot", Control Engineering Practice 9(12), 2001.

    """

    reweightings: int = 3  # how often the weights are renewed

    def __post_init__(self) -> None:
        check_count(self.reweightings, 0, 'reweightings of wls')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with residual weights; see `Estimator.estimate`."""
        weights = renew_weights(problem, self.reweightings)
        return solve_weighted(problem, weights)


@dataclass(frozen=True)
class ConstrainedLeastSquares(Estimator):
    r"""
    Minimize :math:`\lVert \tau - W \theta \rVert^2` with no rotor inertia below zero [1]_.

    Friction coefficients are not negative either, except those of a law that may be. A rotor
    inertia or friction coefficient that is merged with other parameters in one base parameter has
    no bound: the combination may have either sign.

    References
    ----------
    .. [1] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
       trajectories", 2020.

    """

    # whether friction coefficients have bounds; Tika et al. bound the rotor inertias only.
    friction: bool = True
    # how often each joint's weight is renewed from its residual: none for constrained least
    # squares, 3 for constrained weighted least squares
    reweightings: int = 0

    def __post_init__(self) -> None:
        check_count(self.reweightings, 0, 'reweightings of constrained')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate within the bounds; see `Estimator.estimate`."""
        bounded = bounded_unknowns(problem, friction=self.friction)

        def solve(weights: FloatArray) -> tuple[FloatArray, BoolArray]:
            # It refuses, by name, what the data do not determine.
            free = solve_unknowns(problem, weights)
            if np.all(free[bounded] >= 0.0):
                return free, np.zeros(problem.size, dtype=bool)
            return solve_not_negative(*problem.stacked(weights), bounded)

        weights = renew_weights(problem, self.reweightings, lambda weights: solve(weights)[0])
        theta, active = solve(weights)
        return replace(
            describe_estimate(problem, weights, theta, active=active),
            notes=_describe_bounds(problem.reduction, active, friction=self.friction),
        )


def bounded_unknowns(problem: IdentificationProblem, *, friction: bool = True) -> BoolArray:
    """Return which unknowns (size,) cannot be negative: those of one standard parameter alone."""
    reduction = problem.reduction
    alone = np.sum(reduction.significant, axis=1) == 1
    bounded = not_negative_parameters(reduction, friction=friction)[reduction.independent] & alone
    return np.append(bounded, np.zeros(problem.nuisance, dtype=bool))


def solve_not_negative(
    R: FloatArray, z: FloatArray, bounded: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """
    Return the x (k,) of least ``|R @ x - z|`` with some unknowns not negative, and which are held.

    The conditions of an optimum are computed from `R` and `z`; raises NotIdentifiableError if they
    are not met to rounding.
    """
    x = solve_bounded(R, z, bounded, np.zeros(len(bounded)))
    active = bounded & (x <= 0.0)
    multipliers = optimality(R, z, x)
    missed = float(np.max(np.where(active, -multipliers, np.abs(multipliers))))
    if not missed <= OPTIMALITY_TOLERANCE:
        raise NotIdentifiableError(
            f'the bounded fit of {len(x)} parameters found no optimum (it misses the conditions '
            f'of one by {missed:.1e}, allowed {OPTIMALITY_TOLERANCE:.0e}): the data hardly '
            'determine the parameters, record a richer motion, or choose --estimator wls'
        )
    return x, active


def optimality(R: FloatArray, z: FloatArray, x: FloatArray) -> FloatArray:
    """
    Return what an optimum needs to be zero for free unknowns and not negative for held ones, (k,).

    Half the derivative of the squares by each unknown, over the lengths of its column and of the
    right-hand side.
    """
    lengths = np.linalg.norm(R, axis=0) * max(float(np.linalg.norm(z)), np.finfo(float).tiny)
    multipliers: FloatArray = R.T @ (R @ x - z) / lengths
    return multipliers


def not_negative_parameters(
    reduction: BaseReduction, *, friction: bool = True, rotors: bool = True
) -> BoolArray:
    """
    Return which standard parameters (p,) cannot be negative by themselves.

    Rotor inertias and friction coefficients, but those of a law that may be.
    """
    parameters = reduction.parameters
    mask = np.zeros(parameters.size, dtype=bool)
    mask[parameters.reflected_inertia_slice] = rotors
    if friction:
        for term, columns in parameters.friction_columns:
            mask[columns] = [symbol not in term.law.signed for symbol in term.law.symbols]
    return mask


def _describe_bounds(
    reduction: BaseReduction, active: BoolArray, *, friction: bool
) -> tuple[str, ...]:
    """Return what is held by its bound, and what has none."""
    notes = []
    held = [reduction.names[unknown] for unknown in np.flatnonzero(active)]
    if held:
        notes.append(f'held at zero by their bounds: {", ".join(held)}')
    significant = reduction.significant
    merged = []
    for column in np.flatnonzero(not_negative_parameters(reduction, friction=friction)):
        rows = np.flatnonzero(significant[:, column])
        if any(np.sum(significant[row]) > 1 for row in rows):
            inside = ', '.join(reduction.names[row] for row in rows)
            merged.append(f'{reduction.parameters.names[column]} (in {inside})')
    if merged:
        notes.append(f'without a bound, as part of combinations: {", ".join(merged)}')
    return tuple(notes)
