# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rests and slow reversals beside a motion: one of all, within its limits, as asked for."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    Budget, certify, design_excitation, dump_trajectory, evaluate_motion, load_trajectory,
    motion_limits,
)
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.parametrizations import CompositeParametrization
from robot_identification.excitation.parametrizations.composite import SlowReversals, Stops

STOPS = {'name': 'stops', 'poses': 3, 'dwell': 0.5, 'move_time': 1.0}
REVERSALS = {'name': 'slow_reversals', 'reversals': 4, 'move_time': 0.8, 'travel': 0.02}
CONTENT = {
    'schema_version': 1,
    'trajectory': {'form': 'fourier', 'harmonics': 3, 'base_period': 6.0},
    'segments': ['fourier', STOPS, REVERSALS],
    'optimizer': 'random',
    'window': {'shoulder_lift_joint': [-2.3, -0.8], 'elbow_joint': [0.4, 2.2]},
    'samples': 40,
    'collision': 'off',
}


def experiment_of(**changes):
    return read_experiment({**CONTENT, **changes}, 'a test')


def design(robot, experiment, seed=3):
    return design_excitation(robot, experiment, seed=seed, budget=Budget(20))


@pytest.fixture(scope='module')
def experiment():
    return experiment_of()


@pytest.fixture(scope='module')
def trajectory(ur5, experiment):
    """Return a motion of 6 s, rests of 4 * 1 + 3 * 0.5 s and reversals of 5 * 0.8 s."""
    return design(ur5, experiment)


@pytest.fixture(scope='module')
def plain(ur5, experiment):
    return design(ur5, replace(experiment, segments=()))


def test_the_motion_is_one_of_all_parts(experiment, trajectory, plain):
    """The first is the motion without segments, to rounding; each starts where that does."""
    assert trajectory.form.name == 'composite'
    assert trajectory.duration == pytest.approx(6.0 + 5.5 + 4.0)
    assert experiment.duration == pytest.approx(trajectory.duration)
    t = np.linspace(0.0, 5.999, 500)
    found, expected = trajectory.sample(t), plain.sample(t)
    for name in 'q', 'dq', 'ddq':
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    edges = trajectory.sample(np.array([0.0, 6.0, 11.5, 15.5]))
    np.testing.assert_allclose(edges.q, edges.q[:1] * np.ones((4, 1)), atol=1e-12)
    for values in (edges.dq, edges.ddq):
        np.testing.assert_allclose(values, 0.0, atol=1e-11)


def test_the_certificate_is_about_all_of_it(ur5, experiment, trajectory, plain):
    """A limit that only the rests break refuses the whole; the criterion is of the first part."""
    found = trajectory.certificate['experiment']['segments']
    assert found == [Stops(3, 0.5, 1.0).content(), SlowReversals(4, 0.02, 0.8).content()]
    limits = motion_limits(ur5, experiment)
    motion = trajectory.sample(trajectory.times(1000.0))
    assert np.all(motion.q >= limits.lower) and np.all(motion.q <= limits.upper)
    assert np.all(np.abs(motion.dq) <= limits.velocity)
    coefficients = trajectory.coefficients.copy()
    poses = slice(trajectory.form.forms[0].n_coefficients, None)
    coefficients[0, poses] = 20.0
    broken = replace(trajectory, coefficients=coefficients)
    with pytest.raises(UnsafeMotionError, match='position of shoulder_pan_joint reaches'):
        certify(ur5, experiment, broken, {})
    optimized = evaluate_motion(ur5, experiment, trajectory).optimized
    alone = evaluate_motion(ur5, replace(experiment, segments=()), plain).optimized
    for one, other in zip(optimized, alone, strict=True):
        assert one.criteria == pytest.approx(other.criteria, rel=1e-6)


def test_same_seed_same_bytes_and_the_file_is_read_back(ur5, experiment, trajectory, tmp_path):
    assert design(ur5, experiment).sha256 == trajectory.sha256
    assert design(ur5, experiment, seed=4).sha256 != trajectory.sha256
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory))
    found = load_trajectory(path)
    t = np.linspace(0.0, found.duration, 300)
    np.testing.assert_array_equal(found.sample(t).q, trajectory.sample(t).q)
    assert isinstance(found.form, CompositeParametrization)


@pytest.mark.parametrize(('changes', 'message'), [
    ({'segments': 'reversals, stops'}, "unknown segment 'reversals'; known are stops, slow_rev"),
    ({'segments': [{'name': 'stops', 'dwell': 0.0}]}, 'dwell is 0.0 s, it must be above 0'),
    ({'bounds': 'conservative'}, 'segments have none: leave bounds or segments out'),
    ({'trajectory': {'form': 'trapezoidal'}, 'segments': 'stops'},
     'the acceleration of trapezoidal jumps'),
    ({'trajectory': {'form': 'composite'}, 'segments': []}, 'name the others under segments'),
])
def test_refuses_other_segments(changes, message):
    with pytest.raises(DescriptionError, match=message):
        experiment_of(**changes)
