# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Units of what belongs to a joint: one that slides has metres and newtons.

Units are written as those of a joint that turns, and put right where they are printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from robot_identification.model.parameters import StandardParameters

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
