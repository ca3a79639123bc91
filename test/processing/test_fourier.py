# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Periodic signals: derivatives to rounding, means and noise as statistics has them."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.processing.fourier import (
    average_periods, fit_fourier, fold, FourierSeries, spectral_derivative, whole_periods,
)

RATE = 125.0
PERIOD = 4.0


def series(rng, harmonics=5, joints=3):
    """Return a random series whose acceleration is of the size of one."""
    k = np.repeat(np.arange(1, harmonics + 1), 2)
    sizes = np.append(1.0, 1.0 / (2.0 * np.pi * k / PERIOD) ** 2)
    return FourierSeries(PERIOD, sizes[:, None] * rng.normal(size=(len(sizes), joints)))


@given(
    periods=st.integers(1, 3), samples=st.integers(24, 61), seed=st.integers(0, 99),
    order=st.integers(0, 2),
)
def test_the_spectral_derivative_is_exact(periods, samples, seed, order):
    """Property P11: band-limited and periodic, even and odd numbers of samples."""
    true = series(np.random.default_rng(seed))
    rate = samples / PERIOD
    t = np.arange(periods * samples) / rate
    found = spectral_derivative(true.evaluate(t), rate, order)
    np.testing.assert_allclose(found, true.evaluate(t, order), atol=1e-10)
    kept = spectral_derivative(true.evaluate(t), rate, order, harmonics=5 * periods)
    np.testing.assert_allclose(kept, true.evaluate(t, order), atol=1e-10)


def test_harmonics_that_are_not_kept_are_gone():
    """Noise above them, and the part at half the sampling rate whose phase nobody knows."""
    t = np.arange(500) / RATE
    slow, fast = np.sin(2 * np.pi * t / PERIOD), np.sin(2 * np.pi * 20 * t / PERIOD)
    alternating = (-1.0) ** np.arange(500)
    x = np.column_stack([slow + fast, slow + alternating])
    kept = spectral_derivative(x, RATE, 0, harmonics=5)
    np.testing.assert_allclose(kept, np.column_stack([slow, slow]), atol=1e-12)
    derivative = spectral_derivative(x[:, 1:], RATE, 1)[:, 0]
    expected = 2 * np.pi / PERIOD * np.cos(2 * np.pi * t / PERIOD)
    np.testing.assert_allclose(derivative, expected, atol=1e-10)


def test_a_fit_on_irregular_stamps_is_exact(rng):
    """The true times count, and samples that are not among the rows do not."""
    true = series(rng)
    t = np.sort(rng.uniform(0.0, 9.0, 700))
    x = true.evaluate(t)
    rows = np.flatnonzero(rng.random(700) < 0.5)
    x[np.setdiff1d(np.arange(700), rows)] = 1e6
    found = fit_fourier(t, x, rows, PERIOD, 7)
    np.testing.assert_allclose(found.coefficients[:11], true.coefficients, atol=1e-9)
    np.testing.assert_allclose(found.coefficients[11:], 0.0, atol=1e-9)


def test_mean_and_variance_over_periods():
    """The textbook's: the variance of all periods about their mean, (P - 1) M degrees of it."""
    rng = np.random.default_rng(2)
    periods, samples = 8, 50
    true = np.sin(2 * np.pi * np.arange(samples) / samples)[:, None] * [1.0, 3.0]
    x = np.tile(true, (periods, 1)) + rng.normal(size=(periods * samples, 2)) * [0.1, 0.5]
    found = average_periods(x, periods)
    folded = x.reshape(periods, samples, 2)
    np.testing.assert_allclose(found.mean, folded.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.variance, folded.var(axis=0, ddof=1).mean(axis=0))
    # 350 degrees of freedom: 7.6 % standard deviation of a variance.
    np.testing.assert_allclose(found.variance, [0.01, 0.25], rtol=0.25)
    assert found.periods == periods


def test_one_period_has_no_variance():
    found = average_periods(np.arange(10.0)[:, None], 1)
    assert np.isnan(found.variance).all()
    np.testing.assert_array_equal(found.mean[:, 0], np.arange(10.0))


@pytest.mark.parametrize(('samples', 'periods'), [(10, 3), (0, 1), (10, 0)])
def test_parts_of_periods_are_refused(samples, periods):
    with pytest.raises(ValueError, match=r'no .* whole periods'):
        average_periods(np.zeros((samples, 1)), periods)


def test_the_last_whole_periods_are_chosen():
    """2 s of a start, then three periods of 500 samples each."""
    t = np.arange(250 + 1500) / RATE
    rows = whole_periods(t, np.ones(len(t), dtype=bool), PERIOD)
    np.testing.assert_array_equal(rows, np.arange(250, 1750))
    assert not whole_periods(t, t < 3.9, PERIOD).size
    assert not whole_periods(t, t < 0.0, PERIOD).size


def test_periods_are_folded_sample_by_sample_where_they_can_be(rng):
    t = 0.37 + np.arange(1500) / RATE
    x = rng.normal(size=(1500, 2))
    np.testing.assert_allclose(fold(t, x, np.arange(1500), PERIOD, RATE), x, atol=1e-9)
    odd = fold(t, np.sin(2 * np.pi * t / 3.9)[:, None], np.arange(1462), 3.9, RATE)
    assert average_periods(odd, 3).variance[0] < 1e-6
