# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An arm rests at every pose as long as it is said to, and comes to it from either side."""

from dataclasses import replace

from dwells import dwells_of
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.excitation import (
    Budget, design_excitation, find_experiment, load_experiment,
)
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.parametrizations.point_to_point import (
    StaticPosesParametrization,
)

SEEDS = st.integers(0, 2**32 - 1)
MONOTONE = StaticPosesParametrization(3, 1.0, 1.5, True, True)
WAYS = {
    'one way': StaticPosesParametrization(4, 1.0, 1.5, False),
    'both ways': StaticPosesParametrization(4, 1.0, 1.5, True),
    'monotone': MONOTONE,
}


@pytest.fixture
def coefficients(rng):
    """Return two joints' coefficients of four poses, or of three and a turning point."""
    return rng.normal(size=(2, 5))


def pose(coefficients, number):
    offset = coefficients[:, number] if number else 0.0
    return coefficients[:, 0] + offset


def sides(form, coefficients):
    """Return the sign of each joint's velocity before every rest, (rests at it, n), by pose."""
    found = {}
    for dwell in dwells_of(form.itinerary):
        on_the_way = np.array([dwell.start - 0.5 * form.move_time])
        _, dq, _ = form.sample(coefficients, on_the_way)
        found.setdefault(dwell.pose, []).append(np.sign(dq[0]))
    return {pose: np.array(signs) for pose, signs in found.items()}


def check_both_sides(form, coefficients):
    """Assert that every joint comes to every pose once upwards and once downwards."""
    found = sides(form, coefficients)
    assert sorted(found) == list(range(1, form.poses + 1))
    for signs in found.values():
        assert np.array_equal(signs[0], -signs[1]) and np.all(signs[0] != 0.0)


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_the_arm_stands_still_at_the_pose_in_every_dwell(form, coefficients):
    """To rounding: 1e-12 of poses of size one."""
    dwells = dwells_of(form.itinerary)
    for dwell in dwells:
        assert dwell.stop - dwell.start == pytest.approx(form.dwell, rel=1e-12)
        t = np.linspace(dwell.start, dwell.stop, 11)[1:-1]
        q, dq, ddq = form.sample(coefficients, t)
        np.testing.assert_allclose(q, np.tile(pose(coefficients, dwell.pose), (9, 1)), atol=1e-12)
        assert np.abs(dq).max() < 1e-12 and np.abs(ddq).max() < 1e-12


@given(SEEDS, st.integers(1, 12))
def test_every_joint_comes_to_every_pose_from_both_sides(seed, poses):
    """By the velocity before each rest, whatever was drawn; scaling leaves it so."""
    rng = np.random.default_rng(seed)
    form = StaticPosesParametrization(poses, 1.0, 1.5, True, True)
    drawn = rng.normal(size=(6, form.n_coefficients))
    # Some joints drew the same pose everywhere, or nothing.
    drawn[0, 1:], drawn[1, 1:] = 0.5, np.abs(drawn[1, 1:])
    direction = rng.choice([-1.0, 1.0], 6)
    arranged = form.arrange(drawn, direction)
    check_both_sides(form, arranged)
    np.testing.assert_array_equal(arranged[:, 0], drawn[:, 0])
    np.testing.assert_array_equal(np.sign(arranged[:, 1]), direction)
    steps = np.abs(np.diff(arranged[:, 1:], prepend=0.0, axis=1))
    # A step is what was drawn, at least 0, and one mean of it; to rounding.
    assert np.all(steps >= (1.0 - 1e-12) * 0.5 * steps.mean(axis=1, keepdims=True))
    smaller = np.hstack([arranged[:, :1], 1e-3 * arranged[:, 1:]])
    check_both_sides(form, smaller)
    assert form.suits(np.hstack([drawn[:, :1], 0.0201 / steps.min() * arranged[:, 1:]]))
    assert not form.suits(np.hstack([drawn[:, :1], 0.0199 / steps.min() * arranged[:, 1:]]))


def alone(**changes):
    """Return the shipped experiment where nothing is within reach, with a few poses."""
    experiment = load_experiment(find_experiment('static_poses'))
    return replace(experiment, form=MONOTONE, collision=False, obstacles=(), **changes)


@pytest.mark.parametrize('optimizer', [name for name in OPTIMIZERS if name != 'random'])
def test_optimizers_that_move_single_poses_are_refused(ur5, optimizer):
    with pytest.raises(UsageError, match=rf'{optimizer} moves poses .* set optimizer to random'):
        design_excitation(ur5, alone(optimizer=optimizer), seed=0, budget=Budget(5))
