# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction that grows with the load: the load is that of the bodies that are found.

MuJoCo moves bodies and rotors; friction is written out here and shares no code with the laws.
"""

from dataclasses import replace
from functools import lru_cache

from estimation.arm_problems import dataset_of, three_joint_urdf
import numpy as np
import pytest
from robot_identification.estimation import WeightedLeastSquares
from robot_identification.estimation.fitting import estimate_under_load, LOAD_TOLERANCE, observe
from robot_identification.model import (
    FrictionTerm, make_robot_model, Motion, parse_friction, parse_urdf, PLAIN_FRICTION,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

PERIOD = 0.01
SAMPLES = 2000


@lru_cache
def arm():
    """Return an arm of three joints, of the size of a shoulder, an elbow and a wrist."""
    return make_robot_model(parse_urdf(three_joint_urdf(), 'three joints'))


def dry(dq, width):
    return np.tanh(dq / width)


def load_and_direction(dq, load, temperature):
    """Friction that grows with the load, one that differs with direction, and a plain one."""
    one, two, three = dq.T
    return np.column_stack([
        3.0 * dry(one, 0.03) + 0.15 * np.abs(load[:, 0]) * dry(one, 0.03) + 4.0 * one,
        np.where(two > 0.0, 5.0 * dry(two, 0.02) + 5.0 * two, 2.5 * dry(two, 0.02) + 1.5 * two),
        0.8 * dry(three, 0.03) + 0.6 * three + 0.1,
    ])


@lru_cache
def motion_of(seed):
    """Return a motion of several sines a joint, warming from 20 to 35 deg C but for the last."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(SAMPLES)
    w = 2.0 * np.pi * np.array([0.08, 0.17, 0.29, 0.41])
    size = 0.3 * rng.normal(size=(3, 4))
    angle = w * t[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    warm = np.column_stack([20.0 + 15.0 * t / t[-1]] * 2 + [np.full(SAMPLES, 25.0)])
    return Motion(
        np.sum(size * np.sin(angle), axis=2), np.sum(size * w * np.cos(angle), axis=2),
        -np.sum(size * w**2 * np.sin(angle), axis=2), warm,
    )


@lru_cache
def true_torque(seed, friction):
    """Return the noise-free torque of an arm that is not quite the URDF's."""
    robot, motion = arm(), motion_of(seed)
    truth = replace(
        prior_truth(robot), mass_factor=np.array([1.2, 0.85, 1.1]),
        reflected_inertia=np.array([0.5, 0.3, 0.05]),
    )
    load = inverse_dynamics(robot, truth, motion)
    return load + friction(motion.dq, load, motion.temperature)


def recording(seed, friction, noise, noise_seed=0):
    tau = true_torque(seed, friction)
    rng = np.random.default_rng([seed, noise_seed])
    return dataset_of(
        arm(), motion_of(seed), tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    )


def test_the_load_is_that_of_the_bodies_found():
    """Bodies are up to 20 % off the URDF, so that its load is wrong."""
    # Passes go on until none is. One more pass changes nothing, and friction per load is found to
    # 2 %.
    dataset = recording(0, load_and_direction, noise=0.002)
    laws = [parse_friction(f'{PLAIN_FRICTION},load'), parse_friction('asymmetric'),
            parse_friction(PLAIN_FRICTION)]
    terms = [
        FrictionTerm(joint, law if not law.shape else replace(
            law, width=0.02 if joint == 1 else 0.03
        ))
        for position in range(4) for joint, own in enumerate(laws)
        for law in own[position: position + 1]
    ]
    problem = observe(arm(), terms, [dataset], [dataset.fitted]).factor()
    estimator = WeightedLeastSquares()
    first = estimator.estimate(problem)
    _, settled = estimate_under_load(problem, estimator)
    assert not settled.notes
    again = estimator.estimate(problem.observations.factor(settled.unknowns))
    change = np.linalg.norm(again.theta - settled.theta) / np.linalg.norm(settled.theta)
    assert change < LOAD_TOLERANCE
    at = problem.reduction.names.index('fcl1')
    assert settled.theta[at] == pytest.approx(0.15, rel=0.02)
    assert abs(first.theta[at] - 0.15) > 3.0 * abs(settled.theta[at] - 0.15)
