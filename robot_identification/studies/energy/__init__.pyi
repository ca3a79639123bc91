# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .energy import EnergyOptions as EnergyOptions, MotionEnergy as MotionEnergy
from .report import (
    energy_columns as energy_columns, energy_content as energy_content, energy_text as energy_text,
    EnergyResult as EnergyResult,
)
from .study import run_energy as run_energy
