# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the tables that the pages and the plain texts share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    FrictionLaw, FrictionTerm, IdentifiedModel, massless_joints, nearest_plain_friction,
    sliding_speeds,
)
from robot_identification.processing import Dataset
from robot_identification.report.formatting import effort_unit_text, number
from robot_identification.validation import BagErrors

# Above this relative standard error a parameter says little more than its sign.
WEAK_SHARE = 0.5


@dataclass(frozen=True)
class Coefficient:
    """One estimated number."""

    name: str  # leading standard parameter
    expression: str  # the combination of standard parameters that it is
    # In `unit`.
    value: float
    standard_error: float
    unit: str  # SI, or per unknown drive gain

    @property
    def relative(self) -> float:
        """Return the standard error over the value's size; NaN where the value is zero."""
        return self.standard_error / abs(self.value) if self.value else math.nan

    @property
    def weak(self) -> bool:
        """Return whether the value is hardly known."""
        return not self.relative <= WEAK_SHARE

    @property
    def combined(self) -> bool:
        """Return whether it stands for more than the parameter that it is named after."""
        return self.expression != self.name


@dataclass(frozen=True)
class FrictionEntry:
    """One term of the friction of a joint."""

    term: str  # kind of a dictionary's term, or law with symbol
    # The constant that distinguishes it from others of its kind, with its unit; empty if none.
    constant: str
    coefficient: Coefficient | None  # none where the data do not determine it


@dataclass(frozen=True)
class PlainFriction:
    """Coulomb and viscous friction nearest to the dictionary of a joint."""

    joint: str
    # In `units`.
    coulomb: float
    viscous: float
    fastest: float  # speed up to which they are the nearest
    units: tuple[str, ...]  # SI, or per unknown drive gain; the last is the speed's


@dataclass(frozen=True)
class FrictionTable:
    """Friction by joint, in two arrangements: a grid, or one line for each term."""

    # Of the grid: law with symbol, and unit, of every coefficient.
    columns: tuple[tuple[str, str], ...]
    # Of the grid: joint and its coefficients; None where the joint has no such law, or the data do
    # not determine it.
    rows: tuple[tuple[str, tuple[Coefficient | None, ...]], ...]
    groups: tuple[tuple[str, tuple[FrictionEntry, ...]], ...]  # the lines: joint and its terms
    # Shape constants in words, of laws that all joints have alike; others stand beside terms.
    constants: tuple[str, ...]
    nearest: tuple[PlainFriction, ...] = ()  # of joints with a dictionary

    @property
    def nearest_units(self) -> tuple[str, ...]:
        """Units of `nearest`, with those of joints that turn and of joints that slide."""
        units = zip(*(plain.units for plain in self.nearest), strict=True)
        return tuple(' or '.join(dict.fromkeys(column)) for column in units)

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """All coefficients, joint by joint."""
        return tuple(
            entry.coefficient
            for _, entries in self.groups
            for entry in entries
            if entry.coefficient
        )


@dataclass(frozen=True)
class JointErrors:
    """Errors of one joint on one bag."""

    joint: str
    # As in `BagErrors`.
    rmse: float
    nrmse: float
    rmse_moving: float
    bias: float
    # NRMSE on the samples that were fitted, and of the URDF; NaN where there is none.
    fit: float
    prior: float


@dataclass(frozen=True)
class ErrorTable:
    """Errors on one bag."""

    errors: BagErrors  # what the rows say, with bag, unit and number of samples
    # Whether there is `fit`, and `prior` has friction fitted to the samples; else `prior` is the
    # URDF's without friction.
    compared: bool
    rows: tuple[JointErrors, ...]  # one for every joint
    mean: JointErrors  # their means, where these say something: `nrmse`, `fit` and `prior`


