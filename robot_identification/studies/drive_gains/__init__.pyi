# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import GainOptions as GainOptions
from .report import (
    drive_gains_content as drive_gains_content, drive_gains_text as drive_gains_text,
    GAIN_FILES as GAIN_FILES, save_drive_gains as save_drive_gains,
)
from .static_poses import (
    describe_too_few as describe_too_few, group_poses as group_poses,
    mean_of_approaches as mean_of_approaches, static_poses_of as static_poses_of,
    StaticPoseOptions as StaticPoseOptions,
)
from .study import (
    CURRENTS as CURRENTS, FEWEST_SHARED_POSES as FEWEST_SHARED_POSES,
    find_drive_gains as find_drive_gains, GainRequest as GainRequest, USES as USES,
)
