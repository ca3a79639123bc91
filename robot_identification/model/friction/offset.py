# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Constant torque offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.law import FrictionLaw, JointMotion


@dataclass(frozen=True)
class FrictionOffset(FrictionLaw):
    """A torque that is there whatever the motion: current bias, or unequal Coulomb friction."""

    name = 'offset'
    plain = (0.0, 0.0)
    is_offset = True
    symbols = ('f0',)
    units = ('N m',)
    signed = ('f0',)

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ones; see `FrictionLaw.columns`."""
        return np.ones((motion.dq.size, 1)), state

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """Return zero; see `FrictionLaw.velocity_derivative`."""
        return np.zeros((dq.size, 1))
