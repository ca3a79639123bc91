# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A payload is found from a loaded run of MuJoCo's arm and a model of the bare one."""

from dataclasses import replace

from hypothesis import given, strategies as st
from known_models import known_model
import numpy as np
import pytest
from robot_identification.errors import NotIdentifiableError
from robot_identification.model.identified_model import with_payload
from robot_identification.model.parameters import NamedJoints
from robot_identification.model.payload import joint_parameters
from robot_identification.model.regressor import (
    Motion, prior_inertial_parameters, static_regressor,
)
from robot_identification.recording.recording import Recording
from robot_identification.simulation.mujoco_robot import true_inertial_parameters
from robot_identification.studies.drive_gains.estimate import (
    average_approaches, compare_with_known, DriveGains, DriveGainsOptions, fit_gains, GainPoint,
    Readings,
)
from robot_identification.studies.drive_gains.motion import mixed_total_least_squares
from robot_identification.studies.drive_gains.static_poses import find_static_poses, group_poses
from robot_identification.studies.payload.estimate import (
    estimate_payload, PayloadOptions, resting_run,
)
from studies.payload_cases import (
    bare_model, BODY, carrying, moving, NOISE, run_of, torque_of_simulator, true_arm,
)


@pytest.fixture(scope='module')
def case(robots):
    """Return the arm, its truth, a model of it bare and loaded torques along a second motion."""
    robot = robots['ur5']
    truth = true_arm(robot)
    rng = np.random.default_rng(7)
    model = bare_model(robot, truth, rng)
    motion = moving(robot, 2, 3750)
    tau = torque_of_simulator(carrying(robot, BODY), truth, motion)
    return robot, truth, model, motion, tau + NOISE * rng.normal(size=tau.shape)


def test_payload_is_found_within_one_percent(case):
    """The acceptance: 2.5 kg within 1 % with true gains, all of it within its errors."""
    robot, _, model, motion, tau = case
    found = estimate_payload(model, [run_of(motion, tau)])
    assert found.payload.frame == 'tool0'
    assert abs(found.payload.mass / BODY.mass - 1.0) < 0.01
    assert np.abs(found.payload.center_of_mass - BODY.center_of_mass).max() < 0.002
    # Ten numbers, each with a chance of 1e-3 to be further off than 4 of its errors.
    assert abs(found.unconstrained.mass - BODY.mass) < 4.0 * found.errors.mass
    off = np.abs(found.unconstrained.center_of_mass - BODY.center_of_mass)
    assert np.all(off < 4.0 * found.errors.center_of_mass)
    assert np.all(np.abs(found.unconstrained.inertia - BODY.inertia) < 4.0 * found.errors.inertia)
    assert found.is_significant
    assert found.payload.is_possible
    assert found.unseen == ()
    # What is left is the noise and the model's error, which is smaller.
    np.testing.assert_allclose(found.after, NOISE, rtol=0.4)
    assert np.all(found.before > 4.0 * found.after)
    in_link = joint_parameters(robot, found.in_link)
    np.testing.assert_allclose(joint_parameters(robot, found.payload), in_link, atol=1e-10)


def test_offsets_and_friction_may_differ(case):
    """Offsets of a joint would be taken for mass; they are unknowns, and so is friction."""
    robot, _, model, motion, tau = case
    offset = np.array([2.0, 3.0, -2.0, 1.0, 0.5, -0.5])
    shifted = tau + offset
    wrong = estimate_payload(model, [run_of(motion, shifted)], PayloadOptions(changes='none'))
    right = estimate_payload(model, [run_of(motion, shifted)])
    plain = estimate_payload(model, [run_of(motion, tau)])
    # What is an unknown of its own takes nothing from the others, to rounding in the weights.
    assert abs(right.payload.mass - plain.payload.mass) < 1e-6
    assert abs(wrong.payload.mass - BODY.mass) > 2.0 * abs(right.payload.mass - BODY.mass)
    np.testing.assert_allclose(right.changes - plain.changes, offset[None, :, None], atol=1e-6)
    rubbed = shifted + 1.5 * np.sign(motion.dq) + 2.0 * motion.dq
    found = estimate_payload(model, [run_of(motion, rubbed)], PayloadOptions(changes='friction'))
    same = estimate_payload(model, [run_of(motion, tau)], PayloadOptions(changes='friction'))
    assert abs(found.payload.mass - same.payload.mass) < 1e-6
    difference = (found.changes - same.changes)[0]
    expected = np.column_stack([offset, np.full(robot.n, 1.5), np.full(robot.n, 2.0)])
    np.testing.assert_allclose(difference, expected, atol=1e-6)


