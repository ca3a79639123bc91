# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The part of the torque predictor that runs at every joint state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
import math
import time

import numpy as np
from robot_identification.monitoring import LivePayload
from robot_identification.nodes.conversions import joint_values
from robot_identification.nodes.joint_states import (
    JointOrder, JointReading, JointStateReader, VectorMessage, VectorPublisher,
)
from robot_identification.nodes.prepared_model import PreparedModel
from robot_identification.nodes.robot_state import TEMPERATURE_TOPICS
from robot_identification.prediction import lacks_temperature, Prediction
from robot_identification.validation import BAND

# A longer pause between stamps is one of the driver, or another clock [s]; chosen: samples that it
# lacks are not missing.
LONGEST_PAUSE = 5.0
# [s]; chosen: joints take minutes to warm up.
OLDEST_TEMPERATURE = 60.0
OLDEST_REFERENCE = 0.1  # [s]; chosen: an older one is of another place on the path
# Between two polls of the subscribers [s]; chosen: a new one loses no more than a few samples.
POLL_PERIOD = 0.05
# Samples that are kept for another thread; chosen: 4 s at 1 kHz.
KEPT = 4096
REFUSED = ('not finite', 'impossible', 'unusable', 'without temperature')
COUNTED = (
    'received', 'predicted', 'missing', 'repeated', 'restarts', *REFUSED, 'without effort',
    'collisions',
)


@dataclass(frozen=True)
class Outputs:
    """Publishers of the results."""

    torque: VectorPublisher
    residual: VectorPublisher
    deviation: VectorPublisher
    external: VectorPublisher
    band: VectorPublisher
    forward: VectorPublisher
    # Called with the joints that are touched where these are others than before; None: unknown.
    touched: Callable[[frozenset[str] | None], object]
    # Called with why a joint state is refused.
    warn: Callable[[str], object]

    def poll(self) -> None:
        """Find which topics have subscribers."""
        for publisher in (
            self.torque, self.residual, self.deviation, self.external, self.band, self.forward,
        ):
            publisher.poll()


