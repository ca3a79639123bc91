# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Printed values of Tika et al.: tables I to III and the numbers of their section V."""

from __future__ import annotations

# Table I: alpha, a, d of each joint; alpha in right angles, lengths in m.
LINKS = (
    (0, 0.0, 0.0),
    (1, 0.0, 0.0),
    (0, -0.425, 0.0),
    (0, -0.392, 0.109),
    (1, 0.0, 0.094),
    (-1, 0.0, 0.0),
)
BASE_SIZE, INERTIAL, FRICTION, ROTORS = 52, 36, 12, 4
# Table II: standard deviations by place in the list, as far as our copy of it can be read.
DEVIATIONS = {
    1: 0.0094, 2: 0.0077, 3: 0.0042, 4: 0.0012, 5: 0.0033, 6: 0.0070, 7: 0.0019, 8: 0.0012,
    9: 0.0070, 10: 0.0035, 12: 0.0030, 16: 0.0093, 17: 0.0047, 19: 0.0040, 20: 0.0039,
    22: 0.0013, 23: 0.0048, 34: 0.0013, 35: 0.000915, 36: 0.000924,
    37: 0.0131, 38: 0.0139, 39: 0.0139, 40: 0.0137, 41: 0.0127, 42: 0.0142,
    43: 0.0124, 44: 0.0127, 45: 0.0104, 46: 0.0099, 47: 0.0113, 48: 0.0102,
    49: 0.0035, 50: 0.0030, 51: 0.0059, 52: 0.0047,
}
MEMETIC_CONDITION, RANDOM_CONDITION = 41.0, 67.0
POPULATION, GENERATIONS, RANDOM_GENERATIONS = 100, 10, 4
OPTIMISED_SAMPLES = 20
PERIODS, PERIOD, RATE = 20, 10.0, 125.0
SAMPLES, ROWS = 25000, 150000
# Table III: normalized errors [N m] of joints 1 to 6, and the total.
ERRORS = {
    'estimation, OLS': (0.0122, 0.0143, 0.0134, 0.0034, 0.0037, 0.0024),
    'estimation, CLS': (0.0123, 0.0146, 0.0132, 0.0043, 0.0038, 0.0033),
    'validation, OLS': (0.0102, 0.0172, 0.0151, 0.0050, 0.0068, 0.0025),
    'validation, CLS': (0.0094, 0.0199, 0.0170, 0.0058, 0.0061, 0.0036),
}
TOTALS = {
    'estimation, OLS': 0.0040, 'estimation, CLS': 0.0040,
    'validation, OLS': 0.0044, 'validation, CLS': 0.0049,
}
# Half of the last printed digit of table III.
ROUNDING = 0.00005
