# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Wrong units, signs and names are found by name; good recordings pass, however poor."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.dataset import find_position_steps, FINEST_STEP
from robot_identification.processing.processing import process

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


# --- steps of positions ------------------------------------------------------------------


def swings(rng, noise=0.0):
    t = 0.01 * np.arange(3000)[:, None]
    q = rng.uniform(-1.0, 1.0, 3) + 0.5 * np.sin(rng.uniform(0.5, 2.0, 3) * t)
    return q + noise * rng.normal(size=q.shape)


@given(step=st.floats(-4.5, -2.3), noise=st.floats(-6.0, -4.0), seed=st.integers(0, 2**32 - 1))
def test_a_step_is_found_whatever_its_size(step, noise, seed):
    """Each joint has its own, and none where positions are noise to the last digit."""
    rng, step = np.random.default_rng(seed), 10.0**step
    q = swings(rng, 10.0**noise)
    q[:, 1] = step * np.round(q[:, 1] / step)
    q[:, 2] = 0.3 * step * np.round(q[:, 2] / (0.3 * step))
    other = 0.3 * step if 0.3 * step > FINEST_STEP else 0.0
    np.testing.assert_allclose(find_position_steps(q), [0.0, step, other], rtol=1e-6)


@given(noise=st.floats(-9.0, -3.0), seed=st.integers(0, 2**32 - 1))
def test_noise_has_no_step(noise, seed):
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(find_position_steps(swings(rng, 10.0**noise)), 0.0)
