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
    Bag, BagSource, Processing, read_bag, survey, survey_bag, training_data,
)
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitting import Fit, fit_parameters
from robot_identification.estimation.inputs import Inputs, unit_notes
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.rows import TIME_BLOCKS, TrainingData
from robot_identification.estimation.selection import FEWEST_FITTED
from robot_identification.model import RobotModel
from robot_identification.parallel import run_jobs
from robot_identification.processing import (
    Contradiction, Dataset, find_unexcited_joints, have_rotors,
)
from robot_identification.recording import Recording

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
    observations: Observations  # rows of all recordings
    bags: tuple[Bag, ...]  # all that are fitted
    others: tuple[Bag, ...]  # those that were not in the choices as a whole
    notes: tuple[str, ...]  # remarks on `others`
    contradictions: tuple[Contradiction, ...]  # between the recordings and the drive gains

    @property
    def beyond_choice(self) -> tuple[Bag, ...]:
        """All fitted bags, unless they are here and the choices saw all of them."""
        return self.bags if self.others or self.observations.executor is not None else ()

    @property
    def temperatures(self) -> list[FloatArray]:
        """Extreme joint temperatures beyond those of the choice [degC]."""
        return [
            one.temperature_range for one in self.beyond_choice
            if one.temperature_range is not None
        ]

    @property
    def mean_temperature(self) -> FloatArray | None:
        """Mean temperature of each joint while it was fitted (n,) [degC], if recorded."""
        known = [one for one in self.bags if one.temperature is not None]
        if not known:
            return None
        mean: FloatArray = np.average(
            [one.temperature for one in known], axis=0, weights=[one.count for one in known]
        )
        return mean if np.all(np.isfinite(mean)) else None


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
    in_choice = options.observe(robot, choice.friction, datasets, rows)
    sources = _sources(inputs, choice, options)
    at_hand = {one.source: one for one in inputs.read}
    bags: list[tuple[Bag, TrainingData | Bag]]
    if executor is None and inputs.are_all:
        bags = [
            _keep(source, at_hand[source.name], dataset)
            for dataset in datasets for source in sources if source.name == dataset.source
        ]
    else:
        bags = read_bags(sources, at_hand, executor)
    others, moving, notes = _check_others([one for one, _ in bags], inputs, choice, options)
    used = {dataset.source for dataset in datasets} | {one.name for one in moving}
    fitted = tuple(one for one, _ in bags if one.name in used)
    observations = Observations(
        robot, in_choice.reduction, [part for one, part in bags if one.name in used],
        offset_by_recording=options.used_estimator.chooses_terms, time_blocks=TIME_BLOCKS,
        treatment=options.treatment, executor=executor,
    )
    stationary, constant_effort = (
        set.intersection(*(set(joints) for joints in of_bags)) for of_bags in (
            [one.stationary for one in fitted], [one.constant_effort for one in fitted],
        )
    )
    # A single recording was in the choices at least in part.
    beyond = others or executor is not None
    part = in_choice if beyond and len(inputs.hashes) == 1 else None
    in_parts = {found.source for found in inputs.recordings if found.whole is not None}
    return FittedRecordings(
        robot, in_choice, rows, find_unexcited_joints(datasets),
        fit_parameters(
            observations, sorted(stationary | constant_effort), choice.estimator, part
        ),
        observations, fitted, tuple(others), tuple(notes),
        tuple(dict.fromkeys((
            *(one for dataset in datasets for one in dataset.contradictions),
            *(
                one for bag in others if bag.name not in in_parts for one in bag.contradictions
            ),
        ))),
    )


def _sources(inputs: Inputs, choice: Choice, options: IdentifyOptions) -> list[BagSource]:
    """Return all bags, and how they are processed."""
    processing = Processing(
        inputs.robot, inputs.unit, choice.kinematic_filter, options.start, options.stop,
        choice.delay, have_rotors(choice.datasets),
    )
    return [
        BagSource(
            str(bag), bag.absolute(), digest, inputs.robot, processing, options.topic,
            options.joint_names, options.table_mapping,
            None if inputs.command_delay is None else inputs.command_delay.value,
            options.recipe.effort_filter,
        )
        for bag, digest in inputs.hashes.items()
    ]


def _keep(
    source: BagSource, recording: Recording, dataset: Dataset
) -> tuple[Bag, TrainingData]:
    """Return a bag that was read and processed, with its rows."""
    return survey(source, recording, dataset), training_data(
        source.robot, dataset, dataset.fitted, source.effort_filter
    )


def read_bags(
    sources: Sequence[BagSource], at_hand: Mapping[str, Recording], executor: Executor | None
) -> list[tuple[Bag, TrainingData | Bag]]:
    """
    Survey bags; return each with its rows, or with itself, which each pass reads again.

    With an executor all are read by it, in each pass. Without one, the recordings `at_hand`, by
    the name of their bag, are kept, and of the others the first that LARGEST_MEMORY holds.
    """
    if executor is not None:
        return [(bag, bag) for bag in run_jobs(executor, survey_bag, sources)]
    bags: list[tuple[Bag, TrainingData | Bag]] = []
    kept = 0
    for source in sources:
        is_at_hand = source.name in at_hand
        recording = at_hand[source.name] if is_at_hand else read_bag(source)
        dataset = source.processing.process(recording)
        if not is_at_hand:
            kept += sum(array.nbytes for array in dataset.arrays)
        if is_at_hand or kept <= LARGEST_MEMORY:
            bags.append(_keep(source, recording, dataset))
        else:
            bag = survey(source, recording, dataset)
            bags.append((bag, bag))
    return bags


def _check_others(
    bags: Sequence[Bag], inputs: Inputs, choice: Choice, options: IdentifyOptions
) -> tuple[list[Bag], list[Bag], list[str]]:
    """Return the bags that were not in the choices as a whole, those that move, and remarks."""
    wholes = {found.source for found in inputs.recordings if found.whole is None}
    others = [one for one in bags if one.name not in wholes]
    if not others:
        return [], [], []
    stated = {one.stated_unit for one in others} - {None, inputs.unit}
    if stated and options.effort_unit is None:
        raise UsageError(
            f'the bags state their effort in {", ".join(sorted({inputs.unit, *map(str, stated)}))}'
            ': choose with --effort-unit'
        )
    moving = [
        one for one in others
        if one.count >= FEWEST_FITTED and len(one.unseen) < inputs.robot.n
    ]
    lacking = [one.name for one in moving if not one.has_rotors]
    if lacking and have_rotors(choice.datasets):
        raise DataError(
            f'{", ".join(lacking)}: no usable rotor positions, which the recordings of the choice '
            'have: leave these bags out, or name one of them first, so that the choice sees it '
            'and no rotors are used'
        )
    return others, moving, [
        *(note for one in others if (note := one.robot_note)),
        *unit_notes([(one.name, one.stated_unit) for one in others], inputs.unit),
        *(
            f'{one.name} has no motion, or no effort that changes: left out'
            for one in others if one not in moving
        ),
        *(f'{one.name}: {note}' for one in moving for note in one.notes),
        _describe_choice(inputs, len(choice.datasets)),
    ]


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
