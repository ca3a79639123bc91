# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors taken apart: each part is where it was put."""

from dataclasses import replace

from known_models import made_up_dataset
import numpy as np
import pytest
from robot_identification.model.regressor import Motion
from robot_identification.validation.bag_errors import (
    measure_details, measure_errors, noise_deviation, relative_error, split_frequencies,
    variance_accounted_for,
)

RATE = 100.0
N = 4000


@pytest.fixture
def dataset():
    """Return two joints: one swings fast and slowly, one rests; effort of 2 and of 0 N m."""
    stamps = np.arange(N) / RATE
    dq = np.column_stack([np.sin(stamps), np.zeros(N)])
    effort = np.column_stack([2.0 * np.cos(stamps), np.zeros(N)])
    motion = Motion(np.zeros((N, 2)), dq, np.zeros((N, 2)))
    return made_up_dataset(('swings', 'rests'), motion, effort, RATE)


def details_of(dataset, residual, rows=None, **more):
    rows = np.ones(N, dtype=bool) if rows is None else rows
    return measure_details(dataset, dataset.effort - residual, rows, **more)


def test_directions_and_speeds(dataset):
    """Errors of 3 forward, 1 backward, 5 at rest: each is found, with its number of samples."""
    dq = dataset.motion.dq
    residual = np.where(dq > 0.02, 3.0, np.where(dq < -0.02, 1.0, 5.0))
    found = details_of(dataset, residual)
    np.testing.assert_allclose(found.forward, [3.0, np.nan])
    np.testing.assert_allclose(found.backward, [1.0, np.nan])
    np.testing.assert_allclose(found.resting, [5.0, 5.0])
    slow = (np.abs(dq[:, 0]) > 0.02) & (np.abs(dq[:, 0]) < 0.1)
    assert found.slow[0] == pytest.approx(np.sqrt(np.mean(residual[slow, 0] ** 2)))
    counts = np.array([found.forward_samples, found.backward_samples, found.resting_samples])
    np.testing.assert_array_equal(counts.sum(axis=0), [N, N])
    np.testing.assert_array_equal(counts[:, 1], [0, 0, N])
    assert found.slow_samples[0] == np.count_nonzero(slow)
    np.testing.assert_allclose(found.largest, [5.0, 5.0])
    assert found.mae[1] == 5.0


@pytest.mark.parametrize(('frequency', 'low', 'high'), [(1.0, 1.0, 0.0), (30.0, 0.0, 1.0)])
def test_frequencies_are_split(dataset, frequency, low, high):
    """A sine of 1 Hz is below 9.5 Hz, one of 30 Hz above, to 3 % of either."""
    sine = np.sqrt(2.0) * np.sin(2.0 * np.pi * frequency * dataset.stamps)[:, None]
    found = details_of(dataset, np.hstack([sine, sine]))
    np.testing.assert_allclose(found.low, low, atol=0.03)
    np.testing.assert_allclose(found.high, high, atol=0.03)
    assert found.split == 9.5


def test_filters_do_not_run_over_gaps(dataset):
    """A step between two parts is no high frequency; parts too short to filter count as low."""
    step = np.where(np.arange(N) < 2000, 0.0, 5.0)[:, None] * np.ones(2)
    whole = split_frequencies(dataset, step, np.ones(N, dtype=bool))
    apart = replace(dataset, segments=(slice(0, 2000), slice(2000, N)))
    parts = split_frequencies(apart, step, np.ones(N, dtype=bool))
    assert whole[1][0] > 0.05
    assert parts[1][0] < 1e-9
    rows = np.arange(N) % 10 != 0
    noise = np.random.default_rng(0).normal(size=(int(rows.sum()), 2))
    low, high, _ = split_frequencies(dataset, noise, rows)
    np.testing.assert_allclose(low, np.sqrt(np.mean(noise**2, axis=0)))
    np.testing.assert_array_equal(high, 0.0)


