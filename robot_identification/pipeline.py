# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The stages in the order the data take: the file to read first.

Every function is what one command does, without its printing and its files.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
import os
from pathlib import Path
from typing import TypeAlias

from robot_identification.arrays import LARGEST_IN_MEMORY
from robot_identification.blas import one_blas_thread
from robot_identification.errors import check_argument, UsageError
from robot_identification.estimation import (
    choose, distinct_names, fit_recordings, Identification, IdentifyOptions, ignore_progress,
    judge_identification, make_model, read_inputs, Report,
)
from robot_identification.files import AnyPath
from robot_identification.model import IdentifiedModel, RobotModel
from robot_identification.prediction import compare_effort, EffortComparison
from robot_identification.processing import load_for_model
from robot_identification.recording import Recording
from robot_identification.validation import describe_uncorrected, find_training_data, Score
from robot_identification.validation import validate as score_datasets

# A bag or table by its path, or what was read of it.
AnyRecording: TypeAlias = AnyPath | Recording


@one_blas_thread()
def identify(
    robot: RobotModel,
    bags: AnyRecording | Iterable[AnyRecording],
    options: IdentifyOptions | None = None,
    executor: Executor | None = None,
    report: Report = ignore_progress,
) -> Identification:
    """
    Identify an arm from its bags.

    With more bags than the recipe takes for the choices, those are made on a part of them, and
    only factors of the others are in memory (docs/many_bags.md).

    Parameters
    ----------
    robot : RobotModel
        The arm with its prior, gravity and drive gains.
    bags : str, Path or Recording, or several of these
        Recordings; they are used together.
    options : IdentifyOptions, optional
        Everything else.
    executor : concurrent.futures.Executor, optional
        Reads bags and reduces them to their factors for the fit to all of them; by default this
        process. Of a Dask cluster it is `distributed.Client(address).get_executor()`.
    report : callable, optional
        Called at every stage with the share that is done, from 0 to 1, and the stage's name.

    Raises
    ------
    UsageError
        If the effort unit is unknown, or drive gains are and `relative_scale` is not set.
    DataError
        If a bag cannot be used.

    """
    check_argument('robot', robot, RobotModel)
    options = options or IdentifyOptions()
    check_argument('options', options, IdentifyOptions)
    if executor is not None and options.used_estimator.needs_rows:
        raise UsageError(
            f'the estimator {options.estimator_name} looks at the samples of all bags, '
            'which --scheduler leaves in other processes: leave out --scheduler, or choose '
            '--estimator dictionary, huber or wls'
        )
    sources = _to_sources(bags)
    if executor is not None and any(isinstance(one, Recording) for one in sources):
        raise UsageError('workers read bags by their paths: give paths, or leave out the executor')
    report(0.0, 'reading')
    inputs = read_inputs(robot, sources, options)
    options = options.for_effort(inputs.unit)
    choice = choose(
        inputs.robot, inputs.recordings, inputs.unit, options,
        with_prior=not inputs.relative_scale,
        report=lambda share, stage: report(0.1 + 0.4 * share, stage),
    )
    report(0.5, 'fitting')
    fitted = fit_recordings(inputs, choice, options, executor)
    report(0.6, 'enforcing physical consistency')
    made = make_model(inputs, choice, fitted, options)
    report(0.8, 'judging')
    return judge_identification(inputs, choice, fitted, options, made)


@one_blas_thread()
def validate(
    model: IdentifiedModel,
    bags: AnyRecording | Iterable[AnyRecording],
    *,
    start: float | None = None,
    stop: float | None = None,
) -> Score:
    """
    Score a model on bags; unit, names and filter come from the model file.

    Bags that the model was identified from are found by their content, and are no unseen motion,
    nor are other parts of them. A long one is scored in evenly spread parts.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    bags : str, Path or Recording, or several of these
        Recordings, each scored by itself.
    start, stop : float, optional
        Window in seconds after the first joint state.

    Raises
    ------
    DataError
        If a bag is of another robot or has effort in another unit.

    """
    check_argument('model', model, IdentifiedModel)
    sources = _to_sources(bags)
    loaded = [
        load_for_model(
            model, replace(bag, source=str(name)) if isinstance(bag, Recording) else bag,
            start=start, stop=stop, most=LARGEST_IN_MEMORY,
        ) for name, bag in zip(distinct_names(sources), sources, strict=True)
    ]
    datasets = tuple(dataset for dataset, _ in loaded)
    notes = (
        *(note for _, notes in loaded for note in notes),
        *(note for dataset in datasets for note in describe_uncorrected(model, dataset)),
    )
    # Of any window first: few recordings are hashed twice.
    same = {
        dataset.source: bag for bag, dataset in zip(sources, datasets, strict=True)
        if find_training_data(model, bag)
    }
    training = {
        source: why for source, bag in same.items()
        if (why := find_training_data(model, bag, start, stop))
    }
    return Score(model, score_datasets(model, datasets, training, same), datasets, notes)


@one_blas_thread()
def predict(
    model: IdentifiedModel, bag: AnyRecording, *, causal: bool = False
) -> tuple[EffortComparison, tuple[str, ...]]:
    """
    Predict the effort at every recorded stamp of a bag.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    bag : str, Path or Recording
        The recording.
    causal : bool
        With the filters of live prediction, which know no later sample.

    Returns
    -------
    comparison : EffortComparison
        Measured and predicted effort.
    notes : tuple of str
        Remarks on the bag.

    Raises
    ------
    DataError
        If the bag is of another robot or has effort in another unit.

    """
    check_argument('model', model, IdentifiedModel)
    return compare_effort(model, bag, causal=causal)


def _to_sources(given: AnyRecording | Iterable[AnyRecording]) -> tuple[Path | Recording, ...]:
    """Return paths and recordings of one or several; raise UsageError if there is none."""
    several = [given] if isinstance(given, str | os.PathLike | Recording) else given
    sources = tuple(one if isinstance(one, Recording) else Path(one) for one in several)
    if not sources:
        raise UsageError('no recording is named: give one or several')
    return sources
