# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque of bodies and rotors, against Pinocchio's own algorithms on bodies."""

from known_models import known_model
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.prediction.sample_torque import RigidTorque


def draw_state(robot, rng):
    return rng.uniform(-1.0, 1.0, (3, robot.n))


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_a_description_is_taken_as_it_is(robots, name, rng):
    """RNEA on the bodies of the URDF and the rotors of the YAML, to rounding."""
    robot = robots[name]
    known = robot.drives.reflected_inertia
    rotors = np.where(np.isfinite(known), known, 0.0)
    torque = RigidTorque(robot)
    for _ in range(5):
        q, dq, ddq = draw_state(robot, rng)
        model, data = robot.pinocchio, robot.pinocchio.createData()
        expected = pin.rnea(model, data, q, dq, ddq) + rotors * ddq
        np.testing.assert_allclose(torque(q, dq, ddq), expected, atol=1e-9)
        np.testing.assert_allclose(
            torque.gravity(q), pin.computeGeneralizedGravity(model, data, q), atol=1e-9
        )
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(rotors)
        np.testing.assert_allclose(torque.inertia(q), mass, atol=1e-9)


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
def test_an_identified_model_has_its_own_torque_without_friction(robots, name, rng):
    """That of the model file, whose base parameters are not those of possible bodies."""
    robot = robots[name]
    bodies = rng.uniform(0.8, 1.2) * prior_inertial_parameters(robot)
    model = known_model(robot, 'coulomb,viscous', bodies, fc=5.0, fv=2.0, Ia=0.4)
    frictionless = known_model(robot, 'coulomb,viscous', bodies, Ia=0.4)
    torque = RigidTorque(model)
    for _ in range(5):
        q, dq, ddq = draw_state(robot, rng)
        expected = frictionless.torque(Motion(q[None], dq[None], ddq[None]))[0]
        np.testing.assert_allclose(torque(q, dq, ddq), expected, atol=1e-9)
