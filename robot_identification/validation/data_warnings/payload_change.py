# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of a payload that is taken up, or put down, between the first and the last sample."""

from __future__ import annotations

import numpy as np
from robot_identification.model import inertial_regressor
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence, tool_deviation
from robot_identification.validation.data_warnings.likelihood import JointFit, reduce_rows
from robot_identification.validation.data_warnings.thresholds import (
    LEAST_CHANGE_GAIN, LEAST_FALL,
)
from robot_identification.validation.verdict import DataWarning

# Parts of equal length of all samples, between which it may change.
PARTS = 8
# Of less motion each part has too few poses to tell bodies from friction [s].
SHORTEST = 10.0


def find_payload_change(evidence: Evidence) -> list[Candidate]:
    """Return the change of the last link that explains the data better, if there is one."""
    seconds = sum((part.stop - part.start) / rate for part, rate in evidence.parts)
    # Without masses and drive gains a payload has no size.
    if seconds < SHORTEST or not evidence.prior.side.size:
        return []
    rows = evidence.in_band(evidence.regressor())
    torque = evidence.in_band(evidence.torque)[:, :, None]
    n = evidence.robot.n
    last = evidence.in_band(
        inertial_regressor(evidence.robot, evidence.motion).reshape(len(evidence.motion), n, -1)
        [:, :, -10:]
    )
    prior = evidence.prior.with_steps(10, tool_deviation(evidence.robot))
    best: tuple[JointFit, int] | None = None
    for part in range(1, PARTS):
        first = part * len(rows) // PARTS
        changed = np.where(np.arange(len(rows))[:, None, None] >= first, last, 0.0)
        blocks = reduce_rows(
            np.concatenate([rows, changed], axis=2), evidence.friction, torque,
            evidence.deviation,
        )
        fit = evidence.explain(blocks, prior=prior)
        if best is None or fit.score < best[0].score:
            best = fit, first
    assert best is not None
    fit, first = best
    gain = evidence.gain(fit)
    if gain < LEAST_CHANGE_GAIN or evidence.fall(fit) < LEAST_FALL:
        return []
    source, start = evidence.place_in_band(first)
    name = evidence.robot.joint_names[-1]
    return [Candidate(DataWarning(
        'payload_change', (name,),
        f'the link behind {name} may carry something else from about {start:.0f} s of {source} '
        'on',
        'gain in log likelihood', '', gain, LEAST_CHANGE_GAIN,
        'identify from recordings with one payload, or a part of them by --start and --stop',
    ), gain)]
