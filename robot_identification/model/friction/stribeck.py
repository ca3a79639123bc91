# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Dry friction that falls from its static to its kinetic value when sliding begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import (
    smooth_sign, smooth_sign_by_width, static_share,
    static_share_by_shape,
)
from robot_identification.model.friction.law import (
    check_between, check_positive, FrictionLaw, JointMotion,
)


@dataclass(frozen=True)
class StribeckFriction(FrictionLaw):
    """
    Stribeck friction without its viscous part.

    ``(fk + (fs - fk) exp(-abs(dq / velocity)^exponent)) tanh(dq / width)`` with kinetic friction
    fk and static friction fs; the columns add up to that of `coulomb`. At the Stribeck velocity
    [rad/s], 1 / e of the static excess is left. The exponent is from 0.5 to 2 (Gaussian). The
    width of the passage through zero [rad/s] should be several times smaller than the Stribeck
    velocity: static friction is seen only between the two. H. Olsson, K. J. Astrom, C. Canudas de
    Wit, M. Gafvert and P. Lischinsky, "Friction models and friction compensation", European
    Journal of Control 4(3), 1998.
    """

    velocity: float = 0.1
    exponent: float = 2.0
    width: float = 0.01

    name = 'stribeck'
    ranges = MappingProxyType({'exponent': (0.5, 2.0)})
    symbols = ('fk', 'fs')
    units = ('N m', 'N m')
    shape = ('velocity', 'exponent', 'width')
    searched_first = ('velocity',)
    searched_next = ('width', 'exponent')
    excludes = ('coulomb', 'coulomb_sign', 'asymmetric')

    def __post_init__(self) -> None:
        check_positive(self.velocity, 'velocity of stribeck friction')
        check_between(self.exponent, 0.5, 2.0, 'exponent of stribeck friction')
        check_positive(self.width, 'width of stribeck friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        constants = self.width, self.velocity, self.exponent
        return BasisTerm('kinetic_sign', constants), BasisTerm('static_sign', constants)

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        kinetic, static = coefficients
        s = smooth_sign(motion.dq, self.width)
        share = static_share(motion.dq, self.velocity, self.exponent)
        by_velocity, by_exponent = static_share_by_shape(
            motion.dq, self.velocity, self.exponent
        )
        return np.column_stack([
            (static - kinetic) * by_velocity * s,
            (static - kinetic) * by_exponent * s,
            (kinetic + (static - kinetic) * share) * smooth_sign_by_width(motion.dq, self.width),
        ])

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with Stribeck velocities from a creep to a slow motion."""
        return tuple(replace(self, velocity=velocity) for velocity in (0.03, 0.1, 0.3))
