# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recommendations name what the data did not see, and a recording that follows it sees it."""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, dataset_of
import numpy as np
import pytest
from robot_identification.estimation import covariance_of, ESTIMATORS, TIME_BLOCKS, TrainingData
from robot_identification.estimation.estimate import PriorTerm
from robot_identification.estimation.fitting import restrict_to_identifiable
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recommendations import prior_decided, recommend
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model import Motion, observation_matrix, prior_inertial_parameters
from robot_identification.processing.dataset import find_stationary_joints

SAMPLES, RATE = 2000, 100.0
NOISE = np.array([1.5, 1.5, 1.0, 0.3, 0.3, 0.3])
START = np.array([0.0, -1.2, 1.0, 0.2, 0.1, 0.0])


@pytest.fixture(scope='module')
def reduction(ur5):
    """Return the base parameters of the UR5 with friction and rotors."""
    return arm_reduction(ur5)


def swinging(scale, seed=0):
    form = FourierParametrization(harmonics=5, base_period=10.0)
    coefficients = np.random.default_rng(seed).normal(size=(6, form.n_coefficients))
    coefficients *= 0.3 * np.broadcast_to(scale, 6)[:, None]
    coefficients[:, 0] = START
    stamps = np.arange(SAMPLES) / RATE
    return Motion(*(basis @ coefficients.T for basis in form.basis(stamps)))


def identified(robot, reduction, motion):
    names = reduction.parameters.names
    theta = np.zeros(len(names))
    theta[:60] = prior_inertial_parameters(robot)
    for number in range(6):
        for symbol, value in (('fc', 6.0), ('fv', 6.0), ('Ia', 1.0), ('f0', 0.5)):
            theta[names.index(f'{symbol}{number + 1}')] = value if number < 3 else 0.2 * value
    tau = (observation_matrix(robot, reduction.parameters, motion) @ theta).reshape(-1, 6)
    tau += NOISE * np.random.default_rng(1).normal(size=tau.shape)
    dataset = dataset_of(robot, motion, tau, 1.0 / RATE)
    observations = Observations(
        robot, reduction, [TrainingData(dataset, np.ones(6), dataset.fitted)],
        time_blocks=TIME_BLOCKS,
    )
    left, unidentifiable = restrict_to_identifiable(
        robot, observations.factor(), find_stationary_joints([dataset])
    )
    return ESTIMATORS['wls']().estimate(left), unidentifiable


def recommendations_of(robot, reduction, motion):
    estimate, unidentifiable = identified(robot, reduction, motion)
    found = recommend(robot, estimate, covariance_of(estimate, 'residual'), unidentifiable)
    assert [recommendation.gain for recommendation in found] == sorted(
        (recommendation.gain for recommendation in found), reverse=True
    )
    return {name: recommendation for recommendation in found for name in recommendation.parameters}


def test_nothing_is_said_of_what_was_seen(ur5, reduction):
    """Every joint lively: what is zero has no relative error, and needs no motion either."""
    assert recommendations_of(ur5, reduction, swinging(1.0)) == {}


def test_a_joint_that_stood_still_is_named(ur5, reduction):
    """Its friction and rotor ask for it, and so do bodies that only its turning shows."""
    found = recommendations_of(ur5, reduction, swinging([1.0, 1.0, 1.0, 1.0, 0.0, 1.0]))
    assert {'fc5', 'fv5', 'Ia5', 'Ixx6'} <= set(found)
    assert 'never moved' in found['fc5'].motion
    for recommendation in set(found.values()):
        assert 'wrist_2_joint' in recommendation.motion, recommendation
        for other in ('shoulder', 'elbow', 'wrist_1', 'wrist_3'):
            assert other not in recommendation.motion, recommendation
    assert found['fc5'].finding == 'the data do not determine it'
    assert str(found['fc5']).startswith('fc5')
    assert 'away from 0.1 rad' in found['Ixx6'].motion


def test_a_recording_that_follows_a_recommendation_knows_more(ur5, reduction):
    """A slow wrist asks for a lively one; with it errors fall by a third or more."""
    # They would be halved by twenty seconds more in which the joint is everywhere; here it swings,
    # in a recording that is as long as before and the same but for the joints that are named.
    scale = np.array([1.0, 1.0, 1.0, 0.05, 0.3, 1.0])
    found = recommendations_of(ur5, reduction, swinging(scale))
    assert 'Ixz4' in found
    before, _ = identified(ur5, reduction, swinging(scale))
    for recommendation in set(found.values()):
        named = np.array([name in recommendation.motion for name in ur5.joint_names])
        assert named.any()
        assert not named[[0, 1, 2]].any(), recommendation
        after, _ = identified(ur5, reduction, swinging(np.where(named, 2.5, scale)))
        for name in recommendation.parameters:
            errors = [
                estimate.standard_errors[estimate.problem.reduction.names.index(name)]
                for estimate in (before, after)
            ]
            assert errors[1] < errors[0] / 1.5, recommendation


def test_friction_is_asked_by_its_own_kind_of_motion(ur5, reduction):
    """One way only, or never slowly: the sentence says which and what to do."""
    motion = swinging(1.0)
    # The joint turns on and on at nearly one speed: offset, Coulomb and viscous look the same.
    stamps = np.arange(SAMPLES) / RATE
    for values, own in zip(
        (motion.q, motion.dq, motion.ddq),
        (1.5 * stamps, np.full(SAMPLES, 1.5) + 1e-3 * np.sin(stamps), 1e-3 * np.cos(stamps)),
        strict=True,
    ):
        values[:, 5] = own
    found = recommendations_of(ur5, reduction, motion)
    friction = [found[name] for name in ('fc6', 'fv6', 'f06') if name in found]
    assert friction
    for recommendation in friction:
        assert 'sweep wrist_3_joint' in recommendation.motion
        assert 'both ways' in recommendation.motion
        assert 'it turned one way only' in recommendation.motion


def test_the_prior_decides_what_the_data_say_less_of(ur5, reduction):
    """By variances: of bodies with a sharp prior all, of friction without one none."""
    estimate, _ = identified(ur5, reduction, swinging(1.0))
    b = reduction.rank
    assert prior_decided(estimate) == ()
    bodies = np.flatnonzero(reduction.independent < 60)
    errors = np.sqrt(np.diag(np.linalg.inv(
        (R := estimate.problem.stacked(estimate.weights)[0]).T @ R
    )))
    for factor, decided in ((0.5, bodies), (2.0, [])):
        matrix = np.zeros((len(bodies), b))
        matrix[np.arange(len(bodies)), bodies] = 1.0 / (factor * errors[bodies])
        known = replace(estimate, prior=PriorTerm(matrix, matrix @ estimate.theta))
        assert prior_decided(known) == tuple(reduction.names[row] for row in decided)


def test_what_the_prior_decides_is_advised_on(ur5, reduction):
    """Even if its error is small: it is not the data's."""
    motion = swinging([1.0, 1.0, 1.0, 0.05, 0.3, 1.0])
    estimate, _ = identified(ur5, reduction, motion)
    row = reduction.names.index('Ia4')
    matrix = np.zeros((1, reduction.rank))
    matrix[0, row] = 1e4
    known = replace(estimate, prior=PriorTerm(matrix, matrix @ estimate.theta))
    found = recommend(ur5, known, covariance_of(known, 'blocks'))
    recommendation, = (one for one in found if 'Ia4' in one.parameters)
    assert recommendation.finding == 'the prior says more of it than the data'
    assert 'wrist_1_joint' in recommendation.motion
