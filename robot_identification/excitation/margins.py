# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Margins that a motion keeps on a real arm, and the speeds of its first runs."""

from __future__ import annotations

# Distance kept from the position limits [rad or m], and shares of the hardware's limits.
POSITION_MARGIN = 0.1
VELOCITY_SHARE = 0.8
TORQUE_SHARE = 0.8
# The masses of the description may be wrong by this share.
MASS_DOUBT = 0.3
# Largest speed of the tool in the slow run [m/s], and the share of the planned speed.
SLOW_TOOL_SPEED = 0.25
SLOW_SPEED = 0.1
# Peak speed of a quintic from rest to rest over its mean speed, and its shortest duration [s].
QUINTIC_PEAK = 1.875
SHORTEST_APPROACH = 1.0
