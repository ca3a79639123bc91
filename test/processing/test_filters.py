# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Filters delay nothing, drop no sample, keep what is slow, and some do not see outliers."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.filters import (
    decimation_step, local_polynomial, low_pass, parallel_decimate, rloess,
)

RATE = 125.0
FILTER = KinematicFilter(order=2, cutoff=9.0)


@given(frequency=st.floats(0.2, 8.0), phase=st.floats(0.0, 6.28))
def test_a_sinusoid_is_not_delayed(frequency, phase):
    """Property P12: the phase found by a fit over the middle is the phase put in."""
    # What is left at the edges decays with the cut-off; after two seconds it is below 1e-6 rad.
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    filtered = low_pass(np.sin(2 * np.pi * frequency * t + phase)[:, None], RATE, FILTER)[:, 0]
    middle = (t > 2.0) & (t < 10.0)
    angle = 2 * np.pi * frequency * t[middle]
    columns = np.column_stack([np.sin(angle), np.cos(angle)])
    a, b = np.linalg.lstsq(columns, filtered[middle], rcond=None)[0]
    lag = (np.arctan2(b, a) - phase + np.pi) % (2 * np.pi) - np.pi
    assert abs(lag) < 1e-5
    # Bilinear transform: frequencies are warped by their tangents.
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 9.0 / RATE)
    assert np.hypot(a, b) == pytest.approx(1.0 / (1.0 + warped**4), rel=1e-4)


@pytest.mark.parametrize(('samples', 'error'), [(3, 1.0), (10, 0.03), (25, 0.03), (250, 1e-9)])
def test_edges_are_padded_and_not_dropped(samples, error):
    """A straight line stays one to its ends; of short parts, constants are exact."""
    # The padding is never longer than the signal. A line of ten samples, the shortest part that is
    # processed, keeps its shape to some percent.
    line = np.column_stack([np.linspace(-1.0, 1.0, samples), np.full(samples, 4.2)])
    filtered = low_pass(line, RATE, FILTER)
    assert filtered.shape == line.shape
    np.testing.assert_allclose(filtered[:, 0], line[:, 0], atol=2.0 * error)
    np.testing.assert_allclose(filtered[:, 1], line[:, 1], rtol=1e-9)


@pytest.mark.parametrize('span', [0.01, 0.1, 9.0])
def test_local_polynomials_are_exact_on_polynomials(span):
    """Of their degree, to the ends, with every window: the value and the slope."""
    t = np.arange(60) / RATE
    x = np.column_stack([t**3 - t**2 + 2.0, 5.0 * t])
    slope = np.column_stack([3.0 * t**2 - 2.0 * t, np.full_like(t, 5.0)])
    np.testing.assert_allclose(local_polynomial(x, RATE, span, 3), x, atol=1e-9)
    np.testing.assert_allclose(local_polynomial(x, RATE, span, 3, derivative=1), slope, atol=1e-7)


@pytest.mark.parametrize(('rate', 'cutoff', 'step'), [
    (1000.0, 20.0, 20), (125.0, 10.0, 5), (500.0, 50.0, 4), (30.0, 10.0, 1), (30.0, 100.0, 1),
    # As the stamps of a bag have it.
    (999.9999999998881, 20.0, 20), (499.8, 50.0, 4),
])
def test_the_step_is_the_published_one(rate, cutoff, step):
    """Madsen et al. keep every twentieth row at a kilohertz, which is 20 Hz."""
    assert decimation_step(rate, cutoff) == step


def test_filtered_equations_hold_as_before(rng):
    """Linear in the columns: what solves the rows solves the filtered rows, to rounding."""
    W, theta = rng.normal(size=(2000, 6)), rng.normal(size=6)
    rows = parallel_decimate(np.column_stack([W, W @ theta]), 500.0, 20.0)
    assert rows.shape == (200, 7)
    np.testing.assert_allclose(rows[:, :6] @ theta, rows[:, 6], atol=1e-10)


# --- robust local regression -------------------------------------------------------------


SPAN = 0.15
T = np.arange(400) / RATE


@pytest.mark.parametrize('span', [0.02, 0.15, 0.25])
@pytest.mark.parametrize('samples', [3, 5, 10, 400])
def test_quadratics_are_exact_to_the_ends(samples, span):
    """Rounding alone, with every window, also with one that is longer than the signal."""
    t = T[:samples]
    x = np.column_stack([3.0 * t**2 - 7.0 * t + 2.0, np.full_like(t, 4.0)])
    np.testing.assert_allclose(rloess(x, RATE, span), x, atol=1e-9)


def test_outliers_do_not_count():
    """One sample in fifteen is off by a hundred times the amplitude; a mean would be off by 6."""
    x = np.sin(2.0 * np.pi * 0.5 * T)
    spoilt = x.copy()
    spoilt[7::15] += 100.0
    smooth = rloess(spoilt[:, None], RATE, SPAN)[:, 0]
    plain = rloess(x[:, None], RATE, SPAN)[:, 0]
    # Half a hertz has a fourth derivative of 97 / s^4: 1e-4 in windows of 0.15 s. At the ends the
    # third one counts.
    np.testing.assert_allclose(plain[10:-10], x[10:-10], atol=1e-4)
    np.testing.assert_allclose(smooth[10:-10], x[10:-10], atol=1e-3)
