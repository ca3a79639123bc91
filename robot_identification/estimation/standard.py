# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Standard parameters of physically consistent bodies, from the base parameters that were found.

First those with the very base parameters: they cost nothing. They are those nearest to the URDF's,
or are found by a conic program, solved by clarabel. What the solver says of itself is not
believed: optimality is computed again. Where there are none, those of a fit with conditions are
taken, if held-out blocks say that it is as good. Models that the training data allow are drawn
from the covariance, each with real bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import IdentificationError, InconsistentModelError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.estimators.conic import step_to_bodies
from robot_identification.estimation.estimators.consistent import (
    ConsistentAfter, ConsistentFit, fit_after,
)
from robot_identification.estimation.fitted_recordings import FittedRecordings
from robot_identification.estimation.fitting import cross_validate
from robot_identification.estimation.recipe import Recipe
from robot_identification.model import (
    BaseReduction, IdentifiedModel, MASS_FLOOR, prior_deviation, prior_inertial_parameters,
    pseudo_inertia, RobotModel, smallest_eigenvalues, smallest_mass_matrix_eigenvalue,
)
from robot_identification.validation import Folds, Trial

# Least eigenvalue of a pseudo-inertia over the size of the prior's: far above the solver's
# tolerance, far below any real body.
CONSISTENCY_MARGIN = 1.0e-6
# Of models that are drawn: weight of the distance to the model's own bodies against that to the
# draw, both in deviations: it decides what the data leave open, and nothing else.
OPEN_WEIGHT = 1.0e-6
# How often a draw is moved half way to the model before it is the model.
HALVINGS = 30


def project_on_prior(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray
) -> FloatArray:
    """
    Return the standard parameters (p,) nearest to the URDF's with given base parameters (b,).

    The distance to the prior is measured in `prior_deviation`.
    """
    prior = _prior_of(robot, reduction)
    return keep_base(reduction, theta_base, prior, prior_deviation(robot, prior.size))


def _prior_of(robot: RobotModel, reduction: BaseReduction) -> FloatArray:
    """Return the URDF's standard parameters, shape (p,); friction and rotors are zero."""
    prior = np.zeros(reduction.parameters.size)
    prior[: 10 * robot.n] = prior_inertial_parameters(robot)
    return prior


def keep_base(
    reduction: BaseReduction, theta_base: FloatArray, theta: FloatArray, deviation: FloatArray
) -> FloatArray:
    """Return the nearest standard parameters (p,) that have the base parameters to rounding."""
    # Least norm in units of the deviation, by QR of the transpose.
    orthogonal, triangle = np.linalg.qr((reduction.K * deviation).T)
    step = np.linalg.solve(triangle.T, theta_base - reduction.K @ theta)
    kept: FloatArray = theta + deviation * (orthogonal @ step)
    return kept


def _is_consistent(robot: RobotModel, reduction: BaseReduction, theta: FloatArray) -> bool:
    reflected = theta[reduction.parameters.reflected_inertia_slice]
    return bool(
        np.all(smallest_eigenvalues(theta[: 10 * robot.n]) > 0.0) and np.all(reflected >= 0.0)
    )


def project_consistently(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray
) -> FloatArray | None:
    """
    Return consistent parameters (p,) nearest to the URDF's with given base parameters.

    A conic program: least distance to the prior, base parameters (b,) kept exactly, every pseudo-
    inertia positive definite, no reflected inertia negative. None where there are none, or
    clarabel, which solves the program, is not installed.
    """
    prior = _prior_of(robot, reduction)
    deviation = prior_deviation(robot, prior.size)
    rotors = np.arange(prior.size)[reduction.parameters.reflected_inertia_slice]
    step = step_to_bodies(
        prior, deviation, (np.eye(prior.size), np.zeros(prior.size)), rotors,
        _margins(prior[: 10 * robot.n]),
        (reduction.K * deviation, theta_base - reduction.K @ prior),
    )
    if step is None:
        return None
    # The solver keeps the base parameters to its tolerance; they are to be kept to rounding.
    theta = keep_base(reduction, theta_base, prior + deviation * step, deviation)
    # The result is checked, not the status of the solver.
    return theta if _is_consistent(robot, reduction, theta) else None


def _margins(inertial: FloatArray) -> FloatArray:
    """Return the least eigenvalue (n,) asked of pseudo-inertias near those of bodies (10 n,)."""
    # A link that the URDF gives no mass has a margin, too.
    return CONSISTENCY_MARGIN * np.array([
        max(float(np.linalg.norm(pseudo_inertia(link))), MASS_FLOOR)
        for link in inertial.reshape(-1, 10)
    ])


