# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of friction health, and the control chart that keeps its rate of false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.files import is_number, is_whole_number
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
# What is tolerated and what is unknown may be nothing.
MAY_BE_ZERO = ('tolerated_change', 'warm_up_change', 'load_uncertainty')


@dataclass(frozen=True)
class HealthOptions:
    """
    Options of friction health; raises UsageError if one is out of range or two contradict.

    Without temperatures, warming and wear cannot be distinguished: viscous friction of a UR5 falls
    by up to 31 % in half an hour (Raviola et al. 2021).
    """

    sliding_time: float = 10.0  # sliding in each direction after which a window ends [s]
    slow_velocity: float = 0.05  # slower joints do not slide [rad/s]
    reference_windows: int = 30  # number of windows of a reference, at least 10
    tolerated_change: float = 0.05  # share of friction that is no wear
    change_to_see: float = 0.15  # share of friction that is seen soonest
    # Motion between false alarms, in the mean and of all joints together [h].
    hours_between_alarms: float = 1000.0
    warm_up_change: float = 0.35  # share of friction that is no wear without temperatures
    # Range of the temperatures of a reference from which a slope is learned [K].
    smallest_span: float = 5.0
    unknown_slope: float = 0.02  # slope of friction where none is known [1/K]
    # Error of a known slope beyond the reference's temperatures [1/K].
    slope_uncertainty: float = 0.002
    # Growth of friction per torque unknown to the model, such as a payload's [1].
    load_uncertainty: float = 0.1
    largest_error: float = 0.05  # standard error of the change of a window that is still judged

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not is_number(value) or not 0.0 <= value < math.inf:
                raise UsageError(f'{name} is {value!r}, it must be a number and not negative')
            if not value and name not in MAY_BE_ZERO:
                raise UsageError(f'{name} is {value!r}, it must be positive')
        if not is_whole_number(self.reference_windows) or self.reference_windows < 10:
            raise UsageError(
                f'reference_windows is {self.reference_windows}, it must be 10 windows or more'
            )
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
