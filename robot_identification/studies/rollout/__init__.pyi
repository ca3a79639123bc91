# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .report import rollout_section as rollout_section, with_rollouts as with_rollouts
from .study import RolloutOptions as RolloutOptions, run_rollout as run_rollout
