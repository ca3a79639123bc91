# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tests of a joint that turns the other way than the description, or its effort, says."""

from __future__ import annotations

import numpy as np
from robot_identification.model import Motion
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import add_load, Evidence
from robot_identification.validation.data_warnings.likelihood import reduce_rows
from robot_identification.validation.data_warnings.scale import dissipated_power
from robot_identification.validation.data_warnings.thresholds import (
    DISSIPATED, LEAST_BODY_GAIN, LEAST_FALL, LEAST_GAIN,
)
from robot_identification.validation.verdict import DataWarning


def find_reversed_axes(evidence: Evidence) -> list[Candidate]:
    """
    Return the joints whose axis is better reversed.

    Position, velocity and effort of such a joint agree with each other, so that it has the right
    friction: only the torques that its position causes elsewhere tell.
    """
    found = []
    for joint, name in enumerate(evidence.robot.joint_names):
        gain = _gain_reversed(evidence, joint, with_effort=True)
        if gain < LEAST_BODY_GAIN:
            continue
        warning = DataWarning(
            'axis', (name,), f'{name} may turn the other way than its axis in the URDF',
            'gain in log likelihood when it is reversed', '', gain, LEAST_BODY_GAIN,
            f'move {name} to a positive position, look which way it turns, and correct its axis '
            'in the URDF or the sign of its position, velocity and effort in the driver',
        )
        found.append(Candidate(warning, gain))
    return found


def find_reversed_motions(evidence: Evidence) -> list[Candidate]:
    """
    Return the joint whose position and velocity are better reversed, and not its effort.

    Its friction then drives, and its position causes other torques elsewhere: other hypotheses,
    such as exchanged joints, explain a part of either.
    """
    found = []
    for joint, name in enumerate(evidence.robot.joint_names):
        gain = _gain_reversed(evidence, joint, with_effort=False)
        if gain < LEAST_GAIN:
            continue
        found.append(Candidate(DataWarning(
            'sign', (name,), f'position and velocity of {name} may have the wrong sign',
            'gain in log likelihood with the other sign', '', gain, LEAST_GAIN,
            f'move {name} to a positive position, look which way it turns, and correct the sign '
            'of its position and velocity in the driver, or its axis in the URDF and the sign of '
            'its effort',
        ), gain))
    return sorted(found, key=lambda one: -one.gain)[:1]


def _gain_reversed(evidence: Evidence, joint: int, *, with_effort: bool) -> float:
    """
    Return by how much more likely the data are with a joint reversed; 0 if little better.

    So it is where the friction of the joint would drive it then.
    """
    motion = evidence.motion
    sign = np.where(np.arange(evidence.robot.n) == joint, -1.0, 1.0)
    other = Motion(motion.q * sign, motion.dq * sign, motion.ddq * sign)
    # Friction turns with the joint: its columns span the same either way.
    friction = add_load(evidence.unloaded, evidence.robot, other, evidence.windows)
    torque = evidence.torque * sign if with_effort else evidence.torque
    fit = evidence.explain(reduce_rows(
        evidence.in_band(evidence.regressor(other)), friction,
        evidence.in_band(torque)[:, :, None], evidence.deviation,
    ))
    if evidence.fall(fit) < LEAST_FALL or evidence.gain(fit) <= 0.0:
        return 0.0
    power = dissipated_power(evidence, other, torque, fit)
    return evidence.gain(fit) if power[joint] >= -DISSIPATED else 0.0
