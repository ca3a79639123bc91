# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions that physics engines refuse are simulated as they are read, or named."""

from builders import joint, link, robot_urdf
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import make_robot_model, Motion, parse_urdf
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

HAND = link('hand', 1.2, principal=(0.006, 0.009, 0.008))
ACCEPTED = {
    # The moments of a flat plate, rounded to two digits.
    'a rounded plate': [link('upper', principal=(0.02, 0.03, 0.0503)), HAND],
    'a plate': [link('upper', principal=(0.02, 0.03, 0.05)), HAND],
    'a link without inertial': ['<link name="upper"/>', HAND],
    'a point mass': [link('upper', principal=(0, 0, 0)), HAND],
    'a rod': [link('upper', principal=(0, 0.03, 0.03)), HAND],
}
# Part of the largest torque: half a percent of a moment in three was rounded; the rest is exact
# to what engines need.
TOLERANCE = {'a rounded plate': 1e-2}


def arm_of(upper, hand):
    return make_robot_model(parse_urdf(robot_urdf(
        link('ground'), upper, hand, joint('one', 'ground', 'upper', axis=(0, 1, 0)),
        joint('two', 'upper', 'hand', axis=(1, 0, 0)),
    ), 'arm'))


@pytest.mark.parametrize('name', ACCEPTED)
def test_what_is_accepted_is_simulated_as_it_is_read(name):
    """Torques of random motion by MuJoCo against Pinocchio's."""
    robot = arm_of(*ACCEPTED[name])
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 50, 2))
    data = robot.pinocchio.createData()
    expected = np.array([
        pin.rnea(robot.pinocchio, data, *row) for row in zip(q, dq, ddq, strict=True)
    ])
    found = rigid_inverse_dynamics(robot, prior_truth(robot), Motion(q, dq, ddq))
    tolerance = TOLERANCE.get(name, 1e-7) * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=tolerance)
