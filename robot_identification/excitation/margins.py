# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Margins that a motion keeps on a real arm, and the speeds of its first runs."""

from __future__ import annotations

import math

POSITION_MARGIN = 0.1  # distance kept from the position limits [rad or m]
VELOCITY_SHARE = 0.8  # of the hardware's limit
TORQUE_SHARE = 0.8  # of the hardware's limit, with the masses that may be wrong
MASS_UNCERTAINTY = 0.3  # share by which masses of the description may be wrong
# What the runner asks of a motion on a real arm, so that it is not designed in vain.
MARGINS = {
    'position': POSITION_MARGIN,
    'velocity': VELOCITY_SHARE,
    'acceleration': 0.6,
    'torque': math.floor(100.0 * TORQUE_SHARE / (1.0 + MASS_UNCERTAINTY)) / 100.0,
}
# First run: largest speed of the tool [m/s], that of manual operation in ISO 10218-1, and share of
# the planned speed.
SLOW_TOOL_SPEED = 0.25
SLOW_SPEED = 0.1
SHORTEST_APPROACH = 1.0  # duration of the way to the start [s]; chosen: calm even for short ways
