# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Wrong units, signs and names are found by name; good recordings pass, however poor."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DataError
from robot_identification.model import load_robot
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.regressor import Motion
from robot_identification.processing.plausibility import check_motor_side
from robot_identification.processing.processing import process
from robot_identification.recording.recording import Recording

DEGREES = 180.0 / np.pi
BAGS = ['ur10_exciting_trajectory', 'panda_exciting_trajectory']


def run(recording, robot=None, unit='A'):
    return process(recording, KinematicFilter(), unit, robot=robot)


def refusal(recording, robot=None):
    with pytest.raises(DataError) as caught:
        run(recording, robot)
    return str(caught.value)


def changed(recording, name, joints, function):
    values = np.array(getattr(recording, name))
    values[:, joints] = function(values[:, joints])
    return replace(recording, **{name: values})


@pytest.fixture(params=['simulated', *BAGS])
def arm(request):
    """Return robot and recording: the simulated UR5, a UR10 at 125 Hz, a Panda at 30 Hz."""
    if request.param == 'simulated':
        robot, _, recording = request.getfixturevalue('simulated')
        return robot, recording
    robot, recording = request.getfixturevalue('real')(request.param)
    return robot, recording.until(12.0)


def warnings_of(recording, robot):
    unit = 'A' if recording.source == 'simulated' else 'Nm'
    return [note for note in run(recording, robot, unit).notes if 'position by' not in note]


def noise(size, recording):
    return size * np.random.default_rng(0).normal(size=recording.dq.shape)


def slow(recording):
    """Move thirty times slower: some joints stay below 0.02 rad/s, with noise of 0.003."""
    dq = recording.dq / 30.0 + noise(0.003, recording)
    return replace(recording, stamps=30.0 * recording.stamps, dq=dq)


def at_thirty_hertz(recording):
    step = max(round(np.median(1.0 / np.diff(recording.stamps)) / 30.0), 1)
    return replace(recording, **{
        name: getattr(recording, name)[::step] for name in ('stamps', 'q', 'dq', 'effort')
    })


def late_velocity(recording):
    """Delay the velocity by 30 ms, as a driver does that filters it."""
    at = recording.stamps - 0.03
    dq = np.column_stack([np.interp(at, recording.stamps, c) for c in recording.dq.T])
    return replace(recording, dq=dq)


@pytest.mark.parametrize('change', [
    lambda recording: recording,
    lambda recording: replace(recording, dq=recording.dq + noise(0.05, recording)),
    slow, at_thirty_hertz, late_velocity,
    lambda recording: replace(recording, q=np.round(recording.q, 3)),
    # The effort of a heavier arm.
    lambda recording: replace(recording, effort=1.5 * recording.effort),
], ids=['good', 'noisy', 'slow', '30 Hz', 'late', 'coarse', 'payload'])
def test_good_recordings_pass_without_a_word(arm, change):
    robot, recording = arm
    assert warnings_of(change(recording), robot) == []


@pytest.mark.parametrize(('name', 'factor', 'words'), [
    ('q', DEGREES, 'positions look like degrees, velocities like rad/s'),
    ('dq', DEGREES, 'velocities look like deg/s, positions like rad'),
    ('q', 1000.0, r'positions look like thousandths \(mrad or mm\)'),
    ('dq', 60.0 / (2.0 * np.pi), 'velocities look like revolutions per minute'),
    ('q', 1.0 / (2.0 * np.pi), 'positions look like revolutions'),
    ('q', 2000.0 / np.pi, 'encoder ticks'),
])
def test_wrong_units_are_named(arm, name, factor, words):
    """Of all joints, and of one joint alone, which is the only one that is named."""
    robot, recording = arm
    everywhere = replace(recording, **{name: factor * getattr(recording, name)})
    with pytest.raises(DataError, match=words):
        run(everywhere)
    wrong = robot.joint_names[2]
    message = refusal(changed(recording, name, [2], lambda values: factor * values))
    assert wrong in message
    assert not [joint for joint in robot.joint_names if joint != wrong and joint in message]
    expected = factor if name == 'q' else 1.0 / factor
    found = float(message.split(wrong)[1].split(';')[0].strip(' ;'))
    # Of the recorded signals alone: the Panda's velocity is 2.5 % less than its position says.
    assert found == pytest.approx(expected, rel=0.03)
    assert 'expected 1' in message
    assert 'rad/s' in message


