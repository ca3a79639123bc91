# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Assumptions that the data cannot test: errors that change their likelihood by too little."""

from __future__ import annotations

import numpy as np
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.thresholds import (
    LEAST_BODY_GAIN, LEAST_CARRIED, LEAST_COMMON_FACTOR, TRIED_FACTOR, TRIED_ZERO,
)


def list_assumptions(evidence: Evidence) -> tuple[str, ...]:
    """Return what is assumed because these data cannot tell, in words."""
    found = []
    if evidence.relative_scale:
        found.append(
            'drive gains are unknown: a common factor of all efforts, and signs of all of them '
            'together, cannot be found'
        )
    elif not evidence.prior.side.size:
        found.append(
            'the URDF has no masses, or all in the joints: a common factor of all efforts cannot '
            'be distinguished from other masses'
        )
    else:
        found.append(
            'effort unit and drive gains: a common factor of all efforts below '
            f'{LEAST_COMMON_FACTOR:g} cannot be distinguished from wrong masses of the URDF'
        )
    joints = range(evidence.robot.n)
    blind = [joint for joint in joints if not _sees_factor(evidence, joint)]
    if blind:
        found.append(
            f'drive gain of {", ".join(evidence.names(blind))}: a factor of {TRIED_FACTOR:g} '
            'would be taken for other masses'
        )
    blind = [joint for joint in joints if not _sees_zero(evidence, joint)]
    if blind:
        found.append(
            f'encoder zero of {", ".join(evidence.names(blind))}: an offset of {TRIED_ZERO:g} '
            f'{evidence.robot.units("rad", blind)} would be taken for other bodies'
        )
    return tuple(found)


def _sees_factor(evidence: Evidence, joint: int) -> bool:
    if evidence.carried[joint] < LEAST_CARRIED:
        return False
    scale = np.where(np.arange(evidence.robot.n) == joint, TRIED_FACTOR, 1.0)
    return evidence.gain(evidence.explain(scale=scale)) < -LEAST_BODY_GAIN


def _sees_zero(evidence: Evidence, joint: int) -> bool:
    blocks = evidence.reduce(
        evidence.regressor(evidence.with_offset(joint, TRIED_ZERO)),
        evidence.torque[:, :, None],
    )
    return evidence.gain(evidence.explain(blocks)) < -LEAST_BODY_GAIN
