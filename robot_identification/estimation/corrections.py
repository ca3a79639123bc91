# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Corrections of a model: chosen joint by joint on held-out blocks, fitted to its residuals.

The parameters stay as they are. Groups are accepted on residuals of blocks that the parameters
were not fitted to, so that a correction cannot repair what a fit has done to its own data. Those
of live prediction are chosen among them, on the residuals that causal kinematics leave to the
final parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation.choice import (
    Candidates, Choice, seconds_fitted, with_prior_weight,
)
from robot_identification.estimation.correction_groups import (
    AcceptedGroup, choose_groups, fit_groups, FoldedResiduals, gather_columns, predict_held_out,
    residuals_at,
)
from robot_identification.estimation.fitting import make_trial
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.recipe import Recipe, thin_rows
from robot_identification.model import (
    CorrectionGroup, CORRECTIONS, Corrections, IdentifiedModel, JointCorrection,
    make_standard_parameters, reduce_to_base, rigid_columns, RobotModel,
)
from robot_identification.processing import causal_signals, Dataset, MOVING_SPEED
from robot_identification.validation import Folds, partial_rms, predict_effort, Trial


def correct_choice(
    robot: RobotModel, choice: Choice, options: IdentifyOptions, unexcited: Sequence[int]
) -> Choice:
    """
    Return a choice with the corrections that held-out blocks accept, and its errors then.

    The weight of the prior is chosen once more beside them.
    """
    kinds = _offered(choice, options)
    if not kinds:
        return choice
    recipe, datasets = options.recipe, choice.datasets
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    folds, rigid = Folds(recipe.folds, recipe.gap), independent_bodies(robot)

    def residuals_of(trial: Trial) -> FoldedResiduals:
        return residuals_at(robot, datasets, rows, trial.predictions, folds, rigid)

    residuals = residuals_of(choice.trial)
    groups = tuple(
        group
        for joint in range(robot.n) if joint not in unexcited
        for group in choose_groups(residuals, kinds, joint, recipe.huber)
    )
    if not groups:
        return choice
    plain = dict(choice.by_prior_weight) or {0.0: choice.trial}
    gathered = {
        joint: gather_columns(residuals, groups, joint) for joint in {one.joint for one in groups}
    }
    corrected = {
        weight: _with_groups(trial, residuals_of(trial), gathered, datasets, recipe)
        for weight, trial in plain.items()
    }
    chosen = replace(choice, by_prior_weight=tuple(corrected.items()), groups=groups)
    if choice.by_prior_weight:
        chosen = with_prior_weight(chosen, 'weight of the CAD prior, with corrections')
    else:
        chosen = replace(chosen, trial=corrected[0.0], by_prior_weight=())
    weight = next(one for one, trial in corrected.items() if trial is chosen.trial)
    return replace(
        chosen, plain=plain[weight],
        candidates=(
            *chosen.candidates,
            Candidates(
                'corrections', ('none', 'those of each joint'),
                (plain[weight].score, chosen.trial.score), 'those of each joint',
                'group by group, where the squared error of the joint on held-out blocks falls by '
                'more than one standard error (two of the groups of the position) and 2 %',
            ),
        ),
    )


def _offered(choice: Choice, options: IdentifyOptions) -> tuple[type[CorrectionGroup], ...]:
    """Return the groups that are offered: none to two encoders, few to a short motion."""
    motion = sum(seconds_fitted(dataset) for dataset in choice.datasets)
    if any(dataset.motion.rotor is not None for dataset in choice.datasets):
        return ()
    return tuple(
        kind for name, kind in CORRECTIONS.items()
        if name in options.offered_corrections and kind.shortest_motion <= motion
    )


def independent_bodies(robot: RobotModel) -> tuple[int, ...]:
    """Return the independent columns of the bodies among the standard parameters."""
    parameters = make_standard_parameters(robot.n, (), reflected_inertia=False)
    return rigid_columns(reduce_to_base(robot, parameters).independent.tolist(), parameters)


def _with_groups(
    trial: Trial, residuals: FoldedResiduals,
    gathered: Mapping[int, tuple[FloatArray, FloatArray]], datasets: Sequence[Dataset],
    recipe: Recipe,
) -> Trial:
    """
    Return how a trial does with corrections that are fitted to the other blocks.

    `gathered` has the columns of each joint and their ridge parameters.
    """
    predictions = [prediction.copy() for prediction in trial.predictions]
    edges = np.cumsum([len(prediction) for prediction in predictions])[:-1]
    for joint, (columns, ridges) in gathered.items():
        torque = predict_held_out(
            residuals, columns, ridges, residuals.of(joint), recipe.huber
        )
        for prediction, part, dataset in zip(
            predictions, np.split(torque, edges), datasets, strict=True
        ):
            prediction[:, joint] += part / dataset.torque_per_effort(residuals.robot)[joint]
    return make_trial(
        trial.name, datasets, residuals.rows, predictions,
        [np.split(held, edges) for held in residuals.held_out],
    )


