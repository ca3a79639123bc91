# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Constant torque offset."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.law import FrictionLaw


@dataclass(frozen=True)
class FrictionOffset(FrictionLaw):
    """A constant torque: current bias, or unequal Coulomb friction."""

    name = 'offset'
    plain = (0.0, 0.0)
    is_offset = True
    symbols = ('f0',)
    units = ('N m',)
    signed = ('f0',)
    basis = (BasisTerm('one'),)
