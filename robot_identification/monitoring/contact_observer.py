# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The external torque of every sample, how far it can be trusted, and whether it is a touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import IdentifiedModel
from robot_identification.monitoring.collision import (
    CollisionDetector, CollisionThresholds, PredictionBand, RestMemory,
)
from robot_identification.monitoring.momentum_observer import DEFAULT_BANDWIDTH, MomentumObserver
from robot_identification.prediction import Prediction, TorquePredictor
from robot_identification.processing import CAUSAL_GAP_PERIODS

# What uncertain parameters add to the band changes with the pose: it is found at every tenth
# sample and kept in between.
BAND_SAMPLES = 10


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
    parameters, or the model lacks the size of its residuals; UsageError if the bandwidth is not
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
        self._band = PredictionBand(model)
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
            self._deviation = self._band.along(prediction.motion)[0]
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

    # (N, n): as in `ExternalTorque`.
    external: FloatArray
    deviation: FloatArray
    rest_share: FloatArray
    touched: BoolArray  # (N, n): false without thresholds, and where there is no output


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
    return ObservedRecording(external, deviation, rest_share, touched)
