# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The fit of a chosen model to all recordings, here or on the processes of a scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import secrets

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitting import Fit, fit_parameters
from robot_identification.estimation.inputs import Inputs, unit_notes
from robot_identification.estimation.many_bags import (
    BagObservations, BagSource, BagSurvey, hand_over, ManyBags, survey_bags,
)
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.rows import TIME_BLOCKS
from robot_identification.estimation.sample_count import FEWEST_FITTED
from robot_identification.model import RobotModel
from robot_identification.parallel import InThisProcess, Scheduler
from robot_identification.processing import (
    find_stationary_joints, find_unexcited_joints, have_rotors,
)
from robot_identification.validation import Contradiction, find_contradictions, mean_temperature


@dataclass(frozen=True, eq=False)
class FittedRecordings:
    """An estimate from all recordings, and what is known of the recordings as a whole."""

    robot: RobotModel  # the arm, with the sampling rate of the recordings where it had none
    fit: Fit  # estimate and problem
    in_choice: Observations  # rows of the recordings that the choices were made on
    rows: tuple[BoolArray, ...]  # samples of each dataset that `in_choice` has
    unexcited: tuple[int, ...]  # joints of the datasets whose motion or effort shows nothing
    stationary: tuple[int, ...]  # joints of all recordings that hardly moved
    # contradictions between the recordings and the drive gains
    contradictions: tuple[Contradiction, ...]
    # (n,) standard deviation of the effort in each recording
    standard_deviations: tuple[FloatArray, ...]
    temperature: FloatArray | None  # (n,) mean joint temperatures [degC]
    others: tuple[BagSurvey, ...] = ()  # bags that were not in the choices
    surveys: tuple[BagSurvey, ...] = ()  # fitted bags that were surveyed on a scheduler
    notes: tuple[str, ...] = ()  # remarks on `others`

    @property
    def temperatures(self) -> list[FloatArray]:
        """Mean joint temperatures of the surveyed bags that have them [degC]."""
        return [one.temperature_range for one in self.surveys if one.temperature_range is not None]


def fit_recordings(
    inputs: Inputs, choice: Choice, options: IdentifyOptions, scheduler: Scheduler | None
) -> FittedRecordings:
    """
    Fit the chosen filter, friction and estimator to all recordings.

    The scheduler reduces bags to their factors; None means this process, which keeps the
    recordings of the choice in memory where these are all. Raises DataError if there are fewer
    rows than parameters.
    """
    datasets, method, robot = choice.datasets, options.method, inputs.robot
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
    rows = tuple(thin_rows([d.fitted for d in datasets], options.recipe.samples_in_choice))
    unexcited = find_unexcited_joints(datasets)
    in_choice = method.observe(robot, choice.friction, datasets, rows)
    contradictions = tuple(find_contradictions(robot, datasets))
    if scheduler is not None or not inputs.are_all:
        inputs = replace(inputs, robot=robot)
        bags = survey_all(inputs, choice, options, scheduler or InThisProcess())
        many = bags.fitted
        return FittedRecordings(
            robot,
            fit_parameters(
                BagObservations(many, method, in_choice.reduction, in_choice.data, TIME_BLOCKS),
                many.unexcited_joints(), choice.estimator,
                in_choice if len(inputs.hashes) == 1 else None,
            ),
            in_choice, rows, unexcited, many.stationary_joints(),
            tuple(dict.fromkeys((
                *contradictions, *(
                    one for bag in bags.others if bag.name not in bags.in_parts
                    for one in bag.contradictions
                ),
            ))),
            tuple(bag.standard_deviation for bag in many.surveys), many.mean_temperature(),
            bags.others, many.surveys, bags.notes,
        )
    whole = method.observe(
        robot, choice.friction, datasets, [dataset.fitted for dataset in datasets],
        time_blocks=TIME_BLOCKS,
    )
    return FittedRecordings(
        robot, fit_parameters(whole, unexcited, choice.estimator), in_choice, rows, unexcited,
        find_stationary_joints(datasets), contradictions,
        tuple(dataset.effort[dataset.fitted].std(axis=0) for dataset in datasets),
        mean_temperature(datasets),
    )


@dataclass(frozen=True, eq=False)
class AllBags:
    """All bags of an identification, of which only some were in the choices."""

    fitted: ManyBags  # the bags that are fitted to
    others: tuple[BagSurvey, ...]  # the bags that were not in the choices as a whole
    in_parts: frozenset[str]  # names of those that were there in parts
    notes: tuple[str, ...]  # remarks on `others`


def survey_all(
    inputs: Inputs, choice: Choice, options: IdentifyOptions, scheduler: Scheduler
) -> AllBags:
    """
    Survey every bag on a scheduler and decide which are fitted to.

    Different stated units, without an option that decides, raise a `UsageError`; bags that cannot
    be used, or lack rotor positions that the choice has, a `DataError`.
    """
    has_rotors, fit = have_rotors(choice.datasets), secrets.token_hex(8)
    if isinstance(scheduler, InThisProcess):
        hand_over(fit, inputs.read)
    bags = survey_bags(
        [
            BagSource(
                str(bag), bag.absolute(), digest, fit, inputs.robot, inputs.unit,
                choice.kinematic_filter, choice.delay, options.topic, options.joint_names,
                options.start, options.stop, has_rotors, options.table_mapping,
                None if inputs.command_delay is None else inputs.command_delay.value,
            )
            for bag, digest in inputs.hashes.items()
        ],
        scheduler,
    )
    wholes = {found.source for found in inputs.recordings if found.whole is None}
    others = tuple(survey for survey in bags.surveys if survey.name not in wholes)
    if options.effort_unit is None:
        _check_units(others, inputs.unit)
    moving = tuple(
        survey for survey in others
        if survey.samples >= FEWEST_FITTED and len(survey.unseen) < inputs.robot.n
    )
    if has_rotors:
        _check_rotors(moving)
    notes = _describe(others, moving, inputs.unit)
    if others:
        notes.append(_describe_choice(inputs, len(choice.datasets)))
    used = [dataset.source for dataset in choice.datasets] + [one.name for one in moving]
    in_parts = {found.source for found in inputs.recordings if found.whole is not None}
    return AllBags(bags.only(used), others, frozenset(in_parts), tuple(notes))


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
