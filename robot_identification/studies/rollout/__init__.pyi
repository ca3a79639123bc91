# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .drift import RolloutOptions as RolloutOptions, with_rollouts as with_rollouts
from .report import joint_pictures as joint_pictures, rollout_section as rollout_section
from .study import run_rollout as run_rollout
