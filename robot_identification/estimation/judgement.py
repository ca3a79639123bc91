# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The identified model of a fit, the verdict on it, and its figures of quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import robot_identification
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.estimation.band import deviation_figures, parameter_figures
from robot_identification.estimation.choice import Candidates, Choice
from robot_identification.estimation.corrections import fit_corrections, joints_of_one_motion
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fitted_recordings import FittedRecordings
from robot_identification.estimation.fitting import cross_validate
from robot_identification.estimation.inputs import Inputs
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.quality import (
    condition_notes, describe_provenance, find_covariance, offset_notes, quality_figures,
    ranges_covered, rotor_notes,
)
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.recommendations import (
    prior_decided, recommend, Recommendation,
)
from robot_identification.estimation.standard import (
    ConsistentParameters, find_consistent_parameters,
)
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.files import AnyPath
from robot_identification.model import describe_compensated_gravity, IdentifiedModel, SignalSource
from robot_identification.processing import Dataset, have_rotors
from robot_identification.texts import counted, html_of, short_repr
from robot_identification.validation import (
    BAD, BagErrors, bandwidth_of, describe_two_encoder_figures, Folds, judge, Limit, PAYLOAD,
    score_urdf, SIMULATION, temperature_notes, temperatures_covered, Trial,
    two_encoder_figures, Verdict, with_structure,
)

# The verdict names no more recommended motions than this.
RECOMMENDATIONS_IN_VERDICT = 3
# RMS of the residual in a block over the largest one of a part, above which something is wrong
# there. Parts are 20 s and blocks longer, so that blocks differ less than parts do; chosen: half
# as much again.
WORSE = 1.5
# A block is named with so many joints at most.
MOST_NAMED = 3
# Reasons of the verdict that `print` shows; chosen: ten lines in all.
MOST_REASONS = 3


@dataclass(frozen=True, eq=False)
class Identification:
    """All that one identification found; `print` shows the verdict, `report` draws everything."""

    model: IdentifiedModel  # the result
    estimate: Estimate  # with singular values and residual deviation
    datasets: tuple[Dataset, ...]  # the training data
    # errors on held-out blocks of the training data, by bag
    cross_validation: tuple[BagErrors, ...]
    # errors of the URDF's inertial parameters with friction fitted to the same data
    prior: tuple[BagErrors, ...]
    unidentifiable: tuple[str, ...]  # base parameters that the data do not determine
    stationary_joints: tuple[str, ...]  # joints that hardly moved
    verdict: Verdict  # in words
    notes: tuple[str, ...]  # what a reader should know
    candidates: tuple[Candidates, ...] = ()  # what was chosen on held-out blocks
    decided_by_prior: tuple[str, ...] = ()  # parameters of which the URDF says more than the data
    # motions that would show what the data did not
    recommendations: tuple[Recommendation, ...] = ()

    __repr__ = short_repr
    _repr_html_ = html_of

    def __str__(self) -> str:
        names, verdict = self.model.robot.joint_names, self.verdict
        held_out, urdf = (
            np.ma.masked_invalid([errors.nrmse for errors in side])
            for side in (self.cross_validation, self.prior)
        )
        # Of a relative scale nothing is known of the description.
        means = [float(np.ma.filled(one.mean(), np.nan)) for one in (held_out, urdf)]
        samples = sum(len(dataset) for dataset in self.datasets)
        reasons = verdict.reasons[:MOST_REASONS]
        more = len(verdict.reasons) - len(reasons)
        return '\n'.join([
            f'Identification of {self.model.robot.name}: {verdict.level.upper()}',
            f'By use: {verdict.describe_uses()}',
            f'From: {counted(len(self.datasets), "recording")}, {samples} samples, '
            f'{self.model.reduction.rank} base parameters',
            f'NRMSE on held-out blocks: {means[0]:.4f} (URDF with fitted friction {means[1]:.4f})',
            'By joint: ' + ', '.join(
                f'{name} {value:.3f}'
                for name, value in zip(names, held_out.mean(axis=0).filled(np.nan), strict=True)
            ),
            *(f'- {reason}' for reason in reasons),
            *([f'- {more} more in the report'] if more > 0 else []),
            f'Next step: {verdict.next_step}',
        ])

    def report(self, path: AnyPath) -> None:
        """Write the report, one HTML file that needs no network; a file there is replaced."""
        robot_identification.write_report(self, path)


class MadeModel(NamedTuple):
    """An identified model without its figures of quality, and what it was made of."""

    model: IdentifiedModel
    covariance: Covariance
    consistent: ConsistentParameters
    not_shown: str  # by the effort of what its motion would show; empty where that is nothing
    # (2, n) error of live prediction over that of recordings, with corrections and without;
    # None without recorded velocities
    live_ratios: FloatArray | None


