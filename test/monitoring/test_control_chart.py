# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""False alarms come as often as stated, and lasting changes are seen."""

import numpy as np
import pytest
from robot_identification.monitoring.friction_change import FrictionChange
from robot_identification.monitoring.health_options import average_run_length, Chart, design_chart
from robot_identification.monitoring.health_reference import learn_reference


def rate_of(chart, samples):
    """Return the alarms per sample of chains that start anew after each, samples (N, chains)."""
    total, alarms = np.zeros(samples.shape[1:]), 0
    for sample in samples:
        total = chart.step(total, sample)
        alarms += np.count_nonzero(total > chart.limit)
        total = np.where(total > chart.limit, 0.0, total)
    return alarms / samples.size


@pytest.mark.parametrize(('limit', 'published'), [(4.0, 335.4), (5.0, 930.9)])
def test_run_length_of_a_textbook_chart(limit, published):
    """Twice the two-sided 168 and 465 of a CUSUM with slack 0.5 (Montgomery, table 9.3)."""
    # Those are rounded to 0.3 %; 120 bins are right to 0.1 %.
    assert average_run_length(Chart(0.5, limit)) == pytest.approx(published, rel=3e-3)


@pytest.mark.parametrize('slack', [0.5, 1.0])
def test_stated_rate_is_that_of_a_simulation(slack, rng):
    """8000 alarms are expected: their rate scatters by 1 %, and bins are right to 1 %."""
    chart = design_chart(slack, 200.0)
    rate = rate_of(chart, rng.normal(size=(800, 2000)))
    assert 1.0 / rate == pytest.approx(200.0, rel=0.04)


def test_one_outlier_is_no_alarm():
    """However large it is; two in a row are."""
    chart = design_chart(0.5, 1e5)
    once = chart.step(np.zeros(1), np.full(1, 1e9))
    assert once[0] < chart.limit
    assert chart.step(once, np.full(1, 1e9))[0] > chart.limit


def follow(rng, repeat, shape):
    """Return series of variance 1 in which each value resembles the one before."""
    values = rng.normal(size=shape)
    for k in range(1, shape[0]):
        values[k] = repeat * values[k - 1] + np.sqrt(1.0 - repeat**2) * values[k]
    return values


@pytest.mark.parametrize('repeat', [0.4, 0.0])
def test_learned_limits_keep_the_rate(repeat, rng):
    """In most arms, not only in the mean over arms."""
    # Also where windows resemble each other as well. 100 arms learn from 30 windows. Mean and
    # scatter are each safe in 90 % of the references; the rate of an arm is known to 10 %, from
    # 100 alarms.
    wanted, arms = 150.0, 100
    chart = design_chart(0.25, wanted)
    learned = [
        learn_reference(
            [FrictionChange(k, 0.01, 0.1, 0.0, np.nan) for k in 0.03 * series], 5.0,
            with_slope=False,
        )
        for series in follow(rng, repeat, (30, arms)).T
    ]
    mean = np.array([one.change + 1.28 * one.mean_error for one in learned])
    scatter = np.array([one.long_scatter for one in learned])
    kept = []
    changes = 0.03 * follow(rng, repeat, (500, arms, 30))
    for arm in range(arms):
        kept.append(rate_of(chart, (changes[:, arm] - mean[arm]) / scatter[arm]) * wanted < 1.1)
    assert np.mean(kept) > 0.85
