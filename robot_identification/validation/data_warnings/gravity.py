# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of gravity with another direction in the base frame, or another magnitude, than stated."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.likelihood import (
    fit_blocks, JointFit, reduce_rows,
)
from robot_identification.validation.data_warnings.thresholds import (
    LEAST_BODY_GAIN, LEAST_GRAVITY_RATIO, LEAST_TILT,
)
from robot_identification.validation.verdict import DataWarning

# Steps of the search, from the stated gravity and from next to none of it.
STEPS, STARTS = 6, (1.0, 0.2)
# Gravity per axis of which the torque is a multiple [m/s^2].
UNIT = 9.81


def find_gravity(evidence: Evidence) -> list[Candidate]:
    """Return the gravity that explains the data better than the stated one, if it is far."""
    stated = np.asarray(evidence.robot.gravity, dtype=float)
    size = float(np.linalg.norm(stated))
    if size == 0.0:
        return []
    still = evidence.in_band(evidence.regressor(robot=evidence.robot.with_gravity(np.zeros(3))))
    weights = [
        evidence.in_band(evidence.regressor(robot=evidence.robot.with_gravity(UNIT * axis)))
        - still
        for axis in np.eye(3)
    ]
    torque = evidence.in_band(evidence.torque)[:, :, None]
    tried = [_search(evidence, still, weights, torque, start * stated) for start in STARTS]
    gravity, fit = min(tried, key=lambda one: one[1].score)
    gain, found = evidence.gain(fit), float(np.linalg.norm(gravity))
    if gain < LEAST_BODY_GAIN or found == 0.0:
        return []
    angle = float(np.arccos(np.clip(gravity @ stated / (found * size), -1.0, 1.0)))
    listed = ', '.join(f'{value:.2f}' for value in gravity)
    check = (
        f'the data are nearer to gravity ({listed}) m/s^2 in the root frame: check --mounting or '
        '--gravity, and how the base stands'
    )
    if angle > LEAST_TILT:
        return [Candidate(DataWarning(
            'gravity', (), 'gravity may have another direction than was stated', 'angle', 'rad',
            angle, LEAST_TILT, check,
        ), gain)]
    if abs(np.log(found / size)) > np.log(LEAST_GRAVITY_RATIO):
        return [Candidate(DataWarning(
            'gravity', (), 'gravity may have another size than was stated',
            'ratio', '', found / size, LEAST_GRAVITY_RATIO ** np.sign(np.log(found / size)), check,
        ), gain)]
    return []


def _search(
    evidence: Evidence,
    still: FloatArray,
    weights: list[FloatArray],
    torque: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, JointFit]:
    """Return a gravity (3,) and the fit with it, by Gauss-Newton steps from a start."""
    # How far gravity may go in a step; unbounded, it could go anywhere.
    prior = evidence.prior.with_steps(3, UNIT)

    def fit(gravity: FloatArray) -> tuple[FloatArray, JointFit]:
        regressor = still + np.tensordot(gravity / UNIT, np.array(weights), axes=1)
        blocks = reduce_rows(regressor, evidence.friction, torque, evidence.deviation)
        return regressor, evidence.explain(blocks)

    gravity = start.copy()
    regressor, best = fit(gravity)
    for _ in range(STEPS):
        columns = np.stack([weight @ best.theta / UNIT for weight in weights], axis=2)
        blocks = reduce_rows(
            np.concatenate([regressor, columns], axis=2), evidence.friction, torque,
            evidence.deviation,
        )
        step = fit_blocks(
            blocks, blocks.targets[:, :, 0], prior, evidence.independent
        ).theta[-3:]
        regressor, trial = fit(gravity + step)
        if not trial.score < best.score - 0.01:
            break
        gravity, best = gravity + step, trial
    return gravity, best
