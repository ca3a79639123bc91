# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Standard parameters: names, units and order, for links, friction and rotors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import re

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.texts import short_repr

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
