# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Standard parameters: names, units and order, for links, friction and rotors.

An arm is seen through its effort: `RobotModel.for_effort` returns it without gravity where the
effort has none, and everything that is calculated of that arm follows. Units of joints are written
as those of a joint that turns, and put right where they are printed: one that slides has metres
and newtons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import re
from typing import NamedTuple, SupportsIndex

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.texts import short_repr


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


# Pinocchio's order; inertia about the joint frame's origin.
INERTIAL_SYMBOLS = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')


def to_tensor(six: FloatArray) -> FloatArray:
    """Return the tensor (3, 3) of an inertia in Pinocchio's order, (6,)."""
    xx, xy, yy, xz, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def from_tensor(tensor: FloatArray) -> FloatArray:
    """Return the six numbers of a tensor (3, 3) in Pinocchio's order."""
    return tensor[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]


def point_tensor(mass: float, place: FloatArray) -> FloatArray:
    """Return the tensor (3, 3) about the origin of a mass in one point (3,) [kg m^2]."""
    tensor: FloatArray = mass * (place @ place * np.eye(3) - np.outer(place, place))
    return tensor


def split_name(name: str) -> tuple[str, int]:
    """Return symbol and number of a parameter or length: ``Ixx3`` is ``('Ixx', 3)``."""
    # A symbol may end in 0 (the offset f0), a joint's number does not begin with it.
    match = re.fullmatch(r'(.+?)([1-9][0-9]*)', name)
    if match is None:
        raise ValueError(f'{name!r} is no symbol with a number')
    return match[1], int(match[2])


@dataclass(frozen=True)
class FrictionTerm:
    """One law on one joint."""

    joint: int  # index in kinematic order
    law: FrictionLaw  # with its shape constants
    # Standard errors of the constants in `law.shape`, NaN where one was not found from data; empty
    # where none was.
    constant_errors: tuple[float, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class StandardParameters:
    """
    Standard parameters of a model, in their order.

    The order is: ten inertial parameters per link, the friction terms as listed, one reflected
    inertia per joint (if `reflected_inertia`). A name is the symbol and the joint's number,
    counted from 1.
    """

    n: int  # number of joints
    friction: tuple[FrictionTerm, ...]  # friction terms
    reflected_inertia: bool  # whether reflected rotor inertias are among the parameters

    __repr__ = short_repr

    def with_position_steps(self, steps: FloatArray) -> StandardParameters:
        """Return them with friction for positions that are read in steps (n,) [rad or m]."""
        return replace(self, friction=tuple(
            replace(term, law=term.law.with_position_step(float(steps[term.joint])))
            for term in self.friction
        ))

    @property
    def size(self) -> int:
        """Return the number of parameters p."""
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names, length p."""
        rotors = range(self.n if self.reflected_inertia else 0)
        return (
            *(f'{symbol}{i + 1}' for i in range(self.n) for symbol in INERTIAL_SYMBOLS),
            *(f'{one}{term.joint + 1}' for term in self.friction for one in term.law.symbols),
            *(f'Ia{i + 1}' for i in rotors),
        )

    @cached_property
    def units(self) -> tuple[str, ...]:
        """SI units, length p."""
        bodies = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
        friction = [unit for term in self.friction for unit in term.law.units]
        return (*bodies * self.n, *friction, *['kg m^2'] * (self.n * self.reflected_inertia))

    @cached_property
    def friction_columns(self) -> tuple[tuple[FrictionTerm, slice], ...]:
        """Friction terms, each with the place of its coefficients among the parameters."""
        columns, start = [], 10 * self.n
        for term in self.friction:
            columns.append((term, slice(start, start + len(term.law.symbols))))
            start += len(term.law.symbols)
        return tuple(columns)

    @property
    def friction_slice(self) -> slice:
        """Place of all friction coefficients; empty if there are none."""
        return slice(10 * self.n, self.reflected_inertia_slice.start)

    @property
    def reflected_inertia_slice(self) -> slice:
        """Indices of the reflected inertias; empty if there are none."""
        return slice(self.size - self.n * self.reflected_inertia, self.size)


def make_standard_parameters(
    n: int, friction: Sequence[FrictionLaw | FrictionTerm], reflected_inertia: bool
) -> StandardParameters:
    """Return the parameters of an arm with laws on every joint, and terms on their own."""
    terms: list[FrictionTerm] = []
    for entry in friction:
        if isinstance(entry, FrictionTerm):
            terms.append(entry)
        else:
            terms += [FrictionTerm(joint, entry) for joint in range(n)]
    return StandardParameters(n, tuple(terms), reflected_inertia)


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
