# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Printed values of J. Rajagopal's report on the KUKA youBot: tables 3.1, 4.1 and 4.2."""

from __future__ import annotations

import numpy as np

JOINTS = 5
# Table 3.1 [deg]: the robot's own readings, then the model's positions; minimum, straight up,
# maximum. As printed.
READINGS = ((0.0, 169.0, 338.0), (0.0, 65.0, 155.0), (0.0, -146.0, -297.0), (0.0, 102.5, 205.0),
            (0.0, 167.5, 335.0))
POSITIONS = ((-169.0, 0.0, 169.0), (-65.0, 0.0, 90.0), (146.0, 0.0, -151.0),
             (-102.5, 0.0, 102.5), (167.5, 0.0, 167.5))
# Table 4.1: links in columns; m, m c, xx, xy, xz, yy, yz, zz.
ESTIMATE = np.array([
    [0.0, 0.4423282, -0.07506977, -0.18771262, 0.0409276],
    [0.0, 0.02806447, -0.02850257, -0.00062882, -0.00758307],
    [0.0, -0.00239462, 0.01631021, -0.08223756, 0.04153505],
    [0.0, 7.01280635, -0.40840137, -0.35556988, -0.06903857],
    [0.0, -0.89356512, 0.24514397, -0.03275741, 0.05140932],
    [0.0, 0.32704962, 0.0536501, -0.10738527, 0.13045645],
    [0.0, 0.54061164, 0.29247126, 0.21439377, 0.03270133],
    [0.0, 0.90142364, -0.36549833, -0.12854182, -0.00264338],
    [0.0, -0.02933403, -0.01265898, -0.09367053, 0.00154423],
    [-0.2390516, 0.37695014, 0.04190707, -0.45573522, 0.11160058],
])
# Our order has yy before xz.
OUR_ROWS = (0, 1, 2, 3, 4, 5, 7, 6, 8, 9)
# Section 4.3.1 [kg].
MASS_TOLERANCE = 0.1
# Table 4.2 and the text around it [N m]; wheels of the base in section 4.2.1.
MEDIANS = np.array([1.260, 0.956, 0.486, 0.300, 0.177])
BY_HAND = np.array([1.000, 1.400, 0.700, 0.550, 0.300])
WHEELS = {'wheel 3': 0.126, 'wheel 4': 0.123}
EXPERIMENTS = 25
THRESHOLD = 0.13
PROPORTIONAL, INTEGRAL = 1.0, 0.001
UNKNOWNS = 50
# Equations 3.7 and 3.8: angles about z, y and x [deg], and the matrix of both conventions.
EXAMPLE_ANGLES = (-90.0, 0.0, 90.0)
EXAMPLE_ROTATION = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
