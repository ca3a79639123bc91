# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions that physics engines refuse are simulated as they are read, or named."""

from builders import joint, link, robot_urdf
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import UsageError
from robot_identification.model import make_robot_model, Motion, parse_urdf
from robot_identification.simulation import (
    draw_truth, MujocoRobot, NOISE_FREE, true_inertial_parameters,
)
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


def test_centres_at_joint_origins_may_be_elsewhere_in_truth():
    """The engine treats such bodies apart; one whose centre was moved is none of them any more."""
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('ground'), link('wheel', 1.5, (0, 0, 0)),
        joint('turn', 'ground', 'wheel', axis=(0, 0, 1)),
    ), 'wheel')).with_drive_gains([1.0])
    truth = draw_truth(robot, 0)
    rest, ddq = np.zeros((1, 1)), np.ones((1, 1))
    found = rigid_inverse_dynamics(robot, truth, Motion(rest, rest, ddq), with_rotors=False)
    # About the joint's axis, centre included.
    np.testing.assert_allclose(found[0, 0], true_inertial_parameters(robot, truth)[9], rtol=1e-9)


def test_joints_without_a_mass_are_named():
    robot = arm_of(link('upper'), '<link name="hand"/>')
    with pytest.raises(UsageError, match=r'made_up: .* no mass that two would move'):
        MujocoRobot(robot, prior_truth(robot), NOISE_FREE, np.zeros(2))


def test_branches_are_refused_with_what_to_name():
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('ground'), link('a'), link('b'), link('c'), joint('far', 'a', 'b'),
        joint('near', 'ground', 'a', axis=(0, 1, 0)), joint('beside', 'ground', 'c'),
    ), 'arm'), joints=None)
    with pytest.raises(UsageError, match=r'joints branch.*--joints') as caught:
        MujocoRobot(robot, prior_truth(robot), NOISE_FREE, np.zeros(3))
    assert 'MuJoCo' not in str(caught.value)
