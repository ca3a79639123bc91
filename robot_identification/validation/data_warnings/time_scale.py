# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of stamps that run at another speed than the velocities."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.thresholds import (
    LARGEST_TIME_SCATTER, LARGEST_TIME_SHARE, LEAST_TIME_SCALE,
)
from robot_identification.validation.verdict import DataWarning

# A joint that moves less than this in a window says nothing of the speed [rad or m].
LEAST_MOTION = 0.05


def find_time_scale(evidence: Evidence) -> list[Candidate]:
    """Return the factor of all stamps by which positions follow the recorded velocities."""
    scales = time_scales(evidence)
    if not scales.size:
        return []
    scale = float(np.median(scales))
    scatter = float(np.median(np.abs(scales - scale)))
    # Rows that are missing here and there make time run unevenly, too.
    largest = max(LARGEST_TIME_SCATTER, LARGEST_TIME_SHARE * abs(scale - 1.0))
    if abs(scale - 1.0) < LEAST_TIME_SCALE or scatter > largest:
        return []
    warning = DataWarning(
        'time_scale', (), f'the stamps may run {scale:.3g} times as fast as time',
        'factor', '', scale, 1.0 + np.sign(scale - 1.0) * LEAST_TIME_SCALE,
        'positions do not change as the recorded velocities say: check the clock behind the '
        'stamps, or the factor of all velocities',
    )
    return [Candidate(warning, np.inf)]


def time_scales(evidence: Evidence) -> FloatArray:
    """Return the factor of the stamps by joint and window, of those that move."""
    scales = []
    for window in evidence.windows:
        dataset = evidence.datasets[window.recording]
        t = dataset.stamps[window.samples]
        q, dq = dataset.motion.q[window.samples], dataset.motion.dq[window.samples]
        way = np.zeros_like(q)
        way[1:] = np.cumsum(0.5 * (dq[1:] + dq[:-1]) * np.diff(t)[:, None], axis=0)
        for own, measured in zip(way.T, q.T, strict=True):
            moved, seen = own - own.mean(), measured - measured.mean()
            if np.ptp(measured) > LEAST_MOTION and seen @ seen > 0.0:
                scales.append(float(moved @ seen / (seen @ seen)))
    return np.array(scales)
