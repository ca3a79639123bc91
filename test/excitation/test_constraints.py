# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of a motion: between its samples too, and by sums over its harmonics."""

from dataclasses import replace

from builders import two_link_urdf
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError, UsageError
from robot_identification.excitation import (
    broken_limits, certify, ExtraLimits, find_experiment, FourierParametrization, hardware_limits,
    load_experiment, measure_limit_use, motion_limits, MotionLimits, refine_limit_uses,
    state_constraints, Trajectory,
)
from robot_identification.excitation.experiment import (
    FrameBox, FrameSpeed, SineTimesCosine, SumOfJoints,
)
from robot_identification.excitation.path_constraints import (
    SineCosineRule, SumRule, ToolSpeed, TorqueLimit, WorkspaceBox,
)
from robot_identification.execution.checks import check_executable
from robot_identification.files import dump_yaml
from robot_identification.model import load_robot
from robot_identification.model.regressor import Motion

INF = float('inf')
FOURIER = FourierParametrization(4, 5.0)


@pytest.fixture(scope='module')
def experiment():
    """Return the shipped experiment, in a cell where nothing is within reach."""
    demo = load_experiment(find_experiment('demo'))
    return replace(demo, form=FOURIER, collision=False)


@pytest.fixture(scope='module')
def coefficients(experiment):
    """Return a gentle motion about the middle of the windows of the shipped experiment."""
    rng = np.random.default_rng(5)
    centre = [0.5 * sum(window) for window in experiment.window.values()]
    return np.column_stack([centre, 0.01 * rng.standard_normal((6, FOURIER.n_coefficients - 1))])


def limits_of(n, **magnitudes):
    """Return limits of n joints that are no limits but for those given."""
    free = {kind: np.full(n, INF) for kind in ('velocity', 'acceleration', 'torque', 'jerk')}
    return MotionLimits(np.full(n, -7.0), np.full(n, 7.0), **{
        **free, **{kind: np.full(n, value) for kind, value in magnitudes.items()},
    })


def test_an_experiment_tightens_limits_and_never_widens_them(ur5, experiment):
    """As if the robot's YAML said so: margins are taken off what is left."""
    narrow = replace(experiment, limits={
        'velocity': 2.0, 'acceleration': {'elbow_joint': 3.0}, 'torque': 1000.0,
    }, jerk={'wrist_1_joint': 40.0})
    limits = motion_limits(ur5, narrow)
    np.testing.assert_allclose(limits.velocity, 0.6 * 2.0)
    usual = 0.4 * ur5.limits.acceleration
    np.testing.assert_allclose(limits.acceleration, np.where(np.arange(6) == 2, 0.4 * 3.0, usual))
    np.testing.assert_allclose(limits.torque, 0.7 * ur5.limits.effort)
    np.testing.assert_array_equal(limits.jerk, np.where(np.arange(6) == 3, 40.0, INF))
    assert limits.limits_jerk
    assert not motion_limits(ur5, experiment).limits_jerk
    np.testing.assert_array_equal(
        motion_limits(ur5, replace(experiment, jerk=50.0)).jerk, np.full(6, 50.0)
    )
    hard = hardware_limits(ur5, narrow.extra_limits)
    np.testing.assert_array_equal(hard.velocity, np.full(6, 2.0))
    for changes in {'jerk': {'elbow': 1.0}}, {'limits': {'velocity': {'elbow': 1.0}}}:
        with pytest.raises(UsageError, match='names the joint elbow; ur5 has the joints'):
            motion_limits(ur5, replace(experiment, **changes))


def test_limits_of_a_urdf_of_version_1_2_are_kept(experiment, tmp_path):
    """A robot YAML that states an acceleration wins; an experiment can only narrow the jerk."""
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(two_link_urdf(limit=(
        '<limit lower="-2" upper="2" velocity="3" effort="60" acceleration="9" deceleration="6" '
        'jerk="70"/>'
    )).replace('<robot ', '<robot version="1.2" '))
    robot = load_robot(urdf=urdf)
    np.testing.assert_array_equal(robot.limits.acceleration, [6.0, INF])
    limits = hardware_limits(robot)
    np.testing.assert_array_equal(limits.acceleration, [6.0, INF])
    np.testing.assert_array_equal(limits.jerk, [70.0, INF])
    narrowed = hardware_limits(robot, ExtraLimits(jerk=80.0))
    np.testing.assert_array_equal(narrowed.jerk, [70.0, 80.0])
    free = replace(experiment, window={})
    np.testing.assert_array_equal(motion_limits(robot, free).jerk, [70.0, INF])
    (tmp_path / 'arm.yaml').write_text(dump_yaml({
        'schema_version': 1, 'name': 'arm', 'description': '', 'urdf': 'arm.urdf',
        'joints': {'one': {'acceleration': 12.0}, 'two': {}},
    }))
    stated = hardware_limits(load_robot(str(tmp_path / 'arm.yaml')))
    np.testing.assert_array_equal(stated.acceleration, [12.0, INF])
    np.testing.assert_array_equal(stated.jerk, [70.0, INF])


