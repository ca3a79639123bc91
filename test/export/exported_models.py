# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Models by hand, and what other programs make of them, for the tests of the exports."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from known_models import base_of
import numpy as np
from robot_identification.model import (
    IdentifiedModel, make_robot_model, Motion, parse_urdf, prior_inertial_parameters, SignalSource,
    standard_torque,
)


def model_of(robot, inertial, friction='viscous,coulomb,offset', **changes):
    """Return a model with these inertial parameters, and friction and rotors by number."""
    reduction = base_of(robot, friction, rotors=True)
    parameters = reduction.parameters
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = inertial
    theta[10 * robot.n:] = 0.1 * (1 + np.arange(parameters.size - 10 * robot.n))
    model = IdentifiedModel(
        robot, 'Nm', reduction, reduction.K @ theta, np.eye(reduction.rank), theta,
        'by hand', SignalSource(), {}, {},
    )
    return replace(model, **changes)


def changed_prior(robot):
    """Return possible inertial parameters that are not the description's."""
    share = np.linspace(1.2, 1.4, robot.n)
    return prior_inertial_parameters(robot) * np.repeat(share, 10)


def arm_with_everything():
    """Return an arm with all that exports have to tell apart."""
    # Prismatic and revolute joints, no axis along a frame's, a body fixed to a link, and joints
    # that do not move before, between and after those that do.
    return robot_urdf(
        link('ground'), link('rail', 6.0), link('tower', 4.0, rpy=(0.1, 0.2, 0.3)),
        link('box', 0.6), link('slider', 2.5), link('bracket', 0.4, (0.0, 0.01, 0.02)),
        link('hand', 1.2, (0.08, -0.02, 0.05)), link('camera', 0.3, (0.01, 0.0, 0.02)),
        '<link name="tool_frame"/>', link('finger', 0.1, (0.0, 0.01, 0.03)),
        joint('way', 'ground', 'rail', 'prismatic', (0, 1, 0), rpy=(0, 0.3, 0)),
        joint('turn', 'rail', 'tower', 'continuous', rpy=(0.2, 0, 0),
              limit='<limit velocity="4" effort="80"/>'),
        joint('mount', 'tower', 'box', 'fixed', xyz=(0.1, 0.2, 0), rpy=(0.4, 0, 0.1), limit=''),
        joint('slide', 'tower', 'slider', 'prismatic', (0.8, 0, 0.6), (0.1, 0, 0.25),
              (0, 0.4, 0.1), '<limit lower="-0.3" upper="0.4" velocity="1" effort="120"/>'),
        joint('swivel', 'slider', 'bracket', 'revolute', (0, 1, 0), (0, 0.1, 0), (0, 0, 0.2)),
        joint('tip', 'bracket', 'hand', 'revolute', (0, 0.6, 0.8), (0.2, 0.05, 0), (0.1, 0, 0.5)),
        joint('screws', 'hand', 'camera', 'fixed', xyz=(0, 0.1, 0), rpy=(0, 1.2, 0), limit=''),
        joint('centre', 'camera', 'tool_frame', 'fixed', xyz=(0, 0, 0.1), limit=''),
        joint('grip', 'hand', 'finger', 'prismatic', (1, 0, 0), xyz=(0, 0, 0.1)),
        name='everything',
    )


def everything():
    """Return that arm, three of its joints moving."""
    return make_robot_model(
        parse_urdf(arm_with_everything(), 'everything'), joints=['turn', 'slide', 'tip'],
        locked={'way': 0.4, 'swivel': 0.7, 'grip': -0.02}, gravity=[1.0, -2.0, -9.0],
    )


def exported_models(robots):
    """Return models whose exports are read again, by name."""
    arms = {
        'ur5': robots['ur5'].with_gravity([4.0, 0.0, -8.0]), 'youbot': robots['youbot'],
        'everything': everything(),
    }
    return {name: model_of(arm, changed_prior(arm)) for name, arm in arms.items()}


def random_motion(model, rng, samples=20):
    """Return states of an arm that have nothing to do with each other."""
    n = model.robot.n
    return Motion(*(rng.uniform(-1.5, 1.5, (samples, n)) for _ in range(3)))


def rigid_torque(model, motion, with_rotors=False):
    """Return the torques (N, n) of a model's bodies alone, or with the rotors."""
    theta = model.theta_consistent.copy()
    theta[10 * model.robot.n: theta.size if not with_rotors else -model.robot.n] = 0.0
    return standard_torque(model.robot, model.parameters, theta, motion)
