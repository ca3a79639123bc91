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

"""Constant torque offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.law import JointMotion


@dataclass(frozen=True)
class FrictionOffset(FrictionLaw):
    """A torque that is there whatever the motion: current bias, or unequal Coulomb friction."""

    name = 'offset'
    symbols = ('f0',)
    units = ('N m',)
    signed = ('f0',)

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ones; see `FrictionLaw.columns`."""
        return np.ones((motion.dq.size, 1)), state

    def velocity_derivative(self, dq: FloatArray) -> FloatArray:
        """Return zero; see `FrictionLaw.velocity_derivative`."""
        return np.zeros((dq.size, 1))
