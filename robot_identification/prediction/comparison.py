# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Measured and predicted effort of a bag, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.files import AnyPath
from robot_identification.model import IdentifiedModel
from robot_identification.prediction.torque_predictor import lacks_temperature, TorquePredictor
from robot_identification.processing import (
    describe_damage, find_position_steps, load_for_model, read_for_model, temperatures_so_far,
)
from robot_identification.recording import Recording
from robot_identification.texts import short_repr
from robot_identification.validation import (
    corrected_joints, describe_uncorrected, make_prediction_deviation, predict_effort,
)


@dataclass(frozen=True, eq=False)
class EffortComparison:
    """Measured and predicted effort of a bag, in its unit."""

    stamps: FloatArray  # (N,): seconds after the first joint state
    # (N, n): effort; `predicted` is NaN where there is no prediction.
    measured: FloatArray
    predicted: FloatArray
    # (N, n): standard deviation that the model states of it; NaN where it does not.
    deviation: FloatArray

    __repr__ = short_repr


def compare_effort(
    model: IdentifiedModel, bag: AnyPath | Recording, *, causal: bool
) -> tuple[EffortComparison, tuple[str, ...]]:
    """
    Return measured and predicted effort on the recorded stamps, and notes for a reader.

    With `causal`, the prediction uses the past only, as the live node does, instead of zero-phase
    filters. Raises DataError if the bag is of another robot or has effort in another unit, or if
    with `causal` it lacks velocities or temperatures that the model needs.
    """
    if not causal:
        dataset, notes = load_for_model(model, bag)
        predicted = np.where(dataset.scored[:, None], predict_effort(model, dataset), np.nan)
        stated = make_prediction_deviation(model, corrected_joints(model, dataset))
        deviation = None if stated is None else stated(dataset.motion)
        return EffortComparison(
            dataset.stamps, dataset.effort, predicted, _where_predicted(deviation, predicted)
        ), (*notes, *describe_uncorrected(model, dataset))
    measured, notes = read_measured(model, bag)
    parameters = model.parameters.with_position_steps(find_position_steps(measured.q))
    predictor = TorquePredictor(
        replace(model, reduction=replace(model.reduction, parameters=parameters))
    )
    predicted, motion = predictor.run(
        measured.stamps, measured.q, measured.dq, measured.temperature
    )
    return EffortComparison(
        measured.stamps, measured.effort, predicted,
        _where_predicted(predictor.deviation(motion), predicted),
    ), notes


def _where_predicted(stated: FloatArray | None, predicted: FloatArray) -> FloatArray:
    """Return the standard deviation of a prediction (N, n), NaN where there is none."""
    return np.where(np.isfinite(predicted), np.nan if stated is None else stated, np.nan)


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements as a live node would receive them."""

    stamps: FloatArray  # (N,): seconds after the first joint state
    # (N, n): position [rad], velocity [rad/s] and effort in the model's unit.
    q: FloatArray
    dq: FloatArray
    effort: FloatArray
    temperature: FloatArray | None  # (N, n): last readings [deg C]


def read_measured(
    model: IdentifiedModel, bag: AnyPath | Recording
) -> tuple[Measured, tuple[str, ...]]:
    """
    Return a bag as recorded, nothing smoothed or left out, and notes for a reader.

    Raises DataError if the bag is of another robot, has effort in another unit, or lacks
    velocities or temperatures that the model needs.
    """
    recording, note = read_for_model(model, bag)
    without = ~np.isfinite(recording.dq).any(axis=0)
    if without.any():
        names = ', '.join(np.array(recording.joint_names)[without])
        raise DataError(
            f'{recording.source} has no velocity of {names}, which the causal prediction needs: '
            'leave out --causal, or record velocities'
        )
    temperature = temperatures_so_far(recording.channels, recording.stamps, model.robot.n)
    lacking = lacks_temperature(model, None if temperature is None else temperature[-1])
    if lacking.any():
        names = ', '.join(np.array(model.robot.joint_names)[lacking])
        raise DataError(
            f'{recording.source} has no temperature of {names}, which the friction of this model '
            'needs: record joint temperatures, or identify with laws without temperature'
        )
    measured = Measured(
        recording.stamps, recording.q, recording.dq, recording.effort, temperature
    )
    notes = (note, *describe_damage(recording), *recording.notes)
    return measured, tuple(text for text in notes if text)
