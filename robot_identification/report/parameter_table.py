# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The base parameters with all that is known of each: prior, error, interval, what decided it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import confidence_intervals
from robot_identification.model import (
    CLASSES, IdentifiedModel, linear_classes, prior_inertial_parameters, unidentifiable_reasons,
)
from robot_identification.report.correlation import covariance_from_model
from robot_identification.report.tables import Coefficient, coefficients

ROUNDING = 1.0e-12  # relative; chosen above the rounding of a sum in double precision


@dataclass(frozen=True)
class ParameterRow:
    """One base parameter."""

    coefficient: Coefficient  # name, combination, estimate, standard error and unit
    # The same combination of the URDF's bodies; NaN where it holds friction, or a rotor that
    # nothing is known of, which a URDF has not.
    urdf: float
    # Ends of the 95 % interval; NaN of a parameter that a bound holds.
    low: float
    high: float
    is_alone: bool  # whether it is a single standard parameter
    by_prior: bool  # whether the prior says more of it than the data


@dataclass(frozen=True)
class ParameterClass:
    """The standard parameters of one kind of identifiability."""

    name: str  # in CLASSES
    parameters: tuple[str, ...]  # their names
    # Why no motion shows them, and which of them; none for those that motion shows.
    reasons: tuple[tuple[str, tuple[str, ...]], ...] = ()


def parameter_rows(
    model: IdentifiedModel, decided_by_prior: Collection[str]
) -> tuple[ParameterRow, ...]:
    """Return all base parameters of a model, friction among them."""
    ends = confidence_intervals(model.theta_base, covariance_from_model(model))
    return tuple(
        ParameterRow(
            entry, float(urdf), float(low), float(high), not entry.combined,
            entry.name in decided_by_prior,
        )
        for entry, urdf, (low, high) in zip(
            coefficients(model), urdf_values(model), ends, strict=True
        )
    )


def urdf_values(model: IdentifiedModel) -> FloatArray:
    """
    Return the URDF's values (b,) of the base parameters of a model, in SI units.

    Rotor inertias are those of the robot YAML. NaN where the combination holds anything that
    neither file knows, or the model's scale is unknown.
    """
    reduction, parameters = model.reduction, model.parameters
    if model.relative_scale or reduction.frames != 'joint':
        return np.full(reduction.rank, np.nan)
    known = np.full(parameters.size, np.nan)
    known[: 10 * parameters.n] = prior_inertial_parameters(model.robot)
    if parameters.reflected_inertia:
        known[parameters.reflected_inertia_slice] = model.robot.drives.reflected_inertia
    used = reduction.significant.copy()
    used[np.arange(reduction.rank), reduction.independent] = True
    terms = [row[columns] * known[columns] for row, columns in zip(reduction.K, used, strict=True)]
    values = np.array([one.sum() for one in terms])
    # What is left of a difference of equal numbers is rounding.
    rounding = ROUNDING * np.array([np.abs(one).sum() for one in terms])
    return np.where(np.abs(values) <= rounding, 0.0, values)


def parameter_classes(model: IdentifiedModel) -> tuple[ParameterClass, ...]:
    """Return which standard parameters motion shows alone, in combinations, or not at all."""
    classes = linear_classes(model.reduction)
    by_reason: dict[str, list[str]] = {}
    if model.reduction.frames == 'joint':
        for name, reason in unidentifiable_reasons(model.robot, model.reduction).items():
            by_reason.setdefault(reason, []).append(name)
    reasons = tuple((reason, tuple(names)) for reason, names in by_reason.items())
    return tuple(
        ParameterClass(name, classes[name], reasons if name == CLASSES[-1] else ())
        for name in CLASSES
    )


def largest_change(rows: Collection[ParameterRow]) -> tuple[ParameterRow, float] | None:
    """Return the parameter furthest from its URDF value in standard errors, and how far."""
    found = [
        (abs(row.coefficient.value - row.urdf) / row.coefficient.standard_error, row)
        for row in rows
        if math.isfinite(row.urdf) and row.coefficient.standard_error > 0.0
    ]
    if not found:
        return None
    far, row = max(found, key=lambda one: one[0])
    return row, far
