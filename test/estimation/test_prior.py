# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The URDF as a prior is the quadratic form that it should be, and taken of the right links."""

from dataclasses import replace
from functools import lru_cache

from estimation.arm_problems import dataset_of, three_joint_urdf
from known_models import base_of
import numpy as np
import pytest
from robot_identification.estimation import WeightedLeastSquares
from robot_identification.estimation.fitting import estimate_under_load, LOAD_TOLERANCE, observe
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.selection import choose
from robot_identification.model import (
    FrictionTerm, make_robot_model, Motion, parse_friction, parse_urdf, PLAIN_FRICTION,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
@pytest.mark.parametrize('laws', ['none', 'coulomb,viscous,offset', 'dictionary,offset'])
@pytest.mark.parametrize('rotors', [True, False])
def test_rows_give_the_quadratic_form(robots, rng, name, laws, rotors):
    """Against ``weight (b - b0)' (K S K')^-1 (b - b0)`` with a dense inverse."""
    # Friction laws have no part in it. With rotors S has numbers from 1e-9 to 1e6; equilibrated,
    # the inverse is right to 1e-9.
    robot, weight, nuisance = robots[name], 7.0, 5
    reduction = base_of(robot, laws, rotors)
    parameters = reduction.parameters
    prior = cad_prior(robot)
    term = prior.term(reduction, reduction.rank + nuisance, weight)
    inertial = 10 * robot.n
    mean, deviation = np.zeros(parameters.size), np.zeros(parameters.size)
    mean[:inertial], deviation[:inertial] = prior.inertial, prior.deviation
    deviation[parameters.reflected_inertia_slice] = 1e3
    friction = range(parameters.size)[parameters.friction_slice]
    rows = [row for row, column in enumerate(reduction.independent) if column not in friction]
    K = reduction.K[rows]
    covariance = K @ np.diag(deviation**2) @ K.T
    scale = np.sqrt(np.diag(covariance))
    inverse = np.linalg.inv(covariance / np.outer(scale, scale))
    for _ in range(5):
        away = rng.normal(size=len(rows))
        unknowns = rng.normal(size=reduction.rank + nuisance)
        unknowns[rows] = K @ mean + away * scale
        expected = weight * away @ inverse @ away
        squares = np.sum((term.matrix @ unknowns - term.side) ** 2)
        assert squares == pytest.approx(expected, rel=1e-6)
    others = np.setdiff1d(np.arange(reduction.rank + nuisance), rows)
    np.testing.assert_array_equal(term.matrix[:, others], 0.0)


def test_the_urdf_itself_costs_nothing(ur5):
    """Nor does anything else with its base parameters; without weight there are no rows."""
    reduction = base_of(ur5, 'viscous', rotors=True)
    prior = cad_prior(ur5)
    theta = np.concatenate([prior.inertial, np.ones(6), np.zeros(6)])
    term = prior.term(reduction, reduction.rank, 100.0)
    size = np.abs(term.matrix) @ np.abs(reduction.K @ theta)
    found = term.matrix @ reduction.K @ theta
    np.testing.assert_allclose(found, term.side, atol=1e-9 * size.max())
    assert prior.term(reduction, reduction.rank, 0.0) is None


def test_how_far_a_urdf_may_be_wrong(robots):
    """By hand: 30 % of the mass, 15 cm of the centre, 30 % of the largest principal inertia."""
    # That inertia is about the joint frame's origin; a link without mass has a floor.
    robot = robots['mixed']
    prior = cad_prior(robot)
    links = list(robot.pinocchio.inertias)[1:]
    for link, body in enumerate(links):
        centre = body.lever
        tensor = body.inertia + body.mass * (centre @ centre * np.eye(3)
                                             - np.outer(centre, centre))
        own = prior.deviation[10 * link: 10 * link + 10]
        assert own[0] == pytest.approx(0.3 * body.mass)
        np.testing.assert_allclose(own[1:4], 0.15 * body.mass)
        np.testing.assert_allclose(own[4:], 0.3 * np.linalg.eigvalsh(tensor)[-1])
        np.testing.assert_allclose(
            prior.inertial[10 * link: 10 * link + 4], body.mass * np.append(1.0, centre)
        )
    assert prior.reflected_inertia_deviation == 1e3


@pytest.mark.parametrize('with_tool', [False, True])
def test_a_tool_that_the_urdf_lacks_is_no_prior(with_tool):
    """The other links still are; without a tool all are. The truth is MuJoCo's."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from validation_studies.wrong_recordings import AUTOMATIC, make_arm
    made = make_arm('ur5', 0, with_tool=with_tool)
    choice = choose(made.robot, [made.training], 'A', AUTOMATIC, with_prior=True)
    tool = 'the link behind wrist_3_joint is another body than in the URDF'
    assert any(note.startswith(tool) for note in choice.notes) == with_tool
    wide = choice.estimator.prior.deviation == cad_prior(made.robot, range(6)).deviation
    assert wide[50:].all() == wide[50:].any() == with_tool
    # Of the link before it the effort itself contradicts the URDF.
    assert not wide[:40].any()
    assert choice.estimator.prior_weight > 0.0


PERIOD = 0.01
SAMPLES = 2000


@lru_cache
def arm():
    """Return an arm of three joints, of the size of a shoulder, an elbow and a wrist."""
    return make_robot_model(parse_urdf(three_joint_urdf(), 'three joints'))


def dry(dq, width):
    return np.tanh(dq / width)


def load_and_direction(dq, load, temperature):
    """Friction that grows with the load, one that differs with direction, and a plain one."""
    one, two, three = dq.T
    return np.column_stack([
        3.0 * dry(one, 0.03) + 0.15 * np.abs(load[:, 0]) * dry(one, 0.03) + 4.0 * one,
        np.where(two > 0.0, 5.0 * dry(two, 0.02) + 5.0 * two, 2.5 * dry(two, 0.02) + 1.5 * two),
        0.8 * dry(three, 0.03) + 0.6 * three + 0.1,
    ])


@lru_cache
def motion_of(seed):
    """Return a motion of several sines a joint, warming from 20 to 35 deg C but for the last."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(SAMPLES)
    w = 2.0 * np.pi * np.array([0.08, 0.17, 0.29, 0.41])
    size = 0.3 * rng.normal(size=(3, 4))
    angle = w * t[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    warm = np.column_stack([20.0 + 15.0 * t / t[-1]] * 2 + [np.full(SAMPLES, 25.0)])
    return Motion(
        np.sum(size * np.sin(angle), axis=2), np.sum(size * w * np.cos(angle), axis=2),
        -np.sum(size * w**2 * np.sin(angle), axis=2), warm,
    )


@lru_cache
def true_torque(seed, friction):
    """Return the noise-free torque of an arm that is not quite the URDF's."""
    robot, motion = arm(), motion_of(seed)
    truth = replace(
        prior_truth(robot), mass_factor=np.array([1.2, 0.85, 1.1]),
        reflected_inertia=np.array([0.5, 0.3, 0.05]),
    )
    load = inverse_dynamics(robot, truth, motion)
    return load + friction(motion.dq, load, motion.temperature)


def recording(seed, friction, noise, noise_seed=0):
    tau = true_torque(seed, friction)
    rng = np.random.default_rng([seed, noise_seed])
    return dataset_of(
        arm(), motion_of(seed), tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    )


def test_the_load_is_that_of_the_bodies_found():
    """Bodies are up to 20 % off the URDF, so that its load is wrong."""
    # Passes go on until none is. One more pass changes nothing, and friction per load is found to
    # 2 %.
    dataset = recording(0, load_and_direction, noise=0.002)
    laws = [parse_friction(f'{PLAIN_FRICTION},load'), parse_friction('asymmetric'),
            parse_friction(PLAIN_FRICTION)]
    terms = [
        FrictionTerm(joint, law if not law.shape else replace(
            law, width=0.02 if joint == 1 else 0.03
        ))
        for position in range(4) for joint, own in enumerate(laws)
        for law in own[position: position + 1]
    ]
    problem = observe(arm(), terms, [dataset], [dataset.fitted]).factor()
    estimator = WeightedLeastSquares()
    first = estimator.estimate(problem)
    _, settled = estimate_under_load(problem, estimator)
    assert not settled.notes
    again = estimator.estimate(problem.observations.factor(settled.unknowns))
    change = np.linalg.norm(again.theta - settled.theta) / np.linalg.norm(settled.theta)
    assert change < LOAD_TOLERANCE
    at = problem.reduction.names.index('fcl1')
    assert settled.theta[at] == pytest.approx(0.15, rel=0.02)
    assert abs(first.theta[at] - 0.15) > 3.0 * abs(settled.theta[at] - 0.15)
