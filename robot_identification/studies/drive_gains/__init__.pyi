# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    average_approaches as average_approaches, DriveGainsOptions as DriveGainsOptions,
    read_rests as read_rests,
)
from .report import (
    drive_gains_content as drive_gains_content, drive_gains_text as drive_gains_text,
    DriveGainsResult as DriveGainsResult, GAIN_FILES as GAIN_FILES,
)
from .static_poses import group_poses as group_poses
from .study import run_drive_gains as run_drive_gains
