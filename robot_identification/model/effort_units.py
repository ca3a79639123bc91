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

__all__ = ['EFFORT_UNITS', 'EffortUnit']


class EffortUnit(NamedTuple):
    """Meaning of an effort in a unit."""

    description: str
    symbol: str  # as it is written for people
    is_current: bool = False  # torque is the drive gain times it, else it is the torque
    with_gravity: bool = True  # whether the torque of gravity is in it


# By the name that options, bags and files have.
EFFORT_UNITS: Mapping[str, EffortUnit] = {
    'A': EffortUnit('motor current', 'A', is_current=True),
    'Nm': EffortUnit('joint torque', 'N m'),
    'Nm-without-gravity': EffortUnit('joint torque without gravity', 'N m', with_gravity=False),
}