def test_noise_is_a_floor_and_memory_is_counted(dataset):
    """White noise of 0.5 on a swing of RMS root 2: the least NRMSE; all samples independent."""
    rng = np.random.default_rng(0)
    noise = 0.5 * rng.normal(size=(N, 2))
    dataset.effort[:] += noise
    found = details_of(dataset, noise)
    assert found.noise[0] == pytest.approx(0.5, rel=0.1)
    assert found.floor[0] == pytest.approx(0.5 / 1.5, rel=0.1)
    assert np.all(np.abs(found.lag_one) < 0.06)
    assert np.all(found.independent_samples > 0.8 * N)
    assert np.all(found.white_probability > 1e-3)
    slow = noise.cumsum(axis=0)
    found = details_of(dataset, slow)
    assert np.all(found.lag_one > 0.9)
    assert np.all(found.independent_samples < 0.02 * N)
    assert np.all(found.white_probability < 1e-6)


# --- figures by hand ---------------------------------------------------------------------


def errors_of(measured, predicted, moving=None):
    measured, predicted = np.array(measured, dtype=float), np.array(predicted, dtype=float)
    moving = np.ones(measured.shape, dtype=bool) if moving is None else np.array(moving)
    joints = tuple(f'joint_{i}' for i in range(measured.shape[1]))
    return measure_errors(measured, predicted, moving, bag='bag', unit='A', joints=joints)


def test_by_hand():
    """First joint: residuals 1, -1, 3, -3, measured 2, -2, 2, -2 of spread 2."""
    # Second joint: residuals all -0.5 on 0, 1, 0, 1 of spread 0.5.
    measured = [[2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [-2.0, 1.0]]
    predicted = [[1.0, 0.5], [-1.0, 1.5], [-1.0, 0.5], [1.0, 1.5]]
    moving = [[True, False], [True, False], [False, True], [True, True]]
    found = errors_of(measured, predicted, moving)
    np.testing.assert_allclose(found.rmse, [np.sqrt(5.0), 0.5])
    np.testing.assert_allclose(found.nrmse, [np.sqrt(5.0) / 2.0, 1.0])
    np.testing.assert_allclose(found.rmse_moving, [np.sqrt(11.0 / 3.0), 0.5])
    np.testing.assert_allclose(found.bias, [0.0, -0.5])
    assert found.nrmse_mean == pytest.approx((np.sqrt(5.0) / 2.0 + 1.0) / 2.0)
    assert (found.samples, found.unit, found.bag) == (4, 'A', 'bag')


@pytest.mark.parametrize('constant', [0.0, 1e-9, -7.0, 1e12])
def test_a_constant_signal_has_no_normalized_error(constant):
    """There is nothing to explain; it is left out of the mean, its error is still stated."""
    measured = np.column_stack([np.full(50, constant), np.tile([1.0, -1.0], 25)])
    found = errors_of(measured, measured + 0.25)
    assert np.isnan(found.nrmse[0])
    assert found.nrmse[1] == pytest.approx(0.25)
    assert found.nrmse_mean == pytest.approx(0.25)
    np.testing.assert_allclose(found.rmse, 0.25, rtol=1e-3)


def test_a_constant_error_is_seen_by_some_figures_only():
    """An offset of 1 on a signal of spread 2: R^2 falls to 3/4, the variance explained is all."""
    measured = np.tile([[2.0], [-2.0]], (50, 1))
    residual = np.ones((100, 1))
    assert variance_accounted_for(measured, residual)[0] == pytest.approx(1.0)
    found = errors_of(measured, measured - residual)
    assert 1.0 - found.nrmse[0] ** 2 == pytest.approx(0.75)
    assert relative_error(measured, residual)[0] == pytest.approx(0.5)
    flat = np.zeros((10, 1))
    assert np.isnan(variance_accounted_for(flat, residual[:10])[0])
    assert np.isnan(relative_error(flat, residual[:10])[0])


@pytest.mark.parametrize('noise', [0.0, 0.05, 0.5])
def test_noise_is_told_from_motion_and_jumps(noise):
    """A swing of 5 with steps of 3 at 100 Hz; white noise to 10 %, and less than 0.01 of none."""
    rng = np.random.default_rng(0)
    stamps = np.arange(3000) / 100.0
    signal = 5.0 * np.sin(2.0 * stamps) + 3.0 * np.sign(np.sin(stamps))
    effort = signal[:, None] + noise * rng.normal(size=(3000, 1))
    assert noise_deviation(effort)[0] == pytest.approx(noise, rel=0.1, abs=0.01)
