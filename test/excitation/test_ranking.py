# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The motion is preferred that moves what is uncertain, and what it would bring comes true."""

from dataclasses import replace
from types import SimpleNamespace

from estimation.arm_problems import arm_reduction
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.errors import UsageError
from robot_identification.excitation.ranking import rank_motions
from robot_identification.model import IdentifiedModel, observation_matrix, SignalSource

NOISE = (0.6, 0.6, 0.6, 0.12, 0.12, 0.12)


@pytest.fixture(scope='module')
def motion(ur5):
    return designed_motion(ur5, 1)


@pytest.fixture(scope='module')
def model(ur5, motion):
    """Return a model from half a second of that motion, but for the wrists' friction: unknown."""
    reduction = arm_reduction(ur5, 'coulomb,viscous')
    sampled = motion.sample(np.linspace(0.0, motion.duration, 400))
    W = observation_matrix(ur5, reduction.parameters, sampled)[:, reduction.independent]
    W = W / np.tile(NOISE, 400)[:, None]
    wrist = [reduction.names.index(name) for name in ('fc5', 'fv5')]
    W[:, wrist] *= 1e-3
    root = np.linalg.qr(W, mode='r')
    inverse = np.linalg.inv(root)
    theta = np.random.default_rng(2).uniform(0.5, 2.0, reduction.rank)
    return IdentifiedModel(
        ur5, 'Nm', reduction, theta, inverse @ inverse.T, None, '', SignalSource(), {},
        {'residual_standard_deviation': np.array(NOISE)},
    )


def moved(motion, factors):
    """Return a motion whose joints move by some factors of another."""
    return replace(motion, coefficients=motion.coefficients * np.asarray(factors)[:, None])


@pytest.fixture(scope='module')
def ranking(model, motion):
    return rank_motions(model, {
        'shoulder': moved(motion, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        'wrist': moved(motion, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        'all but joint 5': moved(motion, [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]),
    }, count=2)


def test_the_motion_that_moves_the_uncertain_joint_comes_first(ranking):
    """Friction of joint 5 is what is not known; motions without it leave it as it is."""
    assert {ranking.names[i] for i in ranking.weakest} == {'fc5', 'fv5'}
    assert ranking.motions[0].name == 'wrist'
    assert ranking.motions[0].gain > 50.0
    # Their errors are tied a little to those of the other joints.
    for other in ranking.motions[1:]:
        assert 1.0 <= other.gain < 1.1
    assert 'wrist' in ranking.text
    assert 'fc5' in ranking.text
    # The torque of that joint gets surer, and that of no joint less sure.
    assert ranking.motions[0].torque_after[4] < 0.1 * ranking.torque_before[4]
    for motion in ranking.motions:
        assert np.all(motion.torque_after <= ranking.torque_before * (1.0 + 1e-9))
        assert np.all(motion.after <= ranking.before * (1.0 + 1e-9))


def test_errors_after_are_those_of_a_later_estimate(model, motion):
    """Information adds up: the covariance of both recordings together, row by row."""
    found = rank_motions(model, {'same': motion}, rate=100.0).motions[0]
    count = round(100.0 * motion.duration)
    sampled = motion.sample(np.arange(count) / 100.0)
    W = observation_matrix(model.robot, model.parameters, sampled)
    W = W[:, model.reduction.independent] / np.tile(NOISE, count)[:, None]
    both = np.linalg.inv(model.covariance) + W.T @ W
    # Other samples of the same motion: dense enough for 1 %.
    np.testing.assert_allclose(found.after, np.sqrt(np.diag(np.linalg.inv(both))), rtol=0.01)


def test_what_cannot_be_ranked_is_refused(model, motion):
    with pytest.raises(UsageError, match='no motion to rank'):
        rank_motions(model, {})
    other = SimpleNamespace(joint_names=('a', 'b'))
    with pytest.raises(UsageError, match=r'two\.yaml moves a, b'):
        rank_motions(model, {'two.yaml': other})
    with pytest.raises(UsageError, match='sampling rate'):
        rank_motions(model, {'one': motion}, rate=0.0)
    with pytest.raises(UsageError, match='residual of its 6 joints'):
        rank_motions(replace(model, quality={}), {'one': motion})
