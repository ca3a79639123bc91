# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .signals import ending_signals as ending_signals
