# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Units of the effort, and the torque that each stands for.

An arm is seen through its effort: `RobotModel.for_effort` returns it without gravity where the
effort has none, and everything that is calculated of that arm follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ['EFFORT_UNITS', 'POSITION_ERROR', 'STATED_UNITS', 'EffortUnit']


class EffortUnit(NamedTuple):
    """Meaning of an effort in a unit."""

    description: str
    symbol: str  # as it is written for people
    # Whether torque is the drive gain [N m per unit] times it, as of a current; else it is torque.
    is_current: bool = False
    with_gravity: bool = True  # whether the torque of gravity is in it


# The one that is made of commands and positions, which no driver publishes.
POSITION_ERROR = 'rad'
# By the name that options, bags and files have.
EFFORT_UNITS: Mapping[str, EffortUnit] = {
    'A': EffortUnit('motor current', 'A', is_current=True),
    'Nm': EffortUnit('joint torque', 'N m'),
    POSITION_ERROR: EffortUnit('position error of a proportional servo', 'rad', is_current=True),
    'Nm-without-gravity': EffortUnit('joint torque without gravity', 'N m', with_gravity=False),
}
# Those that a person, a bag or a description may state.
STATED_UNITS = tuple(unit for unit in EFFORT_UNITS if unit != POSITION_ERROR)
