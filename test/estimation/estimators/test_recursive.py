# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recursive least squares end where the batch does, follow what changes, and lose nothing."""

from dataclasses import FrozenInstanceError, replace

from estimation.arm_problems import (
    arm_problem, fourier_motion, NOISE, noisy_problem, possible_parameters, torque_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError, RankDeficientError
from robot_identification.estimation.estimators.ordinary import OrdinaryLeastSquares
from robot_identification.estimation.estimators.recursive import (
    in_time_order, RecursiveLeastSquares, RecursiveState,
)
from robot_identification.estimation.estimators.weighted import WeightedLeastSquares
from robot_identification.model.regressor import Motion

SEEDS = st.integers(0, 2**32 - 1)
K = 5


@pytest.fixture(scope='module')
def problem(arm, reduction):
    return noisy_problem(arm, reduction, 2)[0]


@given(block=st.integers(1, 400), seed=SEEDS)
def test_without_forgetting_it_is_the_batch(problem, block, seed):
    """Property P3: 1e-8 of the largest parameter, in blocks of any size and of one sample."""
    for reweightings, batch in ((0, OrdinaryLeastSquares()), (3, WeightedLeastSquares())):
        expected = batch.estimate(problem)
        for size in (block, 1 if seed % 5 == 0 else block + 1):
            found = RecursiveLeastSquares(block=size, reweightings=reweightings).estimate(problem)
            scale = np.abs(expected.theta).max()
            np.testing.assert_allclose(found.theta, expected.theta, rtol=0.0, atol=1e-8 * scale)
            np.testing.assert_allclose(
                found.standard_errors, expected.standard_errors, rtol=1e-6
            )


@given(seed=SEEDS)
def test_the_state_is_least_squares_of_all_rows(seed):
    """Estimate, covariance and variance against NumPy, rows in pieces of any height."""
    rng = np.random.default_rng(seed)
    W, theta = rng.normal(size=(60, K)) * np.geomspace(1e-2, 1e2, K), rng.normal(size=K)
    tau = W @ theta + 0.1 * rng.normal(size=60)
    state = RecursiveState.empty(K)
    for piece in np.split(np.arange(60), np.sort(rng.integers(0, 61, 6))):
        state = state.update(W[piece], tau[piece])
    expected, squares, _, _ = np.linalg.lstsq(W, tau, rcond=None)
    np.testing.assert_allclose(state.estimate, expected, rtol=1e-8, atol=1e-12)
    root = np.linalg.pinv(W)
    np.testing.assert_allclose(state.covariance, root @ root.T, rtol=1e-7, atol=1e-14)
    assert state.variance == pytest.approx(squares[0] / (60 - K), rel=1e-9)
    assert state.rows == 60


def test_rows_come_in_the_order_of_time(problem):
    """All rows, each sample's joints together, and every part as long as it was asked for."""
    weights = np.array([1.0, 2.0, 3.0])
    theta = np.zeros(problem.size)
    parts = list(in_time_order(problem.observations, theta, weights, 70))
    assert [int(instants[-1]) + 1 for _, _, instants in parts] == [70, 70, 70, 70, 20]
    assert all(np.all(np.diff(instants) >= 0) for _, _, instants in parts)
    torque = np.concatenate([torque for _, torque, _ in parts]).reshape(-1, 3)
    effort = problem.observations.data[0].dataset.effort
    np.testing.assert_allclose(torque, weights * effort, rtol=1e-12)


def stream(rng, samples, theta, excited=slice(None), noise=0.1):
    """Return rows that excite some unknowns and their torques, three for each sample."""
    for _ in range(samples):
        rows = np.zeros((3, K))
        rows[:, excited] = rng.normal(size=rows[:, excited].shape)
        yield rows, rows @ theta + noise * rng.normal(size=3)


def test_under_excitation_it_forgets_exponentially():
    """Against NumPy with weights that fall by 2 % a sample, in blocks of any length."""
    # Where all directions are excited all the time the guard has nothing to do; 1e-6 is what the
    # first samples, which were not forgotten before they determined anything, leave.
    rng = np.random.default_rng(7)
    theta = rng.normal(size=K)
    parts = list(stream(rng, 1200, theta))
    W, tau = (np.concatenate(both) for both in zip(*parts, strict=True))
    ages = np.repeat(np.arange(1200)[::-1], 3)
    roots = np.sqrt(0.98**ages)
    expected = np.linalg.lstsq(roots[:, None] * W, roots * tau, rcond=None)[0]
    information = (roots[:, None] * W).T @ (roots[:, None] * W)
    for block in (1, 7, 20):
        state = RecursiveState.empty(K, 0.98)
        for first in range(0, 1200, block):
            rows = slice(3 * first, 3 * (first + block))
            state = state.update(W[rows], tau[rows], np.arange(len(W[rows])) // 3)
        np.testing.assert_allclose(state.estimate, expected, atol=1e-6)
        np.testing.assert_allclose(state.covariance @ information, np.eye(K), atol=1e-5)
        # Three rows a sample.
        assert state.rows == pytest.approx(150.0, rel=1e-3)
        squares = np.sum((roots * (tau - W @ expected)) ** 2)
        assert state.variance == pytest.approx(squares / (150.0 - K), rel=1e-3)


def test_an_arm_whose_friction_steps(arm, reduction):
    """Viscous friction of joint 1 falls by half after ten of twenty periods: the end is found."""
    # The memory is that of two periods, so that after ten more 1 % of the step is left, and what
    # the weakest directions keep longer. Least squares of all rows end in between.
    rng = np.random.default_rng(4)
    once = fourier_motion(arm.n, 4, 150)
    motion = Motion(*(np.tile(part, (20, 1)) for part in (once.q, once.dq, once.ddq)))
    theta = possible_parameters(arm, reduction.parameters, rng)
    at = reduction.names.index('fv1')
    theta[reduction.independent[at]] = 4.0
    tau = torque_of(arm, reduction, theta, motion)
    theta[reduction.independent[at]] = 2.0
    tau[1500:] = torque_of(arm, reduction, theta, motion)[1500:]
    problem = arm_problem(arm, reduction, motion, tau + NOISE * rng.normal(size=tau.shape))
    found = RecursiveLeastSquares(forgetting=0.997, block=25).estimate(problem)
    assert abs(found.theta[at] - 2.0) < 5.0 * found.standard_errors[at] < 1.0
    assert 2.5 < WeightedLeastSquares().estimate(problem).theta[at] < 3.5
    assert 'the last 333 samples count most (forgetting 0.997)' in found.notes[0]


def test_what_is_not_excited_is_not_forgotten():
    """Fifty memories long only two of five unknowns move, then nothing does."""
    # The others keep their estimates, and their variances less than double, once: ln 2 / 3 of a
    # memory passes until the recent rows have an eighth of the information, after that a third of
    # a memory is all that is forgotten, which is a factor of 1.76. With pure exponential
    # forgetting it would have been exp(50).
    rng = np.random.default_rng(1)
    theta = np.arange(1.0, K + 1.0)
    state = RecursiveState.empty(K, 0.95)
    for row, torque in stream(rng, 300, theta):
        state = state.update(row, torque)
    before = state
    for row, torque in stream(rng, 1000, theta, slice(0, 2)):
        state = state.update(row, torque)
    growth = np.diag(state.covariance) / np.diag(before.covariance)
    assert growth[2:].max() < 2.0
    np.testing.assert_allclose(state.estimate[2:], before.estimate[2:], atol=0.02)
    np.testing.assert_allclose(state.estimate[:2], theta[:2], atol=0.1)
    alone = state
    for _ in range(1000):
        state = state.update(np.zeros((3, K)), 0.1 * rng.normal(size=3))
    np.testing.assert_allclose(state.estimate, alone.estimate, rtol=1e-8)
    assert np.max(np.diag(state.covariance) / np.diag(alone.covariance)) < 2.0
    # And it wakes up: a parameter that nothing showed for so long is found again.
    for row, torque in stream(rng, 200, theta + 1.0):
        state = state.update(row, torque)
    np.testing.assert_allclose(state.estimate, theta + 1.0, atol=0.1)


@settings(max_examples=6)
@given(seed=SEEDS)
def test_no_rows_lose_much(seed):
    """Rows of any size in any direction, rests between them: no variance without a bound."""
    rng = np.random.default_rng(seed)
    state = RecursiveState.known(np.zeros(K), np.diag(10.0 ** rng.uniform(-2.0, 2.0, K)), 0.9)
    start = np.linalg.norm(state.triangle[:K, :K], axis=0)
    for _ in range(60):
        rows = rng.normal(size=(2, K)) * 10.0 ** rng.uniform(-3.0, 1.0, K)
        for _ in range(int(rng.integers(1, 30))):
            state = state.update(rows, rng.normal(size=2))
    gain = np.linalg.svd(state.triangle[:K, :K] / start)[1]
    assert np.all(np.isfinite(state.estimate))
    # Each change of direction costs a factor of two at most, most of them nothing.
    assert gain[-1] > 1e-2


def test_a_model_is_a_start():
    """What is known beforehand, and rows: the estimate that weighs both, by NumPy."""
    # A live estimate starts from the model file; its rows are divided by their noise.
    rng = np.random.default_rng(3)
    root = rng.normal(size=(K, K)) * np.geomspace(1e-2, 1.0, K)[:, None]
    prior, theta = root @ root.T, rng.normal(size=K)
    start = RecursiveState.known(theta, prior)
    np.testing.assert_allclose(start.estimate, theta, rtol=1e-8)
    np.testing.assert_allclose(start.covariance, prior, rtol=1e-6, atol=1e-12)
    W, tau = rng.normal(size=(8, K)), rng.normal(size=8)
    information = np.linalg.inv(prior)
    expected = np.linalg.solve(information + W.T @ W, information @ theta + W.T @ tau)
    np.testing.assert_allclose(start.update(W, tau).estimate, expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(DataError, match='5 parameters to start from is not positive definite'):
        RecursiveState.known(theta, np.diag([1.0, 1.0, -1.0, 1.0, 1.0]) + 1e-3)


def test_updates_make_new_states():
    """The old one may be gone on from in another way; refused rows leave it as it was."""
    rng = np.random.default_rng(5)
    state = RecursiveState.empty(K).update(rng.normal(size=(9, K)), rng.normal(size=9))
    kept = state.triangle.copy()
    other = state.update(np.ones((1, K)), np.ones(1))
    assert other is not state
    with pytest.raises(DataError, match='not finite'):
        state.update(np.full((1, K), np.nan), np.zeros(1))
    with pytest.raises(DataError, match=r'give \(m, 5\) and \(m,\)'):
        state.update(np.zeros((2, K + 1)), np.zeros(2))
    np.testing.assert_array_equal(state.triangle, kept)
    assert state.update(np.zeros((0, K)), np.zeros(0)) is state
    with pytest.raises(FrozenInstanceError):
        state.rows = 0.0


def test_what_is_not_determined_is_refused():
    """Before the rows determine all unknowns there is no estimate, and nothing is forgotten."""
    state = RecursiveState.empty(K, 0.5).update(np.eye(K)[:3], np.ones(3))
    for _ in range(5):
        state = state.update(np.eye(K)[:1], np.ones(1))
    assert not state.is_determined
    assert np.isnan(replace(state, rows=3.0).variance)
    with pytest.raises(RankDeficientError, match='8 rows so far do not determine 5 parameters'):
        assert state.estimate is not None
    state = state.update(np.eye(K), np.ones(K))
    assert state.is_determined
    np.testing.assert_allclose(state.estimate, 1.0, rtol=1e-12)
