# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .study import run_rollout as run_rollout
