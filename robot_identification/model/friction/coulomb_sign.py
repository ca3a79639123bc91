# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Coulomb friction by the sign of the velocity, as most papers write it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.model.friction.law import check_positive
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.law import JointMotion


@dataclass(frozen=True)
class CoulombSignFriction(FrictionLaw):
    """
    Friction torque of constant magnitude against the motion, ``fcs * sign(dq)``.

    In sliding it is `coulomb`, which it excludes.

    Attributes
    ----------
    zero_velocity : float
        Velocities up to this magnitude [rad/s] count as rest, where the sign is zero: the sign
        of rounding noise would otherwise be a friction torque.

    """

    zero_velocity: float = 1.0e-6

    name = 'coulomb_sign'
    symbols = ('fcs',)
    units = ('N m',)
    excludes = ('coulomb',)

    def __post_init__(self) -> None:
        check_positive(self.zero_velocity, 'zero_velocity of coulomb_sign friction')

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``sign(dq)``; see `FrictionLaw.columns`."""
        sign = np.where(np.abs(motion.dq) > self.zero_velocity, np.sign(motion.dq), 0.0)
        return sign[:, None], state

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """Return zero; see `FrictionLaw.velocity_derivative`."""
        return np.zeros((dq.size, 1))
