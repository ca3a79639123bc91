# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Robust estimators solve their equations, and outliers cost them little."""

from estimation.arm_problems import NOISE, noisy_problem
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.estimation.estimators.huber import (
    HuberRegression, HuberWeights, NORMAL_DEVIATION, SizeMedian,
)
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.model import observation_matrix

SEEDS = st.integers(0, 2**32 - 1)


def with_outliers(rng, noise, shape, share=0.02, size=15.0):
    """Return normal noise with some large errors of either sign in it."""
    hit = rng.random(shape) < share
    return noise * (
        rng.normal(size=shape) + np.where(hit, size * rng.choice([-1.0, 1.0], shape), 0.0)
    )


def problem_of(arm, reduction, seed, samples=300, share=0.02, size=15.0):
    """Return a problem with outliers, its rows (N, n, b) and torques, and the truth."""
    problem, theta = noisy_problem(
        arm, reduction, seed, samples,
        lambda rng, shape: with_outliers(rng, NOISE, shape, share, size),
    )
    dataset = problem.observations.data[0].dataset
    W = observation_matrix(arm, reduction.parameters, dataset.motion).reshape(samples, arm.n, -1)
    return problem, W[:, :, reduction.independent], dataset.effort, reduction.K @ theta


@given(seed=SEEDS, parts=st.integers(1, 5))
def test_median_of_parts_is_that_of_all(seed, parts):
    """Exact for few numbers; for many, counted in classes, right to a part in 700."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=2001) * 10.0 ** rng.uniform(-6, 6)
    exact, counted = SizeMedian(), SizeMedian()
    counted.LARGEST_SAMPLE = 100
    for part in np.array_split(values, parts):
        exact.add(part)
        counted.add(part)
    expected = np.median(np.abs(values))
    assert exact.value == expected
    assert counted.value == pytest.approx(expected, rel=1.0 / 700.0)


def test_medians_of_nothing_and_of_zeros():
    median = SizeMedian()
    assert median.value == 0.0
    median.LARGEST_SAMPLE = 2
    median.add(np.zeros(5))
    assert median.value == 0.0
    median.add(np.full(20, 1e30))
    assert median.value > 1e11, 'the greatest size that is distinguished'


@given(seed=SEEDS)
def test_weights_are_of_the_sizes(seed):
    """Their squares, and the sums of what they were asked for, by another way."""
    rng = np.random.default_rng(seed)
    residual = 2.0 * rng.normal(size=(2, 50))
    weights = HuberWeights(np.array([1.0, 2.0]))
    roots = np.array([weights(joint, of_joint) for joint, of_joint in enumerate(residual)])
    u = np.abs(residual) / weights.scale[:, None]
    np.testing.assert_allclose(roots**2 * u, np.minimum(u, 1.345), rtol=1e-12)
    np.testing.assert_allclose(weights.damped, np.mean(u > 2.0 * 1.345, axis=1), rtol=1e-12)
    assert weights.differ_from_one


@given(seed=SEEDS)
def test_huber_without_limit_is_least_squares(arm, reduction, seed):
    """Property P3: tuning at infinity, joints equal: ordinary least squares, errors as well."""
    problem, *_ = problem_of(arm, reduction, seed)
    estimate = HuberRegression(np.inf, equal_joints=True).estimate(problem)
    plain = OrdinaryLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, plain.theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(estimate.standard_errors, plain.standard_errors, rtol=1e-7)


@pytest.mark.parametrize('equal_joints', [False, True])
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_estimate_solves_its_equations(arm, reduction, equal_joints, seed):
    """Sums of scores vanish, with scales by the medians of the very residuals."""
    # Both from all rows: 1e-6 of what the sizes of the terms add up to, as scales settle to 1e-6.
    problem, W, tau, _ = problem_of(arm, reduction, seed)
    estimate = HuberRegression(equal_joints=equal_joints).estimate(problem)
    residual = tau - W @ estimate.theta
    scale = NORMAL_DEVIATION * np.median(np.abs(residual), axis=0)
    np.testing.assert_allclose(estimate.sigma, scale, rtol=1e-5)
    u = residual / scale
    score = np.clip(u, -1.345, 1.345) * (scale if equal_joints else 1.0 / scale)
    terms = score[:, :, None] * W
    sums = np.abs(terms.sum(axis=(0, 1))) / np.abs(terms).sum(axis=(0, 1))
    assert sums.max() < 1e-6
    assert estimate.notes[-1].startswith('rows that count less than half, by joint: ')


def test_errors_are_those_that_occur_with_outliers(arm, reduction):
    """A tenth of the rows with errors of six deviations: errors over standard errors are one."""
    # Of 16 runs their mean square has a standard error of 0.075; more than three are allowed.
    squares = []
    for seed in range(16):
        problem, _, _, truth = problem_of(arm, reduction, seed, share=0.1, size=6.0)
        estimate = HuberRegression().estimate(problem)
        squares.append(np.mean(((estimate.theta - truth) / estimate.standard_errors) ** 2))
    assert np.mean(squares) == pytest.approx(1.0, abs=0.25)


def test_an_iteration_without_end_is_stated(arm, reduction):
    """Two passes are not enough: a result with a note, no error."""
    problem, *_ = problem_of(arm, reduction, 7)
    estimate = HuberRegression(iterations=2).estimate(problem)
    assert 'stopped after 2 passes without an end' in estimate.notes[0]
    assert '1e-08 was asked for' in estimate.notes[0]
    assert problem.observations.passes == estimate.passes == 3
