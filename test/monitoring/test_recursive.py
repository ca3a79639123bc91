# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recursive least squares end where the batch does, and follow what changes."""

from hypothesis import given, strategies as st
import numpy as np
from robot_identification.monitoring.recursive import RecursiveState

SEEDS = st.integers(0, 2**32 - 1)
K = 5


def nearly_empty(forgetting=1.0):
    """Return the state of unknowns of which next to nothing is known."""
    return RecursiveState.expecting_zero(np.full(K, 1e8), forgetting)


@given(seed=SEEDS)
def test_the_state_is_least_squares_of_all_rows(seed):
    """Estimate and covariance against NumPy, rows in pieces of any height."""
    rng = np.random.default_rng(seed)
    W, theta = rng.normal(size=(60, K)) * np.geomspace(1e-2, 1e2, K), rng.normal(size=K)
    tau = W @ theta + 0.1 * rng.normal(size=60)
    state = nearly_empty()
    for piece in np.split(np.arange(60), np.sort(rng.integers(1, 60, 6))):
        state = state.update(W[piece], tau[piece])
    expected = np.linalg.lstsq(W, tau, rcond=None)[0]
    np.testing.assert_allclose(state.estimate, expected, rtol=1e-8, atol=1e-12)
    root = np.linalg.pinv(W)
    np.testing.assert_allclose(state.covariance, root @ root.T, rtol=1e-7, atol=1e-14)


def stream(rng, samples, theta, excited=slice(None), noise=0.1):
    """Return rows that excite some unknowns and their torques, three for each sample."""
    for _ in range(samples):
        rows = np.zeros((3, K))
        rows[:, excited] = rng.normal(size=rows[:, excited].shape)
        yield rows, rows @ theta + noise * rng.normal(size=3)


def test_under_excitation_it_forgets_exponentially():
    """Against NumPy with weights that fall by 2 % a sample."""
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
    state = nearly_empty(0.98)
    for rows, torque in parts:
        state = state.update(rows, torque)
    np.testing.assert_allclose(state.estimate, expected, atol=1e-6)
    np.testing.assert_allclose(state.covariance @ information, np.eye(K), atol=1e-5)


def test_what_is_not_excited_is_not_forgotten():
    """Fifty memories long only two of five unknowns move, then nothing does."""
    # The others keep their estimates, and their variances less than double, once: ln 2 / 3 of a
    # memory passes until the recent rows have an eighth of the information, after that a third of
    # a memory is all that is forgotten, which is a factor of 1.76. With pure exponential
    # forgetting it would have been exp(50).
    rng = np.random.default_rng(1)
    theta = np.arange(1.0, K + 1.0)
    state = nearly_empty(0.95)
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
