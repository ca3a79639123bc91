# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The kinematics that live prediction has: filters of a recording that look back only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import CorrectionSignals, Motion
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.filters import HIGHEST_CUTOFF
import scipy

# A causal filter has to be faster than the zero-phase one of identification, or it lags [Hz].
CAUSAL_CUTOFF = 30.0
CAUSAL_ORDER = 2  # of the Butterworth filter
# After a pause of more periods, or a clock that goes back, causal filters start anew.
CAUSAL_GAP_PERIODS = 10.0


def causal_coefficients(rate: float, cutoff: float) -> tuple[FloatArray, FloatArray]:
    """Return numerator and denominator (3,) of the causal low-pass at a rate [Hz]."""
    limited = min(cutoff, HIGHEST_CUTOFF * rate / 2.0)
    section = scipy.signal.butter(CAUSAL_ORDER, limited, fs=rate, output='sos')[0]
    return section[:3], section[3:]


def causal_signals(dataset: Dataset) -> CorrectionSignals | None:
    """
    Return position, velocity and acceleration of a recording as live prediction has them.

    None where the velocity of a joint was not recorded. Velocity is low-passed, acceleration is
    the low-passed difference of that; both begin anew after a pause.
    """
    measured = dataset.measured_dq
    if measured is None or not np.isfinite(measured).all():
        return None
    stamps, rate = dataset.stamps, dataset.rate
    elapsed = np.diff(stamps, prepend=-np.inf)
    fresh = np.flatnonzero(elapsed != 0.0)
    begins = np.flatnonzero(~((elapsed > 0.0) & (elapsed <= CAUSAL_GAP_PERIODS / rate))[fresh])
    b, a = causal_coefficients(rate, CAUSAL_CUTOFF)
    steady = scipy.signal.lfilter_zi(b, a)
    q, dq = np.asarray(dataset.motion.q)[fresh], np.asarray(measured)[fresh]
    smooth, ddq = np.empty_like(q), np.empty_like(q)
    for first, last in pairwise([*begins, len(fresh)]):
        rows = slice(first, last)
        smooth[rows], _ = scipy.signal.lfilter(
            b, a, dq[rows], axis=0, zi=np.outer(steady, dq[first])
        )
        difference = rate * np.diff(smooth[rows], axis=0, prepend=dq[first][None])
        ddq[rows] = scipy.signal.lfilter(b, a, difference, axis=0)
    # A repeated stamp has what was known at it before.
    place = np.cumsum(elapsed != 0.0) - 1
    motion = Motion(
        q[place], smooth[place], ddq[place], dataset.motion.temperature,
        starts=tuple(int(row) for row in fresh[begins]),
    )
    return CorrectionSignals(motion, dq[place], rate)
