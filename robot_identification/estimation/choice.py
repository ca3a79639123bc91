# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Shape constants of friction laws and the weight of the prior, chosen on held-out blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from robot_identification.estimation.correction_groups import AcceptedGroup
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.fitting import cross_validate, cross_validate_prior_weights
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.recipe import thin_rows
from robot_identification.model import FrictionLaw, FrictionTerm, KinematicFilter, RobotModel
from robot_identification.processing import Dataset, find_position_steps
from robot_identification.validation import Findings, Folds, NOTHING_FOUND, Trial

# Under this much motion [s] a full dictionary rests on little.
SHORT_MOTION = 20.0
# From this share of the joints on, contradictions are of a unit or a mounting, not of links.
MOST_CONTRADICTING = 0.5
# A longer pause between samples is no motion [s].
LONGEST_PAUSE = 0.5


@dataclass(frozen=True)
class Candidates:
    """A question that held-out blocks decided."""

    question: str  # what was to be chosen
    names: tuple[str, ...]  # the candidates
    scores: tuple[float, ...]  # mean NRMSE of each on held-out blocks
    chosen: str  # the one taken
    rule: str  # by which it was


@dataclass(frozen=True, eq=False)
class Choice:
    """Choice made inside the training data, with its alternatives."""

    kinematic_filter: KinematicFilter  # smoothing of the kinematics
    datasets: tuple[Dataset, ...]  # the recordings, processed with it
    friction: tuple[FrictionLaw | FrictionTerm, ...]  # laws of every joint, or terms of each
    estimator: Estimator  # with its options
    trial: Trial  # how the choice did on held-out blocks
    candidates: tuple[Candidates, ...]  # the questions, in the order they were decided
    notes: tuple[str, ...] = ()
    delay: float = 0.0  # of the effort that is compensated [s]
    # The same with each weight of the prior, from which that of `estimator` was chosen.
    by_prior_weight: tuple[tuple[float, Trial], ...] = ()
    groups: tuple[AcceptedGroup, ...] = ()  # corrections, which `trial` has
    plain: Trial | None = None  # how the choice did without them
    effort: str = ''  # what the effort was found to be
    findings: Findings = NOTHING_FOUND  # what was found in the data

    @property
    def of_parameters(self) -> Trial:
        """Trial of the parameters alone on held-out blocks."""
        return self.trial if self.plain is None else self.plain


def choose_laws(
    robot: RobotModel,
    datasets: tuple[Dataset, ...],
    options: IdentifyOptions,
    kinematic_filter: KinematicFilter,
    unexcited: Sequence[int],
) -> Choice:
    """Choose the shape constants of plain laws."""
    recipe = options.recipe
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    trials = [
        cross_validate(
            options.observe(robot, friction, datasets, rows), unexcited, options.used_estimator,
            describe_laws(friction), Folds(recipe.folds, recipe.gap),
        )
        for friction in options.laws
    ]
    at = int(np.argmin([trial.loss for trial in trials]))
    return Choice(
        kinematic_filter, datasets, options.laws[at], options.used_estimator, trials[at],
        (_compare('friction', trials, trials[at], 'the best score'),) if len(trials) > 1 else (),
    )


def describe_laws(friction: Sequence[FrictionLaw]) -> str:
    """Return friction laws and their shape constants in words."""
    return ', '.join(
        law.name + ''.join(
            f' {key} {value:g}' for key, value in law.constants().items()
            if isinstance(value, float)
        )
        for law in friction
    )


