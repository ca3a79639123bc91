# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The model for Pinocchio has everything that Pinocchio has a place for."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import InconsistentModelError
from robot_identification.export.pinocchio_model import build_pinocchio_model


def test_rotors_friction_and_limits_are_set(model):
    built = build_pinocchio_model(model)
    names, theta = model.parameters.names, model.theta_consistent
    for values, symbol in ((built.armature, 'Ia'), (built.friction, 'fc'), (built.damping, 'fv')):
        expected = theta[[names.index(f'{symbol}{k}') for k in (1, 2, 3)]]
        np.testing.assert_allclose(values, expected)
    np.testing.assert_array_equal(built.upperPositionLimit, model.robot.limits.upper)
    np.testing.assert_array_equal(built.effortLimit, [80.0, 120.0, 60.0])
    np.testing.assert_array_equal(built.gravity.linear, model.robot.gravity)


def test_the_models_own_robot_is_left_alone(model):
    before = [body.copy() for body in model.robot.pinocchio.inertias]
    build_pinocchio_model(model)
    assert all(a == b for a, b in zip(before, model.robot.pinocchio.inertias, strict=True))
    assert not model.robot.pinocchio.armature.any()


def test_forward_dynamics_is_that_of_the_model(model, rng):
    """Acceleration of a torque, and the torque of that acceleration."""
    built = build_pinocchio_model(model)
    data = built.createData()
    q, dq, tau = rng.uniform(-1.0, 1.0, (3, 3))
    ddq = pin.aba(built, data, q, dq, tau)
    np.testing.assert_allclose(pin.rnea(built, data, q, dq, ddq), tau, atol=1e-10)


def test_a_model_without_consistent_parameters_is_refused(model):
    with pytest.raises(InconsistentModelError, match='everything is not exported: it is said why'):
        build_pinocchio_model(
            replace(model, theta_consistent=None, consistency_note='it is said why')
        )
