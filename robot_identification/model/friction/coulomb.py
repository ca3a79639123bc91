# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb friction with a smooth passage through zero."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import (
    smooth_sign_by_width,
)
from robot_identification.model.friction.law import check_positive, FrictionLaw, JointMotion


@dataclass(frozen=True)
class CoulombFriction(FrictionLaw):
    """
    Coulomb friction, ``fc * tanh(dq / width)``.

    At rest it is zero, where the sign of a measured velocity is that of its noise.
    """

    # Velocity at which 76 % of the friction is reached [rad/s]: above the noise of a measured
    # velocity, below any motion that matters. Raviola et al. 2021 use 0.001 on planned ones.
    width: float = 0.01

    name = 'coulomb'
    plain = (1.0, 0.0)
    symbols = ('fc',)
    units = ('N m',)
    shape = ('width',)
    searched_next = ('width',)

    def __post_init__(self) -> None:
        check_positive(self.width, 'width of coulomb friction')

    @property
    def smoothing_velocity(self) -> float:
        return self.width

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return (BasisTerm('smooth_sign', (self.width,)),)

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        return smooth_sign_by_width(motion.dq, self.width)[:, None] * coefficients

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with widths from a gentle creep to a brisk motion."""
        return tuple(CoulombFriction(width) for width in (0.003, 0.01, 0.02, 0.05, 0.1))