def choose_prior_weight(
    robot: RobotModel,
    datasets: tuple[Dataset, ...],
    options: IdentifyOptions,
    kinematic_filter: KinematicFilter,
    unexcited: Sequence[int],
    with_prior: bool,
    tool: str,
) -> Choice:
    """
    Choose the weight of the CAD prior of a dictionary fit.

    `tool` says what the data show of a tool that the URDF lacks, empty if nothing.
    """
    recipe = options.recipe
    estimator = cast(SparseNonnegativeRegression, options.used_estimator)
    steps = np.max([find_position_steps(one.motion.drive_side.q) for one in datasets], axis=0)
    friction = tuple(
        FrictionTerm(joint, law.with_position_step(float(steps[joint])))
        for law in options.laws[0] for joint in range(robot.n)
    )
    notes = []
    weights: tuple[float, ...] = (0.0,)
    contradicting = _contradicting_joints(robot, datasets)
    if not with_prior:
        notes.append('the URDF is no prior: drive gains are unknown, so the scale is')
    elif len(contradicting) >= MOST_CONTRADICTING * robot.n:
        notes.append('the URDF is no prior, for it contradicts the effort')
    else:
        # Outliers and load are judged with a light regularization, for every weight tried.
        prior = cad_prior(robot, [*contradicting, robot.n - 1] if tool else contradicting)
        estimator = replace(estimator, prior=prior, prior_weight=1.0)
        weights = recipe.prior_weights
        if tool:
            notes.append(f'{tool}: the URDF is no prior for it')
        if contradicting:
            names = ', '.join(robot.joint_names[joint] for joint in contradicting)
            notes.append(
                f'the URDF is no prior for the links behind {names}, for it contradicts the '
                'effort there'
            )
    motion = sum(seconds_fitted(dataset) for dataset in datasets)
    if motion < SHORT_MOTION:
        notes.append(
            f'{motion:.0f} s of motion: under {SHORT_MOTION:g} s the friction terms rest on '
            'little; record longer, or compare --estimator consistent'
        )
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    trials = cross_validate_prior_weights(
        options.observe(robot, friction, datasets, rows), unexcited, estimator, weights,
        Folds(recipe.folds, recipe.gap),
    )
    return with_prior_weight(Choice(
        kinematic_filter, datasets, friction, estimator, trials[0], (), tuple(notes),
        by_prior_weight=tuple(zip(weights, trials, strict=True)),
    ))


def with_prior_weight(choice: Choice, question: str = 'weight of the CAD prior') -> Choice:
    """
    Return a choice with the largest weight of its prior that is as good as the best one.

    None is taken where that is surely better than a prior: without one, parameters that the motion
    hardly shows become those of this motion, and its held-out blocks reward that.
    """
    weighted = [pair for pair in choice.by_prior_weight if pair[0] > 0.0] or choice.by_prior_weight
    best = min((trial for _, trial in weighted), key=lambda trial: trial.loss)
    taken = max(
        (pair for pair in weighted if pair[1] is best or pair[1].is_as_good_as(best)),
        key=lambda pair: pair[0],
    )
    for pair in choice.by_prior_weight:
        if pair[0] == 0.0 and pair[1].is_surely_better_than(taken[1]):
            taken = pair
    weight, chosen = taken
    estimator = cast(SparseNonnegativeRegression, choice.estimator)
    choice = replace(
        choice, trial=chosen, estimator=replace(estimator, prior_weight=weight)
    )
    trials = [trial for _, trial in choice.by_prior_weight]
    if len(trials) == 1:
        return choice
    compared = _compare(
        question, trials, chosen,
        'the largest that is no worse than the best by one standard error, block by block; 0 '
        'where that is better with a confidence of 97.5 %',
    )
    return replace(choice, candidates=(*choice.candidates, compared))


def _contradicting_joints(robot: RobotModel, datasets: Sequence[Dataset]) -> list[int]:
    """Return the joints whose effort contradicts the URDF in one of the recordings."""
    names = {
        name for dataset in datasets for one in dataset.contradictions for name in one.joints
    }
    return [joint for joint, name in enumerate(robot.joint_names) if name in names]


def seconds_fitted(dataset: Dataset) -> float:
    """Return how long the motion is that parameters are estimated from, without gaps [s]."""
    steps = np.diff(dataset.stamps[dataset.fitted])
    return float(np.sum(steps[steps < LONGEST_PAUSE]))


def _compare(question: str, trials: Sequence[Trial], chosen: Trial, rule: str) -> Candidates:
    return Candidates(
        question,
        tuple(trial.name for trial in trials),
        tuple(trial.loss for trial in trials),
        chosen.name,
        rule,
    )