def test_no_payload_is_told_from_some(case, rng):
    """Without one the test does not reject: p is hardly ever below its threshold."""
    robot, truth, model, motion, _ = case
    tau = torque_of_simulator(robot, truth, motion)
    found = estimate_payload(
        model, [run_of(motion, tau + NOISE * rng.normal(size=tau.shape))]
    )
    assert not found.is_significant
    assert abs(found.parameters[0]) < 4.0 * found.errors.mass
    light = replace(BODY, mass=0.1, inertia=0.04 * BODY.inertia)
    tau = torque_of_simulator(carrying(robot, light), truth, motion)
    found = estimate_payload(
        model, [run_of(motion, tau + NOISE * rng.normal(size=tau.shape))]
    )
    assert found.is_significant


def test_load_dependent_friction_is_iterated(case):
    """Friction that grows with the payload's own load is the model's, not the payload's."""
    robot, truth, _, motion, _ = case
    loaded = known_model(robot, 'load', true_inertial_parameters(robot, truth), fcl=0.1)
    loaded = replace(loaded, covariance=0.0 * loaded.covariance)
    tau = with_payload(loaded, BODY).torque(motion)
    found = estimate_payload(loaded, [run_of(motion, tau)])
    # The passes end at a relative change of 1e-4.
    assert found.parameters[0] == pytest.approx(BODY.mass, rel=1e-3)


def poses_of_rest(count, rng, n=6):
    """Return poses in which the wrist is turned every way."""
    return rng.uniform(-1.5, 1.5, size=(count, n)) + np.array([0, -1.2, 0.5, 0, 0, 0])[:n]


def test_rests_alone_give_mass_and_centre(case, rng):
    robot, truth, model, _, _ = case
    q = poses_of_rest(12, rng)
    rest = Motion(q, np.zeros_like(q), np.zeros_like(q), starts=tuple(range(len(q))))
    tau = torque_of_simulator(carrying(robot, BODY), truth, rest)
    # Averaged over a second at 125 Hz.
    tau = tau + NOISE / np.sqrt(125.0) * rng.normal(size=tau.shape)
    run = run_of(rest, tau)
    found = estimate_payload(model, [run], PayloadOptions(static=True))
    assert found.payload.mass == pytest.approx(BODY.mass, rel=0.01)
    assert np.abs(found.payload.center_of_mass - BODY.center_of_mass).max() < 0.005
    assert np.all(found.payload.inertia == 0.0)
    assert np.all(np.isnan(found.errors.inertia))
    assert any('inertia cannot be seen at rest' in note for note in found.notes)


def test_rests_of_a_recording_are_averaged_over_both_sides(case):
    """Static friction is taken off where a pose was reached from above and from below."""
    robot, _, model, _, _ = case
    poses = poses_of_rest(4, np.random.default_rng(4))
    rows, sides = [], []
    for pose in poses:
        for side in (-1.0, 1.0):
            away = np.linspace(0.2, 0.0, 100)[:, None]
            rows += [pose - side * away, np.tile(pose, (300, 1))]
            sides += [np.full(400, side)]
    q, side = np.vstack(rows), np.concatenate(sides)
    stamps = np.arange(len(q)) * 0.01
    W = static_regressor(robot, q)
    gravity = (W @ model.theta_lifted[:60]).reshape(q.shape)
    recording = Recording(
        'made up', '/joint_states', robot.joint_names, stamps, q, np.zeros_like(q),
        gravity + 5.0 * side[:, None],
    )
    run, notes = resting_run(model, [recording], PayloadOptions())
    assert len(run.tau) == len(poses)
    assert notes == ()
    # The mean of equal numbers of +5 and -5.
    np.testing.assert_allclose(
        run.tau, (static_regressor(robot, poses) @ model.theta_lifted[:60]).reshape(poses.shape),
        atol=1e-9,
    )
    half = replace(recording, stamps=stamps[:400], q=q[:400], effort=recording.effort[:400])
    run, notes = resting_run(model, [half], PayloadOptions())
    assert 'reached from one side only' in notes[0]
    with pytest.raises(NotIdentifiableError, match='never rests for 9 s'):
        resting_run(model, [recording], PayloadOptions(shortest_rest=9.0))


