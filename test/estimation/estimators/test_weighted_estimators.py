# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Weighted, limit-weighted and generalized least squares against what they must equal."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, NOISE, noisy_problem, possible_parameters,
    torque_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.estimation import solve_weighted, WeightedLeastSquares
from robot_identification.estimation.estimators.generalized import (
    gather_rows, GeneralizedLeastSquares,
)
from robot_identification.estimation.estimators.limit_weighted import LimitWeightedLeastSquares
from robot_identification.estimation.estimators.ordinary import OrdinaryLeastSquares
from robot_identification.estimation.rows import JointRows, ObservationBlock
from robot_identification.estimation.solving import least_squares, propagate, solve_unknowns
from robot_identification.model import make_robot_model, observation_matrix, parse_urdf

# Joints that are disturbed together: correlations .8 .5 .6.
TOGETHER = np.array([[1.0, 0.8, 0.5], [0.8, 1.0, 0.6], [0.5, 0.6, 1.0]])
COVARIANCE = TOGETHER * np.outer(NOISE, NOISE)


def problem_of(arm, reduction, seed, samples=300, covariance=COVARIANCE):
    """Return a problem whose joints have correlated noise, and the true base parameters."""
    root = np.linalg.cholesky(covariance).T
    problem, theta = noisy_problem(
        arm, reduction, seed, samples, lambda rng, shape: rng.normal(size=shape) @ root
    )
    return problem, reduction.K @ theta


def rows_of(problem):
    """Return the whole observation matrix (N, n, b) and torques (N, n) in another way."""
    observations = problem.observations
    dataset = observations.data[0].dataset
    W = observation_matrix(observations.robot, problem.reduction.parameters, dataset.motion)
    return W.reshape(len(dataset), problem.n, -1)[:, :, problem.reduction.independent], \
        dataset.effort


@given(seed=st.integers(0, 2**32 - 1))
def test_least_squares_are_numpys(seed):
    """Columns a millionfold apart: 1e-9 of each."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-3, 3, 6)
    R, z = rng.normal(size=(20, 6)) * units, rng.normal(size=20)
    expected = np.linalg.lstsq(R / units, z, rcond=None)[0]
    np.testing.assert_allclose(least_squares(R, z) * units, expected, rtol=1e-9, atol=1e-12)
    covariance = propagate(R, np.full(20, 0.5)) * np.outer(units, units)
    inverse = np.linalg.inv((R / units).T @ (R / units))
    np.testing.assert_allclose(covariance, 0.25 * inverse, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize('wrong', [
    np.column_stack([np.arange(5.0), 3.0 * np.arange(5.0)]),
    np.column_stack([np.arange(5.0), np.zeros(5)]),
])
def test_dependent_columns_are_no_problem_to_solve(wrong):
    with pytest.raises(np.linalg.LinAlgError):
        least_squares(wrong, np.ones(5))


def test_no_unknowns_have_an_empty_solution():
    assert least_squares(np.zeros((4, 0)), np.ones(4)).shape == (0,)


def test_reweighting_is_solving_again(arm, reduction):
    """Three rounds by full solutions give the same: weights from sigma, floor out of reach."""
    problem, _ = problem_of(arm, reduction, 1)
    expected = solve_weighted(problem, np.ones(3))
    for _ in range(3):
        expected = solve_weighted(problem, 1.0 / expected.sigma)
    estimate = WeightedLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, expected.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(estimate.weights, expected.weights, rtol=1e-9)


def test_limits_are_weights(arm, reduction):
    """Raviola's weights as row scaling: those of all rows over the limits, by NumPy."""
    problem, _ = problem_of(arm, reduction, 2)
    limits = (80.0, 120.0, 12.0)
    estimate = LimitWeightedLeastSquares(torque_limits=limits).estimate(problem)
    W, tau = rows_of(problem)
    scaled = (W / np.array(limits)[:, None]).reshape(-1, reduction.rank)
    expected = np.linalg.lstsq(scaled, (tau / limits).ravel(), rcond=None)[0]
    np.testing.assert_allclose(estimate.theta, expected, atol=1e-9 * np.abs(expected).max())
    # A gear ratio common to all joints changes nothing.
    geared = LimitWeightedLeastSquares(tuple(101.0 * limit for limit in limits))
    np.testing.assert_allclose(
        geared.estimate(problem).theta, estimate.theta, rtol=1e-10, atol=1e-13
    )


def test_limits_are_the_robots_by_default(robots):
    arm = robots['ur5']
    reduction = arm_reduction(arm)
    motion = fourier_motion(6, 0, 100)
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(0))
    problem = arm_problem(arm, reduction, motion, torque_of(arm, reduction, theta, motion) + 1.0)
    plain = LimitWeightedLeastSquares().estimate(problem)
    given_limits = LimitWeightedLeastSquares(tuple(arm.limits.effort)).estimate(problem)
    np.testing.assert_array_equal(plain.theta, given_limits.theta)
    np.testing.assert_array_equal(plain.weights, 1.0 / arm.limits.effort)


def test_limits_must_be_there(arm, reduction):
    """A joint without a stated limit is named, and so is a wrong number of them."""
    problem, _ = problem_of(arm, reduction, 3)
    limits = replace(arm.limits, effort=np.array([80.0, 120.0, np.inf]))
    problem.observations.robot = replace(arm, limits=limits)
    with pytest.raises(UsageError, match=r'torque limit of tip is inf N m.*--estimator wls'):
        LimitWeightedLeastSquares().estimate(problem)
    with pytest.raises(UsageError, match='2 torque limits for 3 joints'):
        LimitWeightedLeastSquares((1.0, 2.0)).estimate(problem)
    with pytest.raises(UsageError, match='limit of joint 2 is -2 N m'):
        LimitWeightedLeastSquares((1.0, -2.0))