@pytest.mark.parametrize('name', ['q', 'dq'])
def test_a_flipped_sign_is_named(arm, name):
    robot, recording = arm
    message = refusal(changed(recording, name, [1], np.negative))
    assert 'flipped' in message
    assert robot.joint_names[1] in message
    assert robot.joint_names[0] not in message


@pytest.mark.parametrize('name', ['q', 'dq'])
@pytest.mark.parametrize('pair', [(1, 2), (0, 4)])
def test_swapped_joints_are_both_named(arm, name, pair):
    robot, recording = arm
    message = refusal(changed(recording, name, list(pair), lambda values: values[:, ::-1]))
    assert 'swapped' in message
    named = {joint for joint in robot.joint_names if joint in message}
    assert named == {robot.joint_names[j] for j in pair}
    assert '--joint-names' in message


def test_joints_that_move_alike_are_swapped_and_not_scaled():
    """Point to point, all joints at once: every velocity is a multiple of every other one."""
    t = np.arange(1000) / 125.0
    shares = np.array([1.0, 0.6, 0.3])
    q, dq = np.sin(t)[:, None] * shares, np.cos(t)[:, None] * shares
    effort = np.random.default_rng(0).normal(size=q.shape)
    recording = Recording('bag', '/js', ('a', 'b', 'c'), t, q, dq, effort)
    assert run(recording).notes == ()
    message = refusal(changed(recording, 'dq', [0, 2], lambda values: values[:, ::-1]))
    assert 'velocity under a is that of c' in message
    assert 'velocity under c is that of a' in message


def test_a_clock_at_another_speed_is_named(arm):
    """Played at half speed, and stamped when it was recorded."""
    _, recording = arm
    message = refusal(replace(recording, stamps=2.0 * recording.stamps))
    assert 'all by the same factor' in message
    assert 'stamps too fast or too slow' in message


def test_positions_and_velocities_in_degrees_are_outside_the_limits(arm):
    """Both fit each other; only the arm's limits tell."""
    robot, recording = arm
    both = replace(recording, q=DEGREES * recording.q, dq=DEGREES * recording.dq)
    run(both)
    message = refusal(both, robot)
    assert 'look like degrees' in message
    assert 'limits' in message
    assert any(joint in message for joint in robot.joint_names)
    shifted = changed(recording, 'q', [1], lambda values: values + 40.0)
    message = refusal(shifted, robot)
    assert robot.joint_names[1] in message
    assert 'zero is another one' in message


def test_positions_a_little_outside_the_limits_are_noted(arm):
    robot, recording = arm
    upper = robot.limits.upper[2]
    shifted = changed(
        recording, 'q', [2], lambda values: values - values.max() + upper + 0.5
    )
    notes = warnings_of(shifted, robot)
    assert any(robot.joint_names[2] in note and 'is its zero right' in note for note in notes)


@pytest.mark.parametrize('turns', [-1, 1])
def test_whole_turns_are_no_other_zero(arm, turns):
    """The arm is the same at a turn more; without one left over its zero is right."""
    robot, recording = arm
    lower, upper = robot.limits.lower[2], robot.limits.upper[2]

    def noted(offset):
        moved = changed(
            recording, 'q', [2],
            lambda values: values - values.mean() + 0.5 * (lower + upper) + offset,
        )
        return [note for note in warnings_of(moved, robot) if 'limits are' in note]

    assert noted(0.0) == noted(turns * 2.0 * np.pi) == []
    note, = noted(turns * np.pi)
    assert note.endswith('is its zero right?')


def test_a_joint_whose_turns_were_counted_on_may_be_a_continuous_one(arm):
    """However far it goes, neither its zero nor its unit is doubted."""
    robot, recording = arm
    far = changed(
        recording, 'q', [2], lambda values: values + np.linspace(0.0, 40.0, len(values))[:, None]
    )
    kept = changed(far, 'q', [2], lambda values: np.mod(values + np.pi, 2.0 * np.pi) - np.pi)
    # Its velocity is that of the position.
    kept = replace(kept, dq=np.full_like(kept.q, np.nan))
    note, = (note for note in warnings_of(kept, robot) if 'limits are' in note)
    assert note.startswith(robot.joint_names[2]) and note.endswith('is it a continuous joint?')
    assert 'far outside the limits' in refusal(replace(far, dq=kept.dq), robot)


