# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Evaluation of a motion: every criterion, and the weakly excited parameters.

Motions that were designed, imported or recorded are judged by the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.information import BaseColumns, standard_errors
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import BaseReduction, Motion, RobotModel

# Dense for motions of a few hertz [Hz].
DENSE_RATE = 125.0
# More samples of a recording than these are thinned out evenly.
MAXIMUM_SAMPLES = 20_000
# Noise of a drive as a share of its torque limit, where nothing more is stated.
NOISE_SHARE = 0.01
# Prior values smaller than this part of the largest of their unit are zeros of a drawing.
NO_VALUE = 1.0e-6
UNITS_NOTE = (
    'SI units; compare condition numbers and variances within one base set only. Differences of '
    'log_determinant depend neither on units nor on the base set.'
)
Criteria = Mapping[str, float]


@dataclass(frozen=True)
class SampledCriteria:
    """The criteria of evenly spaced samples of one period, by their names in CRITERIA."""

    samples: int
    both_ends: bool  # False: at t = k T/N, without the end
    criteria: Criteria  # infinite where the samples do not show every parameter


@dataclass(frozen=True)
class WeakParameter:
    """A base parameter and what one run leaves unknown of it."""

    # Leading standard parameter, and SI unit.
    name: str
    unit: str
    # By the noise of the drives alone; infinite where the motion does not show it.
    standard_error: float
    prior: float  # its value by the description; NaN where that does not say it

    @property
    def share(self) -> float:
        """Return the standard error as share of the prior's magnitude; NaN without a prior."""
        return self.standard_error / abs(self.prior)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of a motion for identification."""

    reduction: BaseReduction  # the base set that all numbers are about
    friction: str  # friction laws in it
    dense: Criteria  # the criteria of dense samples
    rate: float  # samples per second of these [Hz]
    # Those of the experiment's sets of samples; empty of a recording.
    optimized: tuple[SampledCriteria, ...]
    # All base parameters, the weakest first; those without a prior value last.
    weak: tuple[WeakParameter, ...]
    noise: FloatArray  # (n,): standard deviation of the torques that standard errors are for [N m]
    samples: int  # recorded samples they are for

    @property
    def weakest(self) -> tuple[WeakParameter, ...]:
        """Return the weakest base parameters, five at most."""
        return tuple(one for one in self.weak if not np.isnan(one.share))[:5]


@one_blas_thread()
def evaluate_motion(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory,
    torque_noise: float | None = None, *, columns: BaseColumns | None = None,
) -> Evaluation:
    """
    Judge a motion, whether it keeps its limits or not.

    Gravity is taken from the experiment. Criteria are of one period, standard errors of all.
    `torque_noise` is the standard deviation of each recorded torque [N m]; by default the share
    `NOISE_SHARE` of the robot's limits. `columns` are those of arm and experiment, where they are
    made already.
    """
    columns = columns or BaseColumns(robot, experiment)
    duration = trajectory.form.duration
    count = round(np.ceil(duration * DENSE_RATE))
    W = columns.matrix(trajectory.sample(np.linspace(0.0, duration, count + 1)))
    optimized = []
    for samples in experiment.samples:
        for both_ends in (False, True):
            times = np.linspace(*trajectory.form.searched_span, samples, endpoint=both_ends)
            optimized.append(SampledCriteria(
                samples, both_ends, criteria_of(columns.matrix(trajectory.sample(times)))
            ))
    rate = robot.sampling_rate if np.isfinite(robot.sampling_rate) else DENSE_RATE
    recorded = round(trajectory.duration * rate)
    evaluation = _evaluation(columns, W, DENSE_RATE, recorded, torque_noise)
    return replace(evaluation, optimized=tuple(optimized))


@one_blas_thread()
def evaluate_recording(
    robot: RobotModel, experiment: Experiment, motion: Motion, rate: float,
    torque_noise: float | None = None,
) -> Evaluation:
    """
    Judge a motion as it was recorded, with smoothed velocities and accelerations.

    Gravity is taken from the experiment; `rate` is that of the samples [Hz], `torque_noise` as for
    `evaluate_motion`.
    """
    step = -(-len(motion) // MAXIMUM_SAMPLES)
    columns = BaseColumns(robot, experiment)
    W = columns.matrix(motion.part(slice(None, None, step)))
    return _evaluation(columns, W, rate / step, len(motion), torque_noise)


def _evaluation(
    columns: BaseColumns, W: FloatArray, rate: float, samples: int, torque_noise: float | None
) -> Evaluation:
    noise = drive_noise(columns.robot, torque_noise)
    # As many rows of the recording have the information of these, to scale.
    taken = np.sqrt(samples * columns.robot.n / len(W))
    errors = standard_errors(W / np.tile(noise, len(W) // len(noise))[:, None]) / taken
    reduction = columns.reduction
    return Evaluation(
        reduction, columns.friction, criteria_of(W), rate, (),
        _weakest_first(columns, errors), noise, samples,
    )


def criteria_of(W: FloatArray) -> dict[str, float]:
    """Return every criterion of a base observation matrix (N n, b)."""
    # What rounding leaves of a column that is not seen says nothing.
    seen = bool(np.all(np.isfinite(standard_errors(W))))
    return {
        name: criterion(W) if seen else float('inf') for name, criterion in CRITERIA.items()
    }


def drive_noise(robot: RobotModel, torque_noise: float | None = None) -> FloatArray:
    """Return the standard deviations of torques that errors are stated for [N m], shape (n,)."""
    if torque_noise is not None:
        return np.full(robot.n, torque_noise)
    limits = robot.limits.effort
    return np.where(np.isfinite(limits), NOISE_SHARE * limits, 1.0)


def _weakest_first(columns: BaseColumns, errors: FloatArray) -> tuple[WeakParameter, ...]:
    reduction, prior = columns.reduction, columns.prior()
    units = np.array(reduction.units_of(columns.robot))
    largest = {unit: np.nanmax(np.abs(prior[units == unit]), initial=0.0) for unit in units}
    known = np.abs(prior) > NO_VALUE * np.array([largest[unit] for unit in units])
    parameters = [
        WeakParameter(name, str(unit), float(error), float(value) if is_known else float('nan'))
        for name, unit, error, value, is_known in zip(
            reduction.names, units, errors, prior, known, strict=True
        )
    ]
    return tuple(sorted(
        parameters, key=lambda one: (np.isnan(one.share), -np.nan_to_num(one.share))
    ))


def evaluation_content(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as plain content of the certificate; null where nothing is seen."""
    reduction = evaluation.reduction
    return {
        'base_parameters': reduction.rank,
        'friction': evaluation.friction,
        'base_set': {
            'frames': reduction.frames,
            'preference': reduction.preference,
            'rotor_inertia': reduction.parameters.reflected_inertia,
        },
        'criteria_dense': criteria_content(evaluation.dense),
        'criteria_optimised': [
            {
                'samples': one.samples,
                'both_ends': one.both_ends,
                'criteria': criteria_content(one.criteria),
            }
            for one in evaluation.optimized
        ],
        'weakest': [
            {
                'parameter': one.name,
                'standard_error': rounded(one.standard_error),
                'unit': one.unit,
                'share_of_prior': rounded(one.share),
            }
            for one in evaluation.weakest
        ],
    }


def criteria_columns(
    evaluation: Evaluation, more: Mapping[str, Mapping[str, float | None]] | None = None
) -> dict[str, Mapping[str, float | None]]:
    """Return criteria by the titles of their columns, those of other motions (`more`) first."""
    columns = dict(more or {})
    columns['dense' if evaluation.optimized else 'recorded'] = evaluation.dense
    for one in evaluation.optimized:
        ends = 'with both ends' if one.both_ends else 'at k T/N'
        columns[f'{one.samples} {ends}'] = one.criteria
    return columns


def criteria_content(criteria: Criteria) -> dict[str, float | None]:
    """Return criteria with six digits, null where they are infinite."""
    return {name: rounded(value) for name, value in criteria.items()}


def rounded(value: float) -> float | None:
    """Return a number with six digits; None if it is not finite."""
    return float(f'{value:.6g}') if np.isfinite(value) else None
