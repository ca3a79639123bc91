# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of a break-away test."""

from __future__ import annotations

from dataclasses import dataclass
import math

from robot_identification.errors import UsageError
from robot_identification.model import unit_of_joint
from robot_identification.options import check_options, option

# A ramp from zero to the cap takes so long where no rate is given [s]; chosen: 50 ramps take a
# quarter of an hour.
RAMP_SECONDS = 20.0


@dataclass(frozen=True)
class BreakAwaySettings:
    """
    Options of a break-away test.

    `torque_cap` is the largest torque of a ramp, beyond gravity [N m], from the manual pre-test;
    `torque_limit` the largest of all, gravity included [N m]. `inertia` is that of link and rotor
    at the start [kg m^2] and sets the gains of the return. `longest_gap` is the longest time
    between joint states [s]; a `continuous` position wraps around at a turn; of a joint that
    `slides` all that is stated in rad is in m, and what is in N m is in N. Other fields are
    options of a node, explained in their declaration. Raises UsageError if a value is out of
    range, or two do not fit together.
    """

    torque_cap: float
    torque_limit: float
    inertia: float
    ramp_rate: float = option(
        float, 'rate of the torque [N m/s]; 0.0: from zero to the cap in 20 s', default=0.0,
        minimum=0.0, maximum=100.0,
    )
    threshold: float = option(
        float, 'speed above which the joint has broken away [rad/s]', default=0.13, minimum=0.005,
        maximum=1.0,
    )
    confirming_samples: int = option(
        int, 'number of consecutive samples above the threshold', default=3, minimum=1,
        maximum=100,
    )
    repeats: int = option(int, 'ramps in each direction', default=25, minimum=2, maximum=1000)
    window: float = option(
        float, 'largest distance of the joint from its start [rad]', default=0.3, minimum=0.02,
        maximum=3.0,
    )
    tolerance: float = option(
        float, 'largest distance from the start at rest after a return [rad]', default=0.02,
        minimum=0.001, maximum=0.5,
    )
    settle_time: float = option(
        float, 'minimum rest there before a ramp [s]', default=0.5, minimum=0.0,
        maximum=30.0,
    )
    return_timeout: float = option(
        float, 'longest return [s]', default=30.0, minimum=1.0, maximum=300.0,
    )
    return_speed: float = option(
        float, 'largest speed of the return [rad/s]', default=0.2, minimum=0.01, maximum=1.0,
    )
    speed_limit: float = option(
        float, 'speed at which the test is aborted [rad/s]', default=1.5, minimum=0.05,
        maximum=5.0,
    )
    position_gain: float = option(
        float, 'k_P of the return [1/s]', default=1.0, minimum=0.01, maximum=20.0,
    )
    integral_gain: float = option(
        float, 'k_I of the return [1/s^2]', default=0.001, minimum=0.0, maximum=10.0,
    )
    onset_travel: float = option(
        float, 'displacement at the onset of motion [rad]; more than the joint yields '
        'before it breaks away', default=5.0e-4, minimum=1e-6, maximum=0.2,
    )
    longest_gap: float = 0.2
    patience: float = option(
        float, 'longest wait of the pre-test for the next ~/step [s]', default=30.0, minimum=1.0,
        maximum=300.0,
    )
    continuous: bool = False
    slides: bool = False

    def __post_init__(self) -> None:
        check_options(self)
        for name in ('torque_cap', 'torque_limit', 'inertia', 'longest_gap'):
            if not 0.0 < getattr(self, name) < math.inf:
                raise UsageError(
                    f'break-away test: {name} is {getattr(self, name)}, it must be positive'
                )
        for smaller, larger in (
            ('torque_cap', 'torque_limit'), ('tolerance', 'window'), ('onset_travel', 'window'),
            ('threshold', 'speed_limit'), ('return_speed', 'speed_limit'),
        ):
            if getattr(self, smaller) > getattr(self, larger):
                raise UsageError(
                    f'break-away test: {smaller} {getattr(self, smaller):g} is above {larger} '
                    f'{getattr(self, larger):g}'
                )

    def unit(self, unit: str) -> str:
        """Return a unit, written as that of a joint that turns, as that of the joint."""
        return unit_of_joint(unit, 'm' if self.slides else 'rad')

    @property
    def rate(self) -> float:
        """Rate of the ramp [N m/s]."""
        return self.ramp_rate or self.torque_cap / RAMP_SECONDS

    @property
    def duration(self) -> float:
        """Longest time of the test but for its returns [s]."""
        return 2 * self.repeats * (self.torque_cap / self.rate + self.settle_time)
