# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Numbers of samples that recordings need for an identification, before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.errors import DataError, NotIdentifiableError
from robot_identification.estimation.fitting import make_reduction
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import check_sample_count
from robot_identification.estimation.recipe import thin_rows
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset, find_stationary_joints, find_unexcited_joints
from robot_identification.validation import Folds, hold_out

# A recording with fewer samples in motion is taken to have none: 0.1 s of a UR's 500 Hz.
FEWEST_FITTED = 50


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
    """Return how many samples the choices are made on, beside the worst held-out block."""
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
    Raise DataError where the samples beside a held-out block cannot decide the parameters.

    Of an arm that is not known, that is where there are none.
    """
    samples, sources = count_trained(datasets, options), [one.source for one in datasets]
    if not samples:
        raise DataError(
            f'{", ".join(sources)}: no usable samples beside those held out of the '
            'cross-validation: record a longer motion'
        )
    if robot is not None:
        method = options.method
        reduction = make_reduction(
            robot, method.laws[0], datasets, two_encoders=method.two_encoders,
        )
        check_sample_count(sources, samples, reduction)
