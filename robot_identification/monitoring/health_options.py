# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of friction health: criteria of motion, of a change and of chance."""

from __future__ import annotations

from dataclasses import dataclass, fields

from robot_identification.errors import UsageError
from robot_identification.files import is_number

# More and less friction, by CUSUM and EWMA.
CHARTS = 4


@dataclass(frozen=True)
class HealthOptions:
    """
    Options of friction health.

    A joint's window ends after `sliding_time` [s] in both directions; below `slow_velocity`
    [rad/s] it does not slide. A reference is learned from `reference_windows`. Changes up to
    `tolerated_change`, a share of friction, are no wear; without temperatures `warm_up_change`
    instead: viscous friction of a UR5 falls by up to 31 % in half an hour (Raviola et al. 2021).
    `change_to_see` is the share seen soonest; `hours_between_alarms` of motion pass between false
    alarms, in the mean and of all joints together. Temperatures of the reference have to vary by
    `smallest_span` [K] for a slope, else it is `unknown_slope` [1/K]; `slope_uncertainty` [1/K] is
    that of a known slope beyond the reference's temperatures. `load_uncertainty` is the growth of
    friction per torque unknown to the model, such as a payload's [1]. Windows whose change has a
    standard error above `largest_error` are not judged. Raises UsageError if one of them is out of
    range.
    """

    sliding_time: float = 10.0
    slow_velocity: float = 0.05
    reference_windows: int = 30
    tolerated_change: float = 0.05
    change_to_see: float = 0.15
    hours_between_alarms: float = 1000.0
    warm_up_change: float = 0.35
    smallest_span: float = 5.0
    unknown_slope: float = 0.02
    slope_uncertainty: float = 0.002
    load_uncertainty: float = 0.1
    largest_error: float = 0.05

    def __post_init__(self) -> None:
        for item in fields(self):
            low, high = _BOUNDS[item.name]
            value = getattr(self, item.name)
            if not is_number(value) or not low <= value <= high:
                raise UsageError(
                    f'friction health: {item.name} is {value!r}, it must be from {low:g} to '
                    f'{high:g}'
                )
        if not isinstance(self.reference_windows, int):
            raise UsageError(
                f'friction health: reference_windows is {self.reference_windows!r}, it must be '
                'a whole number'
            )
        if self.change_to_see <= self.tolerated_change:
            raise UsageError(
                f'friction health: change_to_see is {self.change_to_see:g}, it must be above '
                f'tolerated_change, {self.tolerated_change:g}'
            )


# Allowed values, with the units of the fields; chosen wide: they exclude mistakes alone.
_BOUNDS = {
    'sliding_time': (1.0, 600.0), 'slow_velocity': (0.001, 1.0),
    'reference_windows': (10, 10_000), 'tolerated_change': (0.0, 1.0),
    'change_to_see': (0.01, 2.0), 'hours_between_alarms': (0.1, 1.0e5),
    'warm_up_change': (0.0, 2.0), 'smallest_span': (1.0, 50.0), 'unknown_slope': (0.001, 1.0),
    'slope_uncertainty': (1.0e-4, 1.0), 'load_uncertainty': (0.0, 1.0),
    'largest_error': (0.001, 1.0),
}


def windows_between_alarms(options: HealthOptions, n: int) -> float:
    """Return how many windows one of the charts of n joints has for one false alarm."""
    # A window holds at least that much sliding, so that there are no more windows an hour.
    per_hour = 3600.0 / (2.0 * options.sliding_time)
    return min(max(options.hours_between_alarms * per_hour * CHARTS * n, 10.0), 1.0e8)
