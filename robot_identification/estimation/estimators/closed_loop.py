# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm with estimated parameters that follows a reference under control, without noise.

The control law is that of an arm whose drives know its model: the torque of the reference, and a
proportional-derivative servo scaled by the mass matrix, so that its bandwidth does not change with
the estimate. Friction acts with its value along the reference, and Runge-Kutta steps of fourth
order lead from stamp to stamp. Where the servo compensates friction as well, an arm that starts on
its reference stays on it, with any parameters: no steps are needed then, only a physically
consistent arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import allocate, FloatArray
from robot_identification.errors import InconsistentModelError
from robot_identification.estimation.estimators.options import check_positive
from robot_identification.model import Motion, RigidDynamics

# The servo moves by no more than this phase between two stamps [rad]: what Runge and Kutta's steps
# are off by grows with its fourth power.
LARGEST_PHASE = 0.25
# A simulated arm this far off its reference has lost it [rad or m].
LOST = 1.0

State = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Servo:
    """A position servo of a simulated arm."""

    frequency: float = 5.0  # natural, [Hz]; less where the sampling does not allow it
    damping: float = 1.0  # ratio, of the error
    compensates_friction: bool = True  # if not, friction moves the arm off the reference

    def __post_init__(self) -> None:
        check_positive(self.frequency, 'frequency of the servo [Hz]')
        check_positive(self.damping, 'damping of the servo')


@dataclass(frozen=True, eq=False)
class _Instant:
    """Reference of the servo at one time, and the friction there."""

    q: FloatArray
    dq: FloatArray
    torque: FloatArray
    inertia: FloatArray
    friction: FloatArray


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """An arm with n joints that follows a reference of N samples under control."""

    dynamics: RigidDynamics
    reference: Motion
    stamps: FloatArray  # (N,) [s]
    servo: Servo
    friction: FloatArray | None = None  # torque along the reference, (N, n) [N m]

    def simulate(self, segments: Sequence[slice]) -> Motion:
        """
        Return the motion of the simulated arm at the stamps.

        At the start of each segment, a part without gaps, the arm is on its reference; elsewhere,
        and where nothing moves the arm off it, the reference is returned. Raises
        InconsistentModelError if the mass matrix is not positive definite at every sample, or the
        arm loses its reference.
        """
        reference = self.reference
        least = self.dynamics.least_inertia(reference.q)
        if not np.all(least > 0.0):
            raise InconsistentModelError(
                'the mass matrix is not positive definite at '
                f'{np.count_nonzero(~(least > 0.0))} of {len(least)} samples'
            )
        if self.friction is None or self.servo.compensates_friction:
            return reference
        q, dq, ddq = (allocate(reference.q.shape) for _ in range(3))
        q[:], dq[:], ddq[:] = reference.q, reference.dq, reference.ddq
        motion = Motion(q, dq, ddq, reference.temperature, starts=reference.starts)
        for segment in segments:
            self._follow(segment, motion)
        return motion

    def _follow(self, segment: slice, motion: Motion) -> None:
        """Write the simulated motion of a segment."""
        stamps, reference = self.stamps, self.reference
        steps = np.diff(stamps[segment])
        if not steps.size:
            return
        omega = min(
            2.0 * np.pi * self.servo.frequency, LARGEST_PHASE / max(float(steps.max()), 1e-9)
        )
        gains = omega**2, 2.0 * self.servo.damping * omega
        q, dq = reference.q[segment.start], reference.dq[segment.start]
        start = self._at(segment.start)
        for k, h in enumerate(steps, start=segment.start):
            end = self._at(k + 1)
            middle = self._between(k, h) if h > 0.0 else start
            ddq = self._accelerate(q, dq, start, gains)
            motion.q[k], motion.dq[k], motion.ddq[k] = q, dq, ddq
            dq_2 = dq + 0.5 * h * ddq
            ddq_2 = self._accelerate(q + 0.5 * h * dq, dq_2, middle, gains)
            dq_3 = dq + 0.5 * h * ddq_2
            ddq_3 = self._accelerate(q + 0.5 * h * dq_2, dq_3, middle, gains)
            dq_4 = dq + h * ddq_3
            ddq_4 = self._accelerate(q + h * dq_3, dq_4, end, gains)
            q = q + h / 6.0 * (dq + 2.0 * dq_2 + 2.0 * dq_3 + dq_4)
            dq = dq + h / 6.0 * (ddq + 2.0 * ddq_2 + 2.0 * ddq_3 + ddq_4)
            if not np.max(np.abs(q - reference.q[k + 1])) < LOST:
                raise InconsistentModelError(
                    f'the simulated arm loses its reference at {stamps[k + 1]:.4g} s'
                )
            start = end
        last = segment.start + len(steps)
        motion.q[last], motion.dq[last] = q, dq
        motion.ddq[last] = self._accelerate(q, dq, start, gains)

    def _accelerate(
        self, q: FloatArray, dq: FloatArray, wanted: _Instant, gains: tuple[float, float]
    ) -> FloatArray:
        """Return the acceleration under the servo's torque, its gains stiffness and damping."""
        stiffness, damping = gains
        error = damping * (wanted.dq - dq) + stiffness * (wanted.q - q)
        torque = wanted.torque + wanted.inertia @ error - wanted.friction
        free: FloatArray = torque - self.dynamics.torque(q, dq, np.zeros(self.dynamics.n))
        return np.asarray(np.linalg.solve(self.dynamics.mass_matrix(q), free), dtype=float)

    def _at(self, k: int) -> _Instant:
        reference = self.reference
        return self._instant(reference.q[k], reference.dq[k], reference.ddq[k], self._friction[k])

    def _between(self, k: int, h: float) -> _Instant:
        """Return the middle between two samples, by the quintic that meets both."""
        reference, friction = self.reference, self._friction
        q0, q1 = reference.q[k], reference.q[k + 1]
        v0, v1 = reference.dq[k], reference.dq[k + 1]
        a0, a1 = reference.ddq[k], reference.ddq[k + 1]
        q = 0.5 * (q0 + q1) + 5.0 / 32.0 * h * (v0 - v1) + h**2 / 64.0 * (a0 + a1)
        dq = 15.0 / 8.0 * (q1 - q0) / h - 7.0 / 16.0 * (v0 + v1) + h / 32.0 * (a1 - a0)
        ddq = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
        return self._instant(q, dq, ddq, 0.5 * (friction[k] + friction[k + 1]))

    def _instant(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray, friction: FloatArray
    ) -> _Instant:
        torque, inertia = self.dynamics.torque(q, dq, ddq), self.dynamics.mass_matrix(q)
        return _Instant(q, dq, torque, inertia, friction)

    @property
    def _friction(self) -> FloatArray:
        return np.zeros_like(self.reference.q) if self.friction is None else self.friction