ANY_CURRENT = DriveGainsOptions(smallest_current=0.0)
SEEDS = st.integers(0, 2**32 - 1)


def poses_fit(joint_names, points, options=ANY_CURRENT):
    joints, notes = fit_gains(NamedJoints(tuple(joint_names)), points, options)
    return DriveGains('poses', 'made up', 'made up', joints, points, notes)


def held(rng, ur5, friction, gain, sides=(1.0, -1.0), count=6):
    """Return readings of the UR5 at rest whose currents are off by static friction."""
    q = rng.uniform(-1.5, 1.5, size=(count, 6)) + np.array([0.0, -1.2, 0.5, 0.0, 0.0, 0.0])
    torque = (static_regressor(ur5, q) @ prior_inertial_parameters(ur5)).reshape(q.shape)
    rows = [
        Readings(q, np.full(q.shape, side), torque, (torque + side * friction) / gain)
        for side in sides
    ]
    return Readings(*(
        np.concatenate([getattr(part, name) for part in rows])
        for name in ('q', 'approach', 'torque', 'current')
    ))


def test_static_friction_cancels_between_the_approaches(ur5, rng):
    """A joint that holds 8 N m has its gain all the same; joint 1 has no gravity, and no gain."""
    gain = np.array([13.6, 13.7, 13.7, 9.7, 8.7, 9.0])
    friction = np.array([7.0, 8.0, 7.5, 1.4, 2.0, 2.0])
    readings = held(rng, ur5, friction, gain)
    found = poses_fit(ur5.joint_names, average_approaches(readings), DriveGainsOptions())
    seen = [joint for joint in found.joints if joint.is_seen]
    assert {joint.joint for joint in seen} >= {
        'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint'
    }
    assert 'shoulder_pan_joint' in found.unseen
    for joint in seen:
        number = ur5.joint_names.index(joint.joint)
        # Equal friction both ways cancels to rounding.
        assert joint.gain == pytest.approx(gain[number], rel=1e-9)
        assert joint.holding_torque == pytest.approx(friction[number], rel=1e-9)
        assert joint.both_sides == joint.points >= 2
        assert joint.bias_bound == 0.0
    assert found.notes == ()


def test_gains_are_compared_with_those_known_before(robots):
    """A payload in gram is doubted; swapped bags give no gain, whatever sign the arm has."""
    robot = robots['ur5']
    torque = np.array([-20.0, 10.0, 15.0])

    def found(factors):
        return poses_fit(robot.joint_names, [
            [GainPoint(factor * t, t / gain, 0.0) for t in torque]
            for factor, gain in zip(factors, robot.drives.drive_gain, strict=True)
        ])

    options = DriveGainsOptions()
    near = found(np.full(robot.n, 1.1))
    assert compare_with_known(robot, near, options).notes == ()
    (note,) = compare_with_known(robot, found(np.full(robot.n, 1000.0)), options).notes
    assert 'shoulder_pan_joint (1.36e+04 N m/A, before 13.6)' in note and 'payload in kg' in note
    turned = np.ones(robot.n)
    turned[2] = -1.0
    checked = compare_with_known(robot, found(turned), options)
    assert checked.unseen == ('elbow_joint',)
    assert 'are the bags' in checked.joints[2].reason
    other = robot.with_drive_gains(turned * robot.drives.drive_gain)
    assert compare_with_known(other, found(turned), options).unseen == ()
    with pytest.raises(NotIdentifiableError, match='swapped'):
        compare_with_known(robot, found(-np.ones(robot.n)), options)
    drives = replace(robot.drives, torque_constant=np.full(robot.n, np.nan))
    unknown = replace(robot, drives=drives)
    assert compare_with_known(unknown, found(-np.ones(robot.n)), options).notes == ()


