# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    BreakAway as BreakAway, BreakAwayRun as BreakAwayRun, CORRECTIONS as CORRECTIONS,
    DEFAULT_CORRECTION as DEFAULT_CORRECTION, estimate_break_away as estimate_break_away,
    load_break_away as load_break_away,
)
from .options import BreakAwaySettings as BreakAwaySettings
from .procedure import BreakAwayTest as BreakAwayTest, Phase as Phase
from .report import (
    BREAK_AWAY_FILES as BREAK_AWAY_FILES, check_holds_no as check_holds_no,
    other_joints as other_joints, save_break_away as save_break_away,
)
from .session import (
    ARMED as ARMED, BreakAwaySession as BreakAwaySession, DONE as DONE, FAULT as FAULT,
    IDLE as IDLE, JointReading as JointReading, TESTING as TESTING,
)
