# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction of all joints at one sample, from arrays that are laid out once for a model."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model import BasisTerm, IdentifiedModel
from robot_identification.prediction.sample_basis import JointFunction, SampleBasis


class SampleFriction:
    """
    Friction torque of a model, sample after sample.

    Equal to what the laws give for a whole recording: stop operators remember the sample before.
    A function of the motion of one joint is evaluated once, however many terms have it; what
    multiplies it is a row of one matrix.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        n, theta = model.robot.n, model.theta_lifted
        found: dict[JointFunction, list[tuple[BasisTerm, float]]] = {}
        for term, columns in model.parameters.friction_columns:
            for basis, coefficient in zip(term.law.basis, theta[columns], strict=True):
                if coefficient != 0.0:
                    key = JointFunction(basis.kind, basis.constants, term.joint)
                    found.setdefault(key, []).append((basis, float(coefficient)))
        functions = sorted(found)
        self._n, self._names = n, model.robot.joint_names
        self._basis = SampleBasis(functions)
        # Of every function: the torque, and the torque per load, of every joint.
        self._cold, self._per_kelvin = np.zeros((2, len(functions), 2 * n))
        for row, function in enumerate(functions):
            for basis, coefficient in found[function]:
                column = function.joint + (n if basis.per_load else 0)
                if basis.reference is None:
                    self._cold[row, column] += coefficient
                else:
                    self._cold[row, column] -= coefficient * basis.reference
                    self._per_kelvin[row, column] += coefficient
        self._has_load = bool(np.any(self._cold[:, n:]) or np.any(self._per_kelvin[:, n:]))
        self._heated = np.any(self._per_kelvin, axis=0).reshape(2, n).any(axis=0)
        self._any_heated = bool(self._heated.any())
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
        if not self._any_heated:
            return
        if temperature is None or not np.isfinite(temperature[self._heated]).all():
            raise DataError(
                f'the friction of {", ".join(np.array(self._names)[self._heated])} depends on '
                'the joint temperature, which is not known: give it, or choose laws without '
                'temperature'
            )
        if self._temperature is None or not np.array_equal(temperature, self._temperature):
            self._temperature = temperature.copy()
            used = np.where(self._heated, temperature, 0.0)
            self._coefficients = self._cold + self._per_kelvin * np.concatenate([used, used])

    def step(self, q: FloatArray, dq: FloatArray, transmitted: FloatArray) -> FloatArray:
        """
        Return the friction torque (m, n) [N m] of the next sample.

        At its position (n,) [rad], at velocities (m, n) [rad/s] it may have, and with what the
        gears transmit there (n,) [N m].
        """
        n, sums = self._n, self._basis.step(q, dq) @ self._coefficients
        if not self._has_load:
            return sums[:, :n]
        friction: FloatArray = sums[:, :n] + np.abs(transmitted) * sums[:, n:]
        return friction
