# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the effort is, found from recordings of arms whose torques are MuJoCo's."""

from dataclasses import replace

from effort_twins import make_twin
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.model import KinematicFilter, Motion, rigid_torque
from robot_identification.processing.effort_hypotheses import KINDS
from robot_identification.processing.effort_meaning import judge_effort
from robot_identification.processing.processing import process

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
