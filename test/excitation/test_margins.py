# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Poses that an arm can hold against gravity: against a pendulum, whose torque is known."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from known_models import limited
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import (
    Budget, design_excitation, find_experiment, find_holding, hardware_limits, load_experiment,
)
from robot_identification.excitation.margins import POSES
from robot_identification.model import make_robot_model, parse_urdf

MASS, LENGTH, WEIGHT = 2.0, 0.5, 9.81 * 2.0 * 0.5


@pytest.fixture(scope='module')
def pendulum():
    """Return a pendulum about a horizontal axis, which turns once each way."""
    return make_robot_model(parse_urdf(robot_urdf(
        '<link name="ground"/>', link('bob', MASS, centre=(0, 0, -LENGTH)),
        joint('hinge', 'ground', 'bob', axis=(0, 1, 0)),
    ), 'pendulum'))


def limits_of(pendulum, effort, lower=-np.pi, upper=np.pi):
    values = {'torque': effort, 'lower': lower, 'upper': upper}
    return replace(
        hardware_limits(pendulum), **{name: np.array([one]) for name, one in values.items()}
    )


@pytest.mark.parametrize('share', [0.2, 0.7])
def test_the_share_of_poses_is_that_of_a_pendulum(pendulum, share):
    """Its torque is w sin q: of a turn, 2/pi asin(f) can be held with f w."""
    holding = find_holding(pendulum, limits_of(pendulum, share * WEIGHT))
    truth = 2.0 / np.pi * np.arcsin(share)
    # Random poses: five standard deviations of their number.
    assert holding.held == pytest.approx(truth, abs=5.0 * np.sqrt(truth * (1 - truth) / POSES))
    assert holding.joint == 'hinge'
    # The largest of 2000 sines is one within a millionth, on the average.
    assert holding.largest == pytest.approx(WEIGHT, rel=1e-4)
    for words in (f'{WEIGHT:.3g}'[:3], f'where {share * WEIGHT:.4g} N m', 'slower'):
        assert words in holding.describe()
    # What holds every pose is not worth a word.
    every = find_holding(pendulum, limits_of(pendulum, 1.001 * WEIGHT))
    assert (every.held, every.describe()) == (1.0, '')


def test_a_search_that_must_fail_is_not_begun(ur5, monkeypatch):
    """An elbow that cannot carry its arm anywhere in the window: joint, value and limit."""
    experiment = replace(load_experiment(find_experiment('demo')), collision=False)
    effort = ur5.limits.effort.copy()
    effort[1] = 0.1
    weak = limited(ur5, effort)
    monkeypatch.setattr(
        'robot_identification.excitation.design.Search',
        lambda *args, **kwargs: pytest.fail('the search was begun'),
    )
    narrow = replace(experiment, window={
        'shoulder_lift_joint': (-0.6, -0.3), 'elbow_joint': (0.0, 0.4), 'wrist_1_joint': (-1, 0),
    })
    with pytest.raises(UnsafeMotionError) as no:
        design_excitation(weak, narrow, seed=0, budget=Budget(3))
    for words in ('shoulder_lift_joint needs', 'where 0.07 N m (70% of its limit)', 'slower'):
        assert words in str(no.value)
