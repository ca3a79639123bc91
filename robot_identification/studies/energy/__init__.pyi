# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .energy import (
    check_threshold as check_threshold, energy_of_bag as energy_of_bag,
    energy_of_trajectory as energy_of_trajectory, MotionEnergy as MotionEnergy,
)
from .report import (
    energy_columns as energy_columns, energy_content as energy_content, energy_text as energy_text,
    render_energy_report as render_energy_report,
)