def coefficients(model: IdentifiedModel) -> tuple[Coefficient, ...]:
    """Return all base parameters of a model, friction among them."""
    reduction = model.reduction
    units = reduction.units_of(model.robot)
    return tuple(
        Coefficient(
            name=name,
            expression=reduction.expression(row),
            value=float(model.theta_base[row]),
            standard_error=float(model.standard_errors[row]),
            unit=_unit_text(unit, model),
        )
        for row, (name, unit) in enumerate(zip(reduction.names, units, strict=True))
    )


def inertial_coefficients(model: IdentifiedModel) -> tuple[Coefficient, ...]:
    """Return the base parameters that are not friction."""
    friction = model.parameters.names[model.parameters.friction_slice]
    return tuple(entry for entry in coefficients(model) if entry.name not in friction)


def friction_table(model: IdentifiedModel) -> FrictionTable:
    """Return the friction coefficients of a model by joint."""
    parameters, joints = model.parameters, model.robot.joint_names
    found = {entry.name: entry for entry in coefficients(model)}
    columns: dict[tuple[FrictionLaw, int], None] = {}
    cells: dict[tuple[int, FrictionLaw, int], Coefficient | None] = {}
    lines: dict[int, list[FrictionEntry]] = {index: [] for index in range(len(joints))}
    everywhere = {
        law for law, count in Counter(term.law for term in parameters.friction).items()
        if count == len(joints)
    }
    for term, place in parameters.friction_columns:
        for k, name in enumerate(parameters.names[place]):
            columns[term.law, k] = None
            cells[term.joint, term.law, k] = found.get(name)
            words, constant = term.law.label(k)
            if term.law not in everywhere and not constant:
                constant = _constants_beside(term, k)
            constant = model.robot.unit(constant, term.joint)
            lines[term.joint].append(FrictionEntry(words, constant, found.get(name)))
    return FrictionTable(
        columns=tuple(
            (f'{law.name} {law.symbols[k]}', model.robot.units(_unit_text(law.units[k], model)))
            for law, k in columns
        ),
        rows=tuple(
            (joint, tuple(cells.get((index, law, k)) for law, k in columns))
            for index, joint in enumerate(joints)
        ) if columns else (),
        groups=tuple(
            (joint, tuple(lines[index])) for index, joint in enumerate(joints)
        ) if columns else (),
        constants=tuple(
            f'{law.name}: {name} {_constant_text(value)}'
            for law in dict.fromkeys(law for law, _ in columns)
            for name, value in law.constants().items()
            if law in everywhere and not law.is_sparse
        ),
        nearest=_nearest_friction(model),
    )


def _constants_beside(term: FrictionTerm, k: int) -> str:
    """Return what stands beside coefficient k: its share of the constants, the last the rest."""
    law = term.law
    if law.is_sparse:
        return ''
    errors = dict(zip(law.shape, term.constant_errors, strict=False))
    texts = [
        f'{name} {number(value, 3) if isinstance(value, float) else value}'
        + (f' +- {number(errors[name], 2)}' if errors.get(name, 0.0) > 0.0 else '')
        for name, value in law.constants().items()
    ]
    return ', '.join(texts[k:] if k == len(law.symbols) - 1 else texts[k:k + 1])


def _nearest_friction(model: IdentifiedModel) -> tuple[PlainFriction, ...]:
    parameters, theta = model.parameters, model.theta_lifted
    speeds, loads = model.quality.get('speeds'), model.quality.get('loads')
    if speeds is None or loads is None:
        return ()
    units = (_unit_text('N m', model), _unit_text('N m s/rad', model), 'rad/s')
    return tuple(
        PlainFriction(
            model.robot.joint_names[term.joint],
            *nearest_plain_friction(
                term.law, theta[columns], sliding_speeds(float(speeds[term.joint])),
                float(loads[term.joint]),
            ),
            float(speeds[term.joint]),
            tuple(model.robot.unit(unit, term.joint) for unit in units),
        )
        for term, columns in parameters.friction_columns
        if term.law.is_sparse and float(speeds[term.joint]) > 0.0
    )


