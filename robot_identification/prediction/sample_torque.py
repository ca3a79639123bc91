# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The torque of a model at one sample after the other: bodies, friction, corrections, the whole.

Everything is laid out once for a model, in arrays over all joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    BasisTerm, evaluation_order, IdentifiedModel, JointFunction, RigidTorque, SampleBasis,
)


@dataclass(frozen=True, eq=False)
class FrictionLayout:
    """
    Friction of a model as one matrix on the functions of motion that all of its terms share.

    Rows are the torque, and the torque per load, of every joint, at 0 deg C and per kelvin.
    """

    functions: list[JointFunction]  # in `evaluation_order`, length k
    cold: FloatArray  # (2 n, k)
    per_kelvin: FloatArray  # (2 n, k)

    @property
    def has_load(self) -> bool:
        """Return whether any friction depends on the load."""
        n = len(self.cold) // 2
        return bool(np.any(self.cold[n:]) or np.any(self.per_kelvin[n:]))

    @property
    def heated(self) -> BoolArray:
        """Return whose friction depends on the temperature, shape (n,)."""
        by_joint = np.any(self.per_kelvin, axis=1).reshape(2, -1)
        depends: BoolArray = by_joint.any(axis=0)
        return depends


def lay_out_friction(model: IdentifiedModel) -> FrictionLayout:
    """Return the friction of a model with every function of motion once."""
    n, theta = model.robot.n, model.theta_lifted
    found: dict[JointFunction, list[tuple[BasisTerm, float]]] = {}
    for term, columns in model.parameters.friction_columns:
        for basis, coefficient in zip(term.law.basis, theta[columns], strict=True):
            if coefficient != 0.0:
                key = JointFunction(basis.kind, basis.constants, term.joint)
                found.setdefault(key, []).append((basis, float(coefficient)))
    functions = sorted(found, key=evaluation_order)
    cold, per_kelvin = np.zeros((2, 2 * n, len(functions)))
    for column, function in enumerate(functions):
        for basis, coefficient in found[function]:
            row = function.joint + (n if basis.per_load else 0)
            if basis.reference is None:
                cold[row, column] += coefficient
            else:
                cold[row, column] -= coefficient * basis.reference
                per_kelvin[row, column] += coefficient
    return FrictionLayout(functions, cold, per_kelvin)


