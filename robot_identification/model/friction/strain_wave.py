# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction of a strain-wave gear, with load and temperature."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import (
    signed_power_by_exponent, smooth_sign, smooth_sign_by_width, static_share,
    static_share_by_shape,
)
from robot_identification.model.friction.law import (
    check_between, check_positive, check_temperature, FrictionLaw, JointMotion,
)


@dataclass(frozen=True)
class StrainWaveFriction(FrictionLaw):
    """
    Stribeck, load and temperature effects in one law for joints with strain-wave gears.

    With ``s = tanh(dq / width)``, ``e = exp(-abs(dq / velocity)^exponent)``, ``L =
    abs(tau_rigid)`` and ``D = temperature - reference``::

        (fcw + fclw L + (fsw + fslw L + fsTw D) e) s
            + (fvw + fvTw D) abs(dq)^viscous_exponent sign(dq)

    fsw, fslw and fsTw are what static friction adds to the kinetic one.

    Reconstructed: Madsen et al. 2020 compensate friction by an estimate that was found beforehand
    and depends on velocity, load and temperature, but its formula is in other papers. This is
    Stribeck friction with parts that grow with the load and are linear in temperature.
    Fit it to sweeps at constant velocities in both directions, with two or more loads and two or
    more temperatures, and keep it; one excitation trajectory does not determine them all.
    """

    velocity: float = 0.1  # Stribeck velocity [rad/s]
    exponent: float = 2.0  # of the Stribeck curve, from 0.5 to 2
    width: float = 0.01  # of the passage through zero [rad/s]
    # Above 0, up to 1; the viscous coefficients are torques at 1 rad/s.
    viscous_exponent: float = 1.0
    reference: float = 25.0  # temperature at which fsw and fvw hold [deg C], a convention

    name = 'strain_wave'
    ranges = MappingProxyType({'exponent': (0.5, 2.0), 'viscous_exponent': (0.05, 1.0)})
    symbols = ('fcw', 'fclw', 'fsw', 'fslw', 'fsTw', 'fvw', 'fvTw')
    units = ('N m', '1', 'N m', '1', 'N m/K', 'N m', 'N m/K')
    signed = ('fsTw', 'fvTw')
    shape = ('velocity', 'exponent', 'width', 'viscous_exponent')
    needs_temperature = True
    needs_rigid_torque = True
    excludes = (
        'coulomb', 'coulomb_sign', 'viscous', 'asymmetric', 'stribeck', 'load',
        'temperature_viscous',
    )

    def __post_init__(self) -> None:
        check_positive(self.velocity, 'velocity of strain_wave friction')
        check_between(self.exponent, 0.5, 2.0, 'exponent of strain_wave friction')
        check_positive(self.width, 'width of strain_wave friction')
        check_positive(self.viscous_exponent, 'viscous_exponent of strain_wave friction')
        check_between(
            self.viscous_exponent, 0.0, 1.0, 'viscous_exponent of strain_wave friction'
        )
        check_temperature(self.reference, 'reference of strain_wave friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        sliding = 'smooth_sign', (self.width,)
        static = 'static_sign', (self.width, self.velocity, self.exponent)
        flow = 'power', (self.viscous_exponent,)
        return (
            BasisTerm(*sliding), BasisTerm(*sliding, per_load=True), BasisTerm(*static),
            BasisTerm(*static, per_load=True), BasisTerm(*static, reference=self.reference),
            BasisTerm(*flow), BasisTerm(*flow, reference=self.reference),
        )

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        load, difference = np.abs(motion.tau_rigid), motion.temperature - self.reference
        kinetic = coefficients[0] + coefficients[1] * load
        static = coefficients[2] + coefficients[3] * load + coefficients[4] * difference
        viscous = coefficients[5] + coefficients[6] * difference
        s = smooth_sign(motion.dq, self.width)
        share = static_share(motion.dq, self.velocity, self.exponent)
        by_velocity, by_exponent = static_share_by_shape(
            motion.dq, self.velocity, self.exponent
        )
        return np.column_stack([
            static * by_velocity * s,
            static * by_exponent * s,
            (kinetic + static * share) * smooth_sign_by_width(motion.dq, self.width),
            viscous * signed_power_by_exponent(motion.dq, self.viscous_exponent),
        ])
