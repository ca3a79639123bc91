# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Segments, pairs of them, and curves: the laws behind the points are found."""

from estimation.arm_problems import dataset_of
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.model.regressor import Motion
from robot_identification.studies.friction_map.curves import choose_curve, CurvePoints, CURVES
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


SPEEDS = np.geomspace(0.02, 2.0, 12)
NOISE = 0.01


def dry(speed):
    return 5.0 + 0.0 * speed


def stribeck(speed):
    return 4.0 + 2.0 * np.exp(-(speed / 0.08) ** 2)


def viscous(speed):
    return 3.0 * speed


def power(speed):
    return 4.0 * speed**0.45


def points_of(sizes, speeds=SPEEDS, *, noise=NOISE, seed=0, offset=0.0, load=None,
              temperature=None):
    """Return points both ways whose friction has these sizes (k,), an offset apart."""
    k = len(speeds)
    drawn = noise * np.random.default_rng(seed).normal(size=k)
    return CurvePoints(
        np.concatenate([-speeds, speeds]),
        np.concatenate([-sizes - drawn, sizes + drawn]) + offset,
        np.full(2 * k, noise),
        np.tile(np.zeros(k) if load is None else load, 2),
        np.tile(np.full(k, np.nan) if temperature is None else temperature, 2),
        True, 0.02, k,
    )


@pytest.mark.parametrize(('parts', 'name'), [
    ((dry, viscous), 'coulomb + viscous'),
    ((dry, power), 'coulomb + power'),
    ((stribeck, viscous), 'stribeck + viscous'),
    ((stribeck, power), 'stribeck + power'),
])
def test_the_curve_that_made_the_points_is_chosen(parts, name):
    """The simplest that can: richer ones predict speeds left out no better."""
    sizes = sum(part(SPEEDS) for part in parts)
    curve = choose_curve(points_of(sizes, offset=0.3))
    assert curve.name == name
    between = np.geomspace(0.025, 1.8, 30)
    true = sum(part(between) for part in parts)
    # Noise of a fifth of a per cent, of which twelve speeds leave less.
    assert curve.torque(between) == pytest.approx(true + 0.3, rel=0.01)
    assert curve.torque(-between) == pytest.approx(-true + 0.3, rel=0.01)
    assert [trial.name for trial in curve.trials] == list(CURVES)


def test_load_and_temperature_are_terms_only_where_they_vary():
    speeds = np.tile(SPEEDS, 4)
    load = np.repeat([5.0, 30.0, 5.0, 30.0], 12)
    warmth = np.repeat([20.0, 20.0, 35.0, 35.0], 12)
    sizes = dry(speeds) + 0.06 * load + (3.0 - 0.04 * (warmth - 20.0)) * speeds
    curve = choose_curve(points_of(sizes, speeds, load=load, temperature=warmth))
    assert curve.coefficient('fcl') == pytest.approx(0.06, rel=0.02)
    assert curve.coefficient('fvT') == pytest.approx(-0.04, rel=0.02)
    # Friction of a load and a temperature that were not recorded together.
    assert curve.torque(np.array([1.0]), 15.0, 25.0)[0] == pytest.approx(
        5.0 + 0.9 + 3.0 - 0.2, rel=0.01
    )
    same = choose_curve(points_of(sizes[:12], load=load[:12], temperature=warmth[:12]))
    assert {term.symbol for term in same.terms} == {'fc', 'fv', 'f0'}
    assert same.temperature == 20.0


@given(seed=st.integers(0, 10_000), count=st.integers(2, 14))
@settings(max_examples=20)
def test_no_curve_gives_energy_back(seed, count):
    """Whatever the points, dry and viscous parts take energy; all numbers are finite."""
    rng = np.random.default_rng(seed)
    speeds = np.geomspace(0.05, 1.0, count)
    curve = choose_curve(points_of(rng.normal(size=count), speeds))
    for term in curve.terms:
        assert np.isfinite(term.value)
        assert term.value >= 0.0 or term.symbol == 'f0'
    assert np.all(np.isfinite(curve.torque(speeds)))
