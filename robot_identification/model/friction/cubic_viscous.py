# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The cubic part of viscous friction."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.law import FrictionLaw


@dataclass(frozen=True)
class CubicViscousFriction(FrictionLaw):
    """
    Friction torque ``fvc dq^3``, used together with `viscous` to bend its line.

    The linear alternative to a power of the velocity: its sum with `viscous` is the odd
    polynomial of degree three. Beyond the velocities of the recording it leads far astray.
    """

    name = 'cubic_viscous'
    symbols = ('fvc',)
    units = ('N m s^3/rad^3',)
    signed = ('fvc',)
    basis = (BasisTerm('power', (3.0,)),)
