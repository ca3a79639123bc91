# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Standard parameters of physically consistent bodies, taken only if they predict as well.

First those with the very base parameters that were found: they cost nothing. Where there are
none, those of a fit with conditions, if held-out blocks say that it is as good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import IdentificationError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.estimators.consistent import (
    ConsistentAfter, ConsistentFit, fit_after,
)
from robot_identification.estimation.fitted_recordings import FittedRecordings
from robot_identification.estimation.fitting import cross_validate
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.standard import consistent_standard_parameters
from robot_identification.model import (
    prior_inertial_parameters, RobotModel, smallest_eigenvalues, smallest_mass_matrix_eigenvalue,
)
from robot_identification.validation import Folds, Trial


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
        'solver': None if fit is None else 'log-Cholesky coordinates',
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
