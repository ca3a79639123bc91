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

"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.law import JointMotion


@dataclass(frozen=True)
class ViscousFriction(FrictionLaw):
    """Friction torque proportional to velocity, ``fv * dq``."""

    name = 'viscous'
    symbols = ('fv',)
    units = ('N m s/rad',)

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``dq``; see `FrictionLaw.columns`."""
        return motion.dq[:, None], state

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """Return one; see `FrictionLaw.velocity_derivative`."""
        return np.ones((dq.size, 1))
