# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A model file, and everything that the torque predictor makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from robot_identification.errors import (
    DataError, DescriptionError, IdentificationError, UsageError,
)
from robot_identification.files import file_sha256
from robot_identification.model import IdentifiedModel, load_model
from robot_identification.monitoring import (
    CollisionThresholds, ContactObserver, FrictionHealth, LivePayload,
    load_collision_calibration, read_reference,
)
from robot_identification.nodes.conversions import driver_names
from robot_identification.prediction import FeedForward, FeedForwardOptions, TorquePredictor

Made = TypeVar('Made')
OFF = 'off'
# Of gravity and friction, by the value of the parameter `feed_forward`. Robots that add gravity
# themselves, such as a Universal Robot in direct torque control, take friction alone.
FEED_FORWARD = {
    'gravity': FeedForwardOptions(friction='none'),
    'kinetic': FeedForwardOptions(friction='kinetic'),
    'break_away': FeedForwardOptions(friction='break_away'),
    'friction': FeedForwardOptions(gravity=False, friction='kinetic'),
}


@dataclass(frozen=True)
class PredictorOptions:
    """Outputs of the predictor other than torque and residual."""

    cutoff: float  # of the causal low-pass [Hz]
    bandwidth: float  # of the momentum observer where no calibration states one [rad/s]
    tf_prefix: str  # in front of the driver's joint names
    feed_forward: str  # 'off' or a name in FEED_FORWARD
    feed_forward_bandwidth: float  # of the observer of what the model lacks [Hz]; 0: there is none
    # Where the reference of friction health is kept; by default it is learned at every start.
    friction_reference: Path | None
    payload: bool  # whether the payload is estimated
    payload_link: str  # fixed to the last one, in whose frame it is stated; empty: the tool's


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A model and what follows from it."""

    path: Path  # of the model file
    model: IdentifiedModel  # the identified arm
    names: tuple[str, ...]  # what the driver calls the joints, kinematic order
    predictor: TorquePredictor  # its filters
    contact: ContactObserver | None  # observer of external torques, where the model allows one
    calibrated: bool  # whether it has thresholds for contact detection
    feed_forward: FeedForward | None  # where it is wanted and the model allows it
    payload: LivePayload | None  # its estimator, where it is wanted and the model allows it
    health: FrictionHealth  # watches friction
    # Where its reference goes once it is learned; None where it was read, or is not kept.
    learned_reference: Path | None
    remarks: tuple[str, ...]  # what is not published, and why; and what else a reader should know


def _remarks(predictor: TorquePredictor, model: IdentifiedModel) -> list[str]:
    """Return what a reader should know of the predicted torques."""
    remarks = []
    if predictor.uncorrected:
        remarks.append(f'the corrections of the model are left out: {predictor.uncorrected}')
    if model.relative_scale:
        remarks.append('drive gains are unknown: torques are in A times a gain, not in N m')
    return remarks


def _or_remark(remarks: list[str], what: str, make: Callable[[], Made]) -> Made | None:
    """Return what is made, or None with a remark where the model does not allow it."""
    try:
        return make()
    except IdentificationError as error:
        remarks.append(f'no {what}: {error}')
        return None


def prepare_model(
    path: Path, options: PredictorOptions, calibration: Path | None
) -> PreparedModel:
    """
    Read a model file, and the calibration that `robot-identification collision` wrote for it.

    A calibration of another model is left out, and `remarks` say so. Raises IdentificationError if
    either file cannot be used.
    """
    model = load_model(path)
    if model.source.command_delay is not None:
        raise UsageError(
            f'the effort of {path} is the position error against commands, which joint states do '
            'not have: predict from a log by `robot-identification predict`'
        )
    predictor = TorquePredictor(model, cutoff=options.cutoff)
    remarks = _remarks(predictor, model)
    thresholds: CollisionThresholds | None = None
    bandwidth = options.bandwidth
    if calibration is None:
        remarks.append('collision_file is not set: no contact is detected')
    else:
        try:
            found = load_collision_calibration(calibration, model, file_sha256(path))
        except UsageError as error:
            remarks.append(f'no contact is detected: {error}')
        else:
            thresholds, bandwidth = found.thresholds, found.bandwidth
    contact = None
    try:
        contact = ContactObserver(model, predictor.rate, bandwidth, thresholds)
    except DataError as error:
        remarks.append(f'no external torque: {error}')
    feed_forward = payload = None
    if options.feed_forward != OFF:
        feed_forward = _or_remark(remarks, 'feed-forward', lambda: FeedForward(model, replace(
            FEED_FORWARD[options.feed_forward],
            observer_bandwidth=options.feed_forward_bandwidth or None,
        )))
    if options.payload:
        payload = _or_remark(
            remarks, 'payload', lambda: LivePayload(model, options.payload_link or None)
        )
    learned, reference = options.friction_reference, None
    if learned is not None and learned.exists():
        try:
            reference = read_reference(learned, model)
        except DescriptionError as error:
            remarks.append(f'friction health learns anew, and keeps nothing: {error}')
        learned = None
    return PreparedModel(
        path, model, driver_names(model, options.tf_prefix), predictor, contact,
        contact is not None and thresholds is not None, feed_forward, payload,
        FrictionHealth(model, reference=reference), learned, tuple(remarks),
    )
