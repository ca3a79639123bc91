# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Residuals of a live arm, thinned out for estimation.

Positions, velocities and torques go through one causal low-pass, which makes all of them late by
the same time: what lags behind alike still belongs together. Accelerations are central
differences of the filtered velocities, stated a few samples late. A live estimate may be late, a
live prediction may not, so that this is not the predictor's filter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import IdentifiedModel
from robot_identification.prediction import SampleTorque
import scipy

# Order and cut-off [Hz] of the Butterworth low-pass; chosen: arms move more slowly.
ORDER, CUTOFF = 2, 10.0
# Part of half the sampling rate that a cut-off can be.
HIGHEST_CUTOFF = 0.8
RATE = 25.0  # samples a second, at most; chosen: above twice the cut-off, and no more work
# After a pause of more periods, or a clock that goes back, the filter starts anew; what is lost in
# a shorter one is interpolated.
GAP_PERIODS = 5.5
# After a start, the filter is as good as settled in this many of 1 / cut-off.
SETTLING = 3.0
# Accelerations are differences over this time each way [s].
HALF_DIFFERENCE = 0.004


class LiveSample(NamedTuple):
    """One sample for estimation."""

    stamp: float  # of the joint state [s]
    # (n,): filtered position [rad], velocity [rad/s] and acceleration [rad/s^2].
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    residual: FloatArray  # (n,): measured torque less that of the model [N m]


class LiveResiduals:
    """
    Conversion of joint states to few samples with residuals.

    `model` is that of the bare arm, `rate` that of the joint states [Hz], by default the one at
    which the model was identified. Raises UsageError if the rate is unknown.
    """

    def __init__(self, model: IdentifiedModel, rate: float | None = None) -> None:
        self._model = model
        self.rate = model.robot.sampling_rate if rate is None else rate
        if not 0.0 < self.rate < math.inf:
            raise UsageError(
                f'the rate of the joint states is {self.rate:g} Hz, a positive number is needed'
            )
        self._every = max(math.ceil(self.rate / RATE - 1e-9), 1)
        cutoff = min(CUTOFF, HIGHEST_CUTOFF * self.rate / 2.0)
        self._sections = scipy.signal.butter(ORDER, cutoff, fs=self.rate, output='sos')
        self._half = max(round(HALF_DIFFERENCE * self.rate), 1)
        self._delay = max(model.source.delay, 0.0)
        # Rows behind the newest one that a sample may need.
        self._reach = 2 * self._half + 2 + math.ceil(self._delay * self.rate)
        self._settling = SETTLING / cutoff
        self._torque = SampleTorque(model)
        self._largest = model.robot.largest_readings.ravel()
        self._last_stamp = math.nan

    @property
    def sample_rate(self) -> float:
        """Return the samples per second that come out [Hz]."""
        return self.rate / self._every

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, torque: FloatArray,
        temperature: FloatArray | None = None,
    ) -> LiveSample | None:
        """
        Process a joint state and return a sample when one is due.

        `stamp` is in s; measured position [rad], velocity [rad/s], joint torque [N m] and
        temperature [deg C], by default that of the model, are each (n,). Returns None for most
        joint states: between two samples, and until the filter has settled. Joint states that are
        not finite, beyond what a joint can have, or repeat a stamp are left out.
        """
        row = np.concatenate([q, dq, torque])
        # Nothing is greater or smaller than NaN.
        if not (math.isfinite(stamp) and np.all(np.abs(row) <= self._largest)):
            return None
        elapsed = stamp - self._last_stamp
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed <= GAP_PERIODS / self.rate:
            self._start(stamp, row)
        else:
            self._bridge(stamp, row, round(elapsed * self.rate))
        self._last_stamp, self._last_row = stamp, row
        self._waiting.append((stamp, row))
        if len(self._waiting) < self._every:
            return None
        self._filter()
        if len(self._stamps) < self._reach or stamp - self._since < self._settling:
            return None
        return self._sample(self._model.temperature if temperature is None else temperature)

    def _start(self, stamp: float, row: FloatArray) -> None:
        settled: FloatArray = scipy.signal.sosfilt_zi(self._sections)
        self._state = settled[:, :, None] * row
        self._waiting: list[tuple[float, FloatArray]] = []
        self._stamps = np.zeros(0)
        self._rows = np.zeros((0, len(row)))
        self._torque.restart()
        self._since = stamp

    def _bridge(self, stamp: float, row: FloatArray, steps: int) -> None:
        """Put samples on a line where some were lost."""
        for step in range(1, steps):
            share = step / steps
            self._waiting.append((
                self._last_stamp + share * (stamp - self._last_stamp),
                self._last_row + share * (row - self._last_row),
            ))

    def _filter(self) -> None:
        stamps, rows = zip(*self._waiting, strict=True)
        self._waiting.clear()
        smooth, self._state = scipy.signal.sosfilt(
            self._sections, np.array(rows), axis=0, zi=self._state
        )
        self._stamps = np.concatenate([self._stamps, stamps])[-self._reach:]
        self._rows = np.concatenate([self._rows, smooth])[-self._reach:]

    def _sample(self, temperature: FloatArray | None) -> LiveSample:
        n, h = self._model.robot.n, self._half
        middle = len(self._stamps) - 1 - h
        stamp = float(self._stamps[middle])
        before = stamp - self._delay
        at = np.array([before - h / self.rate, before, before + h / self.rate])
        kinematics = np.array([
            np.interp(at, self._stamps, column) for column in self._rows[:, : 2 * n].T
        ]).T
        q, dq = kinematics[1, :n], kinematics[1, n:]
        ddq = (kinematics[2, n:] - kinematics[0, n:]) * self.rate / (2.0 * h)
        rigid, friction = self._torque.step(q, dq[None], ddq, temperature)
        expected = rigid + friction[0]
        return LiveSample(stamp, q, dq, ddq, self._rows[middle, 2 * n:] - expected)
