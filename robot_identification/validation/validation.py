# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Validation: errors of a model on bags, with the verdict on them, and their file."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
import json
import math
from typing import Any

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, release
from robot_identification.files import to_finite
from robot_identification.model import (
    block_slices, continue_torque, correction_blocks, IdentifiedModel, initial_friction_states,
    KinematicFilter, RELEASED_BLOCKS, rigid_torque,
)
from robot_identification.processing import Dataset, find_position_steps, MOVING_SPEED
from robot_identification.texts import short_repr
from robot_identification.validation.bag_errors import (
    BagErrors, join_errors, measure_details, measure_errors,
)
from robot_identification.validation.band import make_prediction_deviation
from robot_identification.validation.verdict import (
    ANOTHER_MOTION, BAD, Bandwidth, bandwidth_content, Findings, findings_in, judge, limits_in,
    uses_content, Verdict,
)


@dataclass(frozen=True)
class Validation:
    """
    Errors by bag, and the verdict on those that the model has not seen.

    Attributes
    ----------
    bags : tuple of BagErrors
        Errors.
    verdict : Verdict
        On the bags that are no training data; on all where every bag is.
    training : mapping of str to str
        Why a bag is training data, by its name; bags that are none are absent.
    rollouts : tuple of mappings
        Drift of simulations from the bags, in their order, as plain values; empty where they were
        not rolled out.

    """

    bags: tuple[BagErrors, ...]
    verdict: Verdict
    training: Mapping[str, str] = field(default_factory=dict)
    rollouts: tuple[Mapping[str, Any], ...] = ()

    __repr__ = short_repr


def predict_effort(
    model: IdentifiedModel, dataset: Dataset, *, corrected: bool = True
) -> FloatArray:
    """
    Return the model's effort at every stamp of a dataset, in the bag's unit, shape (N, n).

    Friction states start at zero at the first sample and run through everything recorded.
    `corrected` adds the corrections of the model, where the recording has their rate.
    """
    effort = allocate(dataset.motion.q.shape)
    parameters = model.parameters.with_position_steps(
        find_position_steps(dataset.motion.drive_side.q)
    )
    states = initial_friction_states(parameters)
    for rows in _blocks_of(dataset, effort):
        torque = continue_torque(
            model.robot, parameters, model.theta_lifted, dataset.motion.part(rows), states
        )
        effort[rows] = torque * model.effort_per_torque
    if corrected:
        for rows, correction in _corrections(model, dataset):
            effort[rows] += correction
        release(effort)
        dataset.release()
    return effort


def _blocks_of(dataset: Dataset, written: FloatArray) -> Iterator[slice]:
    """Yield blocks of samples; what was read and written of them on the disk leaves memory."""
    for number, rows in enumerate(block_slices(len(dataset))):
        yield rows
        if number % RELEASED_BLOCKS == 0:
            release(written)
            dataset.release()
    release(written)
    dataset.release()


