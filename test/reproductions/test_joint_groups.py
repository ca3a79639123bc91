# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Groups of joints in turn find the truth; the closed-form rules give the set of QR."""

from dataclasses import replace

from estimation.arm_problems import arm_problem, fourier_motion, predict
import numpy as np
import pytest
from reproductions.gautier_khalil import regroup
from reproductions.joint_groups import JointGroupLeastSquares
from reproductions.paper import Paper
from reproductions.rajagopal_2017 import (
    add_claims, Controls, Findings, forward_dynamics, Identified, POSSIBLE, printed, REPORT,
    run_test, SimulatedYoubot, step_responses, tested_constants,
)
from robot_identification.model.base_parameters import (
    random_motion as random_motion_of, random_motion, reduce_to_base,
)
from robot_identification.model.frames import derive_table, link_frames
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import inertial_regressor, prior_inertial_parameters
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.simulation.ground_truth import draw_truth, prior_truth
from robot_identification.simulation.mujoco_robot import (
    inverse_dynamics, rigid_inverse_dynamics, true_inertial_parameters,
)

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def arm(robots):
    """Return the thesis' arm, which has neither friction nor rotors."""
    return robots['ur5_porcelli']


@pytest.fixture(scope='module')
def case(arm):
    """Return base parameters, their truth, a problem and an unseen motion, torques by MuJoCo."""
    reduction = reduce_to_base(
        arm, make_standard_parameters(arm.n, (), reflected_inertia=False),
        preference='mass_first',
    )
    truth = prior_truth(arm)
    motions = [fourier_motion(6, seed, 300, 0.25, 2.0 / 0.3) for seed in (0, 1)]
    torques = [
        inverse_dynamics(arm, truth, motion) for motion in motions
    ]
    return (
        reduction, reduction.K @ prior_inertial_parameters(arm),
        arm_problem(arm, reduction, motions[0], torques[0]), motions[1], torques[1],
    )


@pytest.mark.parametrize('sizes', [(3, 3), (1, 1, 1, 1, 1, 1), (2, 4), (5, 1), (6,)])
def test_in_turn_the_truth_is_found(arm, case, sizes):
    """Torques by MuJoCo without noise: 1e-8 in parameters and in unseen torques, in any groups."""
    reduction, truth, problem, unseen, true = case
    estimate = JointGroupLeastSquares(sizes=sizes).estimate(problem)
    np.testing.assert_allclose(estimate.theta, truth, atol=1e-8)
    np.testing.assert_allclose(predict(arm, reduction, estimate.theta, unseen), true, atol=1e-7)


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


@pytest.fixture(scope='module')
def youbot():
    return load_robot('youbot')


@pytest.fixture(scope='module')
def wheel():
    return run_test('wheel 3', tested_constants()['wheel 3'], seed=5)


@pytest.fixture(scope='module')
def ridge(youbot):
    """Return what eq. 3.73 does without noise."""
    return SimulatedYoubot(youbot).judge_ridge()


def claims_of(found):
    """Return the claims that follow from some findings."""
    paper = Paper('rajagopal_2017')
    add_claims(paper, found)
    return paper.claims


def findings_of(wheel, ridge, errors):
    """Return findings whose identification has these errors at every joint."""
    def way(error):
        return Identified(np.zeros(50), np.full(5, error), np.zeros((1, 5)), 0, np.ones(29))

    controls = Controls(
        335.0, 60, ('mx1', 'my1', 'Izz1'), (), (), 5.0,
        {wheel.name: 1.05 * printed.wheels[wheel.name]},
    )
    return Findings(
        50, ('Izz1',), 0.0, (3, 4), (1,), ridge, controls, 1e-9,
        {REPORT: way(1.0), POSSIBLE: way(errors)}, np.ones(5), [wheel], step_responses(),
    )


def test_claims_follow_from_numbers(wheel, ridge):
    found = findings_of(wheel, ridge, 0.1)
    outcomes = [claim.outcome for claim in claims_of(found)]
    assert outcomes == ['agrees'] * 9 + ['differs', 'better', 'better']
    worse = replace(
        findings_of(wheel, ridge, 2.0), unknowns=48, seen_of_first=('m1',), range_error=1.0,
        negative=(3,), beyond=(), ridge=replace(ridge, outside=0.1), forward=1.0,
    )
    assert [claim.outcome for claim in claims_of(worse)] == (
        ['differs'] * 6 + ['agrees'] * 3 + ['differs'] * 3
    )


def test_controls_that_say_the_same_leave_claims_untested(wheel, ridge):
    """Where the other case has the same answer, nothing would have shown the opposite."""
    found = findings_of(wheel, ridge, 0.1)
    blind = replace(found, controls=Controls(
        0.0, 50, ('Izz1',), (3, 4), (1,), 0.0, {wheel.name: printed.wheels[wheel.name]},
    ))
    outcomes = {claim.what: claim.outcome for claim in claims_of(blind)}
    assert outcomes['unknown parameters'] == 'untested'
    assert outcomes['links of table 4.1 with negative mass'] == 'untested'
    assert outcomes['break-away torque of wheel 3, onset of motion'] == 'untested'
    assert outcomes['forward dynamics of the bodies (figure 4.1)'] == 'untested'


@pytest.mark.parametrize('name', ['youbot', 'ur5'])
def test_forward_dynamics_give_mujocos_torques_back(name):
    """Torques that MuJoCo needs for given accelerations; 1e-8 is rounding over least inertia."""
    robot = load_robot(name)
    truth = draw_truth(robot, 3)
    motion = random_motion_of(robot, 50, np.random.default_rng(4))
    tau = rigid_inverse_dynamics(robot, truth, motion, with_rotors=False)
    theta = true_inertial_parameters(robot, truth)
    found = forward_dynamics(robot, theta, motion, tau)
    np.testing.assert_allclose(found, motion.ddq, rtol=1e-8, atol=1e-8)
    assert np.abs(forward_dynamics(robot, 1.1 * theta, motion, tau) - motion.ddq).max() > 0.1
