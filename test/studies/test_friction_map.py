# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction map against simulated arms, and the motion that it is made from."""

import re

from estimation.arm_problems import dataset_of
from friction_runs import (
    friction_truth, measured, segment_dataset, segment_motion, segment_recording, true_friction,
)
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.errors import DataError
from robot_identification.excitation.experiment_file import read_experiment
from robot_identification.excitation.trajectory import dump_trajectory, load_trajectory
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
from robot_identification.processing.processing import process
from robot_identification.studies.friction_map.curves import choose_curve, CurvePoints, CURVES
from robot_identification.studies.friction_map.estimate import HARMONIC, map_friction
from robot_identification.studies.friction_map.plan import (
    certified_segments, segment_trajectory, SegmentPlan,
)
from robot_identification.studies.friction_map.segments import (
    find_segments, pair_segments, robust_mean,
)
from robot_identification.studies.friction_map.study import payload_mass

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

COLD, WARM, MASS = 24.0, 36.0, 3.0
# Two payloads at two temperatures.
CONDITIONS = ((COLD, 0.0), (COLD, MASS), (WARM, 0.0), (WARM, MASS))
# What the issue asks for.
WITHIN = 0.02
LIFT, REACH = 1, 2
SHORT = SegmentPlan(count=5, longest=2.0, slowest=0.1)


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))


@pytest.fixture(scope='module')
def truth(robot):
    return friction_truth(robot)


def run_of(dataset, payload=float('nan')):
    """Return a recording with the mass that the flange carries, by default not stated."""
    return dataset, payload


@pytest.fixture(scope='module')
def found(robot, truth):
    """Return the map of two joints in all conditions, each joint in a recording of its own."""
    return map_friction(robot, [
        run_of(
            segment_dataset(
                robot, truth, joint, temperature=T, mass=mass, seed=10 * k + number,
                plan=SegmentPlan(longest=2.0),
            ),
            mass,
        )
        for number, joint in enumerate(('lift', 'reach'))
        for k, (T, mass) in enumerate(CONDITIONS)
    ])


def test_points_are_the_true_friction_within_their_errors(found, truth):
    """Each point is that of MuJoCo at its speed, load and temperature, and its error is honest."""
    # Of normal errors the root mean square of error over standard error is 1; an error that is
    # told by some 20 positions is itself known to a fifth, and of 96 pairs the mean to a tenth.
    assert len(found.points) == 2 * len(CONDITIONS) * 24
    assert {point.gravity for point in found.points} == {HARMONIC}
    ratio = []
    for point in found.points:
        true = true_friction(
            truth, found.joint_names.index(point.joint), point.speed, point.load,
            point.temperature,
        )
        assert point.odd == pytest.approx(abs(true), rel=WITHIN)
        assert abs(point.friction - true) < 5.0 * point.error
        ratio.append((point.odd - abs(true)) / point.odd_error)
    assert 0.6 < np.sqrt(np.mean(np.square(ratio))) < 1.6


@pytest.mark.parametrize('joint', ['lift', 'reach'])
def test_curves_give_the_simulated_friction_within_two_per_cent(found, truth, joint):
    """Friction over speed in every condition, and each of its constants, within their errors."""
    curve = found.curves[joint]
    number = found.joint_names.index(joint)
    speeds = np.geomspace(*curve.speeds, 25)
    loads = [point.load for point in found.of_joint(joint)]
    for load in (min(loads), max(loads)):
        for T in (COLD, WARM):
            true = np.array([true_friction(truth, number, v, load, T) for v in speeds])
            assert curve.torque(speeds, load, T) == pytest.approx(true, rel=WITHIN)
            assert curve.torque(-speeds, load, T) == pytest.approx(-true, rel=WITHIN)
    assert curve.name == 'stribeck + viscous'
    assert [trial.name for trial in curve.trials] == [
        'coulomb + viscous', 'coulomb + power', 'stribeck + viscous', 'stribeck + power',
    ]
    middle = 1.0 - 0.012 * (curve.temperature - truth.reference_temperature)
    assert curve.coefficient('fv') == pytest.approx(middle * truth.viscous[number], rel=WITHIN)
    assert curve.coefficient('fk') == pytest.approx(truth.coulomb[number], rel=WITHIN)
    assert curve.coefficient('fs') == pytest.approx(truth.static[number], rel=WITHIN)
    # Four standard errors fail by chance once in 16000; both are known to 10 % besides, as an
    # error without limit would be within itself.
    terms = {term.symbol: term for term in curve.terms}
    for symbol, true in (('fcl', 0.05), ('fvT', -0.012 * truth.viscous[number])):
        assert abs(terms[symbol].value - true) < 4.0 * terms[symbol].error
        assert terms[symbol].error < 0.1 * abs(true)


def test_motions_of_several_joints_are_no_segments(robot, truth):
    """Gravity of a joint depends on the others: where they move it does not cancel."""
    stamps, motion = segment_motion(robot, 'lift', SHORT)
    both = Motion(*(one.copy() for one in (motion.q, motion.dq, motion.ddq)))
    for one in (both.q, both.dq, both.ddq):
        one[:, REACH] += 0.5 * one[:, LIFT]
    recording = segment_recording(
        robot, stamps, measured(robot, truth, both, COLD, 1), COLD, 'both'
    )
    dataset = process(recording, KinematicFilter(), 'Nm')
    with pytest.raises(DataError, match=r'both: no joint moves alone at constant vel.*--plan'):
        map_friction(robot, [run_of(dataset)])
    alone = run_of(segment_dataset(robot, truth, 'lift', plan=SHORT))
    found = map_friction(robot, [alone, run_of(dataset)])
    assert any(re.search(r'both: \d+ motions .* are left out', note) for note in found.notes)
    assert len(found.points) == 10
    assert 'no segments, and so no friction map, of pan, reach' in found.notes


RATE = 500.0


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


@pytest.mark.parametrize(('text', 'mass'), [
    ('2.5 0.0 0.0 0.1', 2.5), ('0', 0.0), ('1.2 kg gripper', 1.2), ('[3.0]', 3.0),
    ('gripper', None), ('', None), ('unknown', None), ('2f85 gripper', None), ('-1', None),
])
def test_payloads_are_read_from_the_note_of_a_bag(text, mass):
    """The runner notes mass and centre; what people write may begin with the mass."""
    found = payload_mass(text)
    assert np.isnan(found) if mass is None else found == mass
