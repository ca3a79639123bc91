# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort in another unit or with another sign contradicts the arm; stale effort is named."""

from dataclasses import replace

from effort_twins import make_twin
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.model import Motion, rigid_torque
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import compare_with_current, current_facts, current_remarks
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
