# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections: terms that predict more of the effort and are no parameters of the arm."""

from robot_identification.model.corrections.correction import CorrectionGroup
from robot_identification.model.corrections.groups import (
    FastVelocity, JointDeviation, PositionSeries, Ripple,
)

# In the order in which they are offered to each joint.
CORRECTIONS: dict[str, type[CorrectionGroup]] = {
    'fast_velocity': FastVelocity,
    'position_series': PositionSeries,
    'joint_deviation': JointDeviation,
    'ripple': Ripple,
}
