# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque of the joint positions that a model lacks, against arms with a known one."""

from estimation.arm_problems import (
    arm_reduction, dataset_of, fourier_motion, observe_datasets, possible_parameters, torque_of,
)
import numpy as np
import pytest
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.uncertainty.position_torque import find_position_torque
from robot_identification.model import harmonics, PositionSeries
from robot_identification.model.regressor import observation_matrix

ORDERS = PositionSeries().orders
NOISE = 0.5  # standard deviation of the torque [N m]


@pytest.fixture(scope='module')
def arm(robots):
    """Return an arm of three joints, its base parameters and their values."""
    robot = robots['mixed']
    reduction = arm_reduction(robot, 'viscous,coulomb,offset')
    return robot, reduction, possible_parameters(
        robot, reduction.parameters, np.random.default_rng(5)
    )


def series(motion, coefficients):
    """Return torque of the positions (N, n) for coefficients (n, K)."""
    return np.stack([
        harmonics(motion.q[:, joint], ORDERS) @ own for joint, own in enumerate(coefficients)
    ], axis=1)


def fit(arm, motion, rng, coefficients):
    """Return estimate and rows from a noisy motion of an arm with torque of the positions."""
    robot, reduction, theta = arm
    tau = torque_of(robot, reduction, theta, motion) + series(motion, coefficients)
    observations = observe_datasets(
        robot, reduction, [dataset_of(robot, motion, tau + NOISE * rng.normal(size=tau.shape))]
    )
    return ESTIMATORS['wls']().estimate(observations.factor()), observations


def of_other_motion(arm, estimate, coefficients, found, motion):
    """Return squared errors of another motion, and what is expected of them, (N, n) each."""
    robot, reduction, theta = arm
    W = observation_matrix(robot, reduction.parameters, motion)[:, reduction.independent]
    truth = torque_of(robot, reduction, theta, motion) + series(motion, coefficients)
    error = truth - (W @ estimate.theta).reshape(truth.shape)
    W = W.reshape(*truth.shape, -1)
    if found is None:
        return error**2, np.einsum('ijb,bc,ijc->ij', W, estimate.covariance, W)
    columns = np.zeros((*truth.shape, len(found.second_moments)))
    for place, joint in enumerate(found.joint_of_coefficient):
        columns[:, joint, place] = found.columns(motion.q)[place]
    W = np.concatenate([W, columns], axis=2)
    return error**2, np.einsum('ijb,bc,ijc->ij', W, found.beside(estimate.covariance), W)


def test_errors_of_another_motion_are_as_large_as_expected(arm, rng):
    """
    Over 40 arms whose torque of the positions is three times the noise.

    The mean of 40 squares of each joint is known to a fifth, and what is expected of a single arm
    scatters as much: a factor of 1.7 is three standard errors of both. The parameters' own errors
    are a fiftieth of it at most, so that without the torque this would fail by far.
    """
    robot = arm[0]
    squares, expected, of_parameters = [], [], []
    for seed in range(40):
        coefficients = rng.normal(size=(robot.n, 2 * len(ORDERS))) * 3.0 * NOISE / 5**0.5
        estimate, rows = fit(arm, fourier_motion(robot.n, seed), rng, coefficients)
        found = find_position_torque(estimate, rows)
        other = fourier_motion(robot.n, 1000 + seed)
        square, size = of_other_motion(arm, estimate, coefficients, found, other)
        squares.append(square.mean(axis=0))
        expected.append(size.mean(axis=0))
        of_parameters.append(
            of_other_motion(arm, estimate, coefficients, None, other)[1].mean(axis=0)
        )
    ratio = np.mean(expected, axis=0) / np.mean(squares, axis=0)
    assert np.all((ratio > 1.0 / 1.7) & (ratio < 1.7)), ratio
    assert np.all(np.mean(of_parameters, axis=0) < 0.1 * np.mean(squares, axis=0))


def test_of_an_arm_without_it_noise_makes_little(arm, rng):
    """As many coefficients as parameters: they add about as much as these have anyway."""
    robot = arm[0]
    none = np.zeros((robot.n, 2 * len(ORDERS)))
    ratios = []
    for seed in range(20):
        motion = fourier_motion(robot.n, seed)
        estimate, rows = fit(arm, motion, rng, none)
        (_, bare), (_, whole) = (
            of_other_motion(arm, estimate, none, found, motion)
            for found in (None, find_position_torque(estimate, rows))
        )
        ratios.append(whole.mean() / bare.mean())
    assert np.median(ratios) < 3.0


def test_what_parameters_absorb_is_the_change_of_their_estimate(arm, rng):
    """By estimates from the same rows with one coefficient more, joint by joint."""
    robot = arm[0]
    motion = fourier_motion(robot.n, 3)
    truth = rng.normal(size=(robot.n, 2 * len(ORDERS)))
    draws = rng.bit_generator.state
    estimate, rows = fit(arm, motion, rng, truth)
    found = find_position_torque(estimate, rows)
    assert found.joints == tuple(range(robot.n))
    weights = np.repeat(estimate.weights[None], len(motion), axis=0).ravel()
    W = observation_matrix(robot, arm[1].parameters, motion)[:, arm[1].independent]
    for place in (0, 7, 14, 21, 29):
        one = np.zeros(truth.size)
        one[place] = 1.0
        rng.bit_generator.state = draws
        change = np.linalg.lstsq(
            W * weights[:, None], series(motion, one.reshape(truth.shape)).ravel() * weights
        )[0]
        # The rows are conditioned to some 1e3, and rounding is 1e-16.
        np.testing.assert_allclose(found.absorbed[:, place], change, rtol=1e-6, atol=1e-9)
