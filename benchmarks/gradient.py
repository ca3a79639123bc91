# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Objective and exact gradient of a motion beside forward differences and Pinocchio's own."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.model.registry import load_robot

from .figures import alternate, Figure, ratio

REPEATS = 15
SHARPNESS = 8.0
STEP = 1.0e-7


def measure(repeats: int) -> list[Figure]:
    """Return what a gradient costs, in objectives and beside the other ways to it."""
    experiment = load_experiment(find_experiment('tika_2020_ur5'))
    problem = TrajectoryProblem(load_robot('ur5_tika'), experiment)
    x = problem.draw(np.random.default_rng(0))
    objective, exact, forward, rows = alternate(
        (
            lambda: problem.objective(x),
            lambda: problem.descend(x, SHARPNESS),
            lambda: forward_differences(problem, x),
            lambda: derivatives_by_rows(problem),
        ),
        repeats,
    )
    return [
        Figure('free coefficients', '', (float(problem.size),)),
        Figure('objective', 'ms', tuple(1e3 * value for value in objective)),
        Figure('objective and exact gradient', 'ms', tuple(1e3 * value for value in exact)),
        Figure('objective and exact gradient / objective', '', ratio(exact, objective)),
        Figure('forward differences / objective and exact gradient', '', ratio(forward, exact)),
        Figure('RNEA derivatives by rows / objective and exact gradient', '', ratio(rows, exact)),
    ]


def forward_differences(problem: TrajectoryProblem, x: np.ndarray) -> np.ndarray:
    """Return a gradient by one more objective for each coefficient."""
    first = problem.objective(x)
    return np.array([
        (problem.objective(x + STEP * unit) - first) / STEP for unit in np.eye(problem.size)
    ])


def derivatives_by_rows(problem: TrajectoryProblem) -> None:
    """
    Call Pinocchio as a gradient by rows of weights would have to, results aside.

    A row of weights of one joint takes the place of the inertial parameters; one call more is for
    the parameters that keep masses from being zero.
    """
    robot, samples = problem.robot, problem.experiment.samples[0]
    model, data = robot.pinocchio.copy(), robot.pinocchio.createData()
    rng = np.random.default_rng(0)
    states = rng.uniform(-1.0, 1.0, (samples, 3, robot.n))
    weights = rng.uniform(0.5, 1.0, (robot.n, 10))
    for state in states:
        for _ in range(robot.n + 1):
            for body, row in enumerate(weights, start=1):
                model.inertias[body] = pin.Inertia.FromDynamicParameters(row)
            pin.computeRNEADerivatives(model, data, *state)
