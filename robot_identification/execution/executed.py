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

# Both motions are judged by so many even samples; chosen: far more than parameters.
SAMPLES = 400
FEWEST = 100  # number of measurements; chosen: fewer say little about accelerations
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
    speeds = _on_even_times(even, stamps, dq[first])
    motion = Motion(
        _on_even_times(even, stamps, q[first]), speeds,
        np.gradient(speeds, even[1] - even[0], axis=0),
    )
    laws = parse_friction(str(trajectory.certificate.get('friction', PLAIN_FRICTION)))
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, laws, True))
    plan = trajectory.sample(np.linspace(0.0, trajectory.form.duration, SAMPLES))
    found = []
    for one in (plan, motion):
        W = observation_matrix(robot, reduction.parameters, one)[:, reduction.independent]
        criteria = criteria_of(W)
        found.append({name: float(criteria[name]) for name in SHOWN})
    return ExecutionCriteria(*found)


def _on_even_times(even: FloatArray, stamps: FloatArray, values: FloatArray) -> FloatArray:
    return np.column_stack([np.interp(even, stamps, column) for column in values.T])
