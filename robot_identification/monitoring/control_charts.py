# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Control charts that tell a lasting change from scatter, at a stated rate of false alarms.

A one-sided chart is ``S <- max(0, r S + w (x - slack))`` and an alarm is S above a limit: the
tabular CUSUM with ``r = w = 1``, an EWMA with a barrier at zero with ``w = 1 - r``. After how many
samples false alarms come follows from one Markov chain for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
import scipy

# Bins of the Markov chain: with 120, run lengths are right to 1 %.
BINS = 120
# One sample fills at most this share of the way to the limit: an outlier alone is no alarm.
LARGEST_STEP_SHARE = 0.6
LONGEST_RUN = 1.0e9  # [samples]; rarer alarms are lost to rounding in the linear solve


@dataclass(frozen=True)
class Chart:
    """A one-sided control chart for samples of standard deviation 1."""

    # Of the sum before, and of the new sample [1].
    retention: float
    weight: float
    slack: float  # what a sample may be above zero without being counted [1]
    limit: float  # an alarm is above it [1]
    largest_step: float = np.inf  # by which a sample may raise the sum [1]

    def step(self, total: FloatArray, sample: FloatArray) -> FloatArray:
        """Return the sums after a sample in standard deviations; both arrays have one shape."""
        rise = np.minimum(self.weight * (sample - self.slack), self.largest_step)
        return np.maximum(0.0, self.retention * total + rise)


def average_run_length(chart: Chart) -> float:
    """
    Return after how many standard normal samples a chart alarms on average.

    The sum is a Markov chain whose values are cut into bins (Brook and Evans, Biometrika 59,
    1972), with one more state for a sum of zero; the general form of the sum is that of Champ,
    Woodall and Mohsen (Statistics and Probability Letters 11, 1991).
    """
    edges = np.linspace(0.0, chart.limit, BINS + 1)
    states = np.append(0.0, 0.5 * (edges[1:] + edges[:-1]))
    rise = edges - chart.retention * states[:, None]
    below = scipy.special.ndtr(rise / chart.weight + chart.slack)
    below = np.where(rise >= chart.largest_step, 1.0, below)
    stays = np.diff(below, axis=1, prepend=0.0)
    length = np.linalg.solve(np.eye(BINS + 1) - stays, np.ones(BINS + 1))
    # Rounding hides alarms that are rarer than any allowed rate.
    if not 0.0 < length[0] < LONGEST_RUN:
        return LONGEST_RUN
    return float(length[0])


@lru_cache(maxsize=256)
def design_chart(retention: float, weight: float, slack: float, run_length: float) -> Chart:
    """Return the chart with so many samples, 10 to 1e8, from its start to a false alarm."""
    if not (0.0 < retention <= 1.0 and 0.0 < weight <= 1.0 and 0.0 <= slack <= 5.0):
        raise UsageError(
            f'control chart: retention {retention:g}, weight {weight:g} and slack {slack:g} must '
            'be above 0 and up to 1, above 0 and up to 1, and from 0 to 5'
        )
    if retention == 1.0 and slack < 0.1:
        raise UsageError(f'control chart: a CUSUM needs a slack of at least 0.1, got {slack:g}')
    if not 10.0 <= run_length <= 1.0e8:
        raise UsageError(
            f'control chart: a false alarm in {run_length:g} samples is asked for: possible are '
            '10 to 1e8'
        )

    def with_limit(limit: float) -> Chart:
        return Chart(retention, weight, slack, limit, LARGEST_STEP_SHARE * limit)

    def excess(limit: float) -> float:
        return float(np.log(average_run_length(with_limit(limit)) / run_length))

    high = weight
    while excess(high) < 0.0:
        high *= 2.0
    low = high
    while excess(low) > 0.0:
        low *= 0.5
    return with_limit(float(scipy.optimize.brentq(excess, low, high, xtol=1e-6 * high)))