def fit_corrections(
    model: IdentifiedModel, choice: Choice, rows: Sequence[BoolArray], recipe: Recipe
) -> tuple[Corrections, FloatArray | None]:
    """
    Fit the corrections of a choice to the residuals of a model at rows (N,) of its datasets.

    Those of live prediction are chosen once more, among the same groups, on the residuals of
    causal kinematics; there are none where a velocity was not recorded. Second is how much worse
    live prediction is, (2, n): RMS of the residuals of causal over that of zero-phase kinematics
    while the joint moves, with corrections and without; None where a velocity was not recorded, or
    a delay of the effort is compensated, which live prediction does not do for corrections.
    """
    datasets = choice.datasets
    folds, rigid = Folds(recipe.folds, recipe.gap), independent_bodies(model.robot)
    smooth = residuals_at(
        model.robot, datasets, rows,
        [
            predict_effort(model, dataset, corrected=False)[chosen]
            for dataset, chosen in zip(datasets, rows, strict=True)
        ],
        folds, rigid,
    )
    rate = round(min(dataset.rate for dataset in datasets), 3)
    offline = fit_groups(smooth, choice.groups, recipe.huber)
    signals = [one for one in map(causal_signals, datasets) if one is not None]
    if len(signals) < len(datasets) or choice.delay != 0.0:
        return Corrections(rate, offline, offline_limit=_largest(smooth, offline)), None
    causal = residuals_at(
        model.robot, datasets, rows,
        [
            model.effort(one.motion)[chosen]
            for one, chosen in zip(signals, rows, strict=True)
        ],
        folds, rigid, signals,
    )
    groups: list[AcceptedGroup] = []
    for joint in sorted({one.joint for one in choice.groups}):
        kinds = [type(one.group) for one in choice.groups if one.joint == joint]
        groups += choose_groups(causal, kinds, joint, recipe.huber)
    live = fit_groups(causal, groups, recipe.huber)
    ratios = np.array([
        _rms_moving(causal, with_live) / _rms_moving(smooth, with_offline)
        for with_live, with_offline in ((live, offline), ((), ()))
    ])
    return Corrections(
        rate, offline, live, _largest(smooth, offline), _largest(causal, live)
    ), ratios


def _corrections_at(
    residuals: FoldedResiduals, corrections: Sequence[JointCorrection]
) -> list[FloatArray]:
    """Return the sum of corrections at the rows of each recording, (m, n) [N m]."""
    found = [np.zeros_like(torque) for torque in residuals.torque]
    for torque, signals, rows in zip(found, residuals.signals, residuals.rows, strict=True):
        for one in corrections:
            torque[:, one.joint] += one.torque_at(residuals.robot, signals, rows)
    return found


def _largest(
    residuals: FoldedResiduals, corrections: Sequence[JointCorrection]
) -> FloatArray | None:
    """Return the largest correction of each joint, (n,) [N m]; None without corrections."""
    if not corrections:
        return None
    largest: FloatArray = np.max(
        [np.abs(one).max(axis=0) for one in _corrections_at(residuals, corrections)], axis=0
    )
    return largest


def _rms_moving(residuals: FoldedResiduals, corrections: Sequence[JointCorrection]) -> FloatArray:
    """Return the RMS of what corrections leave where each joint moves, shape (n,) [N m]."""
    left = [
        torque - corrected for torque, corrected in zip(
            residuals.torque, _corrections_at(residuals, corrections), strict=True
        )
    ]
    moving = [
        np.abs(signals.motion.dq[rows]) > MOVING_SPEED
        for signals, rows in zip(residuals.signals, residuals.rows, strict=True)
    ]
    return partial_rms(np.concatenate(left), np.concatenate(moving))


def joints_of_one_motion(choice: Choice) -> tuple[int, ...]:
    """
    Return the joints with torque that bodies take a part of, a different one in each motion.

    They are those of a recording that repeats one motion: others show it in more poses.
    """
    if len(choice.datasets) > 1 or choice.datasets[0].period is None:
        return ()
    return tuple(sorted({
        one.joint for one in choice.groups if one.group.is_shared_with_bodies
    }))
