# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Viscous friction that grows less than in proportion to velocity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import (
    signed_power_by_exponent,
)
from robot_identification.model.friction.law import (
    check_between, check_positive, FrictionLaw, JointMotion,
)


@dataclass(frozen=True)
class PowerViscousFriction(FrictionLaw):
    """
    Sub-linear viscous friction, ``fpw abs(dq)^exponent sign(dq)`` with dq in rad/s.

    The coefficient is the torque at 1 rad/s. `viscous` is not excluded: the two are independent
    at every exponent but 1, which only a fit of the exponent can reach. It is then `viscous`.
    """

    exponent: float = 0.5  # above 0, towards which the law turns into Coulomb friction, up to 1

    name = 'power_viscous'
    ranges = MappingProxyType({'exponent': (0.05, 0.95)})
    symbols = ('fpw',)
    units = ('N m',)
    shape = ('exponent',)
    searched_first = ('exponent',)

    def __post_init__(self) -> None:
        check_positive(self.exponent, 'exponent of power_viscous friction')
        check_between(self.exponent, 0.0, 1.0, 'exponent of power_viscous friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return (BasisTerm('power', (self.exponent,)),)

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        slope = signed_power_by_exponent(motion.dq, self.exponent)
        return slope[:, None] * coefficients

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with exponents between Coulomb and viscous friction."""
        return tuple(replace(self, exponent=exponent) for exponent in (0.3, 0.5, 0.7))
