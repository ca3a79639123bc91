# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Which torque others exert on the joints, without measuring an acceleration.

The generalized momentum of bodies and rotors changes by what drives, friction, gravity and others
do. What the model knows of that is taken off; the rest, through a low-pass of first order, is the
external torque (De Luca and Mattone, ICRA 2005, with the C of Christoffel's symbols, of which
M' = C + C^T).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.model import (
    IdentifiedModel, Motion, prior_inertial_parameters, standard_torque, StandardParameters,
)

DEFAULT_BANDWIDTH = 25.0  # [rad/s]; chosen: a time constant of 40 ms
# Time constants after a start without an output; chosen: 95 % of a step.
BLANKING = 3.0
CHECKED_STATES = 5  # chosen, at random
# Torques of bodies that are the same but for rounding.
SAME = 1e-8


@dataclass(frozen=True, eq=False)
class EquivalentBodies:
    """
    Bodies and rotors with the base parameters of a model.

    Base parameters fix every torque, and with it mass matrix and Coriolis terms; where they leave
    a choice these are those of the description. They need not be possible ones: they are for
    sums, not for simulators.
    """

    pinocchio: pin.Model  # the bodies
    reflected_inertia: FloatArray  # (n,): of the rotors [kg m^2]


def equivalent_bodies(model: IdentifiedModel) -> EquivalentBodies:
    """
    Return bodies and rotors that have a model's base parameters.

    Raises DataError if no bodies with a mass have these parameters.
    """
    robot, parameters, reduction = model.robot, model.parameters, model.reduction
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = prior_inertial_parameters(robot)
    # Independent parameters take up what the description lacks of the base parameters.
    theta[reduction.independent] += model.theta_base - reduction.K @ theta
    pinocchio = robot.pinocchio.copy()
    for joint, own in enumerate(theta[: 10 * robot.n].reshape(-1, 10)):
        pinocchio.inertias[joint + 1] = pin.Inertia.FromDynamicParameters(own)
    rotors = np.zeros(robot.n)
    if parameters.reflected_inertia:
        rotors = theta[parameters.reflected_inertia_slice]
    bodies = EquivalentBodies(pinocchio, rotors)
    _check_torques(model, bodies)
    return bodies


def _check_torques(model: IdentifiedModel, bodies: EquivalentBodies) -> None:
    """Compare with the model's own sums, which know no bodies."""
    n, parameters = model.robot.n, model.parameters
    rng = np.random.default_rng(0)
    motion = Motion(*rng.uniform(-1.0, 1.0, (3, CHECKED_STATES, n)), starts=())
    theta = model.theta_lifted
    wanted = standard_torque(
        model.robot, StandardParameters(n, (), parameters.reflected_inertia),
        np.concatenate([theta[: 10 * n], theta[parameters.reflected_inertia_slice]]), motion,
    )
    data = bodies.pinocchio.createData()
    found = np.array([
        pin.rnea(bodies.pinocchio, data, q, dq, ddq) + bodies.reflected_inertia * ddq
        for q, dq, ddq in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ])
    if not np.allclose(found, wanted, rtol=0.0, atol=SAME * (1.0 + np.abs(wanted).max())):
        raise DataError(
            f'the base parameters of {model.robot.name} are of no bodies with a mass: no momentum '
            'can be observed with this model'
        )


class MomentumObserver:
    """
    Observes the external torque on the joints.

    The time constant of its low-pass is ``1 / bandwidth``, with K_O in rad/s. Raises UsageError if
    the bandwidth is not positive, DataError if no bodies with a mass have the model's parameters.
    """

    def __init__(self, model: IdentifiedModel, bandwidth: float = DEFAULT_BANDWIDTH) -> None:
        if not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise UsageError(f'bandwidth must be a positive number [rad/s], got {bandwidth!r}')
        self._bodies = equivalent_bodies(model)
        self._data = self._bodies.pinocchio.createData()
        self.bandwidth = bandwidth
        self.restart()

    def restart(self) -> None:
        """Begin anew, as after a pause of the joint states."""
        self._momentum: FloatArray | None = None
        self._known: FloatArray | None = None
        self._external = np.zeros(len(self._bodies.reflected_inertia))
        self._since = 0.0

    def step(
        self, elapsed: float, q: FloatArray, dq: FloatArray, torque: FloatArray,
        friction: FloatArray,
    ) -> FloatArray | None:
        """
        Return the external torque (n,) [N m], signed as joint torques; None until settled.

        `elapsed` [s] is not used for the first sample; the torque is the measured one of the
        drives, friction what the model expects, all (n,) in N m. Raises UsageError if `elapsed` is
        not positive.
        """
        model, data = self._bodies.pinocchio, self._data
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        coriolis = pin.computeCoriolisMatrix(model, data, q, dq)
        gravity = pin.computeGeneralizedGravity(model, data, q)
        momentum = mass @ dq + self._bodies.reflected_inertia * dq
        known = torque - friction + coriolis.T @ dq - gravity
        last, before = self._momentum, self._known
        self._momentum, self._known = momentum, known
        if last is None or before is None:
            return None
        if not elapsed > 0.0:
            raise UsageError(f'elapsed must be positive, got {elapsed!r} s')
        # What acted on the average since the last sample, which a low-pass of first order takes
        # exactly where it was constant.
        acted = (momentum - last) / elapsed - 0.5 * (known + before)
        kept = np.exp(-self.bandwidth * elapsed)
        self._external = kept * self._external + (1.0 - kept) * acted
        self._since += elapsed
        return self._external.copy() if self._since >= BLANKING / self.bandwidth else None
