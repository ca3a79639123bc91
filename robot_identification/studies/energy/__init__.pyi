# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .report import (
    energy_columns as energy_columns, energy_content as energy_content, energy_text as energy_text,
    run_energy as run_energy,
)
from .study import (
    EnergyOptions as EnergyOptions, EnergyResult as EnergyResult, MotionEnergy as MotionEnergy,
)
