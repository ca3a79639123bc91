# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Printed values of G. Porcelli's thesis: chapter 2 (the UR5) and chapter 4 (motions and results).

Tables keep the thesis' order and digits; what is not printed is not here.
"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray

JOINTS = 6
# Table 2.2: standard Denavit-Hartenberg, d and a in m, alpha in deg.
DH_D = (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823)
DH_A = (0.0, -0.425, -0.39225, 0.0, 0.0, 0.0)
DH_ALPHA = (90.0, 0.0, 0.0, 90.0, -90.0, 0.0)
# Table 2.3 [kg], [m], link frames.
MASSES = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
CENTRES = np.array([
    [0.0, -0.02561, 0.00193],
    [0.2125, 0.0, 0.11336],
    [0.15, 0.0, 0.0265],
    [0.0, -0.0018, 0.01634],
    [0.0, 0.0018, 0.01634],
    [0.0, 0.0, 0.001159],
])
# Table 2.4 [kg m^2]: xx, yy, zz; only link 3 has a product, xz.
MOMENTS = np.array([
    [0.0067, 0.0064, 0.0067],
    [0.0149, 0.3564, 0.3553],
    [0.0025, 0.0551, 0.0546],
    [0.0012, 0.0012, 0.0009],
    [0.0012, 0.0012, 0.0009],
    [0.0001, 0.0001, 0.0001],
])
PRODUCT_XZ = (0.0, 0.0, 0.0034, 0.0, 0.0, 0.0)
# Table 2.5, motor side.
ROTOR_INERTIA = (1.87e-8, 1.87e-8, 1.87e-8, 2.07e-5, 2.07e-5, 2.07e-5)
FRICTION_UP = np.array([0.076, 0.083, 0.078, 0.014, 0.020, 0.020])
FRICTION_DOWN = np.array([0.076, 0.082, 0.077, 0.014, 0.019, 0.021])
GEAR_RATIO = 101.0
TORQUE_CONSTANT = np.array([0.125, 0.125, 0.125, 0.0922, 0.0922, 0.0922])
# Table 2.6: the same for all joints.
POSITION_LIMIT, VELOCITY_LIMIT, ACCELERATION_LIMIT = 2.0 * np.pi, np.pi, np.pi

# Section "Optimized trajectory" of chapter 4.
BASE_RATE = 0.3 * np.pi
PERIODS = 3
SAMPLING_RATE = 125.0
RANDOM_POINTS = 25
INDIVIDUALS, GENERATIONS = 200, 5
COSTS = {'BSE': 99.9, 'W': 26.6}
HOURS = {'BSE': 100.0, 'W': 118.0}
GROUP_BASE = 15
# Equations 4.8 and 4.9: both calls of MATLAB's awgn.
NOISE_DECIBEL = 50.0

# Tables 4.1 and 4.2 [rad]: five sines, five cosines of each joint.
SINES: FloatArray = np.array([
    [0.0094, 0.0482, 0.0038, -0.0024, -0.0214],
    [0.5765, -0.0032, -0.0051, -0.0116, 0.1018],
    [0.0435, -0.0250, 0.0174, -0.0023, -0.0074],
    [0.0642, -0.0128, 0.0186, 0.0029, -0.0212],
    [-0.6081, -0.0068, 0.0079, 0.1485, 0.0010],
    [0.6136, -0.0190, -0.1571, -0.0276, 0.0010],
])
COSINES: FloatArray = np.array([
    [-0.0085, 0.1599, -0.0283, -0.0826, 0.0378],
    [0.1459, -0.0048, -0.0093, 0.0120, -0.0094],
    [0.6786, -0.0274, -0.0145, -0.0734, -0.0106],
    [-1.2397, 0.0079, -0.0352, -0.0082, 0.0662],
    [-0.4490, 0.0036, 0.0078, 0.0059, 0.0108],
    [0.1662, 0.0217, -0.0068, -0.0529, 0.0022],
])
GROUPS: dict[str, tuple[str, slice]] = {
    'BSE': ('ur5_porcelli_bse', slice(0, 3)),
    'W': ('ur5_porcelli_wrist', slice(3, 6)),
}