def _corrections(
    model: IdentifiedModel, dataset: Dataset
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield samples and the corrections there in the bag's unit, none at another rate."""
    corrections = model.corrections
    if corrections.fit_rate(dataset.rate):
        for rows, torque in correction_blocks(
            corrections.offline, model.robot, dataset.correction_signals, corrections.offline_limit
        ):
            yield rows, torque * model.effort_per_torque


def _without_corrections(
    model: IdentifiedModel, dataset: Dataset, predicted: FloatArray
) -> FloatArray | None:
    """Return a prediction (N, n) less its corrections, NaN for joints that have none."""
    joints = {one.joint for one in model.corrections.offline}
    if not joints or not model.corrections.fit_rate(dataset.rate):
        return None
    plain = allocate(predicted.shape)
    has_none = [joint for joint in range(model.robot.n) if joint not in joints]
    for rows, correction in _corrections(model, dataset):
        plain[rows] = predicted[rows] - correction
        plain[rows, has_none] = np.nan
    release(plain)
    return plain


def corrected_joints(model: IdentifiedModel, dataset: Dataset) -> BoolArray:
    """Return the joints (n,) to whose prediction all their corrections are added."""
    corrections, measured = model.corrections, dataset.measured_dq
    found = np.ones(model.robot.n, dtype=bool)
    for one in corrections.offline:
        found[one.joint] &= corrections.fit_rate(dataset.rate) and not (
            one.group.needs_velocity
            and (measured is None or not np.isfinite(measured[:, one.joint]).all())
        )
    return found


def describe_uncorrected(model: IdentifiedModel, dataset: Dataset) -> tuple[str, ...]:
    """Return a note for a reader on corrections that the recording does not allow."""
    left = np.array(dataset.joint_names)[~corrected_joints(model, dataset)]
    if not len(left):
        return ()
    corrections = model.corrections
    why = (
        'it has no velocity of them throughout' if corrections.fit_rate(dataset.rate)
        else f'it has {dataset.rate:.4g} Hz, the corrections are for {corrections.rate:.4g} Hz'
    )
    return (
        f'{dataset.source}: corrections of {", ".join(left)} are left out, for {why}: errors are '
        'larger there, and the stated band is that without them',
    )


def score(model: IdentifiedModel, dataset: Dataset) -> BagErrors:
    """Return the errors of a model on the scored samples of a dataset, beside the URDF's."""
    limits = model.robot.limits.effort * np.abs(model.effort_per_torque)
    predicted = predict_effort(model, dataset)
    return errors_on(
        dataset,
        predicted,
        dataset.scored,
        # With unknown gains the URDF's torque is in another unit than the effort.
        urdf=None if model.relative_scale else predict_urdf_effort(model, dataset),
        limits=None if model.relative_scale else limits,
        deviation=_stated_deviation(model, dataset),
        uncorrected=_without_corrections(model, dataset, predicted),
    )


def predict_urdf_effort(model: IdentifiedModel, dataset: Dataset) -> FloatArray:
    """Return the effort of the URDF's bodies without friction, in the bag's unit, (N, n)."""
    effort = allocate(dataset.motion.q.shape)
    for rows in _blocks_of(dataset, effort):
        torque = rigid_torque(model.robot, dataset.motion.part(rows))
        effort[rows] = torque * model.effort_per_torque
    return effort


def _stated_deviation(model: IdentifiedModel, dataset: Dataset) -> FloatArray | None:
    """Return the stated deviation at every stamp of a dataset, shape (N, n)."""
    stated = make_prediction_deviation(model, corrected_joints(model, dataset))
    if stated is None:
        return None
    deviation = allocate(dataset.motion.q.shape)
    for rows in _blocks_of(dataset, deviation):
        deviation[rows] = stated(dataset.motion.part(rows))
    return deviation


def errors_on(
    dataset: Dataset,
    predicted: FloatArray,
    rows: BoolArray,
    *,
    urdf: FloatArray | None = None,
    limits: FloatArray | None = None,
    deviation: FloatArray | None = None,
    uncorrected: FloatArray | None = None,
    detailed: bool = True,
) -> BagErrors:
    """
    Return the errors of a prediction on some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
        With N samples of n joints.
    predicted : ndarray, shape (N, n)
        Effort in the bag's unit.
    rows : ndarray of bool, shape (N,)
        The samples: `dataset.scored`, or `dataset.fitted` for those that were estimated from.
    urdf : ndarray, shape (N, n), optional
        Effort of the URDF's bodies, in the bag's unit, to compare with.
    limits : ndarray, shape (n,), optional
        Largest effort of the joints, in the bag's unit.
    deviation : ndarray, shape (N, n), optional
        Standard deviation that is stated of the prediction, in the bag's unit.
    uncorrected : ndarray, shape (N, n), optional
        The prediction without corrections, in the bag's unit.
    detailed : bool
        Whether the errors are taken apart as well.

    """
    # Joint by joint: of a long recording there is room for one joint's copies, not for all.
    parts = []
    for joint in range(len(dataset.joint_names)):
        one = slice(joint, joint + 1)
        parts.append(measure_errors(
            dataset.effort[rows, one], predicted[rows, one],
            np.abs(dataset.motion.dq[rows, one]) > MOVING_SPEED,
            bag=dataset.source, unit=dataset.effort_unit, joints=dataset.joint_names[one],
            details=measure_details(
                dataset, predicted, rows, one, urdf=urdf, limits=limits, stated=deviation,
                uncorrected=uncorrected,
            ) if detailed else None,
        ))
    dataset.release()
    return join_errors(parts)


def validate(
    model: IdentifiedModel, datasets: Sequence[Dataset],
    training: Mapping[str, str] | None = None, same: Container[str] = (),
) -> Validation:
    """
    Return errors and verdict of a model on recordings.

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    datasets : sequence of Dataset
        The recordings.
    training : mapping of str to str, optional
        Why a recording is training data, by its source. Such recordings are scored, and judged
        only where there is no other.
    same : container of str
        Sources of which any part is training data. Another part is no independent test, for the
        same motion may come again; it is judged where there is no other recording.

    """
    seen = dict(training or {})
    bags = tuple(score(model, dataset) for dataset in datasets)
    held_out = [bag for bag in bags if bag.bag not in seen]
    unseen = [bag for bag in held_out if bag.bag not in same]
    judged = unseen or held_out
    sources = [bag.bag for bag in judged or bags]
    bandwidth = bandwidth_of(
        [dataset for dataset in datasets if dataset.source in sources],
        model.source.kinematic_filter,
    ) if datasets else None
    if not judged:
        contradictions = tuple(f'{bag} is training data: {why}' for bag, why in seen.items())
        verdict = judge(
            bags, unseen=False, training=True, findings=Findings(contradictions=contradictions),
            bandwidth=bandwidth,
        )
        if verdict.level != BAD:
            verdict = replace(verdict, next_step=ANOTHER_MOTION)
        return Validation(bags, verdict.limited(limits_in(model.quality)), seen)
    verdict = judge(
        judged, unseen=bool(unseen), findings=findings_in(model.quality), bandwidth=bandwidth
    ).limited(limits_in(model.quality))
    notes = [f'{bag} is training data and not judged: {why}' for bag, why in seen.items()]
    notes += [
        f'{bag.bag} is another part of a training recording and not judged'
        for bag in held_out if bag not in judged
    ]
    return Validation(bags, replace(verdict, reasons=(*verdict.reasons, *notes)), seen)


def bandwidth_of(datasets: Sequence[Dataset], kinematic_filter: KinematicFilter) -> Bandwidth:
    """Return up to which frequency errors on some recordings can be seen."""
    return Bandwidth(
        min(dataset.rate for dataset in datasets),
        kinematic_filter.cutoff if kinematic_filter.kind == 'butterworth' else math.nan,
    )


def validation_json(validation: Validation) -> str:
    """Return validation.json (docs/formats/validation.md)."""
    return json.dumps(validation_content(validation), indent=2, allow_nan=False) + '\n'


def validation_content(validation: Validation) -> dict[str, Any]:
    """Return the content of validation.json; NaN becomes null."""
    return {
        'schema_version': 1,
        'bags': [
            {
                **errors_content(bag),
                'urdf_nrmse': to_finite(bag.urdf_nrmse),
                'urdf_nrmse_mean': to_finite(bag.urdf_nrmse_mean),
                'training_data': bag.bag in validation.training,
            }
            for bag in validation.bags
        ],
        'verdict': validation.verdict.level,
        'reasons': list(validation.verdict.reasons),
        **uses_content(validation.verdict),
        'rollouts': list(validation.rollouts),
        'bandwidth': bandwidth_content(validation.verdict.bandwidth),
    }


def errors_content(bag: BagErrors) -> dict[str, Any]:
    """Return the errors of a bag as plain numbers; NaN becomes None."""
    content: dict[str, Any] = to_finite({
        'bag': bag.bag,
        'samples': bag.samples,
        'unit': bag.unit,
        'joints': bag.joints,
        'rmse': bag.rmse,
        'nrmse': bag.nrmse,
        'nrmse_mean': bag.nrmse_mean,
        'rmse_moving': bag.rmse_moving,
        'bias': bag.bias,
        'details': None if bag.details is None else vars(bag.details),
    })
    return content
