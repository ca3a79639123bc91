# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors as a reader would calculate them by hand."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.validation.bag_errors import (
    measure_errors, noise_deviation, normalized_error, relative_error, square_over_mean,
    variance_accounted_for,
)


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


def test_rounding_of_a_constant_is_no_signal():
    """0.1 summed in another order differs in the last bit."""
    measured = np.where(np.arange(50) % 2 == 0, 0.1, np.nextafter(0.1, 1.0))[:, None]
    assert np.isnan(errors_of(measured, measured).nrmse[0])


@given(seed=st.integers(0, 2**32 - 1), samples=st.integers(1, 60), n=st.integers(1, 7))
def test_normalized_errors_are_rms_over_root_n(seed, samples, n):
    """By definition, joint by joint and in total."""
    residual = np.random.default_rng(seed).normal(size=(samples, n))
    joints, total = normalized_error(residual)
    rms = np.sqrt(np.mean(residual**2, axis=0))
    np.testing.assert_allclose(joints * np.sqrt(samples), rms, rtol=1e-12)
    assert total == pytest.approx(np.linalg.norm(residual) / residual.size)
    assert total == pytest.approx(np.linalg.norm(joints) / n)


def test_square_over_mean_by_hand():
    """4 / 2 of the first joint and 1 / 1 of the second; a joint without effort is left out."""
    measured = np.array([[2.0, -1.0, 0.0], [-2.0, 1.0, 0.0]])
    residual = np.array([[2.0, 1.0, 1.0], [-2.0, -1.0, 1.0]])
    assert square_over_mean(measured, residual) == pytest.approx(3.0)
    assert square_over_mean(10 * measured, 10 * residual) == pytest.approx(30.0)


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


def test_what_there_is_nothing_of_has_no_figure():
    """A joint that never moves, constants alone, and noise of two samples."""
    found = errors_of([[1.0], [2.0]], [[1.0], [1.0]], [[False], [False]])
    assert np.isnan(found.rmse_moving[0])
    assert np.isnan(errors_of(np.ones((4, 2)), np.zeros((4, 2))).nrmse_mean)
    assert np.isnan(noise_deviation(np.zeros((2, 3)))).all()
