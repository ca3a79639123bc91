# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort in another unit or with another sign contradicts the arm; stale effort is named."""

from dataclasses import replace
import re

from effort_twins import make_twin
from estimation.arm_problems import fourier_motion
from hypothesis import given, strategies as st
from known_models import known_model, made_up_dataset
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model import (
    make_robot_model, Motion, mount_tool, parse_urdf, rigid_torque, Tool,
)
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.processing import compare_with_current, current_facts, current_remarks
from robot_identification.processing.dataset import find_position_steps, FINEST_STEP
from robot_identification.processing.effort import effort_per_torque, find_contradictions
from robot_identification.processing.effort_hypotheses import KINDS
from robot_identification.processing.effort_meaning import judge_effort
from robot_identification.processing.processing import process
from robot_identification.recording import Channel, Recording


def notes_of(recording, robot, unit):
    notes = process(recording, KinematicFilter(), unit, robot=robot).notes
    return [note for note in notes if note.startswith('effort') and 'position by' not in note]


def contradictions_of(recording, robot, unit='A'):
    return process(recording, KinematicFilter(), unit, robot=robot).contradictions


@pytest.mark.parametrize('stated', ['A', 'Nm'])
@pytest.mark.parametrize('true', ['A', 'Nm', 'mA', 'mNm'])
def test_another_unit_contradicts(simulated, stated, true):
    """With drive gains; masses are wrong by up to 20 %, and friction is there."""
    robot, truth, recording = simulated
    factor = {
        'A': 1.0, 'Nm': truth.drive_gain, 'mA': 1000.0, 'mNm': 1000.0 * truth.drive_gain,
    }[true]
    found = contradictions_of(replace(recording, effort=factor * recording.effort), robot, stated)
    assert any(one.of_several for one in found) == (true != stated)
    assert all('elbow_joint' in one.joints and 'effort unit' in one.text for one in found)


def test_the_sign_of_a_drive_gain_is_that_of_its_current(simulated):
    """A motor mounted the other way round has a negative gain, and its current the other sign."""
    robot, _, recording = simulated
    turned = np.where(np.arange(6) == 1, -1.0, 1.0)
    negative = robot.with_drive_gains(robot.drives.drive_gain * turned)
    current = replace(recording, effort=recording.effort * turned)
    assert contradictions_of(current, negative) == ()
    for effort, arm in ((current, robot), (recording, negative)):
        found, = contradictions_of(effort, arm)
        assert found.joints == ('shoulder_lift_joint',) and ' -' in found.text


@pytest.mark.parametrize(('rows', 'named'), [
    (slice(None), 'effort of b is 2.5 throughout'),
    (slice(300, 500), 'effort of b stood still at 2.5 for 1.60 s from 2.40 s on'),
])
def test_constant_and_stale_effort_are_named(exact, rows, named):
    recording = exact.record()
    effort = recording.effort.copy()
    effort[rows, 1] = 2.5
    note, = notes_of(replace(recording, effort=effort), None, 'A')
    assert note.startswith(named)


def spiky(exact):
    """Return a recording with spikes of ten times the RMS in every hundredth effort of b."""
    recording = exact.record()
    effort = recording.effort.copy()
    effort[:, 1] = np.sin(recording.stamps)
    rows = np.arange(50, len(effort), 100)
    effort[rows, 1] = 10.0 * np.sqrt(np.mean(effort[:, 1]**2)) * (-1.0) ** np.arange(len(rows))
    return replace(recording, effort=effort), len(rows)


def test_spikes_of_the_effort_are_named(exact):
    """Noise alone, and what changes from row to row, has none."""
    assert notes_of(exact.record(), None, 'A') == []
    recording, count = spiky(exact)
    note, = notes_of(recording, None, 'A')
    assert note.startswith(f'effort of b has {count} spikes of up to ')


# --- another unit than the model's -------------------------------------------------------


