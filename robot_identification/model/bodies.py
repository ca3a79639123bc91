# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies and rotors that have the base parameters of an identified model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.regressor import Motion, prior_inertial_parameters, standard_torque

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


def equivalent_bodies(model: IdentifiedModel, same: float = SAME) -> EquivalentBodies:
    """
    Return bodies and rotors that have a model's base parameters.

    Raises DataError if no bodies with a mass have these parameters: if their torques are not the
    model's, up to a share `same` of the largest one.
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
    _check_torques(model, bodies, same)
    return bodies


def _check_torques(model: IdentifiedModel, bodies: EquivalentBodies, same: float) -> None:
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
    if not np.allclose(found, wanted, rtol=0.0, atol=same * (1.0 + np.abs(wanted).max())):
        raise DataError(
            f'the base parameters of {model.robot.name} are of no bodies with a mass: no momentum '
            'can be observed with this model'
        )
