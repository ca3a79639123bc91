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

"""Viscous friction that changes with the temperature of the grease."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model.friction.law import check_temperature
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.law import JointMotion


@dataclass(frozen=True)
class TemperatureViscousFriction(FrictionLaw):
    """
    Friction torque ``fvT (temperature - reference) dq``, used beside `viscous`.

    In both laws together viscous friction is linear in temperature, as Raviola et al. 2021 found
    it in a UR3 and a UR5 (whose joints went from 22 to 40 deg C). It falls as grease warms, so
    fvT is negative.

    Attributes
    ----------
    reference : float
        Temperature at which the coefficient of `viscous` holds [deg C]. A convention, not a shape
        to be found: another one adds a multiple of ``dq``, which `viscous` takes up.

    """

    reference: float = 25.0

    name = 'temperature_viscous'
    symbols = ('fvT',)
    units = ('N m s/(rad K)',)
    signed = ('fvT',)
    needs_temperature = True

    def __post_init__(self) -> None:
        check_temperature(self.reference, 'reference of temperature_viscous friction')

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``(temperature - reference) dq``; see `FrictionLaw.columns`."""
        return ((motion.temperature - self.reference) * motion.dq)[:, None], state