class LivePrediction:
    """
    Predicts at every joint state; all its methods are called by the thread that receives these.

    Another thread may set `prepared` and `temperature`, and read `counts`, which only grow, and
    `problem`; it may put an empty deque in the place of `lags` or `stamps`, and call what it pops
    from the left of `deferred`: steps of friction health and of the payload, for which no joint
    state waits. `poll_reference` calls `receive_reference` if a message came.
    """

    def __init__(
        self, outputs: Outputs, now: Callable[[], float],
        poll_reference: Callable[[], object],
    ) -> None:
        self._outputs, self._now, self._poll_reference = outputs, now, poll_reference
        self._reader, self._reference_reader = JointStateReader(), JointStateReader()
        self.prepared: PreparedModel | None = None
        # When they were read [s], and temperatures by the driver's names of the joints [deg C].
        self.temperature: tuple[float, Mapping[str, float]] | None = None
        self.counts = dict.fromkeys(COUNTED, 0)
        self.problem = ''
        self.lags: deque[float] = deque(maxlen=KEPT)
        self.stamps: deque[float] = deque(maxlen=KEPT)
        self.deferred: deque[Callable[[], object]] = deque(maxlen=2 * KEPT)
        # Stamp of the first joint state [ns]: those of the payload are counted from it, so that
        # floats have them exactly.
        self.origin: int | None = None
        self._current: PreparedModel | None = None
        self._last_stamp, self._polled = math.nan, -math.inf
        self._touched: bytes | None = None

    def _begin(self, prepared: PreparedModel) -> None:
        """Find what stays the same for as long as a model is used."""
        self._current, self._reference = prepared, (-math.inf, np.zeros(prepared.model.robot.n))
        self._order = JointOrder(prepared.names, prepared.model)
        self._message = VectorMessage(prepared.names)
        self._rest = np.zeros(prepared.model.robot.n)
        self._set_temperature(prepared, None)
        self._report_touched(prepared, None)

    def receive(self, data: bytes) -> None:
        """Predict from a serialized joint state, and publish to the subscribers there are."""
        counts, prepared = self.counts, self.prepared
        counts['received'] += 1
        if prepared is None:
            return
        if prepared is not self._current:
            self._begin(prepared)
        reading = self._reader.read(data)
        stamp, now = reading.stamp, self._now()
        self._note_time(stamp, prepared.predictor.rate, now)
        problem = self._order.find_problem(reading)
        if problem:
            self._refuse('unusable', problem)
            return
        q, dq, effort = self._order.values(reading)
        nonsense = self._order.find_nonsense(q, dq)
        if nonsense is not None:
            self._refuse(*nonsense)
            return
        temperature = self._measured_temperature(prepared, now)
        if self._lacking:
            self._refuse('without temperature', self._lacking)
            return
        predictor = prepared.predictor
        restarts = predictor.restarts
        prediction = predictor.step(stamp, q, dq, temperature)
        if prediction is None:
            counts['repeated'] += 1
            return
        counts['predicted'] += 1
        counts['restarts'] += predictor.restarts - restarts
        self.stamps.append(stamp)
        self._poll_subscribers()
        self._message.begin(reading)
        self._publish(self._outputs.torque, prediction.torque + prediction.correction)
        self._publish_deviation(prepared, prediction)
        torque = self._torque(prepared, effort)
        if torque is not None:
            self._compare(prepared, stamp, prediction, torque, temperature)
            self._defer_payload(prepared.payload, reading, (q, dq, torque), temperature)
        if prepared.feed_forward is not None:
            wanted = self._wanted_velocity(stamp)
            forward = prepared.feed_forward.step(stamp, q, dq, wanted, torque)
            if prepared.feed_forward.valid:
                self._publish(self._outputs.forward, forward)

    def _torque(self, prepared: PreparedModel, effort: np.ndarray | None) -> np.ndarray | None:
        """Return the measured joint torque [N m], None where there is none."""
        if effort is None:
            self.counts['without effort'] += 1
            return None
        nonsense = self._order.find_nonsense(effort, first=2)
        if nonsense is not None:
            self._refuse(*nonsense)
            return None
        torque: np.ndarray = effort / prepared.model.effort_per_torque
        return torque

    def _compare(
        self, prepared: PreparedModel, stamp: float, prediction: Prediction, torque: np.ndarray,
        temperature: np.ndarray | None,
    ) -> None:
        """
        Publish what follows from a measured torque and the predicted one.

        Contact and friction health see the residual of the parameters alone: a drive reacts to a
        touch, too, and a correction would hide it.
        """
        residual = torque - prediction.torque
        self._publish(self._outputs.residual, residual - prediction.correction)
        if prepared.contact is not None:
            external = prepared.contact.step(stamp, prediction, torque)
            if external is None:
                self._report_touched(prepared, None)
            else:
                self._publish(self._outputs.external, external.torque)
                if self._outputs.band.has_subscribers:
                    self._publish(self._outputs.band, BAND * external.deviation)
                if external.touched is not None:
                    self._report_touched(prepared, external.touched)
        rows = np.concatenate((
            prediction.q, prediction.dq, prediction.ddq, prediction.friction, residual,
        )).reshape(5, -1)
        self.deferred.append(partial(prepared.health.step, stamp, *rows, temperature))

    def _defer_payload(
        self, payload: LivePayload | None, reading: JointReading,
        measured: tuple[np.ndarray, np.ndarray, np.ndarray], temperature: np.ndarray | None,
    ) -> None:
        """Defer the estimation of a payload from measured position, velocity and torque."""
        if payload is None:
            return
        nanoseconds = reading.seconds * 10**9 + reading.nanoseconds
        if self.origin is None:
            self.origin = nanoseconds
        stamp = 1e-9 * (nanoseconds - self.origin)
        self.deferred.append(partial(payload.step, stamp, *measured, temperature))

    def _publish(self, publisher: VectorPublisher, torque: np.ndarray) -> None:
        if publisher.has_subscribers:
            publisher.publish(self._message.with_effort(torque))

    def _publish_deviation(self, prepared: PreparedModel, prediction: Prediction) -> None:
        """Publish the standard deviation of the torque, if the model states it."""
        if not self._outputs.deviation.has_subscribers:
            return
        stated = prepared.predictor.deviation(prediction.motion)
        if stated is not None:
            scale = np.abs(prepared.model.effort_per_torque)
            self._publish(self._outputs.deviation, stated[0] / scale)

    def _poll_subscribers(self) -> None:
        """Find now and then which topics have subscribers."""
        now = time.monotonic()
        if now - self._polled > POLL_PERIOD:
            self._polled = now
            self._outputs.poll()

    def _refuse(self, what: str, why: str) -> None:
        self.problem = why
        self.counts[what] += 1
        self._outputs.warn(why)

    def _note_time(self, stamp: float, rate: float, now: float) -> None:
        """Count what is missing before a stamp, lost or never published; note how late it is."""
        elapsed, self._last_stamp = stamp - self._last_stamp, stamp
        if 0.0 < elapsed < LONGEST_PAUSE:
            self.counts['missing'] += max(round(elapsed * rate) - 1, 0)
        self.lags.append(now - stamp)

    def _measured_temperature(self, prepared: PreparedModel, now: float) -> np.ndarray | None:
        """Return the joint temperatures that were read last, None without any, or of old ones."""
        latest = self.temperature
        if latest is not None and abs(now - latest[0]) >= OLDEST_TEMPERATURE:
            latest = None
        if latest is not self._used_temperature:
            self._set_temperature(prepared, latest)
        return self._temperatures

    def _set_temperature(
        self, prepared: PreparedModel, latest: tuple[float, Mapping[str, float]] | None
    ) -> None:
        """Use temperatures from now on, and find whether friction lacks one."""
        # NaN is that of a joint whose temperature is not known.
        self._temperatures = None if latest is None else np.array([
            latest[1].get(name, math.nan) for name in prepared.names
        ])
        lacking = lacks_temperature(prepared.model, self._temperatures)
        self._used_temperature = latest
        self._lacking = without_temperature(prepared.names, lacking) if lacking.any() else ''

    def receive_reference(self, data: bytes) -> None:
        """Note the velocity that a controller wants, from a serialized joint state."""
        prepared = self._current
        if prepared is None:
            return
        reference = self._reference_reader.read(data)
        wanted = self._rest
        if set(prepared.names) <= set(reference.name):
            _, found, _ = joint_values(
                reference, prepared.names, prepared.model.robot.encoders
            )
            if self._order.find_nonsense(found, first=1) is None:
                wanted = found
        self._reference = reference.stamp, wanted

    def _wanted_velocity(self, stamp: float) -> np.ndarray:
        """
        Return the velocity that a controller wants (n,) [rad/s].

        Zeros where no usable message came at `stamp` [s] of the joint state: then only gravity is
        fed forward.
        """
        self._poll_reference()
        received, wanted = self._reference
        return wanted if abs(received - stamp) <= OLDEST_REFERENCE else self._rest

    def _report_touched(self, prepared: PreparedModel, touched: np.ndarray | None) -> None:
        """Report which joints are touched, where that is other than before; None: unknown."""
        key = None if touched is None else touched.tobytes()
        if key == self._touched:
            return
        before, self._touched = bool(self._touched and any(self._touched)), key
        if touched is None:
            self._outputs.touched(None)
            return
        self.counts['collisions'] += bool(touched.any() and not before)
        names = (name for name, one in zip(prepared.names, touched, strict=True) if one)
        self._outputs.touched(frozenset(names))


def without_temperature(names: tuple[str, ...], lacking: np.ndarray) -> str:
    """Return why nothing is predicted where friction needs temperatures that do not come."""
    joints = ', '.join(np.array(names)[lacking])
    return (
        f'friction of {joints} needs a joint temperature, and none came in the last '
        f'{OLDEST_TEMPERATURE:g} s on {" or ".join(TEMPERATURE_TOPICS)}: start rtde_reader, or '
        'use a model whose friction knows no temperature'
    )