def motion_of(form, coefficients):
    joints = tuple(f'joint {k}' for k in range(len(coefficients)))
    return Trajectory('made_up', joints, form, coefficients, 1, {})


def test_extrema_between_samples_are_found(ur5, coefficients):
    """From 80 samples of a period the largest of 40001, and hardly more, of every kind."""
    constraints = state_constraints(ur5, ExtraLimits(
        workspace=(FrameBox('tool0', (-INF,) * 3, (INF, INF, 0.8)),),
        tool_speed=FrameSpeed('tool0', 0.343),
    ))
    limits = limits_of(6, velocity=2.0, acceleration=5.0, torque=20.0, jerk=30.0)
    coarse, fine = (np.linspace(0.0, 5.0, count) for count in (81, 40_001))
    uses = refine_limit_uses(ur5, limits, motion_of(FOURIER, coefficients), coarse, constraints)
    motion = Motion(*FOURIER.sample(coefficients, fine))
    expected = {
        (use.kind, use.joint): use.share for use in measure_limit_use(ur5, limits, fine, motion)
    }
    jerks = np.abs(FOURIER.jerk(coefficients, fine)).max(axis=0) / 30.0
    expected |= {('jerk', joint): jerk for joint, jerk in zip(ur5.joint_names, jerks, strict=True)}
    for constraint in constraints:
        for label, shares in zip(constraint.labels(), constraint.shares(motion).T, strict=True):
            expected[constraint.kind, label] = shares.max()
    assert {(use.kind, use.joint) for use in uses} == set(expected)
    for use in uses:
        share = expected[use.kind, use.joint]
        # 40001 samples miss an extremum by the square of 1e-3 of a turn at the most, 1e-6 of it.
        assert share - 1e-12 <= use.share <= share * (1.0 + 1e-6) + 1e-12, use
        # The value is the one at that instant.
        if use.kind == 'velocity':
            joint = ur5.joint_names.index(use.joint)
            at = FOURIER.sample(coefficients, np.array([use.time]))[1][0, joint]
            assert at == pytest.approx(use.value, abs=1e-12)


def test_what_is_not_a_number_is_broken(robots):
    coefficients = np.full((3, FOURIER.n_coefficients), np.nan)
    uses = refine_limit_uses(
        robots['mixed'], limits_of(3, velocity=1.0, jerk=1.0), motion_of(FOURIER, coefficients),
        np.linspace(0.0, 5.0, 101),
    )
    words = broken_limits(uses)
    for kind in ('position', 'velocity', 'jerk'):
        assert sum(text.startswith(f'{kind} of') for text in words) == 3


EXTRA = ExtraLimits(
    jerk=200.0, limits={'velocity': 3.0},
    workspace=(FrameBox('tool0', (-1.0, -INF, 0.0), (1.0, INF, INF)),),
    tool_speed=FrameSpeed('tool0', 2.0),
    rules=(
        SumOfJoints({'shoulder_lift_joint': 1.0, 'elbow_joint': 1.0}, 1.5708, -2.4, 2.4),
        SineTimesCosine('wrist_1_joint', 'wrist_2_joint', 0.9),
    ),
)
# What is narrowed in the certificate, and how the runner puts its refusal.
NARROWED = {
    'jerk': ({'jerk': 0.1}, 'jerk of .* rad/s.3 at'),
    'workspace': (
        {'workspace': {'tool0': {'upper': [None, None, -1.0]}}},
        'workspace of tool0 z max reaches .* m at .*, the limit is -1',
    ),
    'tool speed': (
        {'tool_speed': {'frame': 'tool0', 'limit': 0.001}}, 'tool_speed of tool0 reaches'
    ),
    'rules': (
        {'rules': [{'kind': 'sum', 'joints': {'elbow_joint': 1.0}, 'upper': 0.0}]},
        r'rule of 1 elbow_joint \+ 0 max reaches',
    ),
}


@pytest.fixture(scope='module')
def certified(ur5, experiment, coefficients):
    """Return a motion with a certificate about everything that can be limited."""
    trajectory = Trajectory('ur5', ur5.joint_names, FOURIER, coefficients, 2, {})
    return certify(ur5, replace(experiment, **vars(EXTRA)), trajectory, {})


