# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Cost of enforcing physical consistency, and its independence of the number of samples.

A UR5 with Coulomb and viscous friction, offsets and rotors whose bodies are a fifth heavier than
the URDF's, under noise of 1 N m.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from robot_identification.estimation import IdentificationProblem, solve_weighted
from robot_identification.estimation.estimators import ConsistentLeastSquares
from robot_identification.model import (
    load_robot, make_standard_parameters, parse_friction, prior_inertial_parameters, random_motion,
    reduce_to_base, RobotModel, standard_torque,
)

from .figures import alternate, Figure, ratio
from .regressor import observations

REPEATS = 9
FEW, MANY = 1000, 20_000
WEIGHT = 100.0


def measure(repeats: int) -> list[Figure]:
    """Return the times of both solvers, and their ratios."""
    robot = load_robot('ur5')
    reference, weights = prior_inertial_parameters(robot), np.ones(robot.n)
    few, many = (make_problem(robot, samples) for samples in (FEW, MANY))
    given = ConsistentLeastSquares(regularization=WEIGHT)
    newton_alone = replace(given, solver='log_cholesky')
    least, conic_few, conic_many, newton, chosen = alternate(
        (
            partial(solve_weighted, many, weights),
            partial(given.fit, few, weights, reference),
            partial(given.fit, many, weights, reference),
            partial(newton_alone.fit, many, weights, reference),
            partial(ConsistentLeastSquares().fit, many, weights, reference),
        ),
        repeats,
    )
    return [
        Figure(f'conic program from the factors of {MANY} samples', 'ms',
               tuple(1e3 * value for value in conic_many)),
        Figure(f'conic program, {MANY} / {FEW} samples', '', ratio(conic_many, conic_few)),
        Figure('conic program / least squares, from the factors', '', ratio(conic_many, least)),
        Figure('log-Cholesky / conic program', '', ratio(newton, conic_many)),
        Figure('with the choice of the regularization / with a given one', '',
               ratio(chosen, conic_many)),
    ]


def make_problem(robot: RobotModel, samples: int) -> IdentificationProblem:
    """Return the factors of random samples of a heavier arm."""
    parameters = make_standard_parameters(
        robot.n, parse_friction('coulomb,viscous,offset'), reflected_inertia=True
    )
    rng = np.random.default_rng(0)
    motion = random_motion(robot, samples, rng)
    theta = np.concatenate([
        1.2 * prior_inertial_parameters(robot), np.full(parameters.size - 10 * robot.n, 0.5)
    ])
    tau = standard_torque(robot, parameters, theta, motion)
    tau += rng.normal(size=tau.shape)
    return observations(robot, reduce_to_base(robot, parameters), motion, tau).factor()