JOINTS = ('pan', 'lift', 'elbow')
NOISE = 0.1  # [A]


def current(t):
    """Return three currents of different motions [A]."""
    return np.stack([
        np.sin(0.9 * t), 2.0 + np.cos(1.7 * t), 1.5 * np.sin(2.6 * t + 1.0) - 0.5
    ], axis=1)


def made(rng, gain=(1.0, 1.0, 1.0), order=(0, 1, 2), count=6000, late=0.003):
    """Return a recording at 500 Hz with currents at 125 Hz that come late, both with noise."""
    t = 0.002 * np.arange(count)
    slow = t[::4]
    effort = (current(t) * gain)[:, list(order)]
    return Recording(
        'bag', '/joint_states', tuple(JOINTS[joint] for joint in order), t,
        np.zeros((count, 3)), np.zeros((count, 3)),
        effort + NOISE * rng.standard_normal(effort.shape),
        channels={'actual_current': Channel(
            slow + late, current(slow) + NOISE * rng.standard_normal((len(slow), 3))
        )},
    )


def test_the_same_signal_has_scale_and_correlation_one(rng):
    """Noise of a mean of 25 is 0.02 A beside 0.7 A r.m.s., and 3 ms of 2.6 rad/s are 0.8 %."""
    found = compare_with_current(made(rng))
    assert [one.joint for one in found] == list(JOINTS)
    for one in found:
        assert one.scale == pytest.approx(1.0, abs=0.01)
        assert one.correlation > 0.995
    assert current_remarks(found, 'A') == []
    assert f'pan {found[0].scale:.3g} (correlation' in current_facts(found)[0]
    (remark,) = current_remarks(found, 'Nm')
    assert '--effort-unit A' in remark


def test_torque_has_the_drive_gain_as_its_scale(rng):
    """Read as torque that is as it should be; read as current each joint is named."""
    found = compare_with_current(made(rng, gain=(10.0, 12.0, 5.0)))
    np.testing.assert_allclose([one.scale for one in found], (10.0, 12.0, 5.0), rtol=0.01)
    assert current_remarks(found, 'Nm') == []
    (remark,) = current_remarks(found, 'A')
    assert all(joint in remark for joint in JOINTS)


@pytest.mark.parametrize(('gain', 'named'), [
    ((1.0, -1.0, 1.0), 'lift'), ((1.0, 1.0, 0.8), 'elbow'),
])
def test_a_single_joint_that_differs_is_named(rng, gain, named):
    """By a sign or a fifth; the others are not."""
    (remark,) = current_remarks(compare_with_current(made(rng, gain=gain)), 'A')
    assert [joint for joint in JOINTS if f'{joint} ' in remark.split(':')[1]] == [named]


ARMS = ('ur5', 'ur5e', 'ur10')
STYLES = ('fourier', 'points', 'slow', 'rests', 'wrists')
# Every style of motion with two kinds by day, every arm with both at night, twelve times.
DAY = [
    9 * style + 3 * (kind % 3) + (style + kind) % 3
    for style in range(5) for kind in (style, style + 1)
]
NIGHT = pytest.param(
    range(540), marks=[long_test, pytest.mark.timeout(1800)],  # four minutes, or more
)


