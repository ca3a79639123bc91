# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Causal torque prediction, one joint state after the other."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import (
    continue_friction, IdentifiedModel, initial_friction_states, Motion,
    rigid_and_transmitted_torque,
)
from robot_identification.processing import (
    filter_forward, low_pass_sections, settled_state, uses_rotors,
)

# A causal filter has to be faster than the zero-phase one of identification, or it lags [Hz].
DEFAULT_CUTOFF = 30.0
ORDER = 2  # of the Butterworth filter
# Of the Nyquist frequency, chosen: a digital filter must stay below it.
HIGHEST_CUTOFF = 0.8
# After a pause of more periods, or a clock that goes back, the filters start anew.
GAP_PERIODS = 10.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """
    Prediction of the model at one joint state.

    Attributes
    ----------
    torque : ndarray, shape (n,)
        Joint torque [N m].
    effort : ndarray, shape (n,)
        The same in the unit of the recorded effort.
    friction : ndarray, shape (n,)
        The part of `torque` that is friction [N m].
    motion : Motion
        One sample: the smoothed kinematics that the effort belongs to.
    measured_dq : ndarray, shape (n,)
        Velocity as measured where `motion` is smooth, and late [rad/s].
    measured_friction : ndarray, shape (n,)
        Friction at that velocity [N m].

    """

    torque: FloatArray
    effort: FloatArray
    friction: FloatArray
    motion: Motion
    measured_dq: FloatArray
    measured_friction: FloatArray


def lacks_temperature(model: IdentifiedModel, temperature: FloatArray | None) -> BoolArray:
    """
    Return which joints have friction that needs a temperature and get none.

    Parameters
    ----------
    model : IdentifiedModel
        The identified arm.
    temperature : ndarray, shape (n,), optional
        NaN where unknown [deg C].

    Returns
    -------
    ndarray of bool, shape (n,)

    """
    lacking = np.zeros(model.robot.n, dtype=bool)
    for term in model.parameters.friction:
        if term.law.needs_temperature:
            lacking[term.joint] = temperature is None or not np.isfinite(temperature[term.joint])
    return lacking


