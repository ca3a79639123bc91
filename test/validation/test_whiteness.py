# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Memory of residuals, of known processes."""

import numpy as np
import pytest
from robot_identification.validation.whiteness import (
    autocovariance, correlation_distance, independent_share, ljung_box,
)


def autoregressive(memory, samples=40_000, seed=0):
    """Return a signal that keeps a part of itself from sample to sample (N, 1)."""
    signal = np.random.default_rng(seed).normal(size=(samples, 1))
    for k in range(1, samples):
        signal[k] += memory * signal[k - 1]
    return signal


def products_of(signal, lags=400):
    return autocovariance(signal, lags)[0]


@pytest.mark.parametrize(('samples', 'lags'), [(1, 3), (2, 1), (7, 6), (7, 20), (300, 40)])
def test_autocovariance_is_a_sum_of_products(rng, samples, lags):
    """Of pairs so far apart; zero where there are none."""
    x = rng.normal(size=(samples, 2))
    found = autocovariance(x, lags)
    assert found.shape == (2, lags + 1)
    for lag in range(lags + 1):
        expected = np.sum(x[lag:] * x[: samples - lag], axis=0) if lag < samples else 0.0
        np.testing.assert_allclose(found[:, lag], expected, atol=1e-10)


@pytest.mark.parametrize('memory', [0.0, 0.5, 0.9])
def test_memory_of_an_autoregressive_signal(memory):
    """``2 a / (1 - a^2)`` samples apart on average, ``(1 - a) / (1 + a)`` of them independent."""
    # Estimated from 40 000 samples: to 15 %.
    products = products_of(autoregressive(memory))
    assert correlation_distance(products, 40_000) == pytest.approx(
        2.0 * memory / (1.0 - memory**2), rel=0.15, abs=0.02
    )
    assert independent_share(products, 40_000) == pytest.approx(
        (1.0 - memory) / (1.0 + memory), rel=0.15
    )


def test_white_noise_is_rejected_as_often_as_said():
    """5 % of 400 signals, to three standard deviations of 1.1 %."""
    rng = np.random.default_rng(1)
    p_values = [
        ljung_box(products_of(rng.normal(size=(500, 1)), 20), 500) for _ in range(400)
    ]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.033)


def test_slow_noise_is_not_white():
    assert ljung_box(products_of(autoregressive(0.3, 1000)), 1000) < 1e-6


def test_a_signal_of_zero_says_nothing():
    products = products_of(np.zeros((50, 1)))
    assert np.isnan(ljung_box(products, 50))
    assert correlation_distance(products, 50) == 0.0
    assert independent_share(products, 50) == 1.0
    assert np.isnan(ljung_box(products_of(np.ones((1, 1)), 0), 1))