class SampleFriction:
    """
    Friction torque of a model, sample after sample.

    Equal to what the laws give for a whole recording: stop operators remember the sample before.
    A function of the motion of one joint is evaluated once, however many terms have it; what
    multiplies it is a column of one matrix.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        layout = lay_out_friction(model)
        self._n, self._names = model.robot.n, model.robot.joint_names
        self._basis = SampleBasis(model.robot.n, layout.functions)
        self._cold, self._per_kelvin = layout.cold, layout.per_kelvin
        self._has_load, self._heated = layout.has_load, layout.heated
        self.heated = bool(self._heated.any())  # whether any friction needs a temperature
        self._temperature: FloatArray | None = None
        self._coefficients = self._cold

    def restart(self) -> None:
        """Forget the samples before."""
        self._basis.restart()

    def set_temperature(self, temperature: FloatArray | None) -> None:
        """
        Take joint temperatures (n,) [deg C], from now on.

        Raises DataError if one is not known that friction depends on.
        """
        if temperature is None or not np.isfinite(temperature[self._heated]).all():
            raise DataError(
                f'the friction of {", ".join(np.array(self._names)[self._heated])} depends on '
                'the joint temperature, which is not known: give it, or choose laws without '
                'temperature'
            )
        if self._temperature is None or not np.array_equal(temperature, self._temperature):
            self._temperature = temperature.copy()
            used = np.where(self._heated, temperature, 0.0)
            self._coefficients = self._cold + (
                self._per_kelvin * np.concatenate([used, used])[:, None]
            )

    def step(self, q: FloatArray, dq: FloatArray, transmitted: FloatArray) -> FloatArray:
        """
        Return the friction torque (m, n) [N m] of the next sample.

        At its position (n,) [rad], at velocities (m, n) [rad/s] it may have, and with what the
        gears transmit there (n,) [N m].
        """
        sums = self._coefficients.dot(self._basis.step(q, dq))
        friction: FloatArray = sums[:self._n]
        if self._has_load:
            # Arrays of one shape are multiplied quicker than those that broadcast.
            load = np.abs(transmitted).repeat(len(dq)).reshape(friction.shape)
            friction += load * sums[self._n:]
        return friction.T


class SampleTorque:
    """
    Torque of bodies, rotors and friction.

    Equal to `standard_torque` of a whole recording, for the samples of a live arm.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        self._rigid = RigidTorque(model)
        self._friction = SampleFriction(model)
        # Of a model of two encoders a joint, the gears transmit what moves the bodies alone.
        self._behind_gears = self._rigid.rotors if model.uses_rotors else None

    def restart(self) -> None:
        """Forget the samples before."""
        self._friction.restart()

    def step(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray, temperature: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return the torque without friction (n,) and the friction (m, n) of the next sample [N m].

        `q` (n,) [rad] and `ddq` (n,) [rad/s^2]; `dq` (m, n) [rad/s] are velocities that friction
        is wanted at, of which the first one is that of the bodies. `temperature` (n,) [deg C] is
        needed where a friction law has one.
        """
        rigid = self._rigid(q, dq[0], ddq)
        transmitted = rigid if self._behind_gears is None else rigid - self._behind_gears * ddq
        if self._friction.heated:
            self._friction.set_temperature(temperature)
        return rigid, self._friction.step(q, dq, transmitted)


class SampleCorrections:
    """
    The live corrections of a model.

    Equal to `correction_blocks` of a whole recording, for the samples of a live arm.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        robot, n = model.robot, model.robot.n
        self._robot, self._data = robot, robot.pinocchio.createData()
        self._taps = np.zeros((1, n))  # newest sample first
        self._wave_joints = np.zeros(0, dtype=int)
        self._waves = np.zeros((0, 3))  # order, coefficients of sine and cosine
        self._deviation = np.zeros((n, 10 * n))
        for one in model.corrections.live:
            one.group.add_to(self, one.joint, one.coefficients)
        self._past = np.zeros_like(self._taps)
        self._deviates = bool(self._deviation.any())
        self._limit = model.corrections.live_limit

    def add_taps(self, joint: int, taps: FloatArray) -> None:
        """See `SampleSums`."""
        missing = max(len(taps) - len(self._taps), 0)
        self._taps = np.vstack([self._taps, np.zeros((missing, self._robot.n))])
        self._taps[: len(taps), joint] += taps

    def add_waves(
        self, joint: int, orders: Sequence[int], sines: FloatArray, cosines: FloatArray
    ) -> None:
        """See `SampleSums`."""
        self._wave_joints = np.append(self._wave_joints, np.full(len(orders), joint))
        self._waves = np.vstack([self._waves, np.column_stack([orders, sines, cosines])])

    def add_bodies(self, joint: int, parameters: Sequence[int], values: FloatArray) -> None:
        """See `SampleSums`."""
        self._deviation[joint, list(parameters)] += values

    def restart(self) -> None:
        """Forget the past, as after a gap."""
        self._past[:] = 0.0

    def step(
        self, q: FloatArray, dq: FloatArray, measured_dq: FloatArray, ddq: FloatArray
    ) -> FloatArray:
        """Return the torque that is added at the next sample, shape (n,) [N m]."""
        past = self._past
        past[1:] = past[:-1]
        past[0] = measured_dq - dq
        torque: FloatArray = np.einsum('kj,kj->j', self._taps, past)
        if len(self._waves):
            order, sine, cosine = self._waves.T
            angles = q[self._wave_joints] * order
            np.add.at(
                torque, self._wave_joints, sine * np.sin(angles) + cosine * np.cos(angles)
            )
        if self._deviates:
            regressor = pin.computeJointTorqueRegressor(
                self._robot.pinocchio, self._data, q, dq, ddq
            )
            torque += np.einsum('jp,jp->j', regressor, self._deviation)
        if self._limit is not None:
            np.clip(torque, -self._limit, self._limit, out=torque)
        return torque