class TorquePredictor:
    """
    Predicts from measured positions and velocities with filters that look back only.

    Velocity is low-passed, acceleration is the low-passed difference of that; both lag behind by
    about ``0.23 / cutoff`` each. A model whose effort lags behind position by a delay takes the
    kinematics of that much before; one whose effort runs ahead takes the present ones.

    Parameters
    ----------
    model : IdentifiedModel
        The identified arm.
    rate : float, optional
        Rate of the joint states [Hz]; by default the one the model was identified at.
    cutoff : float
        Of the causal low-pass [Hz].

    Raises
    ------
    UsageError
        If no rate is known, or rate or cut-off are not positive.

    """

    def __init__(
        self, model: IdentifiedModel, rate: float | None = None, cutoff: float = DEFAULT_CUTOFF
    ) -> None:
        self._model = model
        self.rate = model.robot.sampling_rate if rate is None else rate
        if not self.rate > 0.0 or not cutoff > 0.0:
            raise UsageError(
                f'rate {self.rate:g} Hz and cut-off {cutoff:g} Hz of the causal filter must be '
                'positive numbers'
            )
        limited = min(cutoff, HIGHEST_CUTOFF * self.rate / 2.0)
        self._sections = low_pass_sections(ORDER, limited, self.rate)
        self._last_stamp = np.nan
        self.restarts = -1
        self._start(np.zeros(model.robot.n))

    @property
    def delay(self) -> float:
        """Lag of the filtered velocity at low frequency [s]."""
        b, a = self._sections[0, :3], self._sections[0, 3:]
        order = np.arange(3)
        return float((b @ order / b.sum() - a @ order / a.sum()) / self.rate)

    def _start(self, dq: FloatArray) -> None:
        # In the steady state of a constant velocity, so that the first output has no transient.
        settled = settled_state(self._sections)
        self._velocity_state = settled[:, :, None] * dq
        self._acceleration_state = settled[:, :, None] * np.zeros_like(dq)
        self._dq = dq.copy()
        self._past: deque[tuple[float, FloatArray]] = deque()
        self._friction_states = initial_friction_states(self._model.parameters)
        self.restarts += 1

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, temperature: FloatArray | None = None
    ) -> Prediction | None:
        """
        Predict at one joint state.

        Parameters
        ----------
        stamp : float
            Its stamp [s].
        q, dq : ndarray, shape (n,)
            Measured position [rad] and velocity [rad/s].
        temperature : ndarray, shape (n,), optional
            Of the joints, as it was read last [deg C]; NaN where unknown.

        Returns
        -------
        Prediction or None
            None for a sample that is not finite, for one that repeats the stamp before, and
            without a temperature that friction needs.

        """
        if not (np.isfinite(stamp) and np.all(np.isfinite(q)) and np.all(np.isfinite(dq))):
            return None
        if lacks_temperature(self._model, temperature).any():
            return None
        elapsed = stamp - self._last_stamp
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed <= GAP_PERIODS / self.rate:
            self._start(dq)
        self._last_stamp = stamp
        smooth, self._velocity_state = filter_forward(
            self._sections, dq[None], self._velocity_state
        )
        difference = (smooth[0] - self._dq) * self.rate
        self._dq = smooth[0]
        ddq, self._acceleration_state = filter_forward(
            self._sections, difference[None], self._acceleration_state
        )
        model = self._model
        then_q, then_dq, then_ddq, measured_dq = self._before(
            stamp, np.stack([q, smooth[0], ddq[0], dq])
        )
        measured = None if temperature is None else temperature[None]
        motion = Motion(then_q, then_dq, then_ddq, measured, starts=())
        if uses_rotors(model):
            motion = motion.with_stiff_joints()
        given = model.robot, model.parameters, model.theta_lifted
        rigid, transmitted = rigid_and_transmitted_torque(*given, motion)
        # At both velocities in one call. Friction remembers positions alone, and one that comes
        # twice changes nothing.
        twice = [0, 0]
        both = Motion(
            then_q[twice], np.concatenate([then_dq, measured_dq]), then_ddq[twice],
            None if measured is None else measured[twice], starts=(),
        )
        friction, measured_friction = continue_friction(
            *given, both, transmitted[twice], self._friction_states
        )
        torque = rigid[0] + friction
        return Prediction(
            torque, torque * model.effort_per_torque, friction, motion, measured_dq[0],
            measured_friction,
        )

    def _before(self, stamp: float, kinematics: FloatArray) -> FloatArray:
        """Return the kinematics that the effort at a stamp belongs to, shape (4, 1, n)."""
        delay, past = self._model.source.delay, self._past
        if delay <= 0.0:
            return kinematics[:, None]
        past.append((stamp, kinematics))
        while len(past) > 2 and past[1][0] <= stamp - delay:
            past.popleft()
        (first, older), (second, newer) = past[0], past[min(1, len(past) - 1)]
        share = 0.0 if second == first else (stamp - delay - first) / (second - first)
        mixed: FloatArray = older + float(np.clip(share, 0.0, 1.0)) * (newer - older)
        return mixed[:, None]

    def run(
        self,
        stamps: FloatArray,
        q: FloatArray,
        dq: FloatArray,
        temperature: FloatArray | None = None,
    ) -> FloatArray:
        """
        Predict a whole recording, sample by sample as `step` does.

        Parameters
        ----------
        stamps : ndarray, shape (N,)
            Stamps [s].
        q, dq : ndarray, shape (N, n)
            Measured positions [rad] and velocities [rad/s].
        temperature : ndarray, shape (N, n), optional
            Of the joints [deg C].

        Returns
        -------
        ndarray, shape (N, n)
            Effort in the unit of the recorded one; NaN where `step` returns None.

        """
        effort = np.full(q.shape, np.nan)
        for k, stamp in enumerate(stamps):
            measured = None if temperature is None else temperature[k]
            prediction = self.step(float(stamp), q[k], dq[k], measured)
            if prediction is not None:
                effort[k] = prediction.effort
        return effort
