# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb friction by the sign of the velocity, as most papers write it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.coulomb import CoulombFriction
from robot_identification.model.friction.law import check_positive, FrictionLaw


@dataclass(frozen=True)
class CoulombSignFriction(FrictionLaw):
    """
    Friction torque of constant magnitude against the motion, ``fcs * sign(dq)``.

    In sliding it is `coulomb`, which it excludes.
    """

    # Velocities up to this magnitude [rad/s] count as rest, where the sign is zero: the sign of
    # rounding noise would otherwise be a friction torque.
    zero_velocity: float = 1.0e-6

    name = 'coulomb_sign'
    plain = (1.0, 0.0)
    symbols = ('fcs',)
    units = ('N m',)
    excludes = ('coulomb',)

    def __post_init__(self) -> None:
        check_positive(self.zero_velocity, 'zero_velocity of coulomb_sign friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return (BasisTerm('sign', (self.zero_velocity,)),)

    def softened(self, width: float) -> FrictionLaw:
        """Return smooth Coulomb friction."""
        return CoulombFriction(width)
