# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque that no parameter can describe, against arms with a known one."""

from estimation.arm_problems import (
    arm_reduction, dataset_of, fourier_motion, observe_datasets, possible_parameters, torque_of,
)
import numpy as np
import pytest
from robot_identification.estimation import band, ESTIMATORS
from robot_identification.estimation.band import find_discrepancy
from robot_identification.model import harmonics, PositionSeries
from robot_identification.model.regressor import inertial_regressor, observation_matrix
from robot_identification.validation import BAND
import scipy.stats

ORDERS = PositionSeries().orders
K = 2 * len(ORDERS)
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


def discrepancy_of(arm, motion, coefficients):
    """Return the torque of series and of errors of gains, in this order joint by joint."""
    robot, _, theta = arm
    n = robot.n
    bodies = (inertial_regressor(robot, motion) @ theta[: 10 * n]).reshape(-1, n)
    return series(motion, coefficients[: n * K].reshape(n, K)) + coefficients[n * K:] * bodies


def fit(arm, motion, rng, coefficients):
    """Return estimate and rows from a noisy motion of an arm with a discrepancy."""
    robot, reduction, theta = arm
    tau = torque_of(robot, reduction, theta, motion) + discrepancy_of(arm, motion, coefficients)
    observations = observe_datasets(
        robot, reduction, [dataset_of(robot, motion, tau + NOISE * rng.normal(size=tau.shape))]
    )
    return ESTIMATORS['wls']().estimate(observations.factor()), observations


def draw(rng, n, series, gains):
    """Return coefficients of standard deviations [N m], [1]."""
    return np.append(series * rng.normal(size=n * K), gains * rng.normal(size=n))


def of_other_motion(arm, estimate, coefficients, found, motion):
    """Return squared errors of another motion, and what is expected of them, (N, n) each."""
    robot, reduction, theta = arm
    W = observation_matrix(robot, reduction.parameters, motion)[:, reduction.independent]
    truth = torque_of(robot, reduction, theta, motion)
    truth += discrepancy_of(arm, motion, coefficients)
    error = truth - (W @ estimate.theta).reshape(truth.shape)
    W = W.reshape(*truth.shape, -1)
    if found is None:
        return error**2, np.einsum('ijb,bc,ijc->ij', W, estimate.covariance, W)
    bodies = np.where(reduction.independent < 10 * robot.n, estimate.theta, 0.0)
    of_coefficients = found.columns(motion.q, (W @ bodies).reshape(-1, robot.n))
    columns = np.zeros((*truth.shape, len(found.second_moments)))
    for place, joint in enumerate(found.joint_of_coefficient):
        columns[:, joint, place] = of_coefficients[place]
    W = np.concatenate([W, columns], axis=2)
    b, of_discrepancy = reduction.rank, found.errors(np.linalg.cholesky(found.second_moments))
    covariance = of_discrepancy @ of_discrepancy.T
    covariance[:b, :b] += estimate.covariance
    return error**2, np.einsum('ijb,bc,ijc->ij', W, covariance, W)


@pytest.mark.parametrize(('of_series', 'of_gains'), [(3.0 * NOISE / 5**0.5, 0.0), (0.0, 0.03)])
def test_errors_of_another_motion_are_as_large_as_expected(arm, rng, of_series, of_gains):
    """
    Over 40 arms with torque of three times the noise, or gains that are 3 % wrong.

    Squares of errors over what is expected of them are one in the mean, which is known to a
    quarter by 40 arms. What is expected of the errors of the parameters alone is exceeded many
    times.
    """
    robot = arm[0]
    ratios, without = [], []
    for seed in range(40):
        coefficients = draw(rng, robot.n, of_series, of_gains)
        estimate, rows = fit(arm, fourier_motion(robot.n, seed), rng, coefficients)
        other = fourier_motion(robot.n, 1000 + seed)
        for found, into in ((find_discrepancy(estimate, rows), ratios), (None, without)):
            square, expected = of_other_motion(arm, estimate, coefficients, found, other)
            into.append(np.mean(square / expected, axis=0))
    ratio = np.mean(ratios, axis=0)
    assert np.all((ratio > 0.4) & (ratio < 1.8)), ratio
    assert np.mean(without) > 10.0


def test_what_parameters_absorb_is_the_change_of_their_estimate(arm, rng):
    """By estimates from the same rows with one coefficient more."""
    robot = arm[0]
    motion = fourier_motion(robot.n, 3)
    estimate, rows = fit(arm, motion, rng, draw(rng, robot.n, 3.0, 0.05))
    found = find_discrepancy(estimate, rows)
    assert (found.joints, found.of_gains) == (tuple(range(robot.n)), True)
    weights = np.repeat(estimate.weights[None], len(motion), axis=0)
    W = observation_matrix(robot, arm[1].parameters, motion)[:, arm[1].independent]
    bodies = np.where(arm[1].independent < 10 * robot.n, estimate.theta, 0.0)
    columns = found.columns(motion.q, (W @ bodies).reshape(-1, robot.n))
    for place, joint in enumerate(found.joint_of_coefficient):
        torque = np.zeros_like(weights)
        torque[:, joint] = columns[place]
        change = np.linalg.lstsq(W * weights.ravel()[:, None], (torque * weights).ravel())[0]
        # The rows are conditioned to some 1e3, and rounding is 1e-16.
        np.testing.assert_allclose(found.absorbed[:, place], change, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(('limit', 'half_width'), [
    (np.inf, scipy.stats.t(3.0).ppf(0.975)), (1.0, BAND),
])
def test_a_coefficient_that_is_not_shown_has_the_size_of_those_that_are(limit, half_width):
    """
    Of a prior whose variance three coefficients show: 95 % of Student's distribution with three.

    At its limit the variance is known, and the distribution normal.
    """
    truth, information = np.array([1.0, -3.0, 2.0]), 1.0e9
    _, covariance, mean = band._most_likely(
        (np.diag([information] * 3 + [0.0]), information * np.append(truth, 0.0)),
        np.zeros(4, dtype=int), np.array([1.0]), np.array([[0.0], [limit]]),
    )
    np.testing.assert_allclose(mean, np.append(truth, 0.0), rtol=1e-6)
    variance = min(np.mean(truth**2), limit)
    # The iteration ends at a relative change of 1 %.
    assert np.sqrt(covariance[3, 3]) == pytest.approx(np.sqrt(variance) * half_width / BAND, 0.01)
