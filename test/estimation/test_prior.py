# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The URDF as a prior: the quadratic form that it should be, and not used where it cannot be."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.estimation.prior import cad_prior, doubt_cad
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion, prior_inertial_parameters, standard_torque
from robot_identification.processing.dataset import Dataset

SAMPLES = 500
# Of the size that joints of a UR5 have.
COULOMB = np.array([8.0, 9.0, 6.0, 1.6, 1.7, 1.5])


def swinging(robot, seed=0):
    """Return eight seconds of swings about a bent pose, each joint with two frequencies."""
    rng = np.random.default_rng(seed)
    size, t = 0.6, np.linspace(0.0, 8.0, SAMPLES, endpoint=False)
    pose = np.resize([0.0, -1.2, 1.0, -0.5, 1.5, 0.0], robot.n)
    rate = 2.0 * np.pi * rng.uniform(0.1, 0.35, (2, robot.n))
    phase = rng.uniform(0.0, 2.0 * np.pi, (2, robot.n))
    angles = t[:, None, None] * rate + phase
    return Motion(
        pose + size * np.sin(angles).sum(axis=1),
        size * (rate * np.cos(angles)).sum(axis=1),
        -size * (rate**2 * np.sin(angles)).sum(axis=1),
    )


def torque_of(robot, motion, mass_factor=1.0):
    """Return the torque of the URDF's bodies times factors, with friction and a bias."""
    laws = parse_friction('coulomb,viscous,offset')
    parameters = make_standard_parameters(robot.n, laws, reflected_inertia=False)
    factors = np.repeat(mass_factor * np.ones(robot.n), 10)
    n = robot.n
    friction = np.concatenate([COULOMB[:n], COULOMB[:n], 0.1 * COULOMB[:n]])
    theta = np.concatenate([factors * prior_inertial_parameters(robot), friction])
    return standard_torque(robot, parameters, theta, motion)


def dataset_of(robot, motion, effort, unit='Nm'):
    """Return a dataset in which every sample counts."""
    N = len(motion)
    return Dataset(
        'made up', robot.joint_names, 8.0 / N * np.arange(N), motion, effort, unit,
        np.ones(N, dtype=bool), np.ones(N, dtype=bool), (slice(0, N),), {}, N / 8.0, (),
    )


# --- the quadratic form --------------------------------------------------------------------


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
@pytest.mark.parametrize('laws', ['none', 'coulomb,viscous,offset', 'dictionary,offset'])
@pytest.mark.parametrize('rotors', [True, False])
def test_rows_give_the_quadratic_form(robots, rng, name, laws, rotors):
    """
    Against ``weight (b - b0)' (K S K')^-1 (b - b0)`` with a dense inverse, laws having no part.

    With rotors S has numbers from 1e-9 to 1e6; equilibrated, the inverse is right to 1e-9.
    """
    robot, weight, nuisance = robots[name], 7.0, 5
    parameters = make_standard_parameters(robot.n, parse_friction(laws), rotors)
    reduction = reduce_to_base(robot, parameters)
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
    parameters = make_standard_parameters(6, parse_friction('viscous'), reflected_inertia=True)
    reduction = reduce_to_base(ur5, parameters)
    prior = cad_prior(ur5)
    theta = np.concatenate([prior.inertial, np.ones(6), np.zeros(6)])
    term = prior.term(reduction, reduction.rank, 100.0)
    size = np.abs(term.matrix) @ np.abs(reduction.K @ theta)
    found = term.matrix @ reduction.K @ theta
    np.testing.assert_allclose(found, term.side, atol=1e-9 * size.max())
    assert prior.term(reduction, reduction.rank, 0.0) is None


def test_how_far_a_urdf_may_be_wrong(robots):
    """
    By hand: 30 % of the mass, 15 cm of the centre, 30 % of the largest principal inertia.

    That inertia is about the joint frame's origin; a link without mass has a floor.
    """
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


# --- whether it can be one -----------------------------------------------------------------


def doubt(robot, motion, torque, unit='Nm', gains=None):
    """Return the joints of a recording of some torques that are doubted, with their ratios."""
    effort = torque if gains is None else torque / gains
    per_effort = np.ones(robot.n) if unit == 'Nm' else np.asarray(gains)
    return doubt_cad(robot, dataset_of(robot, motion, effort, unit), per_effort)


@pytest.mark.parametrize('seed', range(5))
def test_masses_that_are_wrong_by_a_fifth_are_no_doubt(ur5, seed):
    """In either direction, each link by another factor, with friction and noise."""
    motion = swinging(ur5, seed)
    rng = np.random.default_rng(seed)
    for factor in (0.8, 1.2, rng.uniform(0.8, 1.2, 6)):
        torque = torque_of(ur5, motion, factor)
        noisy = torque + 0.05 * np.std(torque, axis=0) * rng.normal(size=torque.shape)
        assert doubt(ur5, motion, noisy) == {}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_sign_is_doubted(ur5, seed):
    """Of the whole arm, and of one joint alone, which is named with the ratio."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    assert doubt(ur5, motion, -torque)['shoulder_lift_joint'] == pytest.approx(-1.0, abs=0.1)
    one = torque * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    assert doubt(ur5, motion, one) == {'elbow_joint': pytest.approx(-1.0, abs=0.1)}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_unit_is_doubted(ur5, seed):
    """Amperes read as newton metres, at a gain of 0.1 and of 10 N m/A; with the gain it is not."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    for gain in (0.1, 10.0):
        ratios = doubt(ur5, motion, torque, gains=np.full(6, gain))
        assert ratios['shoulder_lift_joint'] == pytest.approx(1.0 / gain, rel=0.1)
    assert doubt(ur5, motion, torque, 'A', np.full(6, 0.1)) == {}


def test_upside_down_is_doubted(ur5):
    """The torque of an arm that hangs, against the URDF of one that stands."""
    motion = swinging(ur5)
    hanging = torque_of(ur5.with_gravity([0.0, 0.0, 9.81]), motion)
    assert doubt(ur5, motion, hanging)['shoulder_lift_joint'] < 0.0


def test_what_says_nothing_of_the_bodies_is_no_doubt(ur5, rng):
    """
    Effort of friction and rotors with noise, of noise, or none at all; an arm that stands.

    Rotors of 20 kg m^2 turn with the bodies, and would look like heavier ones.
    """
    motion = swinging(ur5)
    friction = COULOMB * np.tanh(motion.dq / 0.02) + 20.0 * motion.ddq
    noise = rng.normal(size=friction.shape)
    assert doubt(ur5, motion, friction + noise) == {}
    assert doubt(ur5, motion, torque_of(ur5, motion) + friction) == {}
    assert doubt(ur5, motion, noise) == {}
    assert doubt(ur5, motion, np.zeros_like(friction)) == {}
    still = Motion(np.tile(motion.q[0], (SAMPLES, 1)), 0 * motion.dq, 0 * motion.ddq)
    assert doubt(ur5, still, np.full_like(friction, 3.0)) == {}


def test_only_samples_that_are_fitted_count(ur5):
    motion = swinging(ur5)
    torque = torque_of(ur5, motion)
    dataset = dataset_of(ur5, motion, torque)
    first = np.arange(SAMPLES) < 250
    effort = np.where(first[:, None], torque, np.nan)
    assert doubt_cad(ur5, replace(dataset, effort=effort, fitted=first), np.ones(6)) == {}
