# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Quality and provenance of a model file: errors, data, and how the model was made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
import importlib.metadata
import platform
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.bags import Bag
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.estimate import Estimate, PriorTerm
from robot_identification.estimation.fitting import Fit
from robot_identification.estimation.inputs import Inputs
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.uncertainty.covariance import Covariance, covariance_of
from robot_identification.estimation.uncertainty.scatter import held_by_bounds, problem_of
from robot_identification.model import (
    EFFORT_UNITS, IdentifiedModel, parameter_units, RobotModel, standard_torque,
    StandardParameters,
)
from robot_identification.processing import Dataset
from robot_identification.recording import data_hashes
from robot_identification.validation import Folds, Trial, Verdict, verdict_content

# Share of the effort's standard deviation, by which offsets of recordings differ noticeably.
FAR_OFFSET = 0.05
# Condition numbers with columns of unit length above this are warned of.
LARGEST_CONDITION = 1.0e8
# Degrees of freedom that are as good as infinite.
MANY = 1.0e6
# Standard errors by which a reflected inertia is below zero for more than chance.
CLEARLY_NEGATIVE = 3.0


def find_covariance(estimate: Estimate) -> Covariance:
    """
    Return the covariance of an estimate.

    Where friction terms act alike, the shrinkage of their coefficients counts, with a note: the
    data tell their sum, and without it the errors of each have no limit. Where the fit has none,
    it is that of white residuals.
    """
    try:
        return covariance_of(estimate)
    except RankDeficientError:
        alike = (
            'friction terms act alike in this motion (a joint that never reverses, or never '
            'changes its speed): standard errors '
        )
    shrunk = with_damping(estimate)
    if shrunk is not None:
        with suppress(RankDeficientError):
            found = covariance_of(shrunk)
            note = f'{alike}of each are those that the fit sets by shrinking them'
            return replace(found, notes=(*found.notes, note))
    return Covariance(
        'residual', np.nan_to_num(estimate.covariance), np.full(len(estimate.theta), MANY),
        np.zeros(len(estimate.theta), bool),
        notes=(f'{alike}are those of white residuals, and of little meaning',),
    )


def with_damping(estimate: Estimate) -> Estimate | None:
    """Return an estimate whose shrinkage counts as its prior, None if it has none."""
    damping, prior = estimate.damping, estimate.prior
    if damping is None:
        return None
    return replace(estimate, prior=damping if prior is None else prior.beside(damping))


def condition_notes(estimate: Estimate) -> tuple[str, ...]:
    """
    Return a warning where the data hardly determine all parameters, none elsewhere.

    Coefficients that the fit shrinks need not be determined one by one.
    """
    condition = estimate.condition_number_scaled
    if condition > LARGEST_CONDITION and estimate.damping is not None:
        condition = _condition_of_fit(estimate, estimate.damping)
    if condition <= LARGEST_CONDITION:
        return ()
    return (
        f'the data hardly determine all parameters: condition number {condition:.1e} with columns '
        f'of unit length, up to {LARGEST_CONDITION:.0e} is sound: record a richer motion, or '
        'compare --estimator consistent',
    )


def _condition_of_fit(estimate: Estimate, damping: PriorTerm) -> float:
    """Return the condition number of a fit with what shrinks it, columns of unit length."""
    problem = problem_of(estimate)
    R, _ = problem.stacked(estimate.weights)
    terms = [damping] if estimate.prior is None else [damping, estimate.prior]
    held = np.append(held_by_bounds(estimate), np.zeros(problem.nuisance, dtype=bool))
    matrix = np.vstack([R, *(term.matrix for term in terms)])[:, ~held]
    scale = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
    return float(np.linalg.cond(matrix / scale))


def offset_notes(
    robot: RobotModel, estimate: Estimate, deviations: Sequence[FloatArray], unit: str, *,
    relative_scale: bool,
) -> tuple[str, ...]:
    """
    Return which joints have another offset in each recording, in words.

    `deviations` (n,) are standard deviations of the effort of each recording, in its unit. With
    `relative_scale` offsets are per unknown drive gain, without a unit of their own.
    """
    if not estimate.nuisance.size:
        return ()
    others = estimate.nuisance.reshape(-1, robot.n)
    largest = np.abs(np.vstack([-others.sum(axis=0), others])).max(axis=0)
    deviation = np.mean(deviations, axis=0)
    if EFFORT_UNITS[unit].is_current:
        deviation = np.abs(robot.drives.to_torque(deviation))
    far = [
        f'{robot.joint_names[joint]} by up to {largest[joint]:.2g}'
        + ('' if relative_scale else f' {robot.unit("N m", joint)}')
        for joint in np.flatnonzero(largest > FAR_OFFSET * deviation)
    ]
    return (
        (f'offsets of the recordings differ from their mean, which the model keeps: '
         f'{", ".join(far)}; a payload, a cable or a current sensor has changed between them',)
        if far else ()
    )


