# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Viscous friction that changes with the temperature of the grease."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.law import check_temperature, FrictionLaw


@dataclass(frozen=True)
class TemperatureViscousFriction(FrictionLaw):
    """
    Friction torque ``fvT (temperature - reference) dq``, used together with `viscous`.

    In both laws together viscous friction is linear in temperature, as Raviola et al. 2021 found
    it in a UR3 and a UR5 (whose joints went from 22 to 40 deg C). It falls as grease warms, so
    fvT is negative.
    """

    # Temperature at which the coefficient of `viscous` holds [deg C]. A convention, not a shape to
    # be found: another one adds a multiple of ``dq``, which `viscous` takes up.
    reference: float = 25.0

    name = 'temperature_viscous'
    symbols = ('fvT',)
    units = ('N m s/(rad K)',)
    signed = ('fvT',)
    needs_temperature = True

    def __post_init__(self) -> None:
        check_temperature(self.reference, 'reference of temperature_viscous friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return (BasisTerm('velocity', (1.0,), reference=self.reference),)
