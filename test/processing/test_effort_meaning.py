# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the effort is, found from recordings of arms whose torques are MuJoCo's."""

from dataclasses import replace
import re

from builders import joint, link, robot_urdf
from effort_twins import make_twin
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.model import (
    gravity_of_mounting, KinematicFilter, make_robot_model, Motion, parse_urdf, rigid_torque,
)
from robot_identification.processing.effort_hypotheses import KINDS, nuisances, sample_weights
from robot_identification.processing.effort_meaning import _deciding_motion, judge_effort
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


def test_currents_of_negative_drive_gains_are_currents(robots):
    """Motors may be mounted the other way round: their currents have the other sign."""
    twin = twin_of(robots, 1)
    turned = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    dataset = replace(twin.dataset, effort=twin.dataset.effort * turned)
    found, unknown, expected = (
        judge_effort(robot, [one]).likelihoods for robot, one in (
            (twin.robot.with_drive_gains(10.0 * turned), dataset),
            (twin.robot, dataset), (twin.robot, twin.dataset),
        )
    )
    for kind in ('Nm', 'Nm-without-gravity'):
        # As a current it fits as well as the other one, as a torque it fits worse.
        assert found[kind] < expected[kind] < unknown[kind]


def test_effort_that_shows_no_body_is_of_no_kind(robots, rng):
    """Friction and noise alone fit a current of any size; which unit they have is unknown."""
    twin = twin_of(robots, 1)
    motion = twin.dataset.motion
    effort = np.tanh(motion.dq / 0.01) + 0.2 * rng.normal(size=motion.dq.shape)
    effort[:, [0, 1, 2, 4, 5]] = 0.0
    meaning = judge_effort(twin.robot, [replace(twin.dataset, effort=effort)])
    assert meaning.kind is None
    assert 'no effort was seen to follow the torque of the bodies' in meaning.undecided


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


@pytest.mark.parametrize(('gravity', 'words'), [
    (0.0, r'accelerate lift by 2 m/s\^2 or more .* rad \(m\), .* takes 6 N, while'),
    (-9.81, r'with lift in .* says 29.4 and 29.4 N: .* rad \(m\), and move'),
])
def test_the_motion_that_decides_is_in_metres_where_a_joint_slides(gravity, words):
    """A lift carries 3 kg."""
    robot = make_robot_model(parse_urdf(robot_urdf(
        '<link name="ground"/>', link('carriage', 2.0), link('beam', 1.0, (0.2, 0.0, 0.0)),
        joint('lift', 'ground', 'carriage', 'prismatic'), joint('turn', 'carriage', 'beam'),
    ), 'lift'))
    assert re.search(words, _deciding_motion(robot.with_gravity([0.0, 0.0, gravity]), []))


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


def test_an_arm_without_gravity_has_no_third_kind():
    """Where every joint is upright, torque with and without gravity are one."""
    urdf = robot_urdf(
        '<link name="ground"/>', link('upper', centre=(0.2, 0.02, 0.0)),
        link('lower', centre=(0.15, 0.0, 0.0)), joint('one', 'ground', 'upper', axis=(0, 0, 1)),
        joint('two', 'upper', 'lower', axis=(0, 0, 1), xyz=(0.4, 0, 0)),
    )
    robot = make_robot_model(parse_urdf(urdf, 'flat'))
    twin = make_twin(robot, 1, 'Nm', 'fourier', rough=False)
    meaning = judge_effort(robot, [twin.dataset])
    assert 'Nm-without-gravity' not in meaning.likelihoods
    # Rounding errors of gravity are no poses to rest in.
    assert _deciding_motion(robot, []).startswith('accelerate one by 2 rad/s^2')
    on_a_wall = robot.with_gravity(gravity_of_mounting(np.pi / 2.0, 0.0, 0.0))
    assert 'Nm-without-gravity' in judge_effort(on_a_wall, [twin.dataset]).likelihoods


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


def test_what_is_unknown_is_weighed_to_one():
    """Prior weights of payloads are a distribution for every kind."""
    for kind in KINDS:
        assert sum(one.weight for one in nuisances(kind)) == pytest.approx(1.0)


def test_a_rest_is_one_sample_however_long():
    """Ten seconds of rest in one pose, then ten in another, at 100 Hz."""
    q = np.repeat([[0.0, 0.0], [1.0, 0.5]], 1000, axis=0)
    motion = Motion(q, np.zeros_like(q), np.zeros_like(q))
    np.testing.assert_allclose(sample_weights(motion, 0.01).sum(axis=0), 2.0)
    moving = replace(motion, dq=np.ones_like(q))
    # One for every correlation time of half a second.
    np.testing.assert_allclose(sample_weights(moving, 0.01).sum(axis=0), 40.0)
