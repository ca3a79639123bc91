# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The torque of bodies and rotors at one instant, of an identified model or of a description."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray, joint_vectors
from robot_identification.errors import DataError
from robot_identification.model import equivalent_bodies, IdentifiedModel, RobotModel

# Of the largest torque; chosen: rounding of a sum of a hundred products.
ROUNDING = 1e-13


class RigidTorque:
    """
    Inverse dynamics of a known arm, without friction, fast enough for a control loop.

    A description stands for its inertial parameters as they are, with the rotor inertias that the
    robot's YAML states. `rotors` (n,) are the reflected inertias [kg m^2].
    """

    def __init__(self, model: IdentifiedModel | RobotModel) -> None:
        self._theta: FloatArray | None = None
        if isinstance(model, IdentifiedModel):
            self.robot, parameters, theta = model.robot, model.parameters, model.theta_lifted
            self.rotors = np.zeros(self.robot.n)
            try:
                bodies = equivalent_bodies(model, ROUNDING)
            except DataError:
                # What base parameters leave open need not be a body; the regressor needs none.
                self._theta = theta[: 10 * self.robot.n].copy()
                self._model = self.robot.pinocchio
                if parameters.reflected_inertia:
                    self.rotors = theta[parameters.reflected_inertia_slice].copy()
            else:
                self._model, self.rotors = bodies.pinocchio, bodies.reflected_inertia.copy()
        else:
            self.robot, known = model, model.drives.reflected_inertia
            self._model = model.pinocchio.copy()
            self.rotors = np.where(np.isfinite(known), known, 0.0)
        if self._theta is None:
            self._model.armature = self.rotors
        self._data = self._model.createData()
        self._rest = np.zeros(self.robot.n)

    def __call__(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return ``M(q) ddq + C(q, dq) dq + g(q) + Ia ddq`` of a state (n,) [N m]."""
        torque: FloatArray
        try:
            if self._theta is None:
                # The next call overwrites what Pinocchio returns.
                torque = pin.rnea(self._model, self._data, q, dq, ddq).copy()
            else:
                Y = pin.computeJointTorqueRegressor(self._model, self._data, q, dq, ddq)
                torque = Y @ self._theta + self.rotors * ddq
        except (TypeError, ValueError):
            # To look before every call would take a third of its time.
            return self(*joint_vectors(self.robot.n, q=q, dq=dq, ddq=ddq))
        return torque

    def gravity(self, q: FloatArray) -> FloatArray:
        """Return the joint torques [N m] that hold the arm at rest at `q` (n,) [rad]."""
        return self(q, self._rest, self._rest)

    def inertia_and_bias(self, q: FloatArray, dq: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mass matrix with rotors (n, n), and the torque (n,) without acceleration."""
        if self._theta is not None:
            return self.inertia(q), self(q, dq, self._rest)
        # The next call overwrites what Pinocchio returns.
        try:
            inertia: FloatArray = pin.crba(self._model, self._data, q).copy()
            bias: FloatArray = pin.nonLinearEffects(self._model, self._data, q, dq).copy()
        except (TypeError, ValueError):
            return self.inertia_and_bias(*joint_vectors(self.robot.n, q=q, dq=dq))
        return inertia, bias

    def inertia(self, q: FloatArray) -> FloatArray:
        """Return the mass matrix with rotors [kg m^2] at `q` (n,) [rad], shape (n, n)."""
        gravity = self.gravity(q)
        unit = np.eye(self.robot.n)
        return np.column_stack([self(q, self._rest, ddq) - gravity for ddq in unit])
