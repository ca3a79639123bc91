# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The fit of a chosen model to all recordings, in this process or by an executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.bags import (
    Bag, BagSource, BagSurvey, process_bag, read_bag, survey_bag, survey_of, training_data,
)
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitting import Fit, fit_parameters
from robot_identification.estimation.inputs import Inputs, unit_notes
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.rows import TIME_BLOCKS, TrainingData
from robot_identification.estimation.selection import FEWEST_FITTED
from robot_identification.model import KinematicFilter, RobotModel
from robot_identification.parallel import run_jobs
from robot_identification.processing import (
    Contradiction, find_stationary_joints, find_unexcited_joints, have_rotors,
)
from robot_identification.recording import Recording
from robot_identification.validation import mean_temperature

# What is kept of bags that no choice has read, so that it is not read in each pass [bytes].
LARGEST_MEMORY = 256_000_000


@dataclass(frozen=True, eq=False)
class FittedRecordings:
    """An estimate from all recordings, and what is known of the recordings as a whole."""

    robot: RobotModel  # the arm, with the sampling rate of the recordings where it had none
    in_choice: Observations  # rows of the recordings that the choices were made on
    rows: tuple[BoolArray, ...]  # samples of each dataset that `in_choice` has
    unexcited: tuple[int, ...]  # joints of the datasets whose motion or effort shows nothing
    fit: Fit  # estimate and problem
    everything: AllRecordings  # what is fitted to

    @property
    def temperatures(self) -> list[FloatArray]:
        """Extreme joint temperatures of the surveyed bags that have them [degC]."""
        return [
            one.temperature_range for one in self.everything.surveys
            if one.temperature_range is not None
        ]


@dataclass(frozen=True, eq=False)
class AllRecordings:
    """Rows of all recordings, and what is known of these as a whole."""

    rows: Observations
    unexcited: tuple[int, ...]  # joints whose motion or effort shows nothing
    stationary: tuple[int, ...]  # joints that hardly moved
    # contradictions between the recordings and the drive gains
    contradictions: tuple[Contradiction, ...]
    # (n,) standard deviation of the effort in each recording
    standard_deviations: tuple[FloatArray, ...]
    temperature: FloatArray | None  # (n,) mean joint temperatures [degC]
    others: tuple[BagSurvey, ...] = ()  # bags that were not in the choices
    surveys: tuple[BagSurvey, ...] = ()  # fitted bags, where not all were in the choices
    notes: tuple[str, ...] = ()  # remarks on `others`


def fit_recordings(
    inputs: Inputs, choice: Choice, options: IdentifyOptions, executor: Executor | None
) -> FittedRecordings:
    """
    Fit the chosen filter, friction and estimator to all recordings.

    An executor reads the bags and reduces them to their factors; without one they are read
    here, those beyond LARGEST_MEMORY in each pass. Raises DataError if there are fewer rows than
    parameters, or bags lack rotor positions that the choice has; UsageError if bags state
    different units and no option decides.
    """
    datasets, robot = choice.datasets, inputs.robot
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
        inputs = replace(inputs, robot=robot)
    rows = tuple(thin_rows([d.fitted for d in datasets], options.recipe.samples_in_choice))
    unexcited = find_unexcited_joints(datasets)
    in_choice = options.observe(robot, choice.friction, datasets, rows)
    if executor is None and inputs.are_all:
        found = AllRecordings(
            options.observe(
                robot, choice.friction, datasets, [dataset.fitted for dataset in datasets],
                time_blocks=TIME_BLOCKS,
            ),
            unexcited, find_stationary_joints(datasets),
            tuple(one for dataset in datasets for one in dataset.contradictions),
            tuple(dataset.effort[dataset.fitted].std(axis=0) for dataset in datasets),
            mean_temperature(datasets),
        )
    else:
        found = _gather(inputs, choice, options, in_choice, executor)
    # A single recording was in the choices at least in part.
    part = in_choice if found.surveys and len(inputs.hashes) == 1 else None
    fit = fit_parameters(found.rows, found.unexcited, choice.estimator, part)
    return FittedRecordings(robot, in_choice, rows, unexcited, fit, found)


def _gather(
    inputs: Inputs, choice: Choice, options: IdentifyOptions, in_choice: Observations,
    executor: Executor | None,
) -> AllRecordings:
    """Return the rows of all bags, of which some or parts were in the choices."""
    has_rotors = have_rotors(choice.datasets)
    sources = [
        BagSource(
            str(bag), bag.absolute(), digest, inputs.robot, inputs.unit, choice.kinematic_filter,
            choice.delay, options.topic, options.joint_names, options.start, options.stop,
            has_rotors, options.table_mapping,
            None if inputs.command_delay is None else inputs.command_delay.value,
        )
        for bag, digest in inputs.hashes.items()
    ]
    bags = read_bags(
        sources, {one.source: one for one in inputs.read}, options.recipe.effort_filter, executor
    )
    surveys = [one for one, _ in bags]
    others, moving, notes = _check_others(surveys, inputs, choice, options)
    used = {dataset.source for dataset in choice.datasets} | {one.name for one in moving}
    fitted = [one for one in surveys if one.name in used]
    stationary = set.intersection(*(set(one.stationary) for one in fitted))
    constant_effort = set.intersection(*(set(one.constant_effort) for one in fitted))
    in_parts = {found.source for found in inputs.recordings if found.whole is not None}
    return AllRecordings(
        Observations(
            inputs.robot, in_choice.reduction, [part for one, part in bags if one.name in used],
            offset_by_recording=options.used_estimator.chooses_terms, time_blocks=TIME_BLOCKS,
            treatment=options.treatment, executor=executor,
        ),
        tuple(sorted(stationary | constant_effort)),
        tuple(sorted(stationary)),
        tuple(dict.fromkeys((
            *(one for dataset in choice.datasets for one in dataset.contradictions), *(
                one for bag in others if bag.name not in in_parts for one in bag.contradictions
            ),
        ))),
        tuple(one.standard_deviation for one in fitted),
        _mean_temperature(fitted),
        tuple(others), tuple(fitted), tuple(notes),
    )


