# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Choice of filter, friction and prior by cross-validation inside the training recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification.errors import DataError, NotIdentifiableError
from robot_identification.estimation.bags import Processing
from robot_identification.estimation.choice import (
    Candidates, Choice, choose_laws, choose_prior_weight,
)
from robot_identification.estimation.corrections import correct_choice
from robot_identification.estimation.fitting import make_reduction
from robot_identification.estimation.inputs import check_effort_meaning
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import check_sample_count
from robot_identification.estimation.recipe import thin_rows
from robot_identification.model import KinematicFilter, RobotModel
from robot_identification.processing import (
    Dataset, find_stationary_joints, find_unexcited_joints,
)
from robot_identification.recording import Recording
from robot_identification.validation import examine_data, Folds, hold_out

# Takes the share that is done, from 0 to 1, and the name of the stage that begins; an exception
# it raises ends the work.
Report = Callable[[float, str], None]
# A recording with fewer samples in motion is taken to have none: 0.1 s of a UR's 500 Hz.
FEWEST_FITTED = 50


def ignore_progress(share: float, stage: str) -> None:
    """Do nothing with a progress report."""


def choose(
    robot: RobotModel,
    recordings: Sequence[Recording],
    unit: str,
    options: IdentifyOptions,
    *,
    with_prior: bool,
    report: Report = ignore_progress,
) -> Choice:
    """
    Choose filter, friction and prior by cross-validation inside the training recordings.

    The robot has its drive gains where the effort is current, and gravity where the effort has.
    `with_prior` allows the URDF as a prior: not if the scale of the effort is unknown. `report` is
    called at every stage with the share that is done and the stage's name. Raises
    NotIdentifiableError if no joint moved; DataError if the effort of every moving joint is
    constant, of another kind than the unit says, or of several possible ones while the unit is a
    default, a delay is to be compensated and none is certain, or there are fewer samples than
    parameters.
    """
    report(0.0, 'preparing')
    survey = survey_recordings(robot, recordings, unit, options)
    unexcited = find_unexcited_joints(survey.datasets)
    filters = _filters(survey, options)

    def attempt(kinematic_filter: KinematicFilter) -> Choice:
        datasets = survey.filtered(kinematic_filter)
        choice = (
            choose_prior_weight(
                robot, datasets, options, kinematic_filter, unexcited, with_prior,
                examination.tool,
            )
            if options.used_estimator.chooses_terms
            else choose_laws(robot, datasets, options, kinematic_filter, unexcited)
        )
        return correct_choice(robot, choice, options, unexcited)

    report(0.0, 'judging the effort')
    effort, against = check_effort_meaning(
        robot, survey.datasets, options, has_scale=with_prior,
        stated=options.effort_unit is not None or any(
            'effort_unit' in recording.metadata for recording in recordings
        ),
    )
    examination = examine_data(robot, survey.datasets, relative_scale=not with_prior)
    cutoffs = ', '.join(f'{kinematic_filter.cutoff:g}' for kinematic_filter in filters)
    report(0.25, f'choosing by cross-validation, cut-off {cutoffs} Hz')
    tried = [attempt(kinematic_filter) for kinematic_filter in filters]
    if against:
        survey = replace(survey, notes=(*survey.notes, against))
    return replace(
        _best(tried, survey, options), effort=effort, findings=examination.findings
    )


@dataclass(frozen=True, eq=False)
class Survey:
    """Recordings processed with the usual filter, and how others are to be processed alike."""

    recordings: tuple[Recording, ...]
    processing: Processing
    datasets: tuple[Dataset, ...] = ()
    notes: tuple[str, ...] = ()

    def processed(self, **changes: Any) -> Survey:
        """Return the survey with datasets by a processing that is changed."""
        processing = replace(self.processing, **changes)
        datasets = tuple(map(processing.process, self.recordings))
        return replace(self, processing=processing, datasets=datasets)

    def filtered(self, kinematic_filter: KinematicFilter) -> tuple[Dataset, ...]:
        """Return the recordings processed with another filter."""
        if kinematic_filter == self.processing.kinematic_filter:
            return self.datasets
        # What is found with the arm is found with the usual filter.
        other = replace(self.processing, kinematic_filter=kinematic_filter, robot=None)
        return tuple(
            replace(
                other.process(recording), found_delay=seen.found_delay,
                contradictions=seen.contradictions,
            )
            for recording, seen in zip(self.recordings, self.datasets, strict=True)
        )


