# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Corrections: terms that predict more of the effort and are no parameters of the arm, one a file.

To add a group: write its file, add one line to CORRECTIONS; the contract tests run over every one.
"""

from robot_identification.model.corrections.correction import CorrectionGroup
from robot_identification.model.corrections.fast_velocity import FastVelocity
from robot_identification.model.corrections.joint_deviation import JointDeviation
from robot_identification.model.corrections.position_series import PositionSeries
from robot_identification.model.corrections.ripple import Ripple

# In the order in which they are offered to each joint.
CORRECTIONS: dict[str, type[CorrectionGroup]] = {
    'fast_velocity': FastVelocity,
    'position_series': PositionSeries,
    'joint_deviation': JointDeviation,
    'ripple': Ripple,
}
