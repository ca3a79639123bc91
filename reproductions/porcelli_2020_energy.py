# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The energies of G. Porcelli's thesis (chapter 3) in numbers.

What its Lagrangian derivation prints is evaluated as it stands, by Jacobians and differences, so
that a misprint is a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from reproductions.porcelli_2020_structure import EXAMPLE
from robot_identification.arrays import FloatArray
from robot_identification.model.robot_model import RobotModel

# Of central differences of the energy [rad]: errors are near 1e-10.
STEP = 1.0e-5


@dataclass(frozen=True)
class LinkEnergy:
    """Jacobians of the origin of a link's frame, its rotation, and its ten parameters."""

    linear: FloatArray
    angular: FloatArray
    rotation: FloatArray
    parameters: FloatArray

    def tensor(self) -> FloatArray:
        """Return the inertia about the frame, shape (3, 3)."""
        xx, xy, yy, xz, yz, zz = self.parameters[4:]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def momentum(self, dq: FloatArray, rotation: FloatArray) -> FloatArray:
        """Return eq. 3.18 with a rotation in the place of its last one of the second term."""
        v, w = self.linear @ dq, self.angular @ dq
        mass, moment = self.parameters[0], self.parameters[1:4]
        first = self.linear.T @ pin.skew(w) @ self.rotation
        second = self.angular.T @ pin.skew(v) @ rotation
        world = self.rotation @ self.tensor() @ self.rotation.T
        total: FloatArray = (
            self.linear.T @ v * mass + (first - second) @ moment + self.angular.T @ world @ w
        )
        return total

    def forms(self, dq: FloatArray) -> FloatArray:
        """Return the parts of twice the kinetic energy, by m, m c and inertia, shape (3,)."""
        v, w = self.linear @ dq, self.angular @ dq
        mass, moment = self.parameters[0], self.rotation @ self.parameters[1:4]
        world = self.rotation @ self.tensor() @ self.rotation.T
        return np.array([mass * v @ v, 2.0 * v @ np.cross(w, moment), w @ world @ w])


def link_energy(robot: RobotModel, q: FloatArray, link: int) -> LinkEnergy:
    """Return what the kinetic energy of a link is made of."""
    model, joint = robot.pinocchio, link + 1
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return LinkEnergy(
        np.array(J[:3]), np.array(J[3:]), np.array(data.oMi[joint].rotation),
        model.inertias[joint].toDynamicParameters(),
    )


@dataclass(frozen=True)
class LagrangianCheck:
    """
    The thesis' energy terms against Pinocchio at one state.

    Attributes
    ----------
    momentum, printed_momentum : float
        Largest error of the sum of eq. 3.18 over the links against M(q) dq, with the rotation of
        the link and with the printed one of the base [kg m²/s].
    gradient : float
        Largest error of the kinetic energy's gradient by q with ``dq' [..] dq / 2`` in all three
        terms, as eq. 3.31 should have, against the Coriolis terms of Pinocchio [N m].

    """

    momentum: float
    printed_momentum: float
    gradient: float


def check_lagrangian(robot: RobotModel) -> LagrangianCheck:
    """Evaluate eq. 3.18 and 3.26 with 3.31 at the example state."""
    q, dq = EXAMPLE.q[0], EXAMPLE.dq[0]
    model = robot.pinocchio
    data = model.createData()
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    links = [link_energy(robot, q, link) for link in range(robot.n)]
    right = sum(link.momentum(dq, link.rotation) for link in links)
    wrong = sum(link.momentum(dq, np.eye(3)) for link in links)
    gradient = np.array([
        0.5 * (_forms(robot, q + step, dq) - _forms(robot, q - step, dq)).sum() / (2.0 * STEP)
        for step in STEP * np.eye(robot.n)
    ])
    # d/dt (M dq) - dT/dq is what the Coriolis terms are: C dq = dM/dt dq - gradient.
    C = pin.computeCoriolisMatrix(model, data, q, dq)
    expected = C.T @ dq
    return LagrangianCheck(
        float(np.abs(right - M @ dq).max()), float(np.abs(wrong - M @ dq).max()),
        float(np.abs(gradient - expected).max()),
    )


def _forms(robot: RobotModel, q: FloatArray, dq: FloatArray) -> FloatArray:
    total: FloatArray = np.sum(
        [link_energy(robot, q, link).forms(dq) for link in range(robot.n)], axis=0
    )
    return total
