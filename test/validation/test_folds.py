# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Blocks that are held out share no sample with what is trained on; memory of residuals."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.validation.folds import blocked_folds
from robot_identification.validation.whiteness import (
    autocovariance, correlation_distance, independent_share, ljung_box,
)


@given(
    fitted=st.lists(st.booleans(), min_size=60, max_size=200).filter(lambda rows: sum(rows) > 10),
    folds=st.integers(2, 7), gap=st.floats(0.0, 0.5),
)
def test_folds_are_disjoint_with_a_gap(fitted, folds, gap):
    """Each row is held out once; training keeps away from the block by the gap on both sides."""
    fitted = np.array(fitted)
    stamps = 0.02 * np.arange(len(fitted))
    times_held_out = np.zeros(len(fitted), dtype=int)
    pairs = list(blocked_folds(stamps, fitted, folds, gap))
    assert len(pairs) == folds
    for training, held_out in pairs:
        times_held_out += held_out
        assert not np.any(training & held_out)
        assert not np.any(training & ~fitted)
        block = stamps[held_out]
        inside = (stamps >= block.min() - gap) & (stamps <= block.max() + gap)
        assert not np.any(training & inside)
        # And nothing is thrown away without need.
        np.testing.assert_array_equal(training, fitted & ~inside)
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))


@given(
    period=st.floats(1.6, 3.0), folds=st.integers(2, 5), gap=st.floats(0.0, 0.3),
    start=st.floats(-5.0, 5.0),
)
def test_what_repeats_with_a_period_is_held_out_together(period, folds, gap, start):
    """No phase of the motion that is held out, or near such a one, is trained on at any time."""
    stamps = start + 0.02 * np.arange(300)
    fitted = np.arange(300) % 7 > 0
    phase = (stamps - start) % period
    times_held_out = np.zeros(300, dtype=int)
    for training, held_out in blocked_folds(stamps, fitted, folds, gap, period):
        times_held_out += held_out
        apart = np.abs(phase[training][:, None] - phase[held_out])
        # A sample at the very end of the gap may round to either side.
        assert np.minimum(apart, period - apart).min() > gap - 1e-9
        # And nothing is thrown away without need: a block and its gaps, of the whole period.
        assert training.sum() > (1.0 - 1.0 / folds - 2.0 * gap / period - 0.15) * fitted.sum()
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))


# --- memory of residuals -----------------------------------------------------------------


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
