# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The torque of bodies and rotors at one instant, of an identified model or of a description."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel, prior_inertial_parameters, RobotModel


class RigidTorque:
    """
    Inverse dynamics of a known arm, without friction, fast enough for a control loop.

    A description stands for its inertial parameters as they are, with the rotor inertias that the
    robot's YAML states.
    """

    def __init__(self, model: IdentifiedModel | RobotModel) -> None:
        if isinstance(model, IdentifiedModel):
            self.robot, theta, parameters = model.robot, model.theta_lifted, model.parameters
            rotors = np.zeros(self.robot.n)
            if parameters.reflected_inertia:
                rotors = theta[parameters.reflected_inertia_slice]
        else:
            self.robot, theta = model, prior_inertial_parameters(model)
            known = model.drives.reflected_inertia
            rotors = np.where(np.isfinite(known), known, 0.0)
        self._theta = theta[: 10 * self.robot.n].copy()
        self._rotors = rotors.copy()
        self._data = self.robot.pinocchio.createData()
        self._rest = np.zeros(self.robot.n)

    def __call__(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return ``M(q) ddq + C(q, dq) dq + g(q) + Ia ddq`` of a state (n,) [N m]."""
        # Of parameters, not of bodies: what base parameters leave open need not be a body.
        Y = pin.computeJointTorqueRegressor(self.robot.pinocchio, self._data, q, dq, ddq)
        torque: FloatArray = Y @ self._theta + self._rotors * ddq
        return torque

    def gravity(self, q: FloatArray) -> FloatArray:
        """Return the joint torques [N m] that hold the arm at rest at `q` (n,) [rad]."""
        return self(q, self._rest, self._rest)

    def inertia(self, q: FloatArray) -> FloatArray:
        """Return the mass matrix with rotors [kg m^2] at `q` (n,) [rad], shape (n, n)."""
        gravity = self.gravity(q)
        unit = np.eye(self.robot.n)
        return np.column_stack([self(q, self._rest, ddq) - gravity for ddq in unit])
