# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write the lines of a temperature study back into an identified model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    discrepancy_from_content, FrictionTerm, IdentifiedModel, StandardParameters,
    TemperatureViscousFriction, ViscousFriction,
)
from robot_identification.studies.temperature.trend import TemperatureStudy

SLOPE = TemperatureViscousFriction.name
VISCOUS = ViscousFriction.name


def model_over_temperature(
    models: Sequence[IdentifiedModel], study: TemperatureStudy
) -> IdentifiedModel:
    """
    Return a model whose viscous friction follows temperature, from the models of a study.

    Everything is that of the model in the middle of the temperatures, but for a term
    `temperature_viscous` on every joint with a line, which refers to that model's temperature.
    Where the joint has a `viscous` law, its coefficient becomes the line's. Raises `DataError` if
    the models have that law already.
    """
    return _with_lines(models, study)


def model_at(
    models: Sequence[IdentifiedModel], study: TemperatureStudy, temperature: FloatArray
) -> tuple[IdentifiedModel, tuple[str, ...]]:
    """
    Return `model_over_temperature` at temperatures (n,) [deg C], with viscous friction instead.

    Outside the range of a line, friction is that of the nearest end; the notes say where.
    """
    given = np.asarray(temperature, dtype=float)
    if given.shape != (len(study.joints),) or not np.all(np.isfinite(given)):
        raise DataError(
            f'{given.size} temperatures for {len(study.joints)} joints: give one for each, in '
            'deg C'
        )
    inside = given.copy()
    notes = []
    for j, joint in enumerate(study.joints):
        if joint.viscous_line is None:
            continue
        inside[j] = joint.viscous_line.nearest(float(given[j]))
        if inside[j] != given[j]:
            notes.append(
                f'{joint.joint}: {given[j]:.1f} deg C is outside {joint.viscous_line.lowest:.1f} '
                f'to {joint.viscous_line.highest:.1f}, where its friction is known: that at '
                f'{inside[j]:.1f} is taken'
            )
    return replace(_with_lines(models, study, inside), temperature=given), tuple(notes)


def _with_lines(
    models: Sequence[IdentifiedModel], study: TemperatureStudy, at: FloatArray | None = None
) -> IdentifiedModel:
    """Return the model in the middle with lines as its friction, or that at temperatures (n,)."""
    temperatures = [float(np.mean(_temperatures(model))) for model in models]
    middle = 0.5 * (min(temperatures) + max(temperatures))
    base = models[int(np.argmin(np.abs(np.array(temperatures) - middle)))]
    if any(term.law.name == SLOPE for term in base.parameters.friction):
        raise DataError(
            f'the models have friction {SLOPE} already: a line through models of one temperature '
            'each is to be written; identify each recording with --friction '
            'coulomb,viscous,offset'
        )
    own = _temperatures(base)
    lines = [joint.viscous_line for joint in study.joints]
    found = [(j, line) for j, line in enumerate(lines) if line is not None]
    bare = [j for j, _ in found if _row(base, j, VISCOUS) is None]
    model = _with_terms(base, tuple(
        FrictionTerm(j, TemperatureViscousFriction(reference=float(own[j]))) for j, _ in found
    ) if at is None else tuple(FrictionTerm(j, ViscousFriction()) for j in bare))
    for j, line in found:
        # Each by the value of the line at its reference, and its slope. Of a joint whose laws have
        # no viscous friction it is what changes from its own temperature on.
        T = float(own[j] if at is None else at[j])
        by_law = {
            VISCOUS: (0.0, T - float(own[j])) if j in bare else (1.0, T - line.reference),
            SLOPE: (0.0, 1.0),
        }
        rows = {law: row for law in by_law if (row := _row(model, j, law)) is not None}
        M = np.array([by_law[law] for law in rows])
        model = _with_values(
            model, list(rows.values()), M @ [line.value, line.slope],
            M @ np.diag([line.value_error**2, line.slope_error**2]) @ M.T, line.freedom,
        )
    bags = {
        str(bag.get('path')): bag for one in models for bag in one.provenance.get('bags', ())
    }
    lowest, highest = (
        ', '.join('-' if line is None else f'{getattr(line, end):.1f}' for line in lines)
        for end in ('lowest', 'highest')
    )
    reasons = [
        *base.quality.get('reasons', ()),
        f'viscous friction follows temperature by lines through {len(models)} models, which hold '
        f'from {lowest} to {highest} deg C',
    ]
    return replace(
        model,
        provenance={**base.provenance, 'bags': list(bags.values())},
        quality={**model.quality, 'reasons': reasons, 'temperatures': _range(models, study)},
    )