def consistent_standard_parameters(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray
) -> tuple[FloatArray | None, str]:
    """
    Return physically consistent standard parameters (p,), if any, and how they were found.

    Without any, the note says which link or joint is impossible.
    """
    theta = project_on_prior(robot, reduction, theta_base)
    how = 'projection on the URDF'
    if not _is_consistent(robot, reduction, theta):
        nearest = project_consistently(robot, reduction, theta_base)
        if nearest is not None:
            theta, how = nearest, 'projection on the URDF by a conic program (clarabel)'
    smallest = smallest_eigenvalues(theta[: 10 * robot.n])
    links = [
        f'{joint} ({value:.2e})'
        for joint, value in zip(robot.joint_names, smallest, strict=True)
        if not value > 0.0
    ]
    rotors = [
        f'{joint} ({value:.3g} kg m^2)'
        for joint, value in zip(
            robot.joint_names, theta[reduction.parameters.reflected_inertia_slice], strict=False
        )
        if value < 0.0
    ]
    if not links and not rotors:
        return theta, f'{how}, base parameters kept'
    reasons = []
    if links:
        reasons.append(
            'the pseudo-inertia has a negative eigenvalue for the link after ' + ', '.join(links)
        )
    if rotors:
        reasons.append('the reflected inertia is negative at ' + ', '.join(rotors))
    return None, 'no consistent parameters: ' + '; '.join(reasons)


@dataclass(frozen=True, eq=False)
class ConsistentParameters:
    """Parameters that exports and simulators use, or the reason why there are none."""

    theta: FloatArray | None  # (p,) standard parameters, SI units
    note: str  # how they were found and what they cost, or why there are none
    # the same in numbers, for the model file
    figures: Mapping[str, Any] = field(default_factory=dict)


def find_consistent_parameters(
    choice: Choice, fitted: FittedRecordings, recipe: Recipe
) -> ConsistentParameters:
    """Find standard parameters of physically consistent bodies."""
    robot, estimate = fitted.robot, fitted.fit.estimate
    reduction = fitted.fit.problem.reduction
    rotors = reduction.parameters.reflected_inertia_slice
    free = choice.of_parameters
    if estimate.standard is not None:
        theta: FloatArray | None = estimate.standard
        note = 'the estimator finds consistent parameters itself'
    else:
        theta, note = consistent_standard_parameters(robot, reduction, estimate.theta)
    if theta is not None:
        return ConsistentParameters(
            theta, note, {**_figures(None, free, free), **_audit(robot, theta, rotors)}
        )
    try:
        fit = fit_after(estimate, prior_inertial_parameters(robot))
        trial = cross_validate(
            fitted.in_choice, fitted.unexcited,
            ConsistentAfter(choice.estimator, fit.regularization), 'consistent',
            Folds(recipe.folds, recipe.gap),
        )
    except IdentificationError as error:
        return ConsistentParameters(None, f'{note}; {error}')
    description, figures = _describe(fit, trial, free), _figures(fit, trial, free)
    if not is_accepted(trial, free, recipe.consistency_cost):
        return ConsistentParameters(
            None,
            f'{note}; {description}: more than the {recipe.consistency_cost:.0%} that consistency '
            'may cost (consistency_cost of the recipe), not taken',
            figures,
        )
    return ConsistentParameters(
        fit.theta, description, {**figures, **_audit(robot, fit.theta, rotors)}
    )


def _figures(fit: ConsistentFit | None, trial: Trial, free: Trial) -> dict[str, Any]:
    """Return what consistency costs, in numbers; nothing without a fit of its own."""
    return {
        'solver': None if fit is None else fit.solver,
        'pull': None if fit is None else fit.regularization,
        'divergence': None if fit is None else fit.divergence,
        'squared_residuals': 0.0 if fit is None else fit.cost,
        'nrmse_mean': trial.score,
        'nrmse_mean_without_conditions': free.score,
    }


def is_accepted(trial: Trial, free: Trial, largest_cost: float) -> bool:
    """Return whether consistent bodies predict held-out blocks as well as a free fit."""
    ratio = trial.score / free.score if free.score > 0.0 else np.inf
    return bool(
        ratio <= 1.0 + largest_cost
        # Blocks that differ wildly say nothing.
        or (trial.is_as_good_as(free) and ratio <= 1.0 + 2.0 * largest_cost)
    )


