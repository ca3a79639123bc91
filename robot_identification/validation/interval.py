# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Standard deviation of a prediction of the effort, in motion and at rest."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import FrictionTerm, IdentifiedModel, STOP
from robot_identification.processing import MOVING_SPEED

# Half-width of a band of 95 % in standard deviations.
BAND = 1.96
# Standard deviation of friction at rest over its level: measured on seven recordings of real
# arms, where currents wander within the band of break-away.
RESTING_SHARE = 0.25


def friction_level(model: IdentifiedModel, loads: FloatArray) -> FloatArray:
    """
    Return the friction of joints that slide, or are about to, under loads (n,) [N m].

    It is the sum of the coefficients of terms that saturate: friction that is viscous, or an
    offset, is none of it.
    """
    level = np.zeros(model.robot.n)
    for term, columns in model.parameters.friction_columns:
        level[term.joint] += _saturated(term, loads[term.joint]) @ model.theta_lifted[columns]
    return level


def _saturated(term: FrictionTerm, load: float) -> FloatArray:
    """Return what each coefficient of a law is multiplied by in steady sliding."""
    return np.array([
        (load if basis.per_load else 1.0) * float(
            basis.reference is None and (basis.kind == STOP or basis.kind.endswith('sign'))
        )
        for basis in term.law.basis
    ])


def deviation_at_rest(moving: FloatArray, friction: FloatArray) -> FloatArray:
    """Return the standard deviation at rest (n,) from that in motion and the friction level."""
    return np.hypot(moving, RESTING_SHARE * friction)


def prediction_deviation(
    model: IdentifiedModel, dq: FloatArray, corrected: BoolArray, *, live: bool = False
) -> FloatArray | None:
    """
    Return the standard deviation of the predicted effort, in its unit, shape (N, n).

    `dq` (N, n) are velocities [rad/s], `corrected` (n,) the joints whose prediction has all their
    corrections, `live` asks for the prediction with causal kinematics. None of a model that does
    not state it.
    """
    kind = 'live_deviation' if live else 'prediction_deviation'
    stated = [model.quality.get(name) for name in (kind, f'uncorrected_{kind}')]
    if stated[0] is None or stated[1] is None:
        return None
    moving, resting = np.where(corrected, *np.array(stated, dtype=float))
    deviation: FloatArray = np.where(np.abs(dq) > MOVING_SPEED, moving, resting)
    return deviation