def test_a_certificate_says_what_else_is_kept(ur5, experiment, certified, coefficients):
    certificate = certified.certificate
    assert list(certificate['limits']) == [
        'position', 'velocity', 'acceleration', 'jerk', 'torque', 'workspace', 'tool_speed', 'rule'
    ]
    assert all(use['share'] <= 1.0 for use in certificate['limits'].values())
    assert set(certificate['further_limits']) == set(vars(EXTRA))
    check_executable(ur5, certified)
    plain = certify(
        ur5, experiment, Trajectory('ur5', ur5.joint_names, FOURIER, coefficients, 1, {}), {}
    )
    assert 'further_limits' not in plain.certificate
    check_executable(ur5, plain)


@pytest.mark.parametrize(('entry', 'message'), NARROWED.values(), ids=NARROWED)
def test_the_runner_checks_the_further_limits_of_a_certificate(ur5, certified, entry, message):
    narrowed = certified.with_certificate({**certified.certificate, 'further_limits': entry})
    with pytest.raises(UnsafeMotionError, match=message):
        check_executable(ur5, narrowed)


NAMES = ('q', 'dq', 'ddq')


def random_motion(rng, n, samples=7):
    """Return states without rhyme or reason."""
    return Motion(*rng.uniform(-1.5, 1.5, (3, samples, n)))


CONSTRAINTS = {
    'torque': lambda robot: TorqueLimit(robot, np.where(np.arange(robot.n) == 1, INF, 20.0)),
    'workspace': lambda robot: WorkspaceBox(
        robot, robot.pinocchio.frames[-1].name, [-0.4, -INF, 0.1], [0.6, INF, INF]
    ),
    'tool speed': lambda robot: ToolSpeed(robot, robot.pinocchio.frames[-1].name, 0.7),
    'sum': lambda robot: SumRule(
        robot, SumOfJoints({robot.joint_names[1]: 1.0, robot.joint_names[2]: -0.5}, 0.3, -1.0, 2.0)
    ),
    'sine and cosine': lambda robot: SineCosineRule(
        robot, SineTimesCosine(robot.joint_names[0], robot.joint_names[2], 0.15)
    ),
    'sine and cosine of one joint': lambda robot: SineCosineRule(
        robot, SineTimesCosine(robot.joint_names[2], robot.joint_names[2], 0.15)
    ),
}


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
@pytest.mark.parametrize('make', CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_derivatives_are_slopes(robots, rng, name, make):
    """By central differences, of position, velocity and acceleration."""
    check_slopes(robots[name], rng, make)


def check_slopes(robot, rng, make):
    constraint, motion = make(robot), random_motion(rng, robot.n)
    seen = constraint.evaluate(motion)
    shape = (len(motion), len(constraint.labels()))
    assert seen.shares.shape == shape == (len(motion), constraint.scale.size)
    np.testing.assert_allclose(seen.shares, constraint.shares(motion), rtol=1e-12, atol=1e-12)
    for attribute in NAMES:
        by = getattr(seen, f'by_{attribute}')
        assert by.shape == (*shape, robot.n)
        for joint in range(robot.n):
            step = 1e-5 * (np.arange(robot.n) == joint)
            plus, minus = (
                constraint.shares(replace(motion, **{attribute: getattr(motion, attribute) + d}))
                for d in (step, -step)
            )
            # Good to 1e-10 of the third derivative, some hundreds, and 1e-11 of the value.
            np.testing.assert_allclose(
                by[:, :, joint], (plus - minus) / 2e-5, rtol=1e-7, atol=1e-7
            )


def test_rules_of_tika(ur5):
    """Equation 30 of Tika et al. 2020, at its borders."""
    total = SumRule(ur5, SumOfJoints(
        {'shoulder_lift_joint': 1.0, 'elbow_joint': 1.0}, np.pi / 2, -0.75 * np.pi, 0.75 * np.pi
    ))
    product = SineCosineRule(ur5, SineTimesCosine('wrist_1_joint', 'wrist_2_joint', 0.15))
    q = np.zeros((3, 6))
    q[:, 1], q[:, 2] = [-np.pi / 2, 0.0, -np.pi], [0.0, np.pi / 4, -np.pi / 4]
    q[:, 3], q[:, 4] = [np.pi / 2, np.pi / 2, -np.pi / 2], [np.arccos(-0.15), np.pi / 2, 0.0]
    motion = Motion(q, 0.0 * q, 0.0 * q)
    np.testing.assert_allclose(total.shares(motion), [[0, 0], [-1, 1], [1, -1]], atol=1e-15)
    np.testing.assert_allclose(product.shares(motion)[:, 0], [1.0, 0.0, -1 / 0.15], atol=1e-14)
    assert total.labels()[0] == '1 shoulder_lift_joint + 1 elbow_joint + 1.571 min'
    assert product.labels() == ('sin(wrist_1_joint) |cos(wrist_2_joint)|',)
