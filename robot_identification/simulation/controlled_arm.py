# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm with an effort interface, and controllers that track a motion with it.

MuJoCo moves the arm, with friction that sticks; a controller knows only what is measured, and the
model it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import Motion, RobotModel
from robot_identification.simulation.ground_truth import GroundTruth
from robot_identification.simulation.mujoco_robot import MujocoRobot, PHYSICS_STEP, Sensors

CONTROL_RATE = 500.0  # of a torque controller [Hz]; chosen: that of a UR's RTDE
# Position [rad], velocity [rad/s] and acceleration [rad/s^2] to torque [N m], shape (n,) each.
InverseDynamics = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class ControlledArm(MujocoRobot):
    """
    A simulated arm with rigid joints that takes torques; see `MujocoRobot`.

    Drives make currents of torques by the gains that the robot's YAML states, and motors torques
    of currents by the true ones; where none are stated, torques are true.
    """

    def __init__(
        self,
        robot: RobotModel,
        truth: GroundTruth,
        sensors: Sensors,
        q: FloatArray,
        seed: int = 0,
    ) -> None:
        if truth.stiffness is not None:
            raise UsageError(
                'a torque-controlled simulated arm has rigid joints: leave out the stiffness'
            )
        if truth.velocity_loop is not None:
            raise UsageError(
                'a torque-controlled simulated arm has no velocity loop: leave it out'
            )
        gains = robot.drives.drive_gain
        self._true_per_commanded = np.where(np.isfinite(gains), truth.drive_gain / gains, 1.0)
        super().__init__(robot, truth, sensors, q, seed)

    @property
    def limit(self) -> FloatArray:
        """Largest torques of the motors [N m], shape (n,)."""
        return self._limit.copy()

    def push(self, torque: FloatArray, duration: float) -> None:
        """
        Hold a torque (n,) [N m] for some time [s], a multiple of the physics step.

        Motors give no more than the effort limit.
        """
        if not np.all(np.isfinite(torque)):
            raise UsageError(f'a torque is commanded that is not finite: {torque.tolist()}')
        mujoco, model, data = self._mujoco, self._model, self._data
        self._torque = self._limited(self._true_per_commanded * torque)
        heat = np.zeros_like(self._torque)
        steps = max(round(duration / PHYSICS_STEP), 1)
        for _ in range(steps):
            mujoco.mj_step1(model, data)
            friction = self._friction(data.qvel)
            heat += friction * data.qvel
            self._move_rigid(
                self._torque - friction - self._truth.periodic_torque(data.qpos)
            )
        self._warm(heat / steps, steps * PHYSICS_STEP)


@dataclass(frozen=True)
class PositionLoop:
    """Stiffness of a position controller."""

    frequency: float = 4.0  # of the closed loop without damping [Hz]
    damping: float = 1.0  # over the critical one

    def __post_init__(self) -> None:
        for name in ('frequency', 'damping'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f'position loop: {name} is {value!r}, it must be positive')

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
    steps = period / PHYSICS_STEP
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
        raise UsageError(
            f'a controller at {rate:g} Hz has a period of {period:g} s, needed is a multiple of '
            f'{PHYSICS_STEP:g} s'
        )
    if delay < 0:
        raise UsageError(
            f'a torque comes {delay} periods after its measurement, needed is 0 or more'
        )
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
