# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The closed-form regrouping rules: the set of QR, and MuJoCo's torques from it."""

from dataclasses import replace

import numpy as np
from oracles import gautier_khalil
import pytest
from reproductions.gautier_khalil import regroup
from robot_identification.model.base_parameters import random_motion, reduce_to_base
from robot_identification.model.frames import derive_table, link_frames
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import inertial_regressor
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import (
    rigid_inverse_dynamics, true_inertial_parameters,
)

WALL = (1.5, 0.0, 0.0)


def closed_form(robot, vertical):
    table = derive_table(robot.pinocchio)
    return regroup(table.alpha, table.a, table.d, gravity_along_first_axis=vertical)


@pytest.mark.parametrize('mounted', [True, False], ids=['ground', 'wall'])
@pytest.mark.parametrize('name', ['ur5_tika', 'ur5', 'ur10e', 'youbot'])
def test_the_rules_give_the_set_of_qr(name, mounted):
    """Names and factors; 1e-8 is a hundred times what QR of random samples leaves of them."""
    robot = load_robot(name)
    if not mounted:
        robot = robot.with_gravity(gravity_of_mounting(*WALL))
    found = closed_form(robot, mounted)
    reduction = reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False),
        frames=link_frames(replace(robot, denavit_hartenberg=None), 'mdh'),
    )
    assert sorted(found) == sorted(reduction.names)
    for row, leading in enumerate(reduction.names):
        factors = [found[leading].get(one, 0.0) for one in reduction.parameters.names]
        np.testing.assert_allclose(factors, reduction.K[row], atol=1e-8)


@pytest.mark.parametrize('name', ['ur5_tika', 'youbot'])
def test_torques_of_the_set_are_mujocos(name):
    """The leading columns times the set's values, bodies drawn at random; torques to 1e-9 N m."""
    robot = load_robot(name)
    truth = draw_truth(robot, 1)
    motion = random_motion(robot, 50, np.random.default_rng(2))
    tau = rigid_inverse_dynamics(robot, truth, motion, with_rotors=False)
    change = link_frames(replace(robot, denavit_hartenberg=None), 'mdh').to_joint_frames()
    theta = np.linalg.solve(change, true_inertial_parameters(robot, truth))
    names = list(make_standard_parameters(robot.n, (), False).names)
    W = inertial_regressor(robot, motion) @ change
    predicted = np.zeros(len(W))
    for leading, factors in closed_form(robot, True).items():
        value = sum(factor * theta[names.index(one)] for one, factor in factors.items())
        predicted += W[:, names.index(leading)] * value
    np.testing.assert_allclose(predicted.reshape(tau.shape), tau, atol=1e-9)


@pytest.mark.parametrize('case', range(8))
def test_made_up_arms_have_the_set_of_the_general_rules(case, rng):
    """Against the rules for turning and sliding joints that the tests of the product have."""
    n = 5
    alpha = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(0.3, 1.2, n))
    a = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(0.2, 0.6, n))
    d, vertical = rng.uniform(0.2, 0.6, n), bool(case % 2)
    ours = regroup(alpha, a, d, gravity_along_first_axis=vertical)
    general = gautier_khalil(alpha, a, d, 'R' * n, vertical)
    assert ours.keys() == general.keys()
    for leading, factors in general.items():
        assert ours[leading] == pytest.approx(factors, abs=1e-12)
