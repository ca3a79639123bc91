# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write the lines of a temperature study back into an identified model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import DataError
from robot_identification.model import (
    discrepancy_from_content, FrictionTerm, IdentifiedModel, StandardParameters,
    TemperatureViscousFriction, ViscousFriction,
)
from robot_identification.studies.temperature.line import TemperatureLine
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
    temperatures = np.array([_temperatures(model) for model in models])
    means = temperatures.mean(axis=1)
    middle = int(np.argmin(np.abs(means - 0.5 * (means.min() + means.max()))))
    base, own = models[middle], temperatures[middle]
    if any(term.law.name == SLOPE for term in base.parameters.friction):
        raise DataError(
            f'the models have friction {SLOPE} already: a line through models of one temperature '
            'each is to be written; identify each recording with --friction '
            'coulomb,viscous,offset'
        )
    found = {
        j: joint.viscous_line for j, joint in enumerate(study.joints)
        if joint.viscous_line is not None
    }
    bare = [
        j for j in found
        if _row(base.parameters, base.reduction.independent, j, VISCOUS) is None
    ]
    terms = [FrictionTerm(j, ViscousFriction()) for j in bare] if at is not None else [
        FrictionTerm(j, TemperatureViscousFriction(reference=float(own[j]))) for j in found
    ]
    # Each law by the value of the line at its reference, and its slope. Of a joint whose laws have
    # no viscous friction it is what changes from its own temperature on.
    laws = {}
    for j, line in found.items():
        T = float(own[j] if at is None else at[j])
        laws[j] = {
            VISCOUS: (0.0, T - float(own[j])) if j in bare else (1.0, T - line.reference),
            SLOPE: (0.0, 1.0),
        }
    model = _with_friction(base, terms, found, laws)
    bags = {
        str(bag.get('path')): bag for one in models for bag in one.provenance.get('bags', ())
    }
    # Between what temperatures friction is known.
    ends = np.stack([temperatures.min(axis=0), temperatures.max(axis=0)])
    for j, line in found.items():
        ends[:, j] = line.lowest, line.highest
    lowest, highest = (
        ', '.join(f'{ends[side, j]:.1f}' if j in found else '-' for j in range(len(own)))
        for side in (0, 1)
    )
    reasons = [
        *base.quality.get('reasons', ()),
        f'viscous friction follows temperature by lines through {len(models)} models, which hold '
        f'from {lowest} to {highest} deg C',
    ]
    return replace(
        model,
        provenance={**base.provenance, 'bags': list(bags.values())},
        quality={**model.quality, 'reasons': reasons, 'temperatures': ends},
    )


def _temperatures(model: IdentifiedModel) -> FloatArray:
    if model.temperature is None:
        raise DataError(
            'a model does not state its temperatures: record joint temperatures, identify again'
        )
    return model.temperature


def _row(
    parameters: StandardParameters, independent: IntArray, joint: int, law: str
) -> int | None:
    """Return the base parameter that is the coefficient of a joint's law, if there is one."""
    for term, columns in parameters.friction_columns:
        if term.joint == joint and term.law.name == law:
            rows = np.flatnonzero(independent == columns.start)
            return int(rows[0]) if rows.size else None
    return None


def _with_friction(
    model: IdentifiedModel, terms: Sequence[FrictionTerm], lines: Mapping[int, TemperatureLine],
    laws: Mapping[int, Mapping[str, tuple[float, float]]],
) -> IdentifiedModel:
    """
    Return a model with further friction terms of one coefficient each, and lines in its friction.

    Of the joint of each line, `laws` has by name what multiplies the value of the line and its
    slope in the coefficient. It is independent of all other parameters.
    """
    old, reduction, b = model.parameters, model.reduction, model.reduction.rank
    parameters = StandardParameters(old.n, (*old.friction, *terms), old.reflected_inertia)
    added = old.reflected_inertia_slice.start + np.arange(len(terms))
    kept = np.setdiff1d(np.arange(parameters.size), added)
    independent = np.union1d(kept[reduction.independent], added)
    known = np.searchsorted(independent, kept[reduction.independent])
    K = np.zeros((len(independent), parameters.size))
    K[np.ix_(known, kept)] = reduction.K
    K[np.searchsorted(independent, added), added] = 1.0
    theta, freedom = np.zeros(len(independent)), np.ones(len(independent))
    covariance, move = np.zeros((len(theta), len(theta))), np.zeros((len(theta), b))
    theta[known] = model.theta_base
    covariance[np.ix_(known, known)] = model.covariance
    move[known, np.arange(b)] = 1.0
    quality = dict(model.quality)
    if 'degrees_of_freedom' in quality:
        freedom[known] = quality['degrees_of_freedom']
        quality['degrees_of_freedom'] = freedom
    consistent = None
    if model.theta_consistent is not None:
        consistent = np.zeros(parameters.size)
        consistent[kept] = model.theta_consistent
    for j, line in lines.items():
        found = {
            row: factors for law, factors in laws[j].items()
            if (row := _row(parameters, independent, j, law)) is not None
        }
        rows, M = list(found), np.array(list(found.values()))
        theta[rows], freedom[rows], move[rows] = M @ [line.value, line.slope], line.freedom, 0.0
        covariance[rows, :] = covariance[:, rows] = 0.0
        covariance[np.ix_(rows, rows)] = (
            M @ np.diag([line.value_error**2, line.slope_error**2]) @ M.T
        )
        if consistent is not None:
            consistent[independent[rows]] = theta[rows]
    stated, names = quality.get('discrepancy'), model.robot.joint_names
    if stated is not None:
        discrepancy = discrepancy_from_content(stated, names, b)
        quality['discrepancy'] = discrepancy.of_parameters(move).content(names)
    return replace(
        model, theta_base=theta, covariance=covariance, theta_consistent=consistent,
        quality=quality, reduction=replace(
            reduction, parameters=parameters, K=K, independent=independent
        ),
    )