def error_table(errors: BagErrors) -> ErrorTable:
    """Return the errors on a bag, beside those of the URDF without friction."""
    unknown = np.full(len(errors.joints), np.nan)
    return ErrorTable(
        errors,
        compared=False,
        rows=_joint_errors(errors, unknown, errors.urdf_nrmse),
        mean=_mean_errors(errors.nrmse_mean, math.nan, errors.urdf_nrmse_mean),
    )


def compared_error_table(errors: BagErrors, fit: BagErrors, prior: BagErrors) -> ErrorTable:
    """Return errors on held-out samples beside those of the fit and of the URDF."""
    return ErrorTable(
        errors,
        compared=True,
        rows=_joint_errors(errors, fit.nrmse, prior.nrmse),
        mean=_mean_errors(errors.nrmse_mean, fit.nrmse_mean, prior.nrmse_mean),
    )


def urdf_words(model: IdentifiedModel) -> str:
    """Return what the prediction of the URDF is that errors on recordings stand beside."""
    if model.relative_scale:
        return (
            'URDF: not available. The drive gains are unknown, so its torques cannot be compared '
            'with currents.'
        )
    massless = massless_joints(model.robot)
    missing = (
        '' if not massless
        else ' It has no masses: it predicts zero.' if len(massless) == model.robot.n
        else f' It has no masses at {", ".join(massless)}: it predicts zero there.'
    )
    gains = " with the model's drive gains" if model.effort_unit == 'A' else ''
    return (
        f"URDF: NRMSE of the URDF's own masses and inertias{gains}, without friction and rotors, "
        f'on the same samples.{missing}'
    )


def data_facts(dataset: Dataset) -> tuple[tuple[str, str], ...]:
    """Return in words how many samples a recording has and why some are set aside."""
    facts = [
        (
            'Samples read', f'{len(dataset)} over {number(np.ptp(dataset.stamps))} s' if
            dataset.whole is None else
            f'{len(dataset)} of {dataset.whole}, in evenly spread parts: those below are of them'
        ),
        ('Rate', f'{number(dataset.rate, 4)} Hz by the median interval'),
    ]
    if dataset.found_delay is not None:
        facts.append(('Delay', dataset.found_delay.describe(dataset.delay)))
    before = int(np.count_nonzero(np.isnan(dataset.effort).any(axis=1)))
    if before:
        facts.append(('Set aside', f'{before}: outside the window, only run through the filter'))
    facts += [('Set aside', f'{count}: {reason}') for reason, count in dataset.excluded.items()]
    return (
        *facts,
        ('Scored', str(np.count_nonzero(dataset.scored))),
        ('Fit for estimation', str(np.count_nonzero(dataset.fitted))),
        ('Parts without a gap', str(len(dataset.segments))),
    )


def training_bags(model: IdentifiedModel) -> tuple[tuple[str, str], ...]:
    """Return path and hash of the bags that a model was identified from."""
    return tuple(
        (str(bag.get('path', '')), str(bag.get('sha256', '')))
        for bag in model.provenance.get('bags', ())
    )


def _joint_errors(
    errors: BagErrors, fit: FloatArray, prior: FloatArray
) -> tuple[JointErrors, ...]:
    columns = (errors.rmse, errors.nrmse, errors.rmse_moving, errors.bias, fit, prior)
    return tuple(
        JointErrors(joint, *map(float, values))
        for joint, *values in zip(errors.joints, *columns, strict=True)
    )


def _mean_errors(nrmse: float, fit: float, prior: float) -> JointErrors:
    return JointErrors(
        'mean', rmse=math.nan, nrmse=nrmse, rmse_moving=math.nan, bias=math.nan, fit=fit,
        prior=prior,
    )


def _unit_text(unit: str, model: IdentifiedModel) -> str:
    """Return a unit; with unknown drive gains, what is left of it per unknown gain."""
    if not model.relative_scale:
        return unit
    effort = effort_unit_text(model.effort_unit)
    return unit.replace('N m', effort) if 'N m' in unit else f'{unit} {effort}/(N m)'


def _constant_text(value: object) -> str:
    return f'{value:g}' if isinstance(value, float) else str(value)
