# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Wrong units, signs and names are found by name; good recordings pass, however poor."""

from dataclasses import replace
import re

from estimation.arm_problems import fourier_motion
from hypothesis import given, strategies as st
from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model import make_robot_model, mount_tool, parse_urdf, rigid_torque, Tool
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.processing.dataset import find_position_steps, FINEST_STEP
from robot_identification.processing.effort import effort_per_torque, find_contradictions
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


SAMPLES = 500
POSE = np.array([0.0, -1.2, 1.0, -0.5, 1.5, 0.0])
# Of the size that joints of a UR5 have.
COULOMB = np.array([8.0, 9.0, 6.0, 1.6, 1.7, 1.5])


def swinging(robot, seed=0):
    """Return eight seconds of swings about a bent pose."""
    motion = fourier_motion(robot.n, seed, SAMPLES, 0.2)
    return replace(motion, q=motion.q + POSE)


def torque_of(robot, motion, mass_factor=1.0):
    """Return the torque of the URDF's bodies times factors, with friction and a bias."""
    bodies = np.repeat(mass_factor * np.ones(robot.n), 10) * prior_inertial_parameters(robot)
    return known_model(
        robot, 'coulomb,viscous,offset', bodies, fc=COULOMB, fv=COULOMB, f0=0.1 * COULOMB
    ).torque(motion)


def dataset_of(robot, motion, effort, unit='Nm'):
    return made_up_dataset(robot.joint_names, motion, effort, len(motion) / 8.0, unit)


def ratios_of(robot, motion, torque, unit='Nm', gains=None):
    """Return the ratios of the joints of a recording of some torques that contradict the URDF."""
    effort = torque if gains is None else torque / gains
    if unit == 'A':
        robot = robot.with_drive_gains(gains)
    return ratios_in(find_contradictions(dataset_of(robot, motion, effort, unit), robot))


def ratios_in(contradictions):
    """Return the ratios by joint that contradictions with the URDF state."""
    return {
        name: float(re.search(rf'{name} ([-0-9.e+]+)', one.text)[1])
        for one in contradictions if one.text.startswith('measured over expected')
        for name in one.joints
    }


@pytest.mark.parametrize('seed', range(5))
def test_masses_that_are_wrong_by_a_fifth_are_no_ratios_of(ur5, seed):
    """In either direction, each link by another factor, with friction and noise."""
    motion = swinging(ur5, seed)
    rng = np.random.default_rng(seed)
    for factor in (0.8, 1.2, rng.uniform(0.8, 1.2, 6)):
        torque = torque_of(ur5, motion, factor)
        noisy = torque + 0.05 * np.std(torque, axis=0) * rng.normal(size=torque.shape)
        assert ratios_of(ur5, motion, noisy) == {}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_sign_contradicts(ur5, seed):
    """Of the whole arm, and of one joint alone, which is named with the ratio."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    assert ratios_of(ur5, motion, -torque)['shoulder_lift_joint'] == pytest.approx(-1.0, abs=0.1)
    one = torque * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    assert ratios_of(ur5, motion, one) == {'elbow_joint': pytest.approx(-1.0, abs=0.1)}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_unit_contradicts(ur5, seed):
    """Amperes read as newton metres, at a gain of 0.1 and of 10 N m/A; with the gain it is not."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    for gain in (0.1, 10.0):
        ratios = ratios_of(ur5, motion, torque, gains=np.full(6, gain))
        assert ratios['shoulder_lift_joint'] == pytest.approx(1.0 / gain, rel=0.1)
    assert ratios_of(ur5, motion, torque, 'A', np.full(6, 0.1)) == {}


@pytest.mark.parametrize(('factor', 'beyond'), [(1.0, False), (100.0, True), (1000.0, True)])
def test_effort_far_beyond_most_limits_contradicts(ur5, factor, beyond):
    """As of an arm whose joints are nearly all friction, so that its bodies say nothing."""
    motion = swinging(ur5)
    friction = COULOMB * np.tanh(motion.dq / 0.02) + 3.0 * motion.dq
    found = find_contradictions(dataset_of(ur5, motion, factor * friction), ur5)
    assert [one.joints == ur5.joint_names and one.of_several for one in found] == [True] * beyond
    if beyond:
        largest = np.abs(friction[:, 0]).max()
        said = re.search(r'shoulder_pan_joint ([0-9.e+]+)', found[0].text)
        assert float(said[1]) == pytest.approx(
            factor * largest / ur5.limits.effort[0], rel=0.1
        )


def test_what_says_nothing_of_the_bodies_is_no_ratios_of(ur5, rng):
    """Effort of friction and rotors with noise, of noise, or none at all; an arm that stands."""
    # Rotors of 20 kg m^2 turn with the bodies, and would look like heavier ones.
    motion = swinging(ur5)
    friction = COULOMB * np.tanh(motion.dq / 0.02) + 20.0 * motion.ddq
    noise = rng.normal(size=friction.shape)
    assert ratios_of(ur5, motion, friction + noise) == {}
    assert ratios_of(ur5, motion, torque_of(ur5, motion) + friction) == {}
    assert ratios_of(ur5, motion, noise) == {}
    assert ratios_of(ur5, motion, np.zeros_like(friction)) == {}
    still = Motion(np.tile(motion.q[0], (SAMPLES, 1)), 0 * motion.dq, 0 * motion.ddq)
    assert ratios_of(ur5, still, np.full_like(friction, 3.0)) == {}


TOOL = Tool(mass=4.0, center_of_mass=(0.02, -0.01, 0.1), size=(0.1, 0.1, 0.2))


@pytest.mark.parametrize('factor, contradicts', [(1.0, False), (3.0, True), (-1.0, True)])
def test_a_tool_that_the_urdf_lacks_is_no_contradiction(ur5, factor, contradicts):
    """Effort that no tool on the last link explains is one, with a tool, too."""
    text = mount_tool(ur5.urdf.text, 'ur5', 'tool0', TOOL)
    real = make_robot_model(parse_urdf(text, 'ur5'), joints=ur5.joint_names)
    motion = swinging(ur5)
    torque = factor * torque_of(real, motion)
    assert bool(ratios_of(ur5, motion, torque)) == contradicts
    # It would be several joints.
    expected = rigid_torque(ur5, motion)
    without_tool, _ = effort_per_torque(torque, expected, motion)
    assert np.sum(np.abs(np.log(np.abs(without_tool))) > np.log(2.5)) > 1
