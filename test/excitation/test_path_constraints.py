# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Path constraints: what they say of a motion, and that their derivatives are the slopes of it."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.excitation.experiment import SineTimesCosine, SumOfJoints
from robot_identification.excitation.path_constraints import (
    SineCosineRule, SumRule, ToolSpeed, TorqueLimit, WorkspaceBox,
)
from robot_identification.model import Motion

INF = float('inf')
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
