# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Evaluation of an executed motion and of its plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation import criteria_of, Trajectory
from robot_identification.model import (
    make_standard_parameters, Motion, observation_matrix, parse_friction, PLAIN_FRICTION,
    reduce_to_base, RobotModel,
)
import scipy.interpolate

# Both motions are judged by so many even samples; chosen: far more than parameters.
SAMPLES = 400
FEWEST = 100  # number of measurements; chosen: fewer say little about accelerations
# Velocities are smoothed by splines that show the planned accelerations up to this share of their
# peak; chosen: a tenth of it is what a criterion differs by.
SPLINE_ERROR = 0.01
# Pieces of a spline that are tried, at most for a planned motion; chosen: 100 have four of the
# SAMPLES each.
PIECES = (10, 20, 40, 70, 100)
DEGREE = 3  # of the splines; accelerations are continuous, and bend
SHOWN = ('condition_number_scaled', 'log_determinant')


@dataclass(frozen=True)
class ExecutionCriteria:
    """Criteria of a plan and of its execution, from equally many samples."""

    # By name; infinite where not every parameter is seen.
    planned: dict[str, float]
    executed: dict[str, float]


def compare_execution(
    robot: RobotModel, trajectory: Trajectory, stamps: FloatArray, q: FloatArray, dq: FloatArray
) -> ExecutionCriteria | None:
    """
    Compare what was executed with what was planned.

    Returns None if there are too few measurements. Positions `q` (N, n) [rad] and velocities `dq`
    (N, n) [rad/s] were measured at `stamps` (N,) [s]. The trajectory's certificate names the
    friction laws of the base set.
    """
    stamps, first = np.unique(stamps, return_index=True)
    if len(stamps) < FEWEST:
        return None
    even = np.linspace(stamps[0], stamps[-1], SAMPLES)
    plan = trajectory.sample(np.linspace(0.0, trajectory.form.duration, SAMPLES))
    # Pieces as long as those of the plan: stamps that jitter look like accelerations in shorter.
    length = trajectory.form.duration / _pieces_of(plan, trajectory.form.duration)
    pieces = max(round((stamps[-1] - stamps[0]) / length), 1)
    speeds, accelerations = _smoothed(stamps, dq[first], even, min(pieces, len(stamps) // 4))
    motion = Motion(_on_even_times(even, stamps, q[first]), speeds, accelerations)
    laws = parse_friction(str(trajectory.certificate.get('friction', PLAIN_FRICTION)))
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, laws, True))
    found = []
    for one in (plan, motion):
        W = observation_matrix(robot, reduction.parameters, one)[:, reduction.independent]
        criteria = criteria_of(W)
        found.append({name: float(criteria[name]) for name in SHOWN})
    return ExecutionCriteria(*found)


def _pieces_of(plan: Motion, duration: float) -> int:
    """Return how many pieces a spline needs to show the accelerations of a plan."""
    t = np.linspace(0.0, duration, len(plan.dq))
    peak = np.max(np.abs(plan.ddq))
    for pieces in PIECES:
        error = _smoothed(t, plan.dq, t, pieces)[1] - plan.ddq
        if np.max(np.abs(error)) <= SPLINE_ERROR * peak:
            break
    return pieces


def _smoothed(
    stamps: FloatArray, speeds: FloatArray, t: FloatArray, pieces: int
) -> tuple[FloatArray, FloatArray]:
    """Return velocities and accelerations at `t` of the spline nearest to velocities (N, n)."""
    # On even times every piece of the spline has a value, also across missing samples.
    even = np.linspace(stamps[0], stamps[-1], len(stamps))
    ends = np.repeat([stamps[[0]], stamps[[-1]]], DEGREE, axis=0).reshape(2, DEGREE)
    knots = np.concatenate(
        [ends[0], np.linspace(stamps[0], stamps[-1], pieces + 1), ends[1]]
    )
    spline = scipy.interpolate.make_lsq_spline(
        even, _on_even_times(even, stamps, speeds), knots, k=DEGREE
    )
    return spline(t), spline.derivative()(t)


def _on_even_times(even: FloatArray, stamps: FloatArray, values: FloatArray) -> FloatArray:
    return np.column_stack([np.interp(even, stamps, column) for column in values.T])
