# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of friction health, and the control chart that keeps its rate of false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.options import check_options, option
import scipy

# Of one joint: more and less friction.
CHARTS = 2
# Bins of the Markov chain: with 120, run lengths are right to 1 %.
BINS = 120
# One sample fills at most this share of the way to the limit: an outlier alone is no alarm.
LARGEST_STEP_SHARE = 0.6
# Samples to a false alarm: rarer ones are lost to rounding in the linear solve, and more frequent
# ones are no use.
SHORTEST_RUN, LONGEST_RUN, LOST = 10.0, 1.0e8, 1.0e9


@dataclass(frozen=True)
class HealthOptions:
    """
    Options of friction health; ranges are wide: they exclude mistakes alone.

    Without temperatures, warming and wear cannot be distinguished: viscous friction of a UR5 falls
    by up to 31 % in half an hour (Raviola et al. 2021). Raises an IdentificationError if an option
    has another type or is out of range.
    """

    sliding_time: float = option(
        float, 'sliding in each direction after which a window ends [s]', default=10.0,
        minimum=1.0, maximum=600.0,
    )
    slow_velocity: float = option(
        float, 'slower joints do not slide [rad/s]', default=0.05, minimum=0.001, maximum=1.0
    )
    reference_windows: int = option(
        int, 'number of windows of a reference', default=30, minimum=10, maximum=10_000
    )
    tolerated_change: float = option(
        float, 'share of friction that is no wear', default=0.05, minimum=0.0, maximum=1.0
    )
    change_to_see: float = option(
        float, 'share of friction that is seen soonest', default=0.15, minimum=0.01, maximum=2.0
    )
    hours_between_alarms: float = option(
        float, 'motion between false alarms, in the mean and of all joints together [h]',
        default=1000.0, minimum=0.1, maximum=1.0e5,
    )
    warm_up_change: float = option(
        float, 'share of friction that is no wear without temperatures', default=0.35,
        minimum=0.0, maximum=2.0,
    )
    smallest_span: float = option(
        float, 'range of the temperatures of a reference from which a slope is learned [K]',
        default=5.0, minimum=1.0, maximum=50.0,
    )
    unknown_slope: float = option(
        float, 'slope of friction where none is known [1/K]', default=0.02, minimum=0.001,
        maximum=1.0,
    )
    slope_uncertainty: float = option(
        float, "error of a known slope beyond the reference's temperatures [1/K]", default=0.002,
        minimum=1.0e-4, maximum=1.0,
    )
    load_uncertainty: float = option(
        float, "growth of friction per torque unknown to the model, such as a payload's [1]",
        default=0.1, minimum=0.0, maximum=1.0,
    )
    largest_error: float = option(
        float, 'standard error of the change of a window that is still judged', default=0.05,
        minimum=0.001, maximum=1.0,
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.change_to_see <= self.tolerated_change:
            raise UsageError(
                f'change_to_see is {self.change_to_see:g}, it must be above tolerated_change, '
                f'{self.tolerated_change:g}'
            )

    def windows_between_alarms(self, n: int) -> float:
        """Return how many windows one of the charts of n joints has for one false alarm."""
        # A window holds at least that much sliding, so that there are no more windows an hour.
        per_hour = 3600.0 / (2.0 * self.sliding_time)
        windows = self.hours_between_alarms * per_hour * CHARTS * n
        return min(max(windows, SHORTEST_RUN), LONGEST_RUN)


@dataclass(frozen=True)
class Chart:
    """
    A one-sided CUSUM for samples of standard deviation 1; an alarm is a sum above the limit.

    It distinguishes a lasting change from scatter at a stated rate of false alarms.
    """

    slack: float  # what a sample may be above zero without being counted [1]
    limit: float  # [1]
    largest_step: float = np.inf  # by which a sample may raise the sum [1]

    def step(self, total: FloatArray, sample: FloatArray) -> FloatArray:
        """Return the sums after a sample in standard deviations; both arrays have one shape."""
        return np.maximum(0.0, total + np.minimum(sample - self.slack, self.largest_step))


def average_run_length(chart: Chart) -> float:
    """
    Return after how many standard normal samples a chart alarms on average.

    The sum is a Markov chain whose values are cut into bins, with one more state for a sum of zero
    (Brook and Evans, Biometrika 59, 1972).
    """
    edges = np.linspace(0.0, chart.limit, BINS + 1)
    states = np.append(0.0, 0.5 * (edges[1:] + edges[:-1]))
    rise = edges - states[:, None]
    below = np.where(
        rise >= chart.largest_step, 1.0, scipy.special.ndtr(rise + chart.slack)
    )
    stays = np.diff(below, axis=1, prepend=0.0)
    length = np.linalg.solve(np.eye(BINS + 1) - stays, np.ones(BINS + 1))
    # Rounding hides alarms that are rarer than any allowed rate.
    return float(length[0]) if 0.0 < length[0] < LOST else LOST


@lru_cache(maxsize=256)
def design_chart(slack: float, run_length: float) -> Chart:
    """Return the chart with so many samples, 10 to 1e8, from its start to a false alarm."""
    def with_limit(limit: float) -> Chart:
        return Chart(slack, limit, LARGEST_STEP_SHARE * limit)

    def excess(limit: float) -> float:
        return float(np.log(average_run_length(with_limit(limit)) / run_length))

    high = 1.0
    while excess(high) < 0.0:
        high *= 2.0
    low = high
    while excess(low) > 0.0:
        low *= 0.5
    return with_limit(float(scipy.optimize.brentq(excess, low, high, xtol=1e-6 * high)))
