# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Test of effort that is later than the position: of one joint, or of all.

Friction that follows displacement imitates a delay, of tens of milliseconds in a slow joint. The
delay that `processing` finds by a richer friction model is therefore believed where it is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.likelihood import JointFit
from robot_identification.validation.data_warnings.thresholds import (
    DELAY_STEP, LARGEST_DELAY, LEAST_DELAY, LEAST_FALL, LEAST_GAIN,
)
from robot_identification.validation.verdict import DataWarning

# Clocks and filters can make the effort a little early, too [s].
EARLIEST = -0.03


def find_delays(evidence: Evidence) -> list[Candidate]:
    """Return the delays of all joints, or of one, that explain the data better."""
    # Whole periods of the joint states.
    period = 1.0 / min(dataset.rate for dataset in evidence.datasets)
    step = period * np.ceil(DELAY_STEP / period - 1e-6)
    shifts = step * np.arange(np.ceil(EARLIEST / step), np.floor(LARGEST_DELAY / step) + 1.0)
    blocks = evidence.reduce(
        evidence.regressor(),
        np.stack([*(evidence.torque_at(s) for s in shifts), evidence.torque], axis=2),
    )
    targets, measured = blocks.targets[:, :, :-1], blocks.targets[:, :, -1]
    fits = [evidence.explain(blocks, targets[:, :, k]) for k in range(len(shifts))]
    found = _candidate(evidence, (), shifts, fits)
    for joint in range(evidence.robot.n):
        fits = []
        for k in range(len(shifts)):
            target = measured.copy()
            target[joint] = targets[joint, :, k]
            fits.append(evidence.explain(blocks, target))
        found += _candidate(evidence, (joint,), shifts, fits)
    return found


def _candidate(
    evidence: Evidence, joints: tuple[int, ...], shifts: FloatArray, fits: Sequence[JointFit]
) -> list[Candidate]:
    """Return the most likely of some shifts of joints, if it is a delay worth a warning."""
    at = int(np.argmin([fit.score for fit in fits]))
    if at in (0, len(shifts) - 1):
        # What explains ever more with ever later effort is none that was late.
        return []
    gain = evidence.gain(fits[at])
    least = max(LEAST_DELAY, *(1.0 / dataset.rate for dataset in evidence.datasets))
    delay = _believed(evidence, joints, float(shifts[at]), float(shifts[1] - shifts[0]))
    if gain < LEAST_GAIN or evidence.fall(fits[at]) < LEAST_FALL or abs(delay) < least:
        return []
    whose = f'the effort of {evidence.names(joints)[0]}' if joints else 'the effort of all joints'
    warning = DataWarning(
        'delay', evidence.names(joints),
        f'{whose} may be recorded {"later" if delay > 0.0 else "earlier"} than the position',
        'delay', 's', delay, least,
        'look for filters and buffers of the effort in drive and driver, and stamp it when it is '
        'measured',
    )
    return [Candidate(warning, gain)]


def _believed(
    evidence: Evidence, joints: tuple[int, ...], shift: float, step: float
) -> float:
    """
    Return the delay that the most likely shift stands for [s].

    It is the shift where no delay was found in the recordings, which is so where it is beyond
    the range of that search, or where those that were found agree with it; else it is that of
    them which is nearest to zero. It is zero where one of them is not certain.
    """
    found = [dataset.found_delay for dataset in evidence.datasets]
    own = [
        delay.of_joints[joints[0]] if delay is not None and joints else delay for delay in found
    ]
    known = [delay for delay in own if delay is not None]
    if not all(one.is_significant for one in known):
        return 0.0
    if all(abs(shift - one.value) <= 3.0 * one.standard_error + step for one in known):
        return shift
    return min(known, key=lambda one: abs(one.value)).value
