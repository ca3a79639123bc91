# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm with estimated parameters that follows a reference under control, without noise.

The control law is that of an arm whose drives know its model: the torque of the reference, and a
proportional-derivative servo scaled by the mass matrix, so that its bandwidth does not change with
the estimate. Friction acts with its value along the reference, and Runge-Kutta steps of fourth
order lead from stamp to stamp. Where the servo compensates friction as well, an arm that starts on
its reference stays on it, whatever its parameters: no steps are needed then, only an arm that
there can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import allocate, FloatArray
from robot_identification.errors import InconsistentModelError
from robot_identification.estimation.estimators.base_dynamics import BaseDynamics
from robot_identification.estimation.estimators.options import check_positive
from robot_identification.model import Motion

# The servo moves by no more than this phase between two stamps [rad]: what Runge and Kutta's steps
# are off by grows with its fourth power.
LARGEST_PHASE = 0.25
# A simulated arm this far off its reference has lost it [rad or m].
LOST = 1.0

State = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Servo:
    """
    A position servo.

    Attributes
    ----------
    frequency : float
        Natural frequency [Hz]; less where the sampling does not allow it.
    damping : float
        Of the error.
    compensates_friction : bool
        Whether its feed-forward has friction; if not, friction pulls the arm off the reference.

    """

    frequency: float = 5.0
    damping: float = 1.0
    compensates_friction: bool = True

    def __post_init__(self) -> None:
        check_positive(self.frequency, 'frequency of the servo [Hz]')
        check_positive(self.damping, 'damping of the servo')


def simulate_closed_loop(
    dynamics: BaseDynamics,
    reference: Motion,
    stamps: FloatArray,
    segments: Sequence[slice],
    servo: Servo,
    friction: FloatArray | None = None,
) -> Motion:
    """
    Return the motion of a simulated arm under control.

    Parameters
    ----------
    dynamics : BaseDynamics
        The arm, with n joints.
    reference : Motion
        What it is to follow, N samples.
    stamps : ndarray, shape (N,)
        Their times [s].
    segments : sequence of slice
        Parts without gaps; at the start of each the arm is on its reference. Elsewhere the
        reference is returned.
    servo : Servo
        The control law.
    friction : ndarray, shape (N, n), optional
        Friction torque along the reference [N m]; by default there is none.

    Returns
    -------
    Motion
        At the stamps; accelerations are those of the simulated arm. It is the reference where
        nothing pulls the arm off it.

    Raises
    ------
    InconsistentModelError
        If the mass matrix is not positive definite at every sample, or the arm loses its
        reference.

    """
    least = dynamics.least_inertia(reference.q)
    if not np.all(least > 0.0):
        raise InconsistentModelError(
            f'the mass matrix is not positive definite at {np.count_nonzero(~(least > 0.0))} of '
            f'{len(least)} samples'
        )
    if friction is None or servo.compensates_friction:
        return reference
    q, dq, ddq = (allocate(reference.q.shape) for _ in range(3))
    q[:], dq[:], ddq[:] = reference.q, reference.dq, reference.ddq
    motion = Motion(q, dq, ddq, reference.temperature, starts=reference.starts)
    for segment in segments:
        _follow(dynamics, reference, stamps, segment, servo, friction, motion)
    return motion


def _follow(
    dynamics: BaseDynamics,
    reference: Motion,
    stamps: FloatArray,
    segment: slice,
    servo: Servo,
    friction: FloatArray,
    motion: Motion,
) -> None:
    """Write the simulated motion of a segment."""
    steps = np.diff(stamps[segment])
    if not steps.size:
        return
    still = np.zeros(dynamics.n)
    omega = min(2.0 * np.pi * servo.frequency, LARGEST_PHASE / max(float(steps.max()), 1e-9))
    stiffness, damping = omega**2, 2.0 * servo.damping * omega

    def accelerate(q: FloatArray, dq: FloatArray, wanted: _Instant) -> FloatArray:
        """Return the acceleration of the arm under the servo's torque."""
        error = damping * (wanted.dq - dq) + stiffness * (wanted.q - q)
        torque = wanted.torque + wanted.inertia @ error - wanted.friction
        free: FloatArray = torque - dynamics.torque(q, dq, still)
        return np.asarray(np.linalg.solve(dynamics.mass_matrix(q), free), dtype=float)

    def at(k: int) -> _Instant:
        return _instant(
            dynamics, reference.q[k], reference.dq[k], reference.ddq[k], friction[k]
        )

    q, dq = reference.q[segment.start], reference.dq[segment.start]
    start = at(segment.start)
    for k, h in enumerate(steps, start=segment.start):
        end = at(k + 1)
        middle = _between(dynamics, reference, friction, k, h) if h > 0.0 else start
        ddq = accelerate(q, dq, start)
        motion.q[k], motion.dq[k], motion.ddq[k] = q, dq, ddq
        dq_2 = dq + 0.5 * h * ddq
        ddq_2 = accelerate(q + 0.5 * h * dq, dq_2, middle)
        dq_3 = dq + 0.5 * h * ddq_2
        ddq_3 = accelerate(q + 0.5 * h * dq_2, dq_3, middle)
        dq_4 = dq + h * ddq_3
        ddq_4 = accelerate(q + h * dq_3, dq_4, end)
        q = q + h / 6.0 * (dq + 2.0 * dq_2 + 2.0 * dq_3 + dq_4)
        dq = dq + h / 6.0 * (ddq + 2.0 * ddq_2 + 2.0 * ddq_3 + ddq_4)
        if not np.max(np.abs(q - reference.q[k + 1])) < LOST:
            raise InconsistentModelError(
                f'the simulated arm loses its reference at {stamps[k + 1]:.4g} s'
            )
        start = end
    last = segment.start + len(steps)
    motion.q[last], motion.dq[last] = q, dq
    motion.ddq[last] = accelerate(q, dq, start)


@dataclass(frozen=True, eq=False)
class _Instant:
    """Reference of the servo at one time, and the friction there."""

    q: FloatArray
    dq: FloatArray
    torque: FloatArray
    inertia: FloatArray
    friction: FloatArray


def _instant(
    dynamics: BaseDynamics, q: FloatArray, dq: FloatArray, ddq: FloatArray, friction: FloatArray
) -> _Instant:
    return _Instant(q, dq, dynamics.torque(q, dq, ddq), dynamics.mass_matrix(q), friction)


def _between(
    dynamics: BaseDynamics, reference: Motion, friction: FloatArray, k: int, h: float
) -> _Instant:
    """Return the middle between two samples, by the quintic that meets both."""
    q0, q1 = reference.q[k], reference.q[k + 1]
    v0, v1 = reference.dq[k], reference.dq[k + 1]
    a0, a1 = reference.ddq[k], reference.ddq[k + 1]
    q = 0.5 * (q0 + q1) + 5.0 / 32.0 * h * (v0 - v1) + h**2 / 64.0 * (a0 + a1)
    dq = 15.0 / 8.0 * (q1 - q0) / h - 7.0 / 16.0 * (v0 + v1) + h / 32.0 * (a1 - a0)
    ddq = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
    return _instant(dynamics, q, dq, ddq, 0.5 * (friction[k] + friction[k + 1]))
