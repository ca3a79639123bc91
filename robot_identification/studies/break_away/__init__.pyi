# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    BreakAway as BreakAway, BreakAwayRun as BreakAwayRun, CORRECTIONS as CORRECTIONS,
    DEFAULT_CORRECTION as DEFAULT_CORRECTION, estimate_break_away as estimate_break_away,
    load_break_away as load_break_away,
)
from .options import BreakAwaySettings as BreakAwaySettings
from .procedure import BreakAwayTest as BreakAwayTest, Phase as Phase
from .report import BREAK_AWAY_FILES as BREAK_AWAY_FILES, save_break_away as save_break_away
