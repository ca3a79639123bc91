# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Causal torque prediction, one joint state after the other."""

from __future__ import annotations

from collections import deque
import math
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import as_floats, BoolArray, FloatArray, joint_vectors
from robot_identification.errors import UsageError
from robot_identification.model import IdentifiedModel, Motion
from robot_identification.prediction.sample_torque import SampleCorrections, SampleTorque
from robot_identification.processing import causal_coefficients, CAUSAL_CUTOFF, CAUSAL_GAP_PERIODS
from robot_identification.validation import make_prediction_deviation


class Prediction(NamedTuple):
    """
    Prediction of the model at one joint state; all arrays are (n,).

    `torque` is that of the joints [N m], `correction` what the corrections of the model add to it
    for a prediction of the effort [N m], `effort` both in the unit of the recorded effort, and
    `friction` the part of `torque` that is friction [N m]. They belong to the smoothed kinematics
    `q` [rad], `dq` [rad/s] and `ddq` [rad/s^2]; `temperature` [deg C] is as it was given.
    `measured_dq` [rad/s] is the velocity as measured where `dq` is smooth, and late, and
    `measured_friction` [N m] the friction at it.
    """

    torque: FloatArray
    correction: FloatArray
    effort: FloatArray
    friction: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    temperature: FloatArray | None
    measured_dq: FloatArray
    measured_friction: FloatArray

    @property
    def motion(self) -> Motion:
        """Return the smoothed kinematics as a motion of one sample."""
        return Motion(
            self.q[None], self.dq[None], self.ddq[None],
            None if self.temperature is None else self.temperature[None],
        )


def lacks_temperature(model: IdentifiedModel, temperature: FloatArray | None) -> BoolArray:
    """
    Return which joints (n,) have friction that needs a temperature and get none.

    `temperature` (n,) is NaN where it is unknown [deg C].
    """
    needed = _friction_with_temperature(model)
    return needed if temperature is None else needed & ~np.isfinite(temperature)


def _friction_with_temperature(model: IdentifiedModel) -> BoolArray:
    """Return which joints (n,) have a friction law that needs a temperature."""
    needed = np.zeros(model.robot.n, dtype=bool)
    for term in model.parameters.friction:
        needed[term.joint] |= term.law.needs_temperature
    return needed


def _why_uncorrected(model: IdentifiedModel, rate: float, cutoff: float) -> str:
    """Return why the corrections of a model are no use here; empty where they are, or none are."""
    corrections = model.corrections
    if not corrections.live:
        return ''
    if not corrections.fit_rate(rate):
        return f'they are for {corrections.rate:.4g} Hz, joint states come at {rate:.4g} Hz'
    if cutoff != CAUSAL_CUTOFF:
        return f'they are for a cut-off of {CAUSAL_CUTOFF:g} Hz, the filter has {cutoff:g} Hz'
    return ''


def _kinematic_recursion(b: FloatArray, a: FloatArray, rate: float) -> FloatArray:
    """
    Return the step of the causal filters as a matrix (8, 7).

    It takes the states of both low-passes (2 each, transposed direct form II), the smooth velocity
    before, the measured velocity and the measured position. It returns the same of the next
    sample, and the acceleration.
    """
    velocity_1, velocity_2, acceleration_1, acceleration_2, before, dq, q = np.eye(7)
    smooth = b[0] * dq + velocity_1
    difference = rate * (smooth - before)
    ddq = b[0] * difference + acceleration_1
    return np.array([
        b[1] * dq - a[1] * smooth + velocity_2,
        b[2] * dq - a[2] * smooth,
        b[1] * difference - a[1] * ddq + acceleration_2,
        b[2] * difference - a[2] * ddq,
        smooth, dq, q, ddq,
    ])


class PredictedRecording(NamedTuple):
    """Prediction of a whole recording."""

    effort: FloatArray  #: (N, n), in the unit of the recorded effort
    motion: Motion  #: the smoothed kinematics that it belongs to


