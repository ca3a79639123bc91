# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of an effort that was computed from the description, and not measured."""

from __future__ import annotations

import numpy as np
from robot_identification.model import rigid_torque
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.thresholds import FLOOR
from robot_identification.validation.verdict import DataWarning


def find_computed(evidence: Evidence) -> list[Candidate]:
    """
    Return a warning where the bodies of the URDF alone give the effort of every joint.

    An arm has friction, and bodies that differ from their description by per cents.
    """
    if evidence.relative_scale:
        return []
    rigid = evidence.in_band(rigid_torque(evidence.robot, evidence.motion))
    left = evidence.in_band(evidence.torque) - rigid
    share = np.sqrt(np.mean(left**2, axis=0)) / evidence.deviation
    moved = np.std(rigid, axis=0) > FLOOR * evidence.deviation
    worst = float(share.max())
    if worst > FLOOR or not moved.any():
        return []
    warning = DataWarning(
        'computed', (),
        'the effort of all joints is what the bodies of the URDF give without friction: it may '
        'be a desired, computed or simulated torque, and no measurement',
        'largest residual over the standard deviation of the effort', '', worst, FLOOR,
        'record the measured current or torque, not the desired one or that of a feed-forward',
    )
    return [Candidate(warning, np.inf)]
