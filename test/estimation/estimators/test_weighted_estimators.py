# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Weighted, limit-weighted and generalized least squares against what they must equal."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, NOISE, noisy_problem, torque_of,
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
    plain = LimitWeightedLeastSquares().estimate(problem)
    np.testing.assert_allclose(plain.weights, 1.0 / arm.limits.effort, rtol=1e-15)


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


def drop_rows(observations, present):
    """Leave out the rows of samples in which a joint is not present (N, n)."""
    blocks = [
        ObservationBlock(block.bag, block.part, tuple(
            JointRows(
                rows.table[present[rows.samples, joint]], rows.load,
                rows.samples[present[rows.samples, joint]],
            )
            for joint, rows in enumerate(block.joints)
        ))
        for block in observations.blocks()
    ]
    observations.blocks = lambda: iter(blocks)


@pytest.mark.parametrize('covariance', [COVARIANCE, np.diag(NOISE**2)], ids=['full', 'diagonal'])
@pytest.mark.parametrize('lacking', [False, True])
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_generalized_least_squares_whiten_samples(arm, reduction, covariance, lacking, seed):
    """From the factors of all joints side by side: as sample by sample, to 1e-8."""
    # Samples in which only some joints count are whitened by the covariance of these: the second
    # joint lacks a third of them, the third the last ones.
    problem, _ = problem_of(arm, reduction, seed, 150)
    W, tau = rows_of(problem)
    present = np.ones(tau.shape, dtype=bool)
    if lacking:
        present[::3, 1] = present[-20:, 2] = False
        drop_rows(problem.observations, present)
    rows = gather_rows(problem, problem.observations, np.zeros(problem.size))
    assert len(rows.present) == (4 if lacking else 1)
    assert sum(rows.samples) == len(tau)
    whitened, torques = [], []
    for k, own in enumerate(present):
        root = np.linalg.inv(np.linalg.cholesky(covariance[np.ix_(own, own)]))
        whitened.append(root @ W[k, own])
        torques.append(root @ tau[k, own])
    matrix = np.vstack(whitened)
    scale = np.linalg.norm(matrix, axis=0)
    expected = np.linalg.lstsq(matrix / scale, np.concatenate(torques), rcond=None)[0] / scale
    found = solve_unknowns(rows.whiten(covariance), 1.0 / NOISE)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    # Variances are of all samples of a joint, correlations of those that have all joints; degrees
    # of freedom are shared by joints.
    residual = tau - W @ found
    variance = np.sum(np.where(present, residual, 0.0) ** 2, axis=0) / (
        present.sum(axis=0) - problem.size / 3
    )
    everywhere = residual[present.all(axis=1)]
    length = np.linalg.norm(everywhere, axis=0) / np.sqrt(variance)
    np.testing.assert_allclose(
        rows.residual_covariance(found), everywhere.T @ everywhere / np.outer(length, length),
        rtol=1e-7, atol=1e-8 * variance.max(),
    )


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
