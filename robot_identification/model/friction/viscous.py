# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.law import FrictionLaw


@dataclass(frozen=True)
class ViscousFriction(FrictionLaw):
    """Friction torque proportional to velocity, ``fv * dq``."""

    name = 'viscous'
    plain = (0.0, 1.0)
    symbols = ('fv',)
    units = ('N m s/rad',)
    basis = (BasisTerm('velocity', (1.0,)),)
