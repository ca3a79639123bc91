# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Constant-velocity segments of a friction map, within the limits of an experiment."""

import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.trajectory import dump_trajectory, load_trajectory
from robot_identification.model.registry import load_robot
from robot_identification.studies.friction_map.plan import (
    certified_segments, segment_trajectory, SegmentPlan,
)

RATE = 500.0


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))


def experiment(**more):
    return read_experiment({
        'schema_version': 1, 'trajectory': {'form': 'fourier'}, 'collision': 'off', **more,
    }, 'test')


def cruises(motion, joint):
    """Return velocity and ends of every part in which a joint moves and does not accelerate."""
    dq, q = motion.dq[:, joint], motion.q[:, joint]
    # Rounding of quintics leaves some 1e-10 of an acceleration that is none.
    even = (np.abs(dq) > 1e-3) & (np.abs(motion.ddq[:, joint]) < 1e-6)
    edges = np.flatnonzero(np.diff(even.astype(int), prepend=0, append=0))
    return [
        (float(np.median(dq[a:b])), float(q[a]), float(q[b - 1]))
        for a, b in zip(edges[::2], edges[1::2], strict=True)
        # The tip of a move from one segment to the next has no acceleration for one sample.
        if b - a > 20
    ]


def test_every_speed_is_made_both_ways_over_the_same_positions(robot):
    plan = SegmentPlan(count=6, repeats=2)
    trajectory = segment_trajectory(robot, experiment(), 'lift', plan)
    motion = trajectory.sample(np.arange(0.0, trajectory.form.duration, 1.0 / RATE))
    found = cruises(motion, 1)
    assert len(found) == 2 * plan.count
    speeds = []
    for (ahead, start, stop), (back, start_back, stop_back) in zip(
        found[::2], found[1::2], strict=True
    ):
        assert ahead > 0.0
        assert back == pytest.approx(-ahead, rel=1e-9)
        # A sample may be missed at either end.
        assert (start, stop) == pytest.approx((stop_back, start_back), abs=2.0 * ahead / RATE)
        speeds.append(ahead)
    assert min(speeds) == pytest.approx(plan.slowest)
    ratios = np.diff(np.log(sorted(speeds)))
    assert ratios == pytest.approx(ratios[0]), 'evenly by the logarithm'
    assert speeds != sorted(speeds), 'warmth of the grease is no function of the speed'
    others = np.delete(motion.q, 1, axis=1)
    assert np.ptp(others, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert trajectory.periods == 2


def test_segments_are_certified_and_read_back(robot, tmp_path):
    """They keep window, margins and the acceleration of the plan, and are one file."""
    limited = experiment(window={'reach': [-0.4, 0.9]})
    plan = SegmentPlan(count=4, longest=2.0, acceleration=3.0)
    trajectory = certified_segments(robot, limited, 'reach', plan)
    path = tmp_path / 'segments.yaml'
    path.write_text(dump_trajectory(trajectory))
    again = load_trajectory(path)
    assert again.sha256 == trajectory.sha256
    assert again.certificate['search'] == {'friction_map': 'reach'}
    motion = again.sample(again.times(RATE))
    assert motion.q[:, 2].min() >= -0.4 - 1e-9
    assert motion.q[:, 2].max() <= 0.9 + 1e-9
    assert np.abs(motion.ddq).max() <= 3.0 * (1.0 + 1e-9)
    assert np.abs(motion.dq[[0, -1]]).max() < 1e-9, 'at rest at both ends'
