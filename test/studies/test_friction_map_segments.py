# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Segments and pairs of them, in motions whose torque is written down."""

from estimation.arm_problems import dataset_of
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.model.regressor import Motion
from robot_identification.studies.friction_map.segments import (
    find_segments, pair_segments, robust_mean,
)

PERIOD = 0.008


class Arm:
    """Two joints by name: all that a dataset asks of a robot."""

    joint_names = ('one', 'two')


def walk(*parts, joint=0, start=0.0):
    """Return velocities (N, 2) of parts (velocity, seconds) with short even ramps between."""
    speeds, before = [], 0.0
    for speed, seconds in (*parts, (0.0, 0.3)):
        speeds += list(np.linspace(before, speed, 20)) + [speed] * round(seconds / PERIOD)
        before = speed
    dq = np.zeros((len(speeds), 2))
    dq[:, joint] = speeds
    return dq


def record(dq, torque, start=(0.0, 0.0)):
    """Return dataset and torque (N, 2) of velocities, the torque being that of q and dq."""
    q = np.array(start) + np.cumsum(dq, axis=0) * PERIOD
    motion = Motion(q, dq, np.gradient(dq, PERIOD, axis=0))
    tau = torque(q, dq)
    return dataset_of(Arm, motion, tau), tau


def gravity_and_friction(q, dq):
    """Return gravity of no special form, and friction of each joint of its own."""
    return np.column_stack([
        30.0 * np.cos(q[:, 0]) + 4.0 * q[:, 0] ** 3, 2.0 * np.sin(q[:, 1])
    ]) + np.array([3.0, 1.0]) * np.sign(dq) + np.array([2.0, 0.5]) * dq


@given(speed=st.floats(0.02, 2.0), start=st.floats(-1.5, 1.5))
@settings(max_examples=30)
def test_half_the_difference_of_a_pair_is_friction_whatever_gravity_is(speed, start):
    """Gravity of any form cancels at every bin, not only in the mean."""
    # A straight line in a bin of a 24th of the way is off by less than 1e-2 of what bends here,
    # and that alike both ways.
    dataset, torque = record(
        walk((speed, 1.2), (0.0, 0.3), (-speed, 1.2)), gravity_and_friction, (start, 0.0)
    )
    segments, moved = find_segments(dataset, torque)
    assert moved == 0
    assert [np.sign(segment.speed) for segment in segments] == [1.0, -1.0]
    (way,) = pair_segments(segments)
    assert way.is_pair
    assert way.odd == pytest.approx(3.0 + 2.0 * speed, abs=1e-2)
    mean, error = robust_mean(way.odd)
    assert mean == pytest.approx(3.0 + 2.0 * speed, abs=1e-3)
    assert error < 1e-2


def test_what_is_no_segment_is_left_out():
    too_short, _ = record(walk((0.5, 0.3)), gravity_and_friction)
    assert find_segments(too_short, too_short.effort) == ((), 0)
    too_slow, _ = record(walk((0.004, 3.0)), gravity_and_friction)
    assert find_segments(too_slow, too_slow.effort) == ((), 0)
    wave = np.zeros((1000, 2))
    wave[:, 0] = np.sin(np.arange(1000) * PERIOD * 4.0)
    uneven, _ = record(wave, gravity_and_friction)
    assert find_segments(uneven, uneven.effort) == ((), 0)
    both = walk((0.5, 2.0)) + walk((0.3, 2.0), joint=1)
    together, _ = record(both, gravity_and_friction)
    assert find_segments(together, together.effort) == ((), 2)


def test_the_nearest_in_time_are_paired_and_other_speeds_are_not():
    """Of three segments at one speed and two back, each of the two goes with its neighbour."""
    dq = walk(
        (0.5, 1.0), (0.0, 0.3), (-0.5, 1.0), (0.0, 0.3), (0.5, 1.0), (0.0, 0.3), (-0.5, 1.0),
        (0.0, 2.0), (0.52, 1.0), (0.0, 0.3), (-0.9, 0.7),
    )
    segments, _ = find_segments(*record(dq, gravity_and_friction))
    assert len(segments) == 6
    ways = pair_segments(segments)
    pairs = [way.segments for way in ways if way.is_pair]
    assert [(one.time < other.time, abs(one.time - other.time) < 2.0) for one, other in pairs] == [
        (True, True), (True, True)
    ]
    assert sorted(round(way.segments[0].speed, 2) for way in ways if not way.is_pair) == [
        -0.9, 0.52
    ]


def test_errors_of_a_mean_grow_with_correlation():
    """The same scatter, once from value to value and once in long waves."""
    rng = np.random.default_rng(1)
    white, waves = [], []
    for _ in range(200):
        drawn = rng.normal(size=30)
        smooth = np.convolve(rng.normal(size=34), np.ones(5), 'valid') / np.sqrt(5.0)
        white.append((*robust_mean(drawn),))
        waves.append((*robust_mean(smooth),))
    for found, least in ((white, 0.8), (waves, 0.55)):
        means, errors = np.array(found).T
        # Windows of 30 values tell an error that is a little small, as they always do.
        assert least < np.median(errors) / np.std(means) < 1.3
    assert np.median(np.array(waves)[:, 1]) > 1.3 * np.median(np.array(white)[:, 1])
