# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Standard deviations of predictions: of held-out errors, and by the errors of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitted_recordings import FittedRecordings
from robot_identification.estimation.quality import with_damping
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.discrepancy import find_discrepancy
from robot_identification.model import IdentifiedModel, PositionSeries
from robot_identification.processing import Dataset
from robot_identification.validation import (
    BAND, deviation_at_rest, friction_level, ParameterError, predict_effort,
)

# Share of the errors in a band, and the fewest of them that tell how wide it is.
HELD, FEWEST = 0.95, 40
# Evenly spread samples at most that show the discrepancy, and that the error of the parameters is
# averaged over; chosen: joint by joint its mean square is that of all within a few per cent.
AVERAGED_SAMPLES = 5000


def deviation_figures(
    model: IdentifiedModel, choice: Choice, rows: Sequence[BoolArray], loads: FloatArray,
    live_ratios: FloatArray | None,
) -> dict[str, Any]:
    """
    Return the standard deviations of predictions, in motion and at rest (2, n), for the file.

    They are those of a normal distribution with 95 % of the errors on held-out blocks, of the
    prediction with corrections and of that without. At rest they are no less than what friction
    under `loads` (n,) [N m] leaves open.
    """
    friction = friction_level(model, loads) * np.abs(model.effort_per_torque)
    figures: dict[str, Any] = {}
    for at, (prefix, trial) in enumerate((
        ('', choice.trial), ('uncorrected_', choice.of_parameters),
    )):
        moving, resting = _deviations([
            dataset.effort[chosen] - predicted for dataset, chosen, predicted in zip(
                choice.datasets, rows, trial.predictions, strict=True
            )
        ], choice.datasets, rows)
        live = None if live_ratios is None else moving * np.where(
            np.isfinite(live_ratios[at]), live_ratios[at], 1.0
        )
        for kind, own in (('prediction_deviation', moving), ('live_deviation', live)):
            figures[prefix + kind] = None if own is None else np.array([
                own, np.maximum(resting, deviation_at_rest(own, friction)),
            ])
    return figures


def parameter_figures(
    model: IdentifiedModel, covariance: Covariance, fitted: FittedRecordings, choice: Choice
) -> dict[str, Any]:
    """
    Return what the file states of the error of the effort that the parameters make.

    They are the discrepancy that they may have absorbed, and what the parameters make of the
    deviation of held-out errors, (n,): their error over the samples of a choice, and the
    differences of held-out predictions from those of the fit. None where the covariance takes
    residuals as white.
    """
    if covariance.kind == 'residual':
        return {'discrepancy': None, 'parameter_deviation': None}
    rows = thin_rows(list(fitted.rows), AVERAGED_SAMPLES)
    observations = fitted.in_choice.select(rows).with_reduction(model.reduction)
    corrected = {
        one.joint: one.coefficients for one in model.corrections.offline
        if one.group == PositionSeries()
    }
    estimate = fitted.fit.estimate
    try:
        discrepancy = find_discrepancy(estimate, observations, corrected)
    except RankDeficientError:
        # The covariance is then that with the shrinkage.
        discrepancy = find_discrepancy(
            with_damping(estimate) or estimate, observations, corrected
        )
    error = ParameterError(model, covariance.freedom, discrepancy)
    variances = [
        error.variance(dataset.motion.rows(np.flatnonzero(chosen)))
        for dataset, chosen in zip(choice.datasets, rows, strict=True)
    ]
    of_fit = np.sqrt(np.mean(np.concatenate(variances), axis=0)) * np.abs(model.effort_per_torque)
    of_folds, _ = _deviations([
        predict_effort(model, dataset, corrected=False)[chosen] - predicted
        for dataset, chosen, predicted in zip(
            choice.datasets, fitted.rows, choice.of_parameters.predictions, strict=True
        )
    ], choice.datasets, fitted.rows)
    return {
        'discrepancy': (
            None if discrepancy is None else discrepancy.content(model.robot.joint_names)
        ),
        'parameter_deviation': np.hypot(of_fit, of_folds),
    }


def _deviations(
    of_datasets: Sequence[FloatArray], datasets: Sequence[Dataset], rows: Sequence[BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the deviation (n,) of errors in motion, and at rest, 0 where unknown."""
    errors = np.abs(np.concatenate(of_datasets))
    moves = np.concatenate([
        dataset.moving[chosen] for dataset, chosen in zip(datasets, rows, strict=True)
    ])
    everywhere = np.quantile(errors, HELD, axis=0) / BAND
    moving, resting = (
        np.array([
            np.quantile(own[chosen], HELD) / BAND if np.count_nonzero(chosen) >= FEWEST else usual
            for own, chosen, usual in zip(errors.T, where.T, otherwise, strict=True)
        ])
        for where, otherwise in ((moves, everywhere), (~moves, np.zeros_like(everywhere)))
    )
    return moving, resting
