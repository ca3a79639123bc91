# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Units of the effort, and of what belongs to a joint: one that slides has metres and newtons.

An arm is seen through its effort: `RobotModel.for_effort` returns it without gravity where the
effort has none, and everything that is calculated of that arm follows. Units of joints are written
as those of a joint that turns, and put right where they are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, SupportsIndex

from robot_identification.model.parameters import StandardParameters


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


# What stands for what along an axis instead of about it, in the order of replacement. N/A would be
# read as "not available".
ALONG_AXIS = (
    ('kg m^2', 'kg'), ('N m/A', 'N per A'), ('N m', 'N'), ('Nm', 'N'), ('rad', 'm'),
)


def unit_of_joint(unit: str, position_unit: str) -> str:
    """
    Return a unit of a joint whose position has `position_unit`, 'rad' or 'm'.

    `unit` is that of a joint that turns, such as ``'N m s/rad'``.
    """
    if position_unit != 'm':
        return unit
    for about, along in ALONG_AXIS:
        unit = unit.replace(about, along)
    return unit


def unit_of_joints(unit: str, position_units: Sequence[str]) -> str:
    """Return the units of some joints in words: ``'rad'``, ``'m'``, or ``'rad or m'``."""
    return ' or '.join(dict.fromkeys(unit_of_joint(unit, one) for one in position_units)) or unit


@dataclass(frozen=True)
class NamedJoints:
    """Names of the joints of an arm, and the units of their positions."""

    names: tuple[str, ...]
    position_units: tuple[str, ...] = ()  # 'rad' or 'm'; empty: all joints turn

    def unit(self, unit: str, joint: SupportsIndex) -> str:
        """Return a unit, written as that of a joint that turns, as that of a joint."""
        return unit_of_joint(unit, self.position_units[joint]) if self.position_units else unit

    def units(self, unit: str) -> str:
        """Return a unit as those of all joints in words."""
        return unit_of_joints(unit, self.position_units)


def parameter_units(
    parameters: StandardParameters, position_units: Sequence[str]
) -> tuple[str, ...]:
    """Return the units of standard parameters (p,), friction and rotors those of their joints."""
    units = list(parameters.units)
    for term, columns in parameters.friction_columns:
        units[columns] = [
            unit_of_joint(unit, position_units[term.joint]) for unit in units[columns]
        ]
    rotors = parameters.reflected_inertia_slice
    units[rotors] = [
        unit_of_joint(unit, one)
        for unit, one in zip(units[rotors], position_units, strict=False)
    ]
    return tuple(units)
