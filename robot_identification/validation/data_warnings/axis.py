# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of a joint that turns the other way than the description says."""

from __future__ import annotations

import numpy as np
from robot_identification.model import Motion
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import add_load, Evidence
from robot_identification.validation.data_warnings.likelihood import reduce_rows
from robot_identification.validation.data_warnings.thresholds import LEAST_BODY_GAIN, LEAST_FALL
from robot_identification.validation.verdict import DataWarning


def find_reversed_axes(evidence: Evidence) -> list[Candidate]:
    """
    Return the joints whose axis is better reversed.

    Position, velocity and effort of such a joint agree with each other, so that it has the right
    friction: only the torques that its position causes elsewhere tell.
    """
    found = []
    motion = evidence.motion
    for joint, name in enumerate(evidence.robot.joint_names):
        sign = np.where(np.arange(evidence.robot.n) == joint, -1.0, 1.0)
        other = Motion(motion.q * sign, motion.dq * sign, motion.ddq * sign)
        # Friction turns with the joint: its columns span the same either way.
        friction = add_load(evidence.unloaded, evidence.robot, other, evidence.windows)
        fit = evidence.explain(reduce_rows(
            evidence.in_band(evidence.regressor(other)), friction,
            evidence.in_band(evidence.torque * sign)[:, :, None], evidence.deviation,
        ))
        gain = evidence.gain(fit)
        if gain < LEAST_BODY_GAIN or evidence.fall(fit) < LEAST_FALL:
            continue
        warning = DataWarning(
            'axis', (name,), f'{name} may turn the other way than its axis in the URDF',
            'gain in log likelihood when it is reversed', '', gain, LEAST_BODY_GAIN,
            f'move {name} to a positive position, look which way it turns, and correct its axis '
            'in the URDF or the sign of its position, velocity and effort in the driver',
        )
        found.append(Candidate(warning, gain))
    return found
