# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Weighted least squares against what they must equal."""

from estimation.arm_problems import noisy_problem
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from robot_identification.estimation import solve_weighted, WeightedLeastSquares
from robot_identification.estimation.solving import least_squares, propagate


def problem_of(arm, reduction, seed):
    """Return a problem with noise, and the true base parameters."""
    problem, theta = noisy_problem(arm, reduction, seed, 300)
    return problem, reduction.K @ theta


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


def test_reweighting_is_solving_again(arm, reduction):
    """Three rounds by full solutions give the same: weights from sigma, floor out of reach."""
    problem, _ = problem_of(arm, reduction, 1)
    expected = solve_weighted(problem, np.ones(3))
    for _ in range(3):
        expected = solve_weighted(problem, 1.0 / expected.sigma)
    estimate = WeightedLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, expected.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(estimate.weights, expected.weights, rtol=1e-9)
