# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Controllers that track a motion with a simulated arm by torques.

A controller knows only what is measured, and the model it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import Motion
from robot_identification.simulation.effort_arm import ControlledArm

CONTROL_RATE = 500.0  # of a torque controller [Hz]; chosen: that of a UR's RTDE
# Position [rad], velocity [rad/s] and acceleration [rad/s^2] to torque [N m], shape (n,) each.
InverseDynamics = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class PositionLoop:
    """Stiffness of a position controller."""

    frequency: float = 4.0  # of the closed loop without damping [Hz]
    damping: float = 1.0  # over the critical one

    @property
    def stiffness(self) -> float:
        """Acceleration per position error [1/s^2]."""
        return (2.0 * np.pi * self.frequency) ** 2

    @property
    def damping_rate(self) -> float:
        """Acceleration per velocity error [1/s]."""
        return 4.0 * np.pi * self.frequency * self.damping


@dataclass(frozen=True, eq=False)
class ControlState:
    """Measurements of a controller at one instant."""

    stamp: float  # [s]
    q: FloatArray  # [rad], shape (n,)
    dq: FloatArray  # [rad/s], shape (n,)
    tau: FloatArray  # commanded torque since the state before, within the limit [N m], shape (n,)


@dataclass(frozen=True, eq=False)
class Reference:
    """Reference of a controller at one instant, shape (n,) each."""

    q: FloatArray  # [rad]
    dq: FloatArray  # [rad/s]
    ddq: FloatArray  # [rad/s^2]


class Addition(Protocol):
    """Torque added to a controller's, such as `prediction.feed_forward.FeedForward`."""

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, dq_wanted: FloatArray,
        tau: FloatArray | None = None,
    ) -> FloatArray:
        """Return joint torques [N m], shape (n,)."""


Controller = Callable[[ControlState, Reference], FloatArray]


def _added(addition: Addition | None, state: ControlState, wanted: Reference) -> FloatArray:
    if addition is None:
        return np.zeros_like(state.q)
    return addition.step(state.stamp, state.q, state.dq, wanted.dq, state.tau)


@dataclass(frozen=True, eq=False)
class PdControl:
    """Every joint by itself: ``tau = I (k (q_w - q) + d (dq_w - dq)) + addition``."""

    inertia: FloatArray  # of each joint [kg m^2], shape (n,)
    loop: PositionLoop
    addition: Addition | None = None  # such as gravity and friction

    def __call__(self, state: ControlState, wanted: Reference) -> FloatArray:
        """Return the torque to command [N m], shape (n,)."""
        acceleration = self.loop.stiffness * (wanted.q - state.q) \
            + self.loop.damping_rate * (wanted.dq - state.dq)
        return self.inertia * acceleration + _added(self.addition, state, wanted)


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """``tau = M(q) (ddq_w + d (dq_w - dq) + k (q_w - q)) + C dq + g + addition``."""

    inverse_dynamics: InverseDynamics  # of the model, gravity included
    loop: PositionLoop
    addition: Addition | None = None  # such as friction

    def __call__(self, state: ControlState, wanted: Reference) -> FloatArray:
        """Return the torque to command [N m], shape (n,)."""
        ddq = wanted.ddq + self.loop.damping_rate * (wanted.dq - state.dq) \
            + self.loop.stiffness * (wanted.q - state.q)
        return self.inverse_dynamics(state.q, state.dq, ddq) + _added(
            self.addition, state, wanted
        )


@dataclass(frozen=True, eq=False)
class Tracking:
    """Tracking of a motion at N instants."""

    stamps: FloatArray  # [s]
    error: FloatArray  # true position less the wanted one [rad], shape (N, n)
    dq: FloatArray  # true velocity [rad/s], shape (N, n)
    torque: FloatArray  # commanded from each instant on, within the limit [N m], shape (N, n)

    @property
    def rms(self) -> FloatArray:
        """Root mean square of the error [rad], shape (n,)."""
        found: FloatArray = np.sqrt(np.mean(self.error**2, axis=0))
        return found

    @property
    def worst(self) -> FloatArray:
        """Largest size of the error [rad], shape (n,)."""
        found: FloatArray = np.abs(self.error).max(axis=0)
        return found


def track(
    arm: ControlledArm,
    reference: Motion,
    controller: Controller,
    rate: float = CONTROL_RATE,
    delay: int = 1,
) -> Tracking:
    """
    Track a motion, sampled at the rate of the controller [Hz], with an arm near its start.

    The controller makes a torque of state and reference, which is held for one period, a multiple
    of the physics step; `delay` is the number of periods between a measurement and its torque.
    """
    period = 1.0 / rate
    error, dq, acted, commanded = (np.empty_like(reference.q) for _ in range(4))
    for k in range(len(reference)):
        measured, true = arm.measure()
        error[k], dq[k] = true.q - reference.q[k], true.dq
        wanted = Reference(reference.q[k], reference.dq[k], reference.ddq[k])
        # What the motors gave before is not known: the arm was at rest.
        before = acted[k - 1] if k else np.zeros_like(true.q)
        torque = controller(ControlState(k * period, measured.q, measured.dq, before), wanted)
        commanded[k] = np.clip(torque, -arm.limit, arm.limit)
        # Until the first command is due, it acts all the same: nothing else could hold the arm.
        acted[k] = commanded[max(k - delay, 0)]
        arm.push(acted[k], period)
    return Tracking(period * np.arange(float(len(reference))), error, dq, acted)
