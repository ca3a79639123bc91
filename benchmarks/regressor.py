# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Observation matrices, structural reduction and least squares of a UR5, without ROS."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.estimation import ESTIMATORS, Observations, TrainingData
from robot_identification.model import (
    BaseReduction, find_symbols, inertial_regressor, linear_classes, link_frames, load_robot,
    make_standard_parameters, Motion, observation_matrix, parse_friction, physical_classes,
    reduce_to_base, RobotModel, StandardParameters, unidentifiable_reasons,
)
from robot_identification.processing import Dataset

from .figures import alternate, Figure, ratio

REPEATS = 25
SAMPLES = 5000
RATE = 125.0  # [Hz]
# What reduce_to_base draws by default.
STRUCTURE_SAMPLES = 200
FRICTION = 'coulomb,viscous,offset'


def measure(repeats: int) -> list[Figure]:
    """Return the ratios to the raw Pinocchio calls, and the times of what follows."""
    robot = load_robot('ur5')
    parameters = make_standard_parameters(
        robot.n, parse_friction(FRICTION), reflected_inertia=True
    )
    motion = random_motion(robot)
    blocks = np.empty((SAMPLES, robot.n, 10 * robot.n))
    raw, inertial, into_blocks, whole = alternate(
        (
            lambda: raw_calls(robot, motion),
            lambda: inertial_regressor(robot, motion),
            lambda: inertial_regressor(robot, motion, blocks),
            lambda: observation_matrix(robot, parameters, motion),
        ),
        repeats,
    )
    sampled = random_motion(robot).part(slice(0, STRUCTURE_SAMPLES))
    raw_sampled, reduction, analysis, symbols = alternate(
        (
            lambda: raw_calls(robot, sampled),
            lambda: reduce_to_base(robot, parameters),
            lambda: analyse(robot, parameters),
            lambda: express(robot, parameters),
        ),
        repeats,
    )
    problem_time, ordinary, weighted = _fit_times(robot, parameters, motion, repeats)
    whole_ordinary = _sum(problem_time, ordinary)
    whole_weighted = _sum(problem_time, weighted)
    return [
        Figure('raw Pinocchio call, per sample', 'us', _scaled(raw, 1e6 / SAMPLES)),
        Figure('inertial columns / raw calls', '', ratio(inertial, raw)),
        Figure('inertial columns into blocks / raw calls', '', ratio(into_blocks, raw)),
        Figure('observation matrix with friction and rotors / raw calls', '', ratio(whole, raw)),
        Figure('structural reduction of the UR5', 's', tuple(reduction)),
        Figure('structural reduction / raw calls of its samples', '',
               ratio(reduction, raw_sampled)),
        Figure('frames, reduction, classes and reasons of the UR5', 's', tuple(analysis)),
        Figure('the same / structural reduction', '', ratio(analysis, reduction)),
        Figure('symbols of the UR5', 's', tuple(symbols)),
        Figure('symbols and their reduction / structural reduction', '',
               ratio(symbols, reduction)),
        Figure('samples to factors, per sample', 'us', _scaled(problem_time, 1e6 / SAMPLES)),
        Figure('factors and WLS / raw calls', '', ratio(whole_weighted, raw)),
        Figure('structure, factors and WLS / raw calls', '',
               ratio(_sum(whole_weighted, reduction), raw)),
        Figure('OLS from the factors', 'ms', _scaled(ordinary, 1e3)),
        Figure('WLS / OLS, from the factors', '', ratio(weighted, ordinary)),
        Figure('WLS / OLS, factors included', '', ratio(whole_weighted, whole_ordinary)),
    ]


def analyse(robot: RobotModel, parameters: StandardParameters) -> None:
    """Say what is identifiable and why, as `base-parameters` does without symbols."""
    frames = link_frames(robot, 'dh')
    reduction = reduce_to_base(robot, parameters, frames=frames)
    linear_classes(reduction)
    physical_classes(reduction)
    unidentifiable_reasons(robot, reduction, frames)


def express(robot: RobotModel, parameters: StandardParameters) -> None:
    """Find the expressions of Raviola's list, whose coefficients have reciprocals."""
    frames = link_frames(robot, 'dh')
    reduction = reduce_to_base(robot, parameters, frames=frames, preference='mass_first')
    find_symbols(robot, reduction, frames)


def raw_calls(robot: RobotModel, motion: Motion) -> None:
    """Call Pinocchio for every sample and keep nothing."""
    model = robot.pinocchio
    data = model.createData()
    for q, dq, ddq in zip(motion.q, motion.dq, motion.ddq, strict=True):
        pin.computeJointTorqueRegressor(model, data, q, dq, ddq)


def random_motion(robot: RobotModel) -> Motion:
    """Return samples that show every parameter."""
    rng = np.random.default_rng(0)
    return Motion(*(
        rng.uniform(-scale, scale, (SAMPLES, robot.n)) for scale in (np.pi, 2.0, 5.0)
    ))


def observations(
    robot: RobotModel, reduction: BaseReduction, motion: Motion, torque: np.ndarray
) -> Observations:
    """Return motion and torques (N, n) [N m] that are known exactly as rows to fit."""
    everything = np.ones(len(motion), dtype=bool)
    dataset = Dataset(
        source='known', joint_names=robot.joint_names, stamps=np.arange(len(motion)) / RATE,
        motion=motion, effort=torque, effort_unit='Nm', scored=everything, fitted=everything,
        segments=(slice(0, len(motion)),), excluded={}, rate=RATE, notes=(),
    )
    return Observations(
        robot, reduction, [TrainingData(dataset, np.ones(robot.n), everything)]
    )


def _fit_times(
    robot: RobotModel, parameters: StandardParameters, motion: Motion, repeats: int
) -> list[list[float]]:
    reduction = reduce_to_base(robot, parameters)
    rng = np.random.default_rng(1)
    theta = rng.standard_normal(parameters.size)
    torque = (observation_matrix(robot, parameters, motion) @ theta).reshape(motion.q.shape)
    torque += 0.1 * np.arange(1, robot.n + 1) * rng.standard_normal(torque.shape)
    problem = observations(robot, reduction, motion, torque).factor()
    return alternate(
        (
            lambda: observations(robot, reduction, motion, torque).factor(),
            lambda: ESTIMATORS['ols']().estimate(problem),
            lambda: ESTIMATORS['wls']().estimate(problem),
        ),
        repeats,
    )


def _scaled(times: list[float], factor: float) -> tuple[float, ...]:
    return tuple(factor * time for time in times)


def _sum(times: list[float], others: list[float]) -> list[float]:
    return [a + b for a, b in zip(times, others, strict=True)]
