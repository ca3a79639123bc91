# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Robust local regression reproduces quadratics and does not see outliers."""

import numpy as np
import pytest
from robot_identification.processing.filters import rloess, rloess_memory

RATE = 125.0
SPAN = 0.15
T = np.arange(400) / RATE


@pytest.mark.parametrize('span', [0.02, 0.15, 0.25])
@pytest.mark.parametrize('samples', [3, 5, 10, 400])
def test_quadratics_are_exact_to_the_ends(samples, span):
    """Rounding alone, with every window, also with one that is longer than the signal."""
    t = T[:samples]
    x = np.column_stack([3.0 * t**2 - 7.0 * t + 2.0, np.full_like(t, 4.0)])
    np.testing.assert_allclose(rloess(x, RATE, span), x, atol=1e-9)


def test_it_equals_weighted_quadratics_solved_one_by_one():
    """Without outliers to speak of, its first pass is the textbook's regression."""
    rng = np.random.default_rng(0)
    true = np.sin(2.0 * np.pi * T)
    x = true + 0.01 * rng.normal(size=len(T))
    window = 19
    expected = np.empty_like(x)
    for i in range(len(x)):
        first = min(max(i - window // 2, 0), len(x) - window)
        distance = np.arange(first, first + window) - i
        weights = (1.0 - np.abs(distance / (np.abs(distance).max() + 1.0)) ** 3) ** 3
        columns = np.column_stack([np.ones(window), distance, distance**2])
        root = np.sqrt(weights)[:, None]
        expected[i] = np.linalg.lstsq(
            root * columns, root[:, 0] * x[first: first + window], rcond=None
        )[0][0]
    found = rloess(x[:, None], RATE, window / RATE)[:, 0]
    # Robust weights of samples that are no outliers move the result by a share of the noise.
    assert np.abs(found - expected).max() < 0.01
    assert np.corrcoef(found - true, expected - true)[0, 1] > 0.8


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


def test_far_samples_do_not_count():
    """Beyond its memory nothing changes: blocks can be smoothed alone."""
    x = np.random.default_rng(1).normal(size=(400, 1))
    other = x.copy()
    other[300:] += 5.0
    reach = rloess_memory(RATE, 0.05)
    assert reach < 200
    a, b = rloess(x, RATE, 0.05), rloess(other, RATE, 0.05)
    np.testing.assert_allclose(a[: 300 - reach], b[: 300 - reach], atol=1e-12)
    assert np.abs(a - b).max() > 1.0