def make_model(
    inputs: Inputs, choice: Choice, fitted: FittedRecordings, options: IdentifyOptions
) -> MadeModel:
    """
    Return the identified model, its covariance and its consistent parameters.

    The model has physically consistent parameters where there are some; with a relative scale
    there are none.
    """
    covariance = find_covariance(fitted.fit.estimate)
    not_shown = describe_compensated_gravity(
        fitted.robot, fitted.fit.problem.reduction.parameters
    )
    consistent = ConsistentParameters(
        None, 'no standard parameters: drive gains are unknown, so the scale is'
    ) if inputs.relative_scale else find_consistent_parameters(
        choice, fitted, options.recipe
    )
    model = IdentifiedModel(
        robot=fitted.robot,
        effort_unit=inputs.unit,
        reduction=fitted.fit.problem.reduction,
        theta_base=fitted.fit.estimate.theta,
        covariance=covariance.matrix,
        covariance_kind=covariance.kind,
        theta_consistent=consistent.theta,
        consistency_note='; '.join(filter(None, (consistent.note, not_shown))),
        source=SignalSource(
            topic=inputs.recordings[0].topic,
            joint_names=options.joint_names,
            kinematic_filter=choice.kinematic_filter,
            delay=choice.delay,
            command_delay=(
                None if inputs.command_delay is None else inputs.command_delay.value
            ),
        ),
        temperature=fitted.mean_temperature,
        provenance={
            **describe_provenance(inputs, fitted.others, options),
            'two_encoders': have_rotors(choice.datasets),
        },
        quality={},
        relative_scale=inputs.relative_scale,
    )
    corrections, live_ratios = fit_corrections(model, choice, fitted.rows, options.recipe)
    return MadeModel(
        replace(model, corrections=corrections), covariance, consistent, not_shown,
        live_ratios
    )


def judge_identification(
    inputs: Inputs, choice: Choice, fitted: FittedRecordings, options: IdentifyOptions,
    made: MadeModel,
) -> Identification:
    """Return the identification with verdict, recommendations, quality figures and notes."""
    model, covariance, consistent, not_shown, live_ratios = made
    datasets, fit = choice.datasets, fitted.fit
    # The friction of a stationary joint is unidentifiable as a whole, under the name of its law.
    single = [
        name for name in fit.unidentifiable if name in fit.problem.reduction.parameters.names
    ]
    recommendations = recommend(
        fitted.robot, fit.estimate, covariance, single,
        # Bags that are read in each pass need not be read for that.
        fitted.in_choice if fitted.beyond_choice else fitted.observations,
    )
    verdict = _judge(inputs, choice, fitted, recommendations).limited(
        _limits(model, relative_scale=inputs.relative_scale)
    )
    covered = _covered(model, choice, fitted)
    of_joints = two_encoder_figures(model, datasets, list(fitted.rows))
    wide = _try_wider_gaps(choice, fitted, options.recipe)
    model = model.with_quality({
        **quality_figures(choice, wide, fit, verdict, options.recipe),
        **covered,
        **deviation_figures(model, choice, fitted.rows, covered['loads'], live_ratios),
        **parameter_figures(model, covariance, fitted, choice),
        'degrees_of_freedom': covariance.freedom,
        'consistency': dict(consistent.figures),
        'two_encoders': of_joints or None,
        'effort': choice.effort,
    })
    names = fitted.robot.joint_names
    return Identification(
        model=model,
        estimate=fit.estimate,
        datasets=datasets,
        cross_validation=choice.trial.errors,
        prior=score_urdf(
            fitted.robot, datasets, list(fitted.rows), relative_scale=inputs.relative_scale,
        ),
        unidentifiable=fit.unidentifiable,
        stationary_joints=tuple(
            name for joint, name in enumerate(names)
            if all(joint in bag.stationary for bag in fitted.bags)
        ),
        verdict=verdict,
        notes=(
            *(note for note in (*inputs.notes, not_shown, *fitted.notes) if note),
            *choice.notes,
            *offset_notes(
                fitted.robot, fit.estimate, [bag.standard_deviation for bag in fitted.bags],
                inputs.unit, relative_scale=inputs.relative_scale,
            ),
            *temperature_notes(datasets, model.parameters, fitted.temperatures),
            *fit.estimate.notes, *condition_notes(fit.estimate),
            *covariance.notes,
            *describe_two_encoder_figures(names, of_joints),
        ),
        candidates=choice.candidates,
        decided_by_prior=prior_decided(fit.estimate),
        recommendations=recommendations,
    )