def _describe(fit: ConsistentFit, trial: Trial, free: Trial) -> str:
    return (
        f'{fit.describe()}; held-out NRMSE {trial.score:.4f}, without conditions {free.score:.4f} '
        f'({trial.score / free.score - 1.0:+.1%})'
    )


def _audit(robot: RobotModel, theta: FloatArray, rotors: slice) -> dict[str, Any]:
    """Return how far the bodies, and the mass matrix over the workspace, are from impossible."""
    inertial = theta[: 10 * robot.n]
    reflected = theta[rotors] if rotors.stop > rotors.start else None
    return {
        'smallest_pseudo_inertia_eigenvalue': float(smallest_eigenvalues(inertial).min()),
        'smallest_mass_matrix_eigenvalue': smallest_mass_matrix_eigenvalue(
            robot, inertial, reflected
        )[0],
    }


def draw_consistent(model: IdentifiedModel, count: int, seed: int) -> tuple[FloatArray, int]:
    """
    Return models drawn from the covariance of a model; each has physically consistent bodies.

    Base parameters are normal about the identified ones. Where bodies, rotors and friction with
    such base parameters exist, they are those nearest to the model's own; else a conic program
    finds the nearest that do, in the metric of the covariance. Returns the standard parameters
    (count, p) and how many draws were moved so. Raises InconsistentModelError if the model itself
    has none.
    """
    own = model.theta_consistent
    if own is None:
        raise InconsistentModelError(
            f'the model of {model.robot.name} has no physically consistent parameters to draw '
            f'about: {model.consistency_note}'
        )
    reduction = model.reduction
    deviation = prior_deviation(model.robot, own.size)
    root = _root(model.covariance)
    centre = model.theta_base
    normal = np.random.default_rng(seed).standard_normal((count, len(centre)))
    found, moved = [], 0
    for steps in normal:
        theta = keep_base(reduction, centre + root @ steps, own, deviation)
        if not _is_possible(model, theta):
            theta, moved = _nearest(model, root, centre + root @ steps, deviation), moved + 1
        found.append(theta)
    return np.reshape(found, (count, own.size)), moved


def _root(covariance: FloatArray) -> FloatArray:
    """Return a matrix whose square is a covariance, (b, b), which need not be of full rank."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def _not_negative(model: IdentifiedModel) -> IntArray:
    """Return the numbers of friction coefficients and rotors that take energy, (k,)."""
    parameters = model.parameters
    found: list[int] = []
    for term, columns in parameters.friction_columns:
        numbers = range(*columns.indices(parameters.size))
        found += [
            number for number, symbol in zip(numbers, term.law.symbols, strict=True)
            if symbol not in term.law.signed
        ]
    found += range(*parameters.reflected_inertia_slice.indices(parameters.size))
    # What the model itself has below zero stands for something else, and may stay there.
    own = model.theta_consistent
    return np.array([k for k in found if own is None or own[k] >= 0.0], dtype=np.intp)


def _is_possible(model: IdentifiedModel, theta: FloatArray) -> bool:
    bodies = smallest_eigenvalues(theta[: 10 * model.robot.n])
    return bool(np.all(bodies > 0.0) and np.all(theta[_not_negative(model)] >= 0.0))


def _nearest(
    model: IdentifiedModel, root: FloatArray, drawn: FloatArray, deviation: FloatArray
) -> FloatArray:
    """Return possible parameters whose base parameters are nearest to drawn ones (b,)."""
    own, reduction = model.theta_consistent, model.reduction
    assert own is not None
    # Of directions that the covariance does not allow there is no step.
    inverse = np.linalg.pinv(root, rcond=1e-9)
    whitened = inverse @ (reduction.K * deviation)
    wanted = inverse @ (drawn - reduction.K @ own)
    rows, bodies = _not_negative(model), own[: 10 * model.robot.n]
    step = step_to_bodies(
        own, deviation,
        (whitened.T @ whitened + OPEN_WEIGHT * np.eye(own.size), -whitened.T @ wanted), rows,
        # Half of what the model itself has where that is less than the margin.
        np.minimum(_margins(bodies), np.maximum(0.5 * smallest_eigenvalues(bodies), 0.0)),
    )
    if step is not None:
        theta = own + deviation * step
        theta[rows] = np.maximum(theta[rows], 0.0)
        if _is_possible(model, theta):
            return theta
    # Without clarabel: as far towards the draw as bodies exist.
    for halving in range(1, HALVINGS):
        part = reduction.K @ own + 0.5**halving * (drawn - reduction.K @ own)
        theta = keep_base(reduction, part, own, deviation)
        if _is_possible(model, theta):
            return theta
    return own
