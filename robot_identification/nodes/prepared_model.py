# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A model file, and everything that the torque predictor makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.files import file_sha256
from robot_identification.model import IdentifiedModel, load_model
from robot_identification.monitoring import (
    CollisionThresholds, ContactObserver, DEFAULT_BANDWIDTH, FrictionHealth, LivePayload,
    load_collision_calibration, read_reference,
)
from robot_identification.nodes.conversions import driver_names
from robot_identification.options import option
from robot_identification.prediction import FeedForward, FeedForwardOptions, TorquePredictor
from robot_identification.processing import CAUSAL_CUTOFF

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
    """Parameters of the predictor that its start alone sets."""

    cutoff: float = option(
        float, 'cut-off frequency of the causal low-pass [Hz]', default=CAUSAL_CUTOFF,
        minimum=1.0, maximum=200.0,
    )
    observer_bandwidth: float = option(
        float, 'bandwidth of the momentum observer [rad/s], one over its time constant; '
        'collision_file has its own', default=DEFAULT_BANDWIDTH, minimum=0.1, maximum=500.0,
    )
    tf_prefix: str = option(str, "prefix of the driver's joint names", default='')
    feed_forward: str = option(
        str, 'content of ~/feed_forward: gravity, and friction in the direction of the velocity '
        'on ~/reference; friction: that without gravity, for robots that add gravity themselves',
        default=OFF, choices=(OFF, *FEED_FORWARD),
    )
    feed_forward_bandwidth: float = option(
        float, 'bandwidth of the observer of the remaining torque, which is added to the '
        'feed-forward [Hz]; 0: none', default=0.0, minimum=0.0, maximum=20.0,
    )
    friction_reference: str = option(
        str, 'file of the reference of friction health: read, or written once it is learned; '
        'empty: learned at every start', default='',
    )
    payload: bool = option(
        bool, 'estimate the payload, and publish ~/payload; the model must be that of the bare '
        'arm', default=False,
    )
    payload_link: str = option(
        str, 'link, fixed to the last one, in whose frame the payload is stated; empty: the '
        "tool's", default='',
    )


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
    bandwidth = options.observer_bandwidth
    if calibration is None:
        remarks.append('collision_file is not set: no contact is detected')
    else:
        try:
            found = load_collision_calibration(calibration, model, file_sha256(path))
        except UsageError as error:
            remarks.append(f'no contact is detected: {error}')
        else:
            thresholds, bandwidth = found.thresholds, found.bandwidth
    contact = _or_remark(remarks, 'external torque', lambda: ContactObserver(
        model, predictor.rate, bandwidth, thresholds
    ))
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
    learned = Path(options.friction_reference) if options.friction_reference else None
    reference = None
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
