# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb and viscous friction that differ with the direction of motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import (
    smooth_sign, smooth_sign_by_width,
)
from robot_identification.model.friction.law import check_positive, FrictionLaw, JointMotion


@dataclass(frozen=True)
class AsymmetricFriction(FrictionLaw):
    """
    Friction torque ``fcp + fvp dq`` forwards and ``-fcn + fvn dq`` backwards.

    With ``s = tanh(dq / width)`` it is ``(1 + s) / 2 (fcp s + fvp dq) + (1 - s) / 2 (fcn s +
    fvn dq)``, which passes smoothly through zero at rest and is ``fc s + fv dq`` where both
    directions are alike. So `coulomb` and `viscous` are sums of its columns, and in sliding
    `coulomb_sign` and `offset`, half the difference of fcp and fcn, are such sums, too.
    """

    # Velocity at which 76 % of the passage from one direction to the other is done [rad/s].
    width: float = 0.01

    name = 'asymmetric'
    symbols = ('fcp', 'fcn', 'fvp', 'fvn')
    units = ('N m', 'N m', 'N m s/rad', 'N m s/rad')
    shape = ('width',)
    excludes = ('coulomb', 'coulomb_sign', 'viscous', 'offset')

    def __post_init__(self) -> None:
        check_positive(self.width, 'width of asymmetric friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        kinds = 'forward_sign', 'backward_sign', 'forward_velocity', 'backward_velocity'
        return tuple(BasisTerm(kind, (self.width,)) for kind in kinds)

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        s = smooth_sign(motion.dq, self.width)
        slope = smooth_sign_by_width(motion.dq, self.width)
        by_sign = np.column_stack([
            0.5 + s, 0.5 - s, motion.dq / 2.0, -motion.dq / 2.0
        ]) @ coefficients
        return (by_sign * slope)[:, None]
