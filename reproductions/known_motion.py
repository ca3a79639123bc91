# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torques along motions that are known exactly, as an identification problem."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import IdentificationProblem, Observations, TrainingData
from robot_identification.model import BaseReduction, Motion, RobotModel, standard_torque
from robot_identification.processing import Dataset


def known_problem(
    robot: RobotModel, reduction: BaseReduction, motion: Motion, tau: FloatArray, rate: float
) -> IdentificationProblem:
    """
    Return the problem of torques along a motion that needs no filter.

    `reduction` is in joint frames, `tau` (N, n) are joint torques [N m], `rate` is that of the
    samples [Hz].
    """
    everything = np.ones(len(motion), dtype=bool)
    dataset = Dataset(
        'simulated', robot.joint_names, np.arange(len(motion)) / rate, motion, tau, 'Nm',
        everything, everything, (slice(0, len(motion)),), {}, rate, (),
    )
    data = TrainingData(dataset, np.ones(robot.n), everything)
    return Observations(robot, reduction, [data]).factor()


def map_base_parameters(
    source: BaseReduction, target: BaseReduction, frames: FloatArray
) -> FloatArray:
    """
    Return M (b_target, b_source) of ``theta_target = M @ theta_source``, two base sets of one arm.

    `frames` (10 n, 10 n) maps inertial parameters in the source's link frames to the target's.
    """
    K = target.K.copy()
    K[:, : len(frames)] = K[:, : len(frames)] @ frames
    return K[:, source.independent]


def torque_of_base(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray, motion: Motion
) -> FloatArray:
    """Return the torques of base parameters in joint frames along a motion, shape (N, n) [N m]."""
    tau: FloatArray = standard_torque(
        robot, reduction.parameters, reduction.lift(theta_base), motion
    )
    return tau


def root_mean_square(values: FloatArray) -> FloatArray:
    """Return the root mean square of every column, shape (n,)."""
    rms: FloatArray = np.sqrt(np.mean(values**2, axis=0))
    return rms
