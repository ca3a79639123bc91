# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Warm-up of joints: ``C dT/dt = friction power + copper loss - (T - ambient) / R``.

Solved exactly over steps of constant heat. The constants can be chosen so that a typical motion
warms an arm as Raviola et al. 2021 measured it on a UR3 and a UR5: from 24 to about 38 deg C in
half an hour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError

AMBIENT = 24.0  # temperature of the air [deg C] (Raviola et al. 2021)
# What half an hour of motion adds [K], [s] (Raviola et al. 2021).
WARM_UP_RISE, WARM_UP_TIME = 14.0, 1800.0
# Of a joint's housing [s].
TIME_CONSTANT = 1200.0
# Of excitation trajectories of a UR3 and a UR5: root mean square of the velocity [rad/s].
TYPICAL_SPEED = 1.1
# Change of viscous friction per temperature, as a share [1/K]: 17 % in 12.9 K (UR5), 20 % (UR3),
# Raviola et al. 2021, table 4.
VISCOUS_SLOPE = -0.014


@dataclass(frozen=True, eq=False)
class ThermalModel:
    """Heat of joints, each by itself, shape (n,)."""

    capacity: FloatArray  # [J/K]
    resistance: FloatArray  # to the ambient air [K/W]
    ambient: float = AMBIENT  # temperature of the air, and of the joints at first [deg C]
    acceleration: float = 1.0  # how many times faster than real joints they warm up and cool down

    def __post_init__(self) -> None:
        if not (np.isfinite(self.acceleration) and self.acceleration > 0.0):
            raise UsageError(
                f'thermal model: acceleration is {self.acceleration:g}, it must be > 0'
            )

    @property
    def time_constant(self) -> FloatArray:
        """Time of the warming, acceleration included [s], shape (n,)."""
        return self.capacity * self.resistance / self.acceleration

    def step(self, temperature: FloatArray, heat: FloatArray, dt: float) -> FloatArray:
        """Return temperatures [deg C] after a time `dt` [s] of constant heat [W], exactly."""
        final = self.ambient + self.resistance * heat
        result: FloatArray = final + (temperature - final) * np.exp(-dt / self.time_constant)
        return result


def make_thermal_model(
    coulomb: FloatArray,
    viscous: FloatArray,
    *,
    ambient: float = AMBIENT,
    acceleration: float = 1.0,
) -> ThermalModel:
    """
    Return the thermal model of joints that a typical motion warms by WARM_UP_RISE in half an hour.

    The power of a velocity that is normally distributed with a standard deviation of 1.1 rad/s,
    with friction `coulomb` [N m] and `viscous` [N m s/rad], heats the joints.
    """
    power = (
        coulomb * np.sqrt(2.0 / np.pi) * TYPICAL_SPEED + viscous * TYPICAL_SPEED**2
    )
    # A joint without friction has no heat of its own, with any resistance.
    power = np.where(power > 0.0, power, 1.0)
    resistance = WARM_UP_RISE / (1.0 - np.exp(-WARM_UP_TIME / TIME_CONSTANT)) / power
    return ThermalModel(TIME_CONSTANT / resistance, resistance, ambient, acceleration)
