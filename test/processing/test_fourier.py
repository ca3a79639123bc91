# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Periodic signals: series to rounding, and noise as statistics has it."""

import numpy as np
from robot_identification.processing.fourier import (
    fit_fourier, FourierSeries, whole_periods,
)

RATE = 125.0
PERIOD = 4.0


def series(rng, harmonics=5, joints=3):
    """Return a random series whose acceleration is of the size of one."""
    k = np.repeat(np.arange(1, harmonics + 1), 2)
    sizes = np.append(1.0, 1.0 / (2.0 * np.pi * k / PERIOD) ** 2)
    return FourierSeries(PERIOD, sizes[:, None] * rng.normal(size=(len(sizes), joints)))


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


def test_the_last_whole_periods_are_chosen():
    """2 s of a start, then three periods of 500 samples each."""
    t = np.arange(250 + 1500) / RATE
    rows = whole_periods(t, np.ones(len(t), dtype=bool), PERIOD)
    np.testing.assert_array_equal(rows, np.arange(250, 1750))
    assert not whole_periods(t, t < 3.9, PERIOD).size
    assert not whole_periods(t, t < 0.0, PERIOD).size