def twin_of(robots, number):
    """Return the twin of a number: arm, kind and motion go round, the truth is drawn."""
    arm, kind = ARMS[number % 3], KINDS[number // 3 % 3]
    return make_twin(robots[arm], number, kind, STYLES[number // 9 % 5], rough=number % 2 == 0)


@pytest.mark.parametrize('numbers', [DAY, NIGHT], ids=['day', 'night'])
def test_no_simulated_arm_is_misjudged(robots, numbers):
    """Friction that sticks, payloads, ceilings and walls, URDFs wrong by up to 40 %."""
    wrong, decided = [], []
    for number in numbers:
        twin = twin_of(robots, number)
        meaning = judge_effort(twin.robot, [twin.dataset])
        if STYLES[number // 9 % 5] in ('fourier', 'points'):
            decided.append(meaning.kind is not None)
        if meaning.kind not in (None, twin.kind):
            wrong.append((number, twin.kind, meaning.kind, meaning.likelihoods))
    assert not wrong
    # Excitation and moves from point to point show gravity and inertia of some joint: the few that
    # are left open have hardly any of either, by chance.
    assert np.mean(decided) >= 0.8


def test_a_wrong_mounting_is_named(robots):
    """A current on a ceiling, said to stand on the floor, is not taken for anything else."""
    twin = twin_of(robots, 1)
    robot = twin.robot.with_gravity(-twin.robot.gravity)
    meaning = judge_effort(robot, [twin.dataset])
    assert meaning.mounting
    assert meaning.kind in (None, twin.kind)
    assert judge_effort(twin.robot, [twin.dataset]).mounting == ''


def test_open_recordings_name_the_motion_that_decides(robots):
    """Wrists alone leave it open: rests of the joint that carries most are asked for."""
    twin = twin_of(robots, 84)
    unlimited = replace(twin.robot.limits, effort=np.full(6, np.inf))
    meaning = judge_effort(replace(twin.robot, limits=unlimited), [twin.dataset])
    assert meaning.kind is None
    assert set(meaning.open_kinds) >= {'Nm', 'A'}
    assert 'to decide, rest for 2 s each with shoulder_lift_joint' in meaning.describe()
    # As currents, efforts of this size need gains that the limits of torque do not allow.
    assert judge_effort(twin.robot, [twin.dataset]).kind == 'Nm'
    # Without limits the poses that it asks for decide.
    asked = make_twin(twin.robot, 84, 'Nm', 'points', rough=False)
    assert judge_effort(replace(asked.robot, limits=unlimited), [asked.dataset]).kind == 'Nm'


def test_scales_are_those_of_the_truth(ur5):
    """An effort of exactly a fifth of the URDF's torque: gain 5 N m/A, gravity and inertia."""
    twin = make_twin(ur5, 3, 'A', 'fourier', rough=False)
    motion = twin.dataset.motion
    exact = replace(twin.dataset, effort=rigid_torque(ur5, motion) / 5.0)
    meaning = judge_effort(ur5, [exact])
    assert meaning.kind == 'A'
    lift = next(one for one in meaning.joints if one.joint == 'shoulder_lift_joint')
    # Nothing but rounding is left.
    np.testing.assert_allclose([lift.gravity_scale, lift.inertial_scale], 0.2, rtol=1e-6)
    assert lift.residuals['A'] < 1e-6
    assert lift.vote == 'A'


@pytest.mark.parametrize('name', ['ur10_exciting_trajectory', 'panda_exciting_trajectory'])
@pytest.mark.parametrize('kind', KINDS)
def test_real_arms_are_judged_rightly(real, name, kind):
    """Both publish torque; divided by gains, or less the URDF's gravity, it is the others."""
    robot, recording = real(name)
    dataset = process(recording, KinematicFilter(), 'Nm', robot=robot)
    gains = robot.drives.drive_gain
    # The Panda's are not known: any will do.
    gains = gains if np.isfinite(gains).all() else np.linspace(5.0, 15.0, robot.n)
    q = np.asarray(dataset.motion.q)
    gravity = rigid_torque(robot, Motion(q, np.zeros_like(q), np.zeros_like(q)))
    effort = {'Nm': dataset.effort, 'A': dataset.effort / gains,
              'Nm-without-gravity': dataset.effort - gravity}[kind]
    meaning = judge_effort(robot, [replace(dataset, effort=effort)])
    assert meaning.kind == kind
    assert meaning.mounting == ''
    assert [unit for unit in KINDS if meaning.contradicts(unit)] == [
        unit for unit in KINDS if unit != kind
    ]


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
