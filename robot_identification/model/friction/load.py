# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Dry friction that grows with the torque which the joint transmits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.basis import BasisTerm
from robot_identification.model.friction.curves import smooth_sign_by_width
from robot_identification.model.friction.law import check_positive, FrictionLaw, JointMotion


@dataclass(frozen=True)
class LoadFriction(FrictionLaw):
    """
    Load-dependent part of Coulomb friction, ``fcl abs(tau_rigid) tanh(dq / width)``.

    Used with `coulomb` or `stribeck`. It is linear where the rigid torque is known, as that of the
    previous iterate of a fit is; `width` is that of the passage through zero [rad/s]. From A. C.
    Bittencourt and S. Gunnarsson, "Static friction in a robot joint: modeling and identification
    of load and temperature effects", ASME Journal of Dynamic Systems, Measurement, and Control
    134(5), 2012.
    """

    width: float = 0.01

    name = 'load'
    symbols = ('fcl',)
    units = ('1',)
    shape = ('width',)
    needs_rigid_torque = True

    def __post_init__(self) -> None:
        check_positive(self.width, 'width of load friction')

    @property
    def basis(self) -> tuple[BasisTerm, ...]:
        return (BasisTerm('smooth_sign', (self.width,), per_load=True),)

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        slope = np.abs(motion.tau_rigid) * smooth_sign_by_width(motion.dq, self.width)
        return slope[:, None] * coefficients