@pytest.mark.parametrize('value', [0.0, 0.2, np.nan])
def test_a_velocity_that_is_none_comes_from_the_position(exact, value):
    """Zero or constant throughout while the joint moves, or absent: named, the others are kept."""
    recording = exact.record()
    dataset = run(changed(recording, 'dq', [1], lambda values: np.full_like(values, value)))
    note, = dataset.notes
    assert note.startswith('velocity of b ')
    assert 'differentiated from position' in note
    plain = run(recording)
    np.testing.assert_array_equal(dataset.motion.dq[:, 0], plain.motion.dq[:, 0])
    error = np.abs(dataset.motion.dq - plain.motion.dq)[60:-60]
    assert error.max() < 0.01


def test_a_joint_that_rests_has_no_velocity(exact):
    """Zero is right then, and nothing is said of it."""
    recording = exact.record()
    q, dq = recording.q.copy(), recording.dq.copy()
    q[:, 2], dq[:, 2] = 0.4, 0.0
    q[:, 0], dq[:, 0] = 0.02 * q[:, 0], 0.02 * dq[:, 0]
    assert run(replace(recording, q=q, dq=dq)).notes == ()


def test_a_velocity_of_nobody_is_doubted(exact):
    """It fits no joint, so it is no swap: a note, because noise can look like that."""
    recording = exact.record()
    other = np.cos(2.0 * np.pi * 0.7 * recording.stamps)
    notes = run(changed(recording, 'dq', [1], lambda values: other[:, None])).notes
    note, = notes
    assert note.startswith('b: its velocity hardly follows its position')


def test_a_velocity_that_is_scaled_a_little_is_doubted(exact):
    note, = run(changed(exact.record(), 'dq', [1], lambda values: 0.8 * values)).notes
    assert note.startswith('b: position changes 1.25 times as fast')


def test_velocities_that_are_all_scaled_alike_are_one_note(exact):
    """It is the clock, or a filter of the driver, and no matter of each joint."""
    note, = run(changed(exact.record(), 'dq', [0, 1, 2], lambda values: 0.75 * values)).notes
    assert note.startswith('positions of all joints change 1.33 times as fast')
    assert 'the stamps run too fast or too slow' in note


@pytest.mark.parametrize('seed', [7, 13])
@pytest.mark.parametrize('wrong', [False, True])
def test_degrees_are_not_taken_for_angles_of_motors(seed, wrong):
    """Nor with wrong masses: a wrist of little weight fits some gear ratio by chance."""
    ur10, rng, n = load_robot('ur10'), np.random.default_rng(seed), 6
    t = np.linspace(0.0, rng.uniform(5.0, 40.0), 400)[:, None]
    w = 2.0 * np.pi * rng.uniform(0.05, 0.5, (4, n))
    a, phase = rng.uniform(-0.5, 0.5, (4, n)), rng.uniform(0.0, 6.28, (4, n))
    motion = Motion(*(
        np.sum([
            one * frequency**order * np.sin(frequency * t + shift + 0.5 * np.pi * order)
            for one, frequency, shift in zip(a, w, phase, strict=True)
        ], axis=0) for order in range(3)
    ))
    model, data = ur10.pinocchio, ur10.pinocchio.createData()
    torque = np.array([
        pin.rnea(model, data, *state)
        for state in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ])
    size = torque.std(axis=0) + 1e-3
    if wrong:
        of_own, of_next = rng.uniform(0.3, 3.0, n), rng.uniform(-0.5, 0.5, n)
        torque = torque * of_own + np.roll(torque, 1, axis=1) * of_next
    friction = rng.uniform(0.1, 2.0, n) * np.sign(motion.dq) + 0.3 * motion.dq
    noise = 0.03 * rng.standard_normal(torque.shape)
    check_motor_side('log', ur10, motion, torque + size * (friction + noise))