def read_bags(
    sources: Sequence[BagSource], at_hand: Mapping[str, Recording],
    effort_filter: KinematicFilter | None, executor: Executor | None,
) -> list[tuple[BagSurvey, TrainingData | Bag]]:
    """
    Survey bags; return each with its rows, or as a bag that each pass reads again.

    With an executor all are read by it, in each pass. Without one, the recordings `at_hand`, by
    the name of their bag, are kept, and of the others the first that LARGEST_MEMORY holds.
    """
    if executor is not None:
        surveys = run_jobs(executor, survey_bag, sources)
        return [
            (survey, Bag(source, survey, effort_filter))
            for source, survey in zip(sources, surveys, strict=True)
        ]
    bags: list[tuple[BagSurvey, TrainingData | Bag]] = []
    kept = 0
    for source in sources:
        is_at_hand = source.name in at_hand
        recording = at_hand[source.name] if is_at_hand else read_bag(source)
        dataset = process_bag(source, recording)
        survey = survey_of(source, recording, dataset)
        if not is_at_hand:
            kept += sum(array.nbytes for array in dataset.arrays)
        if is_at_hand or kept <= LARGEST_MEMORY:
            bags.append((
                survey, training_data(source.robot, dataset, dataset.fitted, effort_filter)
            ))
        else:
            bags.append((survey, Bag(source, survey, effort_filter)))
    return bags


def _check_others(
    surveys: Sequence[BagSurvey], inputs: Inputs, choice: Choice, options: IdentifyOptions
) -> tuple[list[BagSurvey], list[BagSurvey], list[str]]:
    """Return the bags that were not in the choices as a whole, those that move, and remarks."""
    wholes = {found.source for found in inputs.recordings if found.whole is None}
    others = [one for one in surveys if one.name not in wholes]
    if options.effort_unit is None:
        _check_units(others, inputs.unit)
    moving = [
        one for one in others
        if one.samples >= FEWEST_FITTED and len(one.unseen) < inputs.robot.n
    ]
    if have_rotors(choice.datasets):
        _check_rotors(moving)
    notes = _describe(others, moving, inputs.unit)
    if others:
        notes.append(_describe_choice(inputs, len(choice.datasets)))
    return others, moving, notes


def _mean_temperature(surveys: Sequence[BagSurvey]) -> FloatArray | None:
    """Return the mean temperature of each joint while it was fitted [deg C], if recorded."""
    known = [one for one in surveys if one.temperature is not None]
    if not known:
        return None
    mean: FloatArray = np.average(
        [one.temperature for one in known], axis=0, weights=[one.samples for one in known]
    )
    return mean if np.all(np.isfinite(mean)) else None


def _describe_choice(inputs: Inputs, count: int) -> str:
    of_all = [] if count == len(inputs.hashes) else [f'{count} of {len(inputs.hashes)} recordings']
    of_all += [
        f'{len(found)} of {found.whole} joint states of {found.source}'
        for found in inputs.recordings if found.whole is not None
    ]
    return (
        f'filter, friction, prior and every figure of errors are from {", ".join(of_all)}, spread '
        'evenly; the fit took all that move'
    )


def _check_units(others: Sequence[BagSurvey], unit: str) -> None:
    stated = {survey.stated_unit for survey in others} - {None, unit}
    if stated:
        raise UsageError(
            f'the bags state their effort in {", ".join(sorted({unit, *map(str, stated)}))}: '
            'choose with --effort-unit'
        )


def _check_rotors(moving: Sequence[BagSurvey]) -> None:
    lacking = [survey.name for survey in moving if not survey.has_rotors]
    if lacking:
        raise DataError(
            f'{", ".join(lacking)}: no usable rotor positions, which the recordings of the choice '
            'have: leave these bags out, or name one of them first, so that the choice sees it '
            'and no rotors are used'
        )


def _describe(
    others: Sequence[BagSurvey], moving: Sequence[BagSurvey], unit: str
) -> list[str]:
    return [
        *(note for survey in others if (note := survey.robot_note)),
        *unit_notes([(survey.name, survey.stated_unit) for survey in others], unit),
        *(
            f'{survey.name} has no motion, or no effort that changes: left out'
            for survey in others if survey not in moving
        ),
        *(f'{survey.name}: {note}' for survey in moving for note in survey.notes),
    ]
