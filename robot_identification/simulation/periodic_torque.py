# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque that repeats with the joint angle: eccentricity, cables and cogging, ripple of gears."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError


@dataclass(frozen=True, eq=False)
class PeriodicTorque:
    """``torque = sum over k of amplitude[k] * sin(order[k] * q + phase[k])``, (K, n) each."""

    order: FloatArray  # periods per turn of the joint [1]
    amplitude: FloatArray  # [N m]
    phase: FloatArray  # [rad]

    def __post_init__(self) -> None:
        shapes = {np.shape(value) for value in (self.order, self.amplitude, self.phase)}
        if len(shapes) != 1 or len(min(shapes)) != 2:
            raise UsageError(
                f'periodic torque: order, amplitude and phase have shapes {sorted(shapes)}, '
                'needed is one (terms, joints)'
            )

    def torque(self, q: FloatArray) -> FloatArray:
        """Return the torque [N m] against the motor at positions (..., n) [rad]."""
        angle = self.order * np.asarray(q)[..., None, :] + self.phase
        torque: FloatArray = np.sum(self.amplitude * np.sin(angle), axis=-2)
        return torque
