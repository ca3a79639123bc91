# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Standard deviation of a prediction of the effort, in motion and at rest."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import (
    discrepancy_from_content, FrictionTerm, IdentifiedModel, Motion, STOP,
)
from robot_identification.processing import MOVING_SPEED
from robot_identification.validation.parameter_error import ParameterError

# Standard deviation of friction at rest over its level: measured on seven recordings of real
# arms, where currents wander within the band of break-away.
RESTING_SHARE = 0.25
# Of the variance of held-out errors, what is kept at least: what the errors of the parameters make
# of it is known roughly. Chosen; with 0.5 the bands of simulated arms hold up to 0.6 % less.
LEAST_SHARE = 0.6


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


class PredictionDeviation:
    """
    Standard deviation of the predicted effort of a model.

    It is that of the errors on held-out blocks, of which what the errors of the parameters make is
    replaced by what they make at this pose, velocity and acceleration.

    Parameters
    ----------
    model : IdentifiedModel
        It must state its deviation; see `make_prediction_deviation`.
    corrected : ndarray of bool, shape (n,)
        Joints whose prediction has all their corrections.
    live : bool
        Whether the prediction has causal kinematics.

    """

    def __init__(self, model: IdentifiedModel, corrected: BoolArray, *, live: bool) -> None:
        self._moving, self._resting = np.where(corrected, *(
            np.array(model.quality[name], dtype=float) for name in _names(live)
        ))
        self._squared_scale = model.effort_per_torque**2
        held_out = model.quality.get('parameter_deviation')
        self._parameters = None
        if held_out is not None:
            self._held_out = np.asarray(held_out, dtype=float) ** 2
            discrepancy = model.quality.get('discrepancy')
            self._parameters = ParameterError(
                model, model.quality.get('degrees_of_freedom'),
                None if discrepancy is None else discrepancy_from_content(
                    discrepancy, model.robot.joint_names, len(model.theta_base)
                ),
            )

    def __call__(self, motion: Motion) -> FloatArray:
        """Return the standard deviation along N samples, in the effort's unit, shape (N, n)."""
        found: FloatArray = np.where(np.abs(motion.dq) > MOVING_SPEED, self._moving, self._resting)
        if self._parameters is None:
            return found
        variance = found**2 - self._held_out
        variance += self._parameters.variance(motion) * self._squared_scale
        deviation: FloatArray = np.sqrt(np.maximum(variance, LEAST_SHARE * found**2))
        return deviation


def make_prediction_deviation(
    model: IdentifiedModel, corrected: BoolArray, *, live: bool = False
) -> PredictionDeviation | None:
    """Return the `PredictionDeviation` of a model, None if it does not state one."""
    if any(model.quality.get(name) is None for name in _names(live)):
        return None
    return PredictionDeviation(model, corrected, live=live)


def _names(live: bool) -> tuple[str, str]:
    """Return the figures of a prediction with corrections and of one without."""
    kind = 'live_deviation' if live else 'prediction_deviation'
    return kind, f'uncorrected_{kind}'