@given(SEEDS)
def test_mixed_total_least_squares(seed):
    """Without noise it is exact, whatever the exact columns are."""
    rng = np.random.default_rng(seed)
    exact, noisy = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    of_exact, of_noisy = rng.normal(size=5), rng.normal(size=3)
    # The last noisy column is what makes the combination hold.
    noisy[:, 2] = (exact @ of_exact - noisy[:, :2] @ of_noisy[:2]) / of_noisy[2]
    found_exact, found_noisy = mixed_total_least_squares(exact, noisy)
    assert np.linalg.norm(found_noisy) == pytest.approx(1.0)
    # Columns are random and well conditioned but for the smallest factor.
    scale = of_noisy[2] / found_noisy[2]
    np.testing.assert_allclose(found_noisy * scale, of_noisy, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found_exact * scale, of_exact, rtol=1e-6, atol=1e-8)


def rests(pattern, rate=125.0, n=2):
    """Return stamps and positions that follow (position, seconds), joined by moves of 1 s."""
    rows, here = [], np.asarray(pattern[0][0], dtype=float)
    for position, seconds in pattern:
        position = np.asarray(position, dtype=float)
        share = np.linspace(0.0, 1.0, int(rate))[:, None]
        smooth = 3.0 * share**2 - 2.0 * share**3
        rows += [here + smooth * (position - here), np.tile(position, (int(seconds * rate), 1))]
        here = position
    q = np.vstack(rows)
    return np.arange(len(q)) / rate, q


def test_dwells_and_their_sides(rng):
    """Rests of two seconds count, shorter ones not; a joint that stays keeps its side."""
    stamps, q = rests([
        ([0.0, 0.0], 3.0), ([0.5, 0.3], 2.5), ([0.2, 0.3], 1.0), ([0.5, 0.3], 2.5),
        ([0.1, 0.6], 2.2),
    ])
    # Of a 17-bit encoder.
    q = q + 1.4e-5 * rng.normal(size=q.shape)
    dwells = find_static_poses(stamps, q)
    assert [dwell.approach.tolist() for dwell in dwells] == [
        [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [-1.0, 1.0],
    ]
    assert all(dwell.stop - dwell.start == pytest.approx(1.0) for dwell in dwells)
    np.testing.assert_allclose(dwells[1].q, [0.5, 0.3], atol=1e-5)
    assert group_poses([dwell.q for dwell in dwells]) == [[0], [1, 2], [3]]
    assert find_static_poses(stamps, q, 5.0) == ()
    assert find_static_poses(stamps[:1], q[:1]) == ()
    # A creep at twice the limit is no rest.
    assert find_static_poses(stamps, q + 2.0e-3 * stamps[:, None]) == ()


@pytest.fixture(scope='module')
def arm(robots):
    return robots['ur5'], true_arm(robots['ur5']), carrying(robots['ur5'], BODY)


NAMES = tuple(f'joint_{number}' for number in range(1, 7))


@given(SEEDS)
def test_equation_32(seed):
    """Tika et al., eq. 32: zeta = target torque / target current, the mean over the poses."""
    rng = np.random.default_rng(seed)
    gain, torque = rng.uniform(5.0, 20.0, 6), rng.normal(scale=30.0, size=(7, 6))
    readings = Readings(
        rng.normal(size=(7, 6)), np.zeros((7, 6)), torque, torque / gain
    )
    found = poses_fit(NAMES, average_approaches(readings))
    zeta = np.mean(readings.torque / readings.current, axis=0)
    # Both are exact; what is left is rounding.
    np.testing.assert_allclose(found.values, zeta, rtol=1e-12)
    np.testing.assert_allclose(found.values * readings.current, readings.torque, rtol=1e-9)
