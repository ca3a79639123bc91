# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The fit of a chosen model to all recordings, here or on the processes of a scheduler."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitting import Fit, fit_parameters
from robot_identification.estimation.inputs import Inputs
from robot_identification.estimation.many_bags import BagObservations, BagSurvey
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.quality import mean_temperature
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.remaining_bags import survey_all
from robot_identification.estimation.rows import TIME_BLOCKS
from robot_identification.model import RobotModel
from robot_identification.parallel import InThisProcess, Scheduler
from robot_identification.processing import find_stationary_joints, find_unexcited_joints
from robot_identification.validation import Contradiction, find_contradictions


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
    Fit what was chosen to all recordings.

    Parameters
    ----------
    inputs : Inputs
        The bags.
    choice : Choice
        Filter, friction and estimator.
    options : IdentifyOptions
        What was asked for.
    scheduler : Scheduler, optional
        Reduces bags to their factors; by default this process, which keeps the recordings of the
        choice in memory where these are all.

    Raises
    ------
    DataError
        If there are fewer rows than parameters.

    """
    datasets, method, robot = choice.datasets, options.method, inputs.robot
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
    rows = tuple(thin_rows([d.fitted for d in datasets], options.recipe.samples_in_choice))
    unexcited = find_unexcited_joints(datasets)
    in_choice = method.observe(robot, choice.friction, datasets, rows)
    contradictions = tuple(find_contradictions(robot, datasets))
    if scheduler is not None or len(inputs.recordings) < len(inputs.hashes):
        inputs = replace(inputs, robot=robot)
        bags = survey_all(inputs, choice, options, scheduler or InThisProcess())
        many = bags.fitted
        return FittedRecordings(
            robot,
            fit_parameters(
                BagObservations(many, method, in_choice.reduction, in_choice.data, TIME_BLOCKS),
                many.unexcited_joints(), choice.estimator,
            ),
            in_choice, rows, unexcited, many.stationary_joints(),
            tuple(dict.fromkeys((
                *contradictions, *(one for bag in bags.others for one in bag.contradictions),
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