def survey_recordings(
    robot: RobotModel | None, recordings: Sequence[Recording], unit: str, options: IdentifyOptions
) -> Survey:
    """
    Process the recordings that show motion, with a common delay and common encoders.

    This is the judgement of recordings, before any fit, of `identify` and of `doctor`, which may
    not know the arm. Raises NotIdentifiableError if no joint moved; DataError if recordings
    cannot be used, or have fewer samples than parameters.
    """
    recipe = options.recipe
    usual = options.given_filter or KinematicFilter(
        order=recipe.order, cutoff=recipe.preferred_cutoff
    )
    survey = Survey(
        tuple(recordings), Processing(robot, unit, usual, options.start, options.stop)
    ).processed()
    survey = _with_common_encoders(_with_motion(survey))
    if options.compensate_delay:
        survey = survey.processed(delay=_delay_to_compensate(survey.datasets))
    check_enough_samples(robot, survey.datasets, options)
    return survey


def _with_motion(survey: Survey) -> Survey:
    """Leave out recordings without motion; refuse where no joint of all of them is excited."""
    moving = check_motion(survey.datasets, survey.processing.robot)
    pairs = tuple(zip(survey.recordings, survey.datasets, moving, strict=True))
    return replace(
        survey,
        recordings=tuple(recording for recording, _, moves in pairs if moves),
        datasets=tuple(dataset for _, dataset, moves in pairs if moves),
        notes=tuple(
            f'{recording.source} has no motion, or no effort that changes: left out'
            for recording, _, moves in pairs if not moves
        ),
    )


def _with_common_encoders(survey: Survey) -> Survey:
    """Use rotor positions in all recordings or in none: a model predicts from one kind."""
    without = [
        dataset.source for dataset in survey.datasets if dataset.motion.rotor is None
    ]
    if not without:
        return survey
    if len(without) == len(survey.datasets):
        return replace(survey, processing=replace(survey.processing, rotor_side=False))
    return replace(survey.processed(rotor_side=False), notes=(
        *survey.notes,
        f'rotor positions of the other recordings are left out, for {", ".join(without)} has '
        'none that are usable: one encoder a joint is used',
        *(
            note for dataset in survey.datasets if dataset.source in without
            for note in dataset.notes
        ),
    ))


def _delay_to_compensate(datasets: Sequence[Dataset]) -> float:
    """Return the mean delay of the effort [s] where it is more than its own uncertainty."""
    found = [dataset.found_delay for dataset in datasets if dataset.found_delay is not None]
    values = [delay.value for delay in found if delay.is_significant]
    if not values:
        uncertain = ''.join(
            f' ({delay.value * 1e3:.1f} +- {delay.standard_error * 1e3:.1f} ms)' for delay in found
        )
        raise DataError(
            f'{", ".join(dataset.source for dataset in datasets)}: no certain delay between '
            f'position and effort was found{uncertain}: leave out --compensate-delay'
        )
    return float(np.mean(values))


def _filters(survey: Survey, options: IdentifyOptions) -> tuple[KinematicFilter, ...]:
    """Return the filters to try."""
    if options.given_filter is not None:
        return (survey.processing.kinematic_filter,)
    rate = min(dataset.rate for dataset in survey.datasets)
    return tuple(
        KinematicFilter(order=options.recipe.order, cutoff=cutoff)
        for cutoff in options.recipe.cutoffs_below(rate)
    )