class TorquePredictor:
    """
    Predicts from measured positions and velocities with filters that look back only.

    Velocity is low-passed, acceleration is the low-passed difference of that; both lag behind by
    about ``0.23 / cutoff`` each. A model whose effort lags behind position by a delay takes the
    kinematics of that much before; one whose effort runs ahead takes the present ones.

    `rate` is that of the joint states [Hz], by default the one the model was identified at, and
    `cutoff` that of the causal low-pass [Hz]. Raises UsageError if no rate is known, or rate or
    cut-off are not positive.
    """

    def __init__(
        self, model: IdentifiedModel, rate: float | None = None, cutoff: float = CAUSAL_CUTOFF
    ) -> None:
        self._model = model
        self._delay = model.source.delay
        self.rate = model.robot.sampling_rate if rate is None else rate
        if not self.rate > 0.0 or not cutoff > 0.0:
            raise UsageError(
                f'rate {self.rate:g} Hz and cut-off {cutoff:g} Hz of the causal filter must be '
                'positive numbers'
            )
        self._b, self._a = causal_coefficients(self.rate, cutoff)
        self._recursion = _kinematic_recursion(self._b, self._a, self.rate)
        self._torque = SampleTorque(model)
        # Why the corrections of the model are left out, empty where they are not.
        self.uncorrected = _why_uncorrected(model, self.rate, cutoff)
        self._corrections = SampleCorrections(model) if (
            model.corrections.live and not self.uncorrected
        ) else None
        # With another cut-off than the usual one nothing is known of errors.
        self._deviation = None if cutoff != CAUSAL_CUTOFF else make_prediction_deviation(
            model, np.full(model.robot.n, not self.uncorrected), live=True
        )
        self._no_correction = np.zeros(model.robot.n)
        self._scale = model.effort_per_torque
        self._heated = _friction_with_temperature(model)
        self._any_heated = bool(self._heated.any())
        self._signals = np.zeros((7, model.robot.n))
        # What is measured lies last, velocities first.
        self._measured = self._signals[5:].reshape(-1)
        self._largest = model.robot.largest_readings[1::-1].ravel()
        self._share = 1.0 / self._largest
        self._last_stamp = math.nan
        self.restarts = -1
        self._start(np.zeros(model.robot.n))

    @property
    def delay(self) -> float:
        """Lag of the filtered velocity at low frequency [s]."""
        b, a, order = self._b, self._a, np.arange(3)
        return float((b @ order / b.sum() - a @ order / a.sum()) / self.rate)

    def deviation(self, motion: Motion) -> FloatArray | None:
        """
        Return the standard deviation of the predicted effort in its unit, shape (N, n).

        `motion` holds the smooth kinematics of N predictions. None for a model that states no
        deviation, and with another cut-off than the usual one, of which nothing is known.
        """
        return None if self._deviation is None else self._deviation(motion)

    def _start(self, dq: FloatArray) -> None:
        # In the steady state of a constant velocity, so that the first output has no transient.
        b, a = self._b, self._a
        self._signals[0] = (1.0 - b[0]) * dq
        self._signals[1] = (b[2] - a[2]) * dq
        self._signals[2:4] = 0.0
        self._signals[4] = dq
        self._past: deque[tuple[float, FloatArray]] = deque()
        self._torque.restart()
        if self._corrections is not None:
            self._corrections.restart()
        self.restarts += 1

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, temperature: FloatArray | None = None
    ) -> Prediction | None:
        """
        Predict at one joint state.

        `stamp` is its stamp [s], `q` and `dq` (n,) are measured position [rad] and velocity
        [rad/s], and `temperature` (n,) is that of the joints as it was read last [deg C], NaN
        where unknown. Returns None for a sample that is not finite or beyond what a joint can
        have, for one that repeats the stamp before, and without a temperature that friction needs.
        """
        signals = self._signals
        try:
            signals[5], signals[6] = dq, q
        except (TypeError, ValueError):
            # Whose shape is wrong; NumPy takes lists.
            joint_vectors(self._model.robot.n, q=q, dq=dq)
            raise
        # The sum is quick to find, and NaN with any of them.
        size = np.abs(self._measured)
        if not (math.isfinite(stamp) and (
            size.dot(self._share) <= 1.0 or np.all(size <= self._largest)
        )):
            return None
        if self._any_heated and (
            temperature is None or not np.isfinite(temperature[self._heated]).all()
        ):
            return None
        elapsed = stamp - self._last_stamp
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed <= CAUSAL_GAP_PERIODS / self.rate:
            self._start(signals[5])
        self._last_stamp = stamp
        filtered = self._recursion.dot(signals)
        signals[:5] = filtered[:5]
        kinematics = filtered[4:] if self._delay <= 0.0 else self._before(stamp, filtered[4:])
        velocities, then_q, ddq = kinematics[:2], kinematics[2], kinematics[3]
        smooth, measured = velocities
        rigid, friction = self._torque.step(then_q, velocities, ddq, temperature)
        steady, measured_friction = friction
        torque = whole = rigid + steady
        correction = self._no_correction
        if self._corrections is not None:
            correction = self._corrections.step(then_q, smooth, measured, ddq)
            whole = torque + correction
        return Prediction(
            torque, correction, whole * self._scale, steady, then_q, smooth, ddq, temperature,
            measured, measured_friction,
        )

    def _before(self, stamp: float, kinematics: FloatArray) -> FloatArray:
        """Return the kinematics (4, n) that the effort at a stamp belongs to."""
        delay, past = self._delay, self._past
        past.append((stamp, kinematics))
        while len(past) > 2 and past[1][0] <= stamp - delay:
            past.popleft()
        (first, older), (second, newer) = past[0], past[min(1, len(past) - 1)]
        share = 0.0 if second == first else (stamp - delay - first) / (second - first)
        mixed: FloatArray = older + min(max(share, 0.0), 1.0) * (newer - older)
        return mixed

    def run(
        self, stamps: FloatArray, q: FloatArray, dq: FloatArray,
        temperature: FloatArray | None = None,
    ) -> PredictedRecording:
        """
        Return effort and smooth motion of a whole recording, sample by sample as `step` does.

        `stamps` (N,) are in s; `q` [rad], `dq` [rad/s] and `temperature` [deg C] are measured,
        each (N, n). The effort (N, n) is in the unit of the recorded one, and NaN where `step`
        returns None.
        """
        q, dq = as_floats('q', q), as_floats('dq', dq)
        n = self._model.robot.n
        if not q.shape == dq.shape == (len(stamps), n):
            raise UsageError(
                f'q and dq have the shapes {q.shape} and {dq.shape}, needed is '
                f'({len(stamps)}, {n}): a row for each stamp, a column for each joint'
            )
        effort = np.full(q.shape, np.nan)
        kinematics = np.full((3, *q.shape), np.nan)
        for k, stamp in enumerate(stamps):
            measured = None if temperature is None else temperature[k]
            prediction = self.step(float(stamp), q[k], dq[k], measured)
            if prediction is not None:
                effort[k] = prediction.effort
                kinematics[:, k] = prediction.q, prediction.dq, prediction.ddq
        smooth_q, smooth_dq, ddq = kinematics
        return PredictedRecording(effort, Motion(smooth_q, smooth_dq, ddq, temperature))
