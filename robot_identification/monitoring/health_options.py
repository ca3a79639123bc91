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

    Attributes
    ----------
    sliding_time : float
        A joint's window ends when it slid so long in both directions [s].
    slow_velocity : float
        Slower joints do not slide [rad/s].
    reference_windows : int
        From how many windows a reference is learned.
    tolerated_change : float
        What is no wear: changes up to this share of friction keep the rate of false alarms.
    change_to_see : float
        Share of friction that is seen soonest.
    hours_between_alarms : float
        Of motion, in the mean and of all joints together, from one false alarm to the next.
    warm_up_change : float
        Tolerated instead where temperatures are not known: viscous friction of a UR5 falls by up
        to 31 % in half an hour (Raviola et al. 2021).
    smallest_span : float
        Between which temperatures of the reference have to vary for a slope [K].
    unknown_slope : float
        Assumed change of friction with temperature where it is unknown [1/K].
    slope_doubt : float
        By how much a known slope may be wrong beyond the reference's temperatures [1/K].
    load_doubt : float
        Growth of friction per torque that the model knows nothing of, such as a payload's [1].
    largest_error : float
        Windows whose change has a larger standard error are not judged.

    Raises
    ------
    UsageError
        If one of them is out of range.

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
    slope_doubt: float = 0.002
    load_doubt: float = 0.1
    largest_error: float = 0.05

    def __post_init__(self) -> None:
        for item in fields(self):
            low, high = _BOUNDS[item.name]
            value = getattr(self, item.name)
            if not is_number(value) or not (
                low <= value <= high
            ):
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


_BOUNDS = {
    'sliding_time': (1.0, 600.0), 'slow_velocity': (0.001, 1.0),
    'reference_windows': (10, 10_000), 'tolerated_change': (0.0, 1.0),
    'change_to_see': (0.01, 2.0), 'hours_between_alarms': (0.1, 1.0e5),
    'warm_up_change': (0.0, 2.0), 'smallest_span': (1.0, 50.0), 'unknown_slope': (0.001, 1.0),
    'slope_doubt': (1.0e-4, 1.0), 'load_doubt': (0.0, 1.0), 'largest_error': (0.001, 1.0),
}


def windows_between_alarms(options: HealthOptions, n: int) -> float:
    """Return how many windows one of the charts of n joints has for one false alarm."""
    # A window holds at least that much sliding, so that there are no more windows an hour.
    per_hour = 3600.0 / (2.0 * options.sliding_time)
    return min(max(options.hours_between_alarms * per_hour * CHARTS * n, 10.0), 1.0e8)
