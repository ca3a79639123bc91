# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
External torque on the joints, without measured accelerations, and whether it is a contact.

The generalized momentum of bodies and rotors changes by what drives, friction, gravity and others
do. What the model knows of that is taken off; the rest, through a low-pass of first order, is the
external torque (De Luca and Mattone, ICRA 2005, with the C of Christoffel's symbols, of which
M' = C + C^T).
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin
from robot_identification.arrays import BoolArray, FloatArray, joint_vectors
from robot_identification.errors import check_argument, UsageError
from robot_identification.excitation import residual_noise
from robot_identification.files import AnyPath
from robot_identification.model import check_shows_gravity, equivalent_bodies, IdentifiedModel
from robot_identification.monitoring.collision import (
    CollisionDetector, CollisionThresholds, RestMemory,
)
from robot_identification.prediction import Prediction, read_measured, TorquePredictor
from robot_identification.processing import CAUSAL_GAP_PERIODS
from robot_identification.recording import Recording
from robot_identification.texts import short_repr
from robot_identification.validation import ParameterError

DEFAULT_BANDWIDTH = 25.0  # [rad/s]; chosen: a time constant of 40 ms
# Time constants after a start without an output; chosen: 95 % of a step.
BLANKING = 3.0
# What uncertain parameters add to the band changes with the pose: it is found at every tenth
# sample and kept in between.
BAND_SAMPLES = 10


class MomentumObserver:
    """
    Observes the external torque on the joints.

    The time constant of its low-pass is ``1 / bandwidth``, with K_O in rad/s. Raises UsageError if
    the bandwidth is not positive, DataError if no bodies with a mass have the model's parameters.
    """

    def __init__(self, model: IdentifiedModel, bandwidth: float = DEFAULT_BANDWIDTH) -> None:
        if not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise UsageError(f'bandwidth must be a positive number [rad/s], got {bandwidth!r}')
        self._model, rotors = equivalent_bodies(model)
        # Without gravity and velocity, inverse dynamics of an acceleration is that of a momentum.
        self._weightless = self._model.copy()
        self._weightless.gravity.setZero()
        self._weightless.armature = rotors
        self._data, self._weightless_data = (
            one.createData() for one in (self._model, self._weightless)
        )
        self._rest = np.zeros(model.robot.n)
        self.bandwidth = bandwidth
        self.restart()

    def restart(self) -> None:
        """Begin anew, as after a pause of the joint states."""
        self._momentum: FloatArray | None = None
        self._known: FloatArray | None = None
        self._external = np.zeros_like(self._rest)
        self._since = 0.0

    def step(
        self, elapsed: float, q: FloatArray, dq: FloatArray, torque: FloatArray,
        friction: FloatArray,
    ) -> FloatArray | None:
        """
        Return the external torque (n,) [N m], signed as joint torques; None until settled.

        `elapsed` [s] is not used for the first sample; the torque is the measured one of the
        drives, friction what the model expects, all (n,) in N m. Of a sample whose momentum is not
        finite it begins anew. Raises UsageError if `elapsed` is
        not positive.
        """
        model, data = self._model, self._data
        try:
            momentum = pin.rnea(self._weightless, self._weightless_data, q, self._rest, dq).copy()
            coriolis = pin.computeCoriolisMatrix(model, data, q, dq)
            gravity = pin.computeGeneralizedGravity(model, data, q)
            known = torque - friction + coriolis.T @ dq - gravity
        except (TypeError, ValueError):
            # To look before every sample would take a tenth of its time.
            return self.step(elapsed, *joint_vectors(
                len(self._rest), q=q, dq=dq, torque=torque, friction=friction
            ))
        if not math.isfinite(float(momentum.sum() + known.sum())):
            # It would stay in the low-pass for good.
            self.restart()
            return None
        last, before = self._momentum, self._known
        self._momentum, self._known = momentum, known
        if last is None or before is None:
            return None
        if not elapsed > 0.0:
            raise UsageError(f'elapsed must be positive, got {elapsed!r} s')
        # What acted on the average since the last sample, which a low-pass of first order takes
        # exactly where it was constant.
        acted = (momentum - last) / elapsed - 0.5 * (known + before)
        kept = math.exp(-self.bandwidth * elapsed)
        self._external = kept * self._external + (1.0 - kept) * acted
        self._since += elapsed
        return self._external.copy() if self._since >= BLANKING / self.bandwidth else None


@dataclass(frozen=True, eq=False)
class ExternalTorque:
    """External torque on the joints."""

    torque: FloatArray  # (n,): joint torque of others [N m]
    deviation: FloatArray  # (n,): standard deviation of what the model cannot tell here [N m]
    rest_share: FloatArray  # (n,): how much of a rest is in it, see `RestMemory`
    touched: BoolArray | None  # (n,): joints that are touched; None without thresholds


class ContactObserver:
    """
    Observer of external torques, from predictions and the torques measured with them.

    Friction is taken at the measured velocity: that of the prediction is smooth but late, an error
    of twice the friction at every reversal; the noise goes through the observer's low-pass. `rate`
    is that of the joint states [Hz], `bandwidth` that of the momentum observer [rad/s]. Without
    thresholds no contact is detected. Raises DataError if no bodies with a mass have the model's
    parameters, UsageError if the model lacks the size of its residuals or the bandwidth is not
    positive.
    """

    def __init__(
        self,
        model: IdentifiedModel,
        rate: float,
        bandwidth: float = DEFAULT_BANDWIDTH,
        thresholds: CollisionThresholds | None = None,
    ) -> None:
        self._thresholds = thresholds
        self._longest = CAUSAL_GAP_PERIODS / rate
        self._observer = MomentumObserver(model, bandwidth)
        self._bandwidth = bandwidth
        self._variance, self._parameters = residual_noise(model) ** 2, ParameterError(model)
        self._stamp = np.nan
        self._restart()

    def _restart(self) -> None:
        self._observer.restart()
        self._rest = RestMemory(self._bandwidth)
        self._detector = None if self._thresholds is None else CollisionDetector(self._thresholds)
        self._samples = 0

    def step(
        self, stamp: float, prediction: Prediction, torque: FloatArray
    ) -> ExternalTorque | None:
        """
        Take a sample; return None while the low-pass settles after a start or a pause.

        `stamp` [s] and the measured `torque` (n,) of the drives [N m] are those of the prediction.
        """
        elapsed = stamp - self._stamp
        if not 0.0 < elapsed <= self._longest:
            self._restart()
        self._stamp = stamp
        external = self._observer.step(
            elapsed, prediction.q, prediction.measured_dq, torque, prediction.measured_friction
        )
        rest_share = self._rest.step(stamp, prediction.measured_dq)
        if self._samples % BAND_SAMPLES == 0:
            variance = self._variance + self._parameters.variance(prediction.motion)[0]
            self._deviation = np.sqrt(variance)
        self._samples += 1
        if external is None:
            return None
        touched = None
        if self._detector is not None:
            touched = self._detector.step(stamp, external, self._deviation, rest_share)
        return ExternalTorque(external, self._deviation, rest_share, touched)


@dataclass(frozen=True, eq=False)
class ObservedRecording:
    """Observed torques along a recording; NaN where there is no output."""

    stamps: FloatArray  # (N,): seconds after the first joint state
    # (N, n): as in `ExternalTorque`.
    external: FloatArray
    deviation: FloatArray
    rest_share: FloatArray
    touched: BoolArray  # (N, n): false without thresholds, and where there is no output

    __repr__ = short_repr


def observe_recording(
    model: IdentifiedModel,
    stamps: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    torque: FloatArray,
    temperature: FloatArray | None = None,
    *,
    bandwidth: float = DEFAULT_BANDWIDTH,
    thresholds: CollisionThresholds | None = None,
) -> ObservedRecording:
    """
    Observe a whole recording, sample by sample as a live node does.

    `stamps` (N,) [s]; measured `q` [rad], `dq` [rad/s], `torque` of the drives [N m] and joint
    `temperature` [deg C], each (N, n). For `bandwidth` and `thresholds` see `ContactObserver`.
    """
    predictor = TorquePredictor(model)
    observer = ContactObserver(model, predictor.rate, bandwidth, thresholds)
    external, deviation, rest_share = np.full((3, *q.shape), np.nan)
    touched = np.zeros(q.shape, dtype=bool)
    for k, stamp in enumerate(stamps):
        measured = None if temperature is None else temperature[k]
        prediction = predictor.step(float(stamp), q[k], dq[k], measured)
        if prediction is None or not np.all(np.isfinite(torque[k])):
            continue
        found = observer.step(float(stamp), prediction, torque[k])
        if found is not None:
            external[k], deviation[k] = found.torque, found.deviation
            rest_share[k] = found.rest_share
            if found.touched is not None:
                touched[k] = found.touched
    return ObservedRecording(stamps, external, deviation, rest_share, touched)


def external_torque(
    model: IdentifiedModel,
    recording: AnyPath | Recording,
    *,
    bandwidth: float = DEFAULT_BANDWIDTH,
) -> ObservedRecording:
    """
    Return the external torque on the joints along a recording, as a live node would find it.

    Only earlier samples are used (De Luca and Mattone, ICRA 2005).

    Parameters
    ----------
    model : IdentifiedModel
        The model.
    recording : str, Path or Recording
        Positions, velocities and effort.
    bandwidth : float
        Of the momentum observer [rad/s].

    Raises
    ------
    DataError
        If the recording is of another robot or unit, or lacks velocities or temperatures that are
        needed; if no bodies with a mass have the model's parameters.
    UsageError
        If the bandwidth is not positive, or the scale of the model is relative.

    """
    check_argument('model', model, IdentifiedModel)
    if model.relative_scale:
        raise UsageError(
            f'the model of {model.robot.name} has a relative scale: torques of others have no '
            'unit; identify with --drive-gains'
        )
    check_shows_gravity(model, 'external torques are not observed without that of gravity')
    measured, _ = read_measured(model, recording)
    return observe_recording(
        model, measured.stamps, measured.q, measured.dq,
        measured.effort / model.effort_per_torque, measured.temperature, bandwidth=bandwidth,
    )
