# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Path constraints: what they say of a motion, and that their derivatives are the slopes of it."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.excitation.experiment import (
    SineTimesCosine, SumOfJoints,
)
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.path_constraints import (
    REST_SHARE, SineCosineRule, SumRule, ToolSpeed, TorqueLimit, WorkspaceBox,
)
from robot_identification.model import make_robot_model, Motion, parse_urdf

INF = float('inf')
NAMES = ('q', 'dq', 'ddq')
# A planar arm: lengths, masses and moments of inertia of two links, centres half way out.
L1, L2, M1, M2, J1, J2, G = 0.5, 0.3, 2.0, 1.0, 0.02, 0.01, 9.81
LINK = (
    '<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="{2}"/>'
    '<inertia ixx="{3}" iyy="{3}" izz="{3}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="{3} 0 0"/><axis xyz="0 0 1"/>'
    '<limit lower="-6" upper="6" effort="28" velocity="3"/></joint>'
)
PLANAR = (
    '<robot name="planar"><link name="base"/>'
    + LINK.format('upper', L1 / 2, M1, J1) + JOINT.format('a', 'base', 'upper', 0, 'revolute')
    + LINK.format('lower', L2 / 2, M2, J2) + JOINT.format('b', 'upper', 'lower', L1, 'revolute')
    + '<link name="tip"/>' + JOINT.format('tip_joint', 'lower', 'tip', L2, 'fixed')
    + '</robot>'
)


@pytest.fixture(scope='module')
def planar():
    """Return an arm in a vertical plane, y upwards."""
    return make_robot_model(parse_urdf(PLANAR, 'planar'), gravity=[0.0, -G, 0.0])


@pytest.fixture(scope='module')
def experiment():
    return load_experiment(find_experiment('demo'))


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


def test_the_tip_of_a_planar_arm(planar, rng):
    """Place and speed by hand; the axis that is left open is not limited."""
    motion = random_motion(rng, 2)
    (q1, q2), (v1, v2), _ = (getattr(motion, name).T for name in NAMES)
    x, y = L1 * np.cos(q1) + L2 * np.cos(q1 + q2), L1 * np.sin(q1) + L2 * np.sin(q1 + q2)
    box = WorkspaceBox(planar, 'tip', [-0.2, -INF, -INF], [0.6, 0.7, INF])
    assert box.labels() == ('tip x min', 'tip x max', 'tip y max')
    expected = np.stack([(0.2 - x) / 0.4, (x - 0.2) / 0.4, 1.0 + y - 0.7], axis=1)
    np.testing.assert_allclose(box.shares(motion), expected, atol=1e-12)
    # At share 1 a side is where it was said to be.
    np.testing.assert_allclose(box.zero + box.scale, [-0.2, 0.6, 0.7], atol=1e-15)
    by = np.array([[-y, -L2 * np.sin(q1 + q2)], [x, L2 * np.cos(q1 + q2)]])
    speed = np.hypot(*np.einsum('ijk,jk->ik', by, np.stack([v1, v2])))
    shares = ToolSpeed(planar, 'tip', 0.25).shares(motion)[:, 0]
    # Never less than the speed, and at the limit by half the square of REST_SHARE more.
    assert np.all(shares >= speed / 0.25)
    np.testing.assert_allclose(shares, np.hypot(speed / 0.25, REST_SHARE), rtol=1e-13)


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