def generalized_oracle(W, tau, covariance):
    """Return the generalized least-squares solution by whitening every sample."""
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    rows = (root @ W).reshape(-1, W.shape[2])
    scale = np.linalg.norm(rows, axis=0)
    return np.linalg.lstsq(rows / scale, (tau @ root.T).ravel(), rcond=None)[0] / scale


@pytest.mark.parametrize('covariance', [COVARIANCE, np.diag(NOISE**2)], ids=['full', 'diagonal'])
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_generalized_least_squares_whiten_samples(arm, reduction, covariance, seed):
    """From the factors of all joints side by side: as sample by sample, to 1e-8."""
    # Without correlation the oracle is weighted least squares (property P3).
    problem, _ = problem_of(arm, reduction, seed, 120)
    rows = gather_rows(problem, problem.observations, np.zeros(problem.size))
    found = solve_unknowns(rows.whiten(covariance), 1.0 / NOISE)
    expected = generalized_oracle(*rows_of(problem), covariance)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_residual_covariance_is_that_of_the_residuals(arm, reduction):
    """Against the products of residuals themselves; degrees of freedom are shared by joints."""
    problem, truth = problem_of(arm, reduction, 4)
    W, tau = rows_of(problem)
    residual = tau - W @ truth
    rows = gather_rows(problem, problem.observations, truth)
    expected = residual.T @ residual / (len(tau) - problem.size / 3)
    np.testing.assert_allclose(rows.residual_covariance(truth), expected, rtol=1e-7)


def test_one_joint_has_no_others():
    """Generalized least squares of a single joint are ordinary ones."""
    urdf = robot_urdf(link('ground'), link('arm'), joint('only', 'ground', 'arm', axis=(0, 1, 0)))
    robot = make_robot_model(parse_urdf(urdf, 'only'))
    single = arm_reduction(robot)
    motion = fourier_motion(1, 0)
    noise = np.random.default_rng(0).normal(size=(400, 1))
    tau = torque_of(robot, single, np.ones(single.parameters.size), motion) + noise
    problem = arm_problem(robot, single, motion, tau)
    estimate = GeneralizedLeastSquares().estimate(problem)
    plain = OrdinaryLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, plain.theta, rtol=1e-8)
    np.testing.assert_allclose(estimate.sigma, plain.sigma, rtol=1e-8)
    assert estimate.notes == ('one joint has no correlation with others',)


def test_correlated_joints_are_estimated_better(arm, reduction):
    """Errors over twenty runs: what joints share is taken off."""
    # That is right with such correlations. Weighted least squares stay unbiased; their errors are
    # a third larger or more.
    squares = {GeneralizedLeastSquares: [], WeightedLeastSquares: []}
    for seed in range(20):
        problem, truth = problem_of(arm, reduction, seed)
        errors = WeightedLeastSquares().estimate(problem).standard_errors
        for kind, found in squares.items():
            found.append(np.mean(((kind().estimate(problem).theta - truth) / errors) ** 2))
    gain = np.mean(squares[WeightedLeastSquares]) / np.mean(squares[GeneralizedLeastSquares])
    assert gain > 1.3**2
    assert 'joints 1 and 2' in GeneralizedLeastSquares().estimate(problem).notes[0]


def test_rows_that_a_joint_lacks(arm, reduction):
    """Samples in which only some joints count are whitened by the covariance of these."""
    # Against a loop over samples; the second joint lacks a third of them, the third the last ones.
    problem, _ = problem_of(arm, reduction, 7, 150)
    W, tau = rows_of(problem)
    N = len(tau)
    present = np.ones((N, 3), dtype=bool)
    present[::3, 1] = False
    present[-20:, 2] = False
    observations = problem.observations
    blocks = [
        ObservationBlock(block.bag, tuple(
            JointRows(
                rows.table[present[rows.samples, number]], rows.load,
                rows.samples[present[rows.samples, number]],
            )
            for number, rows in enumerate(block.joints)
        ))
        for block in observations.blocks()
    ]
    observations.blocks = lambda: iter(blocks)
    rows = gather_rows(problem, observations, np.zeros(problem.size))
    assert len(rows.present) == 4
    assert sum(rows.samples) == N
    whitened, torques = [], []
    for k in range(N):
        own = present[k]
        root = np.linalg.inv(np.linalg.cholesky(COVARIANCE[np.ix_(own, own)]))
        whitened.append(root @ W[k, own])
        torques.append(root @ tau[k, own])
    matrix = np.vstack(whitened)
    scale = np.linalg.norm(matrix, axis=0)
    expected = np.linalg.lstsq(matrix / scale, np.concatenate(torques), rcond=None)[0] / scale
    found = solve_unknowns(rows.whiten(COVARIANCE), 1.0 / NOISE)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    covariance = rows.residual_covariance(found)
    residual = tau - W @ found
    counts = present.sum(axis=0) - problem.size / 3
    np.testing.assert_allclose(
        np.diag(covariance), np.sum(np.where(present, residual, 0.0) ** 2, axis=0) / counts,
        rtol=1e-8,
    )
    everywhere = residual[present.all(axis=1)]
    length = np.linalg.norm(everywhere, axis=0)
    deviation = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(
        covariance / np.outer(deviation, deviation),
        everywhere.T @ everywhere / np.outer(length, length), atol=1e-8,
    )