def _best(tried: Sequence[Choice], survey: Survey, options: IdentifyOptions) -> Choice:
    """Return the best choice, the preferred cut-off where it is as good."""
    recipe = options.recipe
    best = min(tried, key=lambda choice: choice.trial.loss)
    for choice in tried:
        near = choice.trial.loss <= (1.0 + recipe.tie) * best.trial.loss
        if near and choice.kinematic_filter.cutoff == recipe.preferred_cutoff:
            best = choice
    best = replace(
        best, delay=survey.processing.delay,
        notes=(
            *survey.notes, *best.notes,
            *(
                note
                for recording, dataset in zip(survey.recordings, survey.datasets, strict=True)
                # What is to be known of a recording in parts is known from the whole of it.
                if recording.whole is None for note in dataset.notes
            ),
        ),
    )
    if len(tried) == 1:
        return best
    question = Candidates(
        'cut-off',
        tuple(f'{choice.kinematic_filter.cutoff:g} Hz' for choice in tried),
        tuple(choice.trial.loss for choice in tried),
        f'{best.kinematic_filter.cutoff:g} Hz',
        f'{recipe.preferred_cutoff:g} Hz where it is within {recipe.tie:.0%} of the best',
    )
    return replace(best, candidates=(question, *best.candidates))


def check_motion(datasets: Sequence[Dataset], robot: RobotModel | None = None) -> list[bool]:
    """
    Return which recordings have samples enough in motion, and an effort that changes.

    Raise NotIdentifiableError or DataError where nothing can be identified from all of them;
    without the arm, it is not known which joints slide.
    """
    n = len(datasets[0].joint_names)
    usable = [
        int(dataset.fitted.sum()) >= FEWEST_FITTED and len(find_unexcited_joints([dataset])) < n
        for dataset in datasets
    ]
    if any(usable):
        datasets = [dataset for dataset, one in zip(datasets, usable, strict=True) if one]
    sources = ', '.join(dataset.source for dataset in datasets)
    if len(find_stationary_joints(datasets)) == n:
        raise NotIdentifiableError(
            f'{sources}: no joint moved by more than 0.05 '
            f'{"rad or m" if robot is None else robot.units("rad")}: record a motion'
        )
    if len(find_unexcited_joints(datasets)) == n:
        raise DataError(
            f'{sources}: the effort of every joint that moves is the same throughout: record a '
            'driver that fills it'
        )
    if not any(usable):
        raise DataError('; '.join(map(_describe_no_motion, datasets)))
    return usable


def _describe_no_motion(dataset: Dataset) -> str:
    """Return how many samples a recording has in motion, and why it has no more."""
    reasons = ', '.join(f'{count} {reason}' for reason, count in dataset.excluded.items())
    return (
        f'{dataset.source}: {np.count_nonzero(dataset.fitted)} of {len(dataset.fitted)} samples '
        f'can be fitted ({reasons or "there are no more"}), at least {FEWEST_FITTED} are needed: '
        'record a longer motion, without pauses and gaps'
    )


def count_trained(datasets: Sequence[Dataset], options: IdentifyOptions) -> int:
    """Return how many samples the choices are made on, in addition to the worst held-out block."""
    recipe = options.recipe
    folds = Folds(recipe.folds, recipe.gap)
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    parts = [
        hold_out(dataset, chosen, folds) for dataset, chosen in zip(datasets, rows, strict=True)
    ]
    return min(
        sum(int(training.sum()) for training, _ in fold) for fold in zip(*parts, strict=True)
    )


def check_enough_samples(
    robot: RobotModel | None, datasets: Sequence[Dataset], options: IdentifyOptions
) -> None:
    """
    Raise DataError where the samples other than a held-out block cannot decide the parameters.

    Of an arm that is not known, that is where there are none.
    """
    samples, sources = count_trained(datasets, options), [one.source for one in datasets]
    if not samples:
        raise DataError(
            f'{", ".join(sources)}: no usable samples beside those held out of the '
            'cross-validation: record a longer motion'
        )
    if robot is not None:
        reduction = make_reduction(
            robot, options.laws[0], datasets, options.recipe.two_encoders
        )
        check_sample_count(sources, samples, reduction)
