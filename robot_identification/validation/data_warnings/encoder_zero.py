# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of an encoder whose zero is not that of the URDF."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.likelihood import (
    fit_blocks, JointFit, reduce_rows,
)
from robot_identification.validation.data_warnings.thresholds import LEAST_BODY_GAIN, LEAST_ZERO
from robot_identification.validation.verdict import DataWarning

# Of the difference quotient [rad]; chosen between rounding and curvature.
STEP = 0.01
# Steps of the search, and how far it goes in all [rad].
STEPS, LARGEST_ZERO = 4, 1.0
# A first step that promises less is not followed.
PROMISING = 0.3


def find_encoder_zeros(evidence: Evidence) -> list[Candidate]:
    """Return the offsets of single encoders that explain the data better."""
    found = []
    torque = evidence.in_band(evidence.torque)[:, :, None]
    for joint, name in enumerate(evidence.robot.joint_names):
        offset, fit = _search(evidence, torque, joint)
        gain = evidence.gain(fit)
        if gain < LEAST_BODY_GAIN or abs(offset) < LEAST_ZERO:
            continue
        warning = DataWarning(
            'encoder_zero', (name,), f'the zero of {name} may be off', 'offset',
            evidence.robot.position_units[joint], -offset, LEAST_ZERO,
            f'move {name} to its zero and compare with the drawing that the URDF was made from',
        )
        found.append(Candidate(warning, gain))
    return found


def _search(evidence: Evidence, torque: FloatArray, joint: int) -> tuple[float, JointFit]:
    """Return the offset of an encoder by Gauss-Newton steps [rad], and its fit."""
    offset, best = 0.0, evidence.fit
    for count in range(STEPS):
        step, promised = _step(evidence, torque, joint, offset, best)
        if count == 0 and evidence.gain(promised) < PROMISING * LEAST_BODY_GAIN:
            break
        offset_tried = float(np.clip(offset + step, -LARGEST_ZERO, LARGEST_ZERO))
        rows = evidence.in_band(evidence.regressor(evidence.with_offset(joint, offset_tried)))
        blocks = reduce_rows(rows, evidence.friction, torque, evidence.deviation)
        trial = evidence.explain(blocks)
        if not trial.score < best.score - 0.05:
            break
        offset, best = offset_tried, trial
    return offset, best


def _step(
    evidence: Evidence, torque: FloatArray, joint: int, offset: float, fit: JointFit
) -> tuple[float, JointFit]:
    """Return a step [rad], and the fit that it promises."""
    after, before = (
        evidence.regressor(evidence.with_offset(joint, offset + step)) for step in (STEP, -STEP)
    )
    slope = evidence.in_band((after - before) @ fit.theta / (2.0 * STEP))
    rows = evidence.in_band(0.5 * (after + before))
    blocks = reduce_rows(
        np.concatenate([rows, slope[:, :, None]], axis=2), evidence.friction, torque,
        evidence.deviation,
    )
    promised = fit_blocks(
        blocks, blocks.targets[:, :, 0], evidence.prior.with_steps(1, LARGEST_ZERO),
        evidence.independent,
    )
    return float(promised.theta[-1]), promised
