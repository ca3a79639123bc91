# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of gravity with another direction in the base frame, or another magnitude, than stated."""

from __future__ import annotations

from collections.abc import Sequence

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
# No arm stands where gravity is larger than that of the Earth, 9.83 m/s^2 at the poles; chosen: a
# tenth more, as masses make it uncertain.
LARGEST_GRAVITY = 10.8


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
    starts = [start * stated for start in STARTS]

    def search(
        directions: FloatArray, starts: Sequence[FloatArray]
    ) -> tuple[FloatArray, JointFit]:
        tried = [_search(evidence, still, weights, start, directions) for start in starts]
        return min(tried, key=lambda one: one[1].score)

    # Noise turns any gravity that is fitted. Where its size is off, the size explains the data
    # with any direction: the direction must explain more than the size alone.
    along = stated / size
    sized, of_size = search(along[:, None], starts)
    turned, of_turn = search(np.eye(3), [sized, *starts])
    found = float(np.linalg.norm(turned))
    angle = 0.0 if found == 0.0 else float(np.arccos(np.clip(turned @ along / found, -1.0, 1.0)))
    if min(evidence.gain(of_turn), of_size.score - of_turn.score) >= LEAST_BODY_GAIN and (
        angle > LEAST_TILT
    ):
        return [Candidate(DataWarning(
            'gravity', (), 'gravity may have another direction than was stated', 'angle', 'rad',
            angle, LEAST_TILT, _check(turned),
        ), evidence.gain(of_turn))]
    ratio = float(sized @ along) / size
    if ratio > 1.0 and ratio * size > LARGEST_GRAVITY:
        # Another factor or sign of efforts, or other masses, which have tests of their own.
        return []
    if evidence.gain(of_size) >= LEAST_BODY_GAIN and ratio > 0.0 and (
        abs(np.log(ratio)) > np.log(LEAST_GRAVITY_RATIO)
    ):
        return [Candidate(DataWarning(
            'gravity', (), 'gravity may have another size than was stated',
            'ratio', '', ratio, LEAST_GRAVITY_RATIO ** np.sign(np.log(ratio)), _check(sized),
        ), evidence.gain(of_size))]
    return []


def _check(gravity: FloatArray) -> str:
    listed = ', '.join(f'{value + 0.0:.2f}' for value in gravity)
    return (
        f'the data are nearer to gravity ({listed}) m/s^2 in the root frame: check --mounting or '
        '--gravity, and how the base stands'
    )


def _search(
    evidence: Evidence,
    still: FloatArray,
    weights: list[FloatArray],
    start: FloatArray,
    directions: FloatArray,
) -> tuple[FloatArray, JointFit]:
    """
    Return a gravity (3,) and the fit with it, by Gauss-Newton steps from a start.

    The steps are in the span of some orthonormal `directions` (3, d).
    """
    count, torque = directions.shape[1], evidence.in_band(evidence.torque)[:, :, None]
    # How far gravity may go in a step; unbounded, it could go anywhere.
    prior = evidence.prior.with_steps(count, UNIT)

    def fit(gravity: FloatArray) -> tuple[FloatArray, JointFit]:
        regressor = still + np.tensordot(gravity / UNIT, np.array(weights), axes=1)
        blocks = reduce_rows(regressor, evidence.friction, torque, evidence.deviation)
        return regressor, evidence.explain(blocks)

    gravity = start.copy()
    regressor, best = fit(gravity)
    for _ in range(STEPS):
        columns = np.stack([weight @ best.theta / UNIT for weight in weights], axis=2) @ directions
        blocks = reduce_rows(
            np.concatenate([regressor, columns], axis=2), evidence.friction, torque,
            evidence.deviation,
        )
        step = directions @ fit_blocks(
            blocks, blocks.targets[:, :, 0], prior, evidence.independent
        ).theta[-count:]
        regressor, trial = fit(gravity + step)
        if not trial.score < best.score - 0.01:
            break
        gravity, best = gravity + step, trial
    return gravity, best
