# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Gradients through the observation matrix, against Pinocchio's RNEA derivatives and slopes."""

from dataclasses import replace

from builders import joint, link, robot_urdf
import numpy as np
import pytest
from robot_identification.model import (
    gravity_of_mounting, make_robot_model, make_standard_parameters, Motion, observation_matrix,
    parse_friction, parse_urdf, RegressorGradient,
)

NAMES = ('q', 'dq', 'ddq')
MIXED_AXES = (0.0, 0.6, 0.8)


def branched():
    """Return an arm with two branches of a turning and a sliding joint each, on a turning one."""
    def arm(side, y):
        return (
            link(f'{side}_upper'), link(f'{side}_hand', 0.7, (0.05, 0.02, -0.04)),
            joint(f'{side}_elbow', 'body', f'{side}_upper', xyz=(0.1, y, 0.2), rpy=(0.3, 0, y)),
            joint(f'{side}_rail', f'{side}_upper', f'{side}_hand', 'prismatic', MIXED_AXES),
        )

    return make_robot_model(parse_urdf(robot_urdf(
        link('ground'), link('body', 5.0), joint('waist', 'ground', 'body', axis=(0.8, 0, -0.6)),
        *arm('left', 0.3), *arm('right', -0.3),
    ), 'branched'))


ARMS = {
    'ur5': lambda robots: robots['ur5'],
    'on a wall': lambda robots: robots['ur5'].with_gravity(gravity_of_mounting(1.2, 0.4, 0.0)),
    'youbot': lambda robots: robots['youbot'],
    'mixed': lambda robots: robots['mixed'],
    'branched': lambda robots: branched(),
}
EACH_ARM = pytest.mark.parametrize('make', ARMS.values(), ids=ARMS)


def random_motion(rng, n, samples=5):
    """Return unrelated samples in the range of lively motions; some joints are at rest."""
    motion = Motion(
        rng.uniform(-3, 3, (samples, n)), rng.uniform(-3, 3, (samples, n)),
        rng.uniform(-9, 9, (samples, n)),
    )
    motion.dq[0] = 0.0
    return motion


def gradients(robot, parameters, motion, weights):
    """Return the gradient of ``sum(weights * W)`` by position, velocity and acceleration."""
    gradient = RegressorGradient(robot, parameters)
    return gradient.gradient(gradient.pass_forward(motion), weights)


@EACH_ARM
@pytest.mark.parametrize('friction', ['coulomb_sign,viscous,offset', 'stribeck,viscous'])
def test_all_columns_against_differences(robots, rng, make, friction):
    """Central differences of the observation matrix, friction and rotor columns with it."""
    # A step of 1e-5 is good to 1e-10 of the third derivative, which with 3 rad/s is some hundred
    # times the value, and to 1e-11 of the value. The dry friction of `stribeck` turns within 0.01
    # rad/s: velocities stay away from there, but for those at rest of `coulomb_sign`, whose jump
    # is no slope.
    robot = make(robots)
    parameters = make_standard_parameters(robot.n, parse_friction(friction), True)
    motion = random_motion(rng, robot.n)
    if friction.startswith('stribeck'):
        motion.dq[:] = np.copysign(np.abs(motion.dq) + 0.5, motion.dq)
    weights = rng.standard_normal((motion.q.size, parameters.size))
    found = gradients(robot, parameters, motion, weights)
    for name, by in zip(NAMES, found, strict=True):
        assert by.shape == motion.q.shape
        expected = np.empty_like(by)
        for i in range(robot.n):
            step = 1e-5 * (np.arange(robot.n) == i)
            if name == 'dq':
                # What rests for `coulomb_sign` rests up to 1e-6 rad/s.
                step = np.where(motion.dq[:, i:i + 1] == 0.0, 0.05 * step, step)
            above, below = (
                observation_matrix(robot, parameters, replace(
                    motion, **{name: getattr(motion, name) + side * step}
                )) for side in (1.0, -1.0)
            )
            rows = (weights * (above - below)).reshape(len(motion), -1).sum(axis=1)
            expected[:, i] = rows / (2.0 * np.sum(step * np.ones_like(motion.q), axis=1))
        np.testing.assert_allclose(by, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