def _limits(model: IdentifiedModel, *, relative_scale: bool) -> list[Limit]:
    """Return what speaks against using a model for more than torques."""
    if relative_scale:
        reason = 'drive gains are not known, so masses and inertias have no unit'
        return [Limit(use, BAD, reason) for use in (SIMULATION, PAYLOAD)]
    reasons = [
        *rotor_notes(model), *([model.consistency_note] if model.theta_consistent is None else [])
    ]
    return [Limit(SIMULATION, BAD, reason) for reason in reasons]


def _try_wider_gaps(choice: Choice, fitted: FittedRecordings, recipe: Recipe) -> Trial | None:
    """Return the errors on blocks with more time between them; None where too little is left."""
    try:
        return cross_validate(
            fitted.in_choice, fitted.unexcited, choice.estimator, choice.trial.name,
            Folds(recipe.folds, recipe.wide_gap),
        )
    except DataError:
        return None


def _judge(
    inputs: Inputs, choice: Choice, fitted: FittedRecordings,
    recommendations: Sequence[Recommendation],
) -> Verdict:
    found = with_structure(
        choice.findings, fitted.robot, choice.datasets, fitted.fit.estimate.sigma
    )
    against: list[str] = []
    assumed: list[str] = []
    for one in fitted.contradictions:
        if not inputs.relative_scale:
            (against if one.of_several else assumed).append(one.text)
    if inputs.relative_scale:
        against = [
            'unknown drive gains are taken as equal: the torques of joints may not fit together'
        ]
    against += describe_worst_blocks(choice, fitted)
    findings = replace(
        found, assumptions=(*assumed, *found.assumptions), contradictions=tuple(against),
        unidentifiable=fitted.fit.unidentifiable,
        recommendations=tuple(
            str(one) for one in recommendations[:RECOMMENDATIONS_IN_VERDICT]
        ),
        of_one_motion=tuple(
            fitted.robot.joint_names[joint] for joint in joints_of_one_motion(choice)
        ),
    )
    return judge(
        choice.trial.errors, unseen=False, findings=findings,
        bandwidth=bandwidth_of(choice.datasets, choice.kinematic_filter),
    )


def _covered(
    model: IdentifiedModel, choice: Choice, fitted: FittedRecordings
) -> dict[str, Any]:
    """Return ranges of motion and temperature that the model has seen."""
    ranges = ranges_covered(model, choice.datasets, list(fitted.rows))
    ranges['speeds'] = np.max(
        [ranges['speeds'], *(one.fastest for one in fitted.beyond_choice)], axis=0
    )
    return {
        **ranges, 'temperatures': temperatures_covered(choice.datasets, fitted.temperatures),
    }


def describe_worst_blocks(choice: Choice, fitted: FittedRecordings) -> tuple[str, ...]:
    """
    Return where a recording is unlike the evenly spread parts that the choices were made on.

    The factors of the fit have the residuals of all blocks of time without another pass; outliers
    count in them as in the fit, which makes the comparison a cautious one.
    """
    problem = fitted.fit.estimate.problem or fitted.fit.problem
    blocks = len(problem.blocks)
    if blocks < 2 or all(dataset.whole is None for dataset in choice.datasets):
        return ()
    squares = problem.squared_residuals_by_block(fitted.fit.estimate.unknowns)
    largest = largest_of_parts(choice, fitted)
    ratios = np.sqrt(squares * blocks / np.maximum(problem.samples, 1)) / largest
    found = []
    for block in np.flatnonzero(np.any(ratios > WORSE, axis=1)):
        joints = np.argsort(-ratios[block])[:MOST_NAMED]
        named = ', '.join(
            f'{fitted.robot.joint_names[joint]} ({ratios[block, joint]:.1f} times)'
            for joint in joints if ratios[block, joint] > WORSE
        )
        first, last = 100.0 * block / blocks, 100.0 * (block + 1) / blocks
        found.append(
            f'between {first:.0f} and {last:.0f} % of the joint states residuals are larger than '
            f'anywhere in the parts that errors are from: {named}; look at that time, and if the '
            'recording is wrong there, identify from what is before or after it (--stop, --start)'
        )
    return tuple(found)


def largest_of_parts(choice: Choice, fitted: FittedRecordings) -> FloatArray:
    """Return the largest RMS of held-out residuals in one part of the recordings, (n,) [N m]."""
    found = []
    for dataset, rows, predicted in zip(
        choice.datasets, fitted.rows, choice.trial.predictions, strict=True
    ):
        residual = (dataset.effort[rows] - predicted) * dataset.torque_per_effort(fitted.robot)
        # Of thinned samples, which parts begin at.
        edges = np.searchsorted(
            np.flatnonzero(rows), [0, *dataset.motion.starts, len(dataset)]
        )
        found += [
            np.sqrt(np.mean(residual[first:last] ** 2, axis=0))
            for first, last in pairwise(edges) if last > first
        ]
    largest: FloatArray = np.max(found, axis=0)
    return largest