def _range(models: Sequence[IdentifiedModel], study: TemperatureStudy) -> FloatArray:
    """Return between what temperatures friction is known, shape (2, n) [deg C]."""
    ends = np.array([_temperatures(model) for model in models])
    ends = np.stack([ends.min(axis=0), ends.max(axis=0)])
    for j, joint in enumerate(study.joints):
        if joint.viscous_line is not None:
            ends[:, j] = joint.viscous_line.lowest, joint.viscous_line.highest
    return ends


def _temperatures(model: IdentifiedModel) -> FloatArray:
    if model.temperature is None:
        raise DataError(
            'a model does not state its temperatures: record joint temperatures, identify again'
        )
    return model.temperature


def _row(model: IdentifiedModel, joint: int, law: str) -> int | None:
    """Return the base parameter that is the coefficient of a joint's law, if there is one."""
    parameters = model.parameters
    for term, columns in parameters.friction_columns:
        if term.joint == joint and term.law.name == law:
            rows = np.flatnonzero(model.reduction.independent == columns.start)
            return int(rows[0]) if rows.size else None
    return None


def _with_terms(model: IdentifiedModel, terms: tuple[FrictionTerm, ...]) -> IdentifiedModel:
    """Return a model with further friction terms of one coefficient each, zero and certain."""
    old = model.parameters
    parameters = StandardParameters(old.n, old.friction + terms, old.reflected_inertia)
    first = old.reflected_inertia_slice.start
    added = first + np.arange(len(terms))
    kept = np.setdiff1d(np.arange(parameters.size), added)
    reduction, b = model.reduction, model.reduction.rank
    independent = np.concatenate([kept[reduction.independent], added])
    order = np.argsort(independent)
    K = np.zeros((len(independent), parameters.size))
    K[:b, kept] = reduction.K
    K[b + np.arange(len(added)), added] = 1.0
    theta = np.append(model.theta_base, np.zeros(len(added)))
    covariance = np.zeros((len(theta), len(theta)))
    covariance[:b, :b] = model.covariance
    consistent = None
    if model.theta_consistent is not None:
        consistent = np.zeros(parameters.size)
        consistent[kept] = model.theta_consistent
    quality = dict(model.quality)
    if 'degrees_of_freedom' in quality:
        freedom = np.append(np.asarray(quality['degrees_of_freedom'], float), np.ones(len(added)))
        quality['degrees_of_freedom'] = freedom[order]
    _move_discrepancy(model, quality, np.eye(len(theta))[order][:, :b])
    return replace(
        model,
        reduction=replace(
            reduction, parameters=parameters, K=K[order], independent=independent[order]
        ),
        theta_base=theta[order],
        covariance=covariance[np.ix_(order, order)],
        theta_consistent=consistent,
        quality=quality,
    )


def _with_values(
    model: IdentifiedModel, rows: Sequence[int], values: FloatArray, covariance: FloatArray,
    freedom: float,
) -> IdentifiedModel:
    """Return a model with other values of some friction coefficients, independent of the rest."""
    theta, whole = model.theta_base.copy(), model.covariance.copy()
    theta[rows] = values
    whole[rows, :] = 0.0
    whole[:, rows] = 0.0
    whole[np.ix_(rows, rows)] = covariance
    quality = dict(model.quality)
    if 'degrees_of_freedom' in quality:
        stated = np.array(quality['degrees_of_freedom'], dtype=float)
        stated[rows] = freedom
        quality['degrees_of_freedom'] = stated
    kept = np.ones(len(theta))
    kept[rows] = 0.0
    _move_discrepancy(model, quality, np.diag(kept))
    consistent = model.theta_consistent
    if consistent is not None:
        consistent = consistent.copy()
        consistent[model.reduction.independent[rows]] = values
    return replace(
        model, theta_base=theta, covariance=whole, theta_consistent=consistent, quality=quality
    )


def _move_discrepancy(
    model: IdentifiedModel, quality: dict[str, Any], move: FloatArray
) -> None:
    """Write the discrepancy of ``move @ theta_base`` over that of a model."""
    stated, names = quality.get('discrepancy'), model.robot.joint_names
    if stated is not None:
        discrepancy = discrepancy_from_content(stated, names, model.reduction.rank)
        quality['discrepancy'] = discrepancy.of_parameters(move).content(names)