def rotor_notes(model: IdentifiedModel) -> tuple[str, ...]:
    """Return which reflected inertias are negative, in words; bodies that exist have none."""
    reduction, parameters = model.reduction, model.parameters
    rotors = parameters.reflected_inertia_slice
    units = parameter_units(parameters, model.robot.position_units)
    negative = [
        f'{model.robot.joint_names[column - rotors.start]} {value:.3g} +- {error:.2g}'
        # Per unknown drive gain it has no unit of its own.
        + ('' if model.relative_scale else f' {units[column]}')
        for column, row, value, error in zip(
            reduction.independent, reduction.K, model.theta_base, model.standard_errors,
            strict=True,
        )
        # Combined with others it may have either sign.
        if column in range(rotors.start, rotors.stop) and np.count_nonzero(row) == 1
        and value < -CLEARLY_NEGATIVE * error
    ]
    return (
        f'the reflected inertia is negative: {", ".join(negative)}. An effort that is filtered or '
        'late against the motion has this effect: turn off filters of the effort in drive and '
        'driver, or try --compensate-delay. Physically consistent parameters have no rotor there, '
        'so that a simulation accelerates these joints too much under the same effort',
    ) if negative else ()


def ranges_covered(
    model: IdentifiedModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray]
) -> dict[str, Any]:
    """
    Return the speeds and loads of each joint for which the model's friction was found.

    `speeds` are the largest [rad/s], `loads` the mean size of the torque of bodies and rotor [N
    m], both (n,), at the chosen `rows` (N,) of each dataset.
    """
    rigid = StandardParameters(model.robot.n, (), model.parameters.reflected_inertia)
    theta = np.concatenate([
        model.theta_lifted[: 10 * rigid.n],
        model.theta_lifted[model.parameters.reflected_inertia_slice],
    ])
    motions = [
        dataset.motion.rows(np.flatnonzero(chosen))
        for dataset, chosen in zip(datasets, rows, strict=True)
    ]
    loads = [
        np.abs(standard_torque(model.robot, rigid, theta, motion))
        for motion in motions
    ]
    return {
        'speeds': np.max([np.abs(motion.dq).max(axis=0) for motion in motions], axis=0),
        'loads': np.concatenate(loads).mean(axis=0),
    }


def quality_figures(
    choice: Choice, wide: Trial | None, whole: Fit, verdict: Verdict, recipe: Recipe
) -> dict[str, Any]:
    """Return the quality figures of a model file (docs/formats/model.md)."""
    estimate = whole.estimate
    return {
        'verdict': verdict.level,
        'reasons': list(verdict.reasons),
        **verdict_content(verdict),
        'cross_validation': {
            'kind': Folds(recipe.folds, recipe.gap).describe(choice.datasets),
            'nrmse': [errors.nrmse for errors in choice.trial.errors],
            'nrmse_mean': choice.trial.score,
            'without_corrections': {
                'nrmse': [errors.nrmse for errors in choice.of_parameters.errors],
                'nrmse_mean': choice.of_parameters.score,
            },
            'wider_gap': {
                'seconds': recipe.wide_gap, 'nrmse_mean': None if wide is None else wide.score,
            },
            'choices': [
                {
                    'question': question.question,
                    'rule': question.rule,
                    'chosen': question.chosen,
                    'candidates': [
                        {'name': name, 'nrmse_mean': score}
                        for name, score in zip(question.names, question.scores, strict=True)
                    ],
                }
                for question in choice.candidates
            ],
        },
        'passes': estimate.passes,
        'residual_standard_deviation': estimate.sigma,
        'condition_number': estimate.condition_number,
        'condition_number_scaled': estimate.condition_number_scaled,
        'lost': list(whole.unidentifiable),
    }


def describe_provenance(
    inputs: Inputs, others: Sequence[Bag], options: IdentifyOptions
) -> dict[str, Any]:
    """Return the entries `bags`, `options` and `versions` of a model file's provenance."""
    completeness = {
        **{
            found.source: found.completeness.describe() or 'complete'
            for found in inputs.recordings
        },
        **{survey.name: survey.completeness for survey in others},
    }
    return {
        'bags': [
            {
                'path': str(bag), 'sha256': digest,
                'data_sha256': list(data_hashes(inputs.sources[bag])),
                'completeness': completeness[str(bag)],
            }
            for bag, digest in inputs.hashes.items()
        ],
        'options': {
            'estimator': options.estimator_name,
            'friction': options.friction_name,
            'start': options.start,
            'stop': options.stop,
        },
        'versions': versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute results."""
    found = {'python': platform.python_version()}
    for name in ('robot_identification', 'numpy', 'scipy', 'pin', 'rosbags'):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
