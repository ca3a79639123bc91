# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of effort that stops at a largest value which the motion exceeds."""

from __future__ import annotations

import numpy as np
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.thresholds import FEWEST_CLIPPED, LEAST_CLIPPED
from robot_identification.validation.verdict import DataWarning

# Values that differ by less than this share of the range are the same.
SAME = 1.0e-6
# Part of the range next to an extreme; without clipping it holds more samples than the extreme.
NEXT = 0.02
# The same in levels of an effort of coarse resolution: a peak has twice as many samples at its
# top level as at the next, and as many as at the next three.
LEVELS_BESIDE = 3.5
# How many times as many samples the extreme itself must have.
TIMES_AS_MANY = 2.0


def find_clipping(evidence: Evidence) -> list[Candidate]:
    """Return the joints whose effort stands at its largest or smallest value repeatedly."""
    shares = np.zeros(evidence.robot.n)
    for joint in range(evidence.robot.n):
        for sign in (1.0, -1.0):
            effort = sign * np.concatenate([
                dataset.effort[dataset.fitted, joint] for dataset in evidence.datasets
            ])
            shares[joint] = max(shares[joint], _share_at_top(effort))
    joints = np.flatnonzero(shares > LEAST_CLIPPED)
    if not joints.size:
        return []
    names = evidence.names(joints.tolist())
    warning = DataWarning(
        'clipping', names, f'the effort of {", ".join(names)} may be clipped',
        'share of the samples at the largest effort', '', float(shares.max()), LEAST_CLIPPED,
        'raise the limit of what drive or driver reports, or move more gently',
    )
    return [Candidate(warning, np.inf)]


def _share_at_top(effort: np.ndarray) -> float:
    """Return the share of samples at the largest value, 0 where it is no plateau."""
    span = float(np.ptp(effort)) if len(effort) else 0.0
    if not span > 0.0:
        return 0.0
    below = (effort.max() - effort) / span
    count = np.count_nonzero(below <= SAME)
    if count < FEWEST_CLIPPED:
        return 0.0
    steps = np.diff(np.unique(below))
    resolution = float(steps[steps > SAME].min(initial=1.0))
    beside = np.count_nonzero(below <= max(NEXT, LEVELS_BESIDE * resolution)) - count
    if count < TIMES_AS_MANY * beside:
        return 0.0
    return float(count / len(effort))
