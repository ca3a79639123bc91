# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torques along motions that are known exactly, as an identification problem."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.problem import IdentificationProblem, Observations
from robot_identification.estimation.rows import TrainingData
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.regressor import Motion, standard_torque
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import Dataset


def known_problem(
    robot: RobotModel, reduction: BaseReduction, motion: Motion, tau: FloatArray, rate: float
) -> IdentificationProblem:
    """
    Return the problem of torques along a motion that needs no filter.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    reduction : BaseReduction
        Meaning of the base parameters, in joint frames.
    motion : Motion
        N samples.
    tau : ndarray, shape (N, n)
        Joint torques [N m].
    rate : float
        Samples per second [Hz].

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
