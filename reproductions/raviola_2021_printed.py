# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Printed values of Raviola et al. 2021: tables 1 to 8, temperatures and lists of appendix A."""

from __future__ import annotations

from collections.abc import Mapping

ROBOTS = ('ur3', 'ur5')
# Shown in tables.
TITLES = {'ur3': 'UR3', 'ur5': 'UR5'}
JOINTS = ('base', 'shoulder', 'elbow', 'wrist 1', 'wrist 2', 'wrist 3')

# Section 3.1: base parameters, and all parameters by class (identifiable alone, in combinations,
# not at all).
STANDARD_PARAMETERS = 78
BASE_PARAMETERS = {'ground': 52, 'wall': 54}
CLASSES = {'ground': (30, 39, 9), 'wall': (30, 42, 6)}
RANDOM_POINTS = 25

# Section 4: torque constants [N m/A], largest torques [N m], and largest standard deviation d_i.
TORQUE_CONSTANTS = {
    'ur3': (0.1249, 0.1249, 0.0934, 0.0453, 0.0453, 0.0453),
    'ur5': (0.1350, 0.1361, 0.1355, 0.0957, 0.0865, 0.0893),
}
LARGEST_TORQUES = {
    'ur3': (56.0, 56.0, 28.0, 12.0, 12.0, 12.0),
    'ur5': (150.0, 150.0, 150.0, 28.0, 28.0, 28.0),
}
LARGEST_DEVIATION = {'ur3': 0.313, 'ur5': 0.107}
# Table 3: normalized errors before identification, by LS and by WLS [N m]; section 4: times [s].
NORMALIZED_ERRORS = {'ur3': (0.1945, 0.0247, 0.0258), 'ur5': (0.4207, 0.0530, 0.0553)}
SOLVING_TIMES = (0.05, 138.9)
# The round number of the abstract.
REDUCTION = 0.9

# Section 6: UR5 after power-up and half an hour later [deg C]; the largest change of figure 7.
COLD = (25.2, 24.9, 22.2, 26.1, 22.4, 23.2)
WARM = (36.5, 34.6, 32.6, 37.9, 39.7, 40.1)
LARGEST_CHANGE_FIGURE_7 = 31.0
# Tables 4 [%], 5 and 6 [N m].
VISCOUS_CHANGE = {
    'ur3': (-10.6, -11.6, -19.5, -26.4, -25.5, -23.9),
    'ur5': (-8.8, -21.0, -13.6, -23.5, -21.1, -15.5),
}
MEAN_VISCOUS_CHANGE = {'ur3': -20.0, 'ur5': -17.0}
MEAN_TORQUE_CHANGE = {
    'ur3': (0.27, 0.42, 0.59, 0.40, 0.41, 0.39),
    'ur5': (0.70, 2.43, 1.45, 0.46, 0.72, 0.40),
}
LARGEST_TORQUE_CHANGE = {
    'ur3': (1.02, 1.25, 1.17, 0.87, 1.03, 0.79),
    'ur5': (3.09, 10.90, 4.75, 1.49, 1.57, 0.98),
}
# Table 7 [%], by the largest torque of the size of joint [N m].
SHARE_OF_LARGEST_TORQUE: Mapping[str, Mapping[float, float]] = {
    'ur3': {56.0: 2.0, 28.0: 4.2, 12.0: 7.5}, 'ur5': {150.0: 4.2, 28.0: 4.8},
}
# Table 8 [N m]: ground, ceiling, regressor of the ground on torques of the ceiling.
SIMULATED_ERRORS = (0.0043, 0.0050, 0.6144)

# Largest velocity of all joints [rad/s], section 3.2.
FASTEST = 3.141592653589793

# The numbers of (A1) and (A2), by what they are of the lengths.
COEFFICIENTS: Mapping[str, Mapping[str, float]] = {
    'ur3': {
        '1/a2': 4.104, '1/a2^2': 16.84, '1/a3': 4.689, '1/a3^2': 21.99, 'd4': 0.1123,
        '2 d4': 0.2247, 'd4^2': 0.01262, 'd5': 0.08535, '2 d5': 0.1707, 'd5^2': 0.007285,
        'd6': 0.0819, '2 d6': 0.1638, 'd6^2': 0.006708,
    },
    'ur5': {
        '1/a2': 2.353, '1/a2^2': 5.536, '1/a3': 2.549, '1/a3^2': 6.499, 'd4': 0.1092,
        '2 d4': 0.2183, 'd4^2': 0.01191, 'd5': 0.09465, '2 d5': 0.1893, 'd5^2': 0.008959,
        'd6': 0.0823, '2 d6': 0.1646, 'd6^2': 0.006773,
    },
}
# Row 2 of both lists.
SECOND_ROW = 2.353

# Rows of (A1) and (A2) from the third on, in words of COEFFICIENTS and our names of parameters;
# signs are lost in our copy and restored here. Rows that are a single parameter are left out.
ROWS = (
    'Iyy1 + Iyy2 + Iyy3 - Izz2 - Izz3 + Izz4 + Ia1 - Ia2 + d4^2 m4 + d4^2 m5 + d4^2 m6 '
    '+ 2 d4 my4',
    'm2 - 1/a2^2 Izz2 - 1/a2^2 Ia2 + 1/a3^2 Izz3',
    'mx2 - 1/a2 Izz2 - 1/a2 Ia2',
    'mz2 + 1/a2 Ixz2 - 1/a3 Ixz3',
    'Ixx2 - Iyy2 + Izz2 + Ia2',
    'm3 - 1/a3^2 Izz3 + m4 + m5 + m6',
    'mx3 - 1/a3 Izz3',
    'mz3 + 1/a3 Ixz3 + d4 m4 + d4 m5 + d4 m6 + my4',
    'Ixx3 - Iyy3 + Izz3',
    'mz4 - my5 + d5 m5 + d5 m6',
    'Ixx4 - Izz4 + Izz5 + d5^2 m5 + d5^2 m6 - 2 d5 my5',
    'Iyy4 + Izz5 + d5^2 m5 + d5^2 m6 - 2 d5 my5',
    'mz5 + d6 m6 + mz6',
    'Ixx5 + Iyy6 - Izz5 + d6^2 m6 + 2 d6 mz6',
    'Iyy5 + Iyy6 + d6^2 m6 + 2 d6 mz6',
    'Ixx6 - Iyy6',
)
