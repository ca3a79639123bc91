# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of effort that went through a low-pass before it was recorded."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence, orthonormal
from robot_identification.validation.data_warnings.likelihood import JointFit, reduce_rows
from robot_identification.validation.data_warnings.thresholds import (
    FILTER_CUTOFFS, LEAST_FALL, LEAST_GAIN, LEAST_REMOVED,
)
from robot_identification.validation.verdict import DataWarning
import scipy

# Of the Butterworth filters that are tried: between an RC element and a steep one.
ORDER = 2
# Of the half of the sampling rate that a cut-off may reach.
HIGHEST_SHARE = 0.8


def find_filtering(evidence: Evidence) -> list[Candidate]:
    """Return the low-pass of the effort that explains the data better."""
    rows = evidence.in_band(evidence.regressor())
    torque = evidence.in_band(evidence.torque)[:, :, None]
    rate = min(rate for _, rate in evidence.parts)
    best: tuple[JointFit, float] | None = None
    for cutoff in FILTER_CUTOFFS:
        if cutoff > HIGHEST_SHARE * rate / 2.0:
            continue
        for causal in (True, False):
            blocks = reduce_rows(
                _filtered(evidence, rows, cutoff, causal),
                [orthonormal(_filtered(evidence, own, cutoff, causal))
                 for own in evidence.friction],
                torque, evidence.deviation,
            )
            fit = evidence.explain(blocks)
            if best is None or fit.score < best[0].score:
                best = fit, cutoff
    if best is None:
        return []
    fit, cutoff = best
    if evidence.gain(fit) < LEAST_GAIN or evidence.fall(fit) < LEAST_FALL:
        return []
    removed = float(np.mean(np.sqrt(np.maximum(evidence.fit.variance - fit.variance, 0.0))))
    warning = DataWarning(
        'filtering', (),
        f'the effort may have been filtered at about {cutoff:g} Hz before it was recorded',
        'removed part of the deviation', '', removed, LEAST_REMOVED,
        'turn off filters of the effort in drive and driver, and record the raw value',
    )
    return [Candidate(warning, evidence.gain(fit), matters=removed > LEAST_REMOVED)]


def _filtered(
    evidence: Evidence, values: FloatArray, cutoff: float, causal: bool
) -> FloatArray:
    """Return signals (m, ..) after a low-pass, window by window."""
    parts = []
    for part, rate in evidence.parts:
        sos = scipy.signal.butter(ORDER, cutoff, fs=rate, output='sos')
        own = values[part]
        # As many as SciPy takes by itself, or all of a short window.
        padding = min(3 * (2 * len(sos) + 1), len(own) - 1)
        parts.append(
            scipy.signal.sosfilt(sos, own - own[:1], axis=0) + own[:1] if causal
            else scipy.signal.sosfiltfilt(sos, own, axis=0, padlen=padding)
        )
    joined: FloatArray = np.concatenate(parts)
    return joined
