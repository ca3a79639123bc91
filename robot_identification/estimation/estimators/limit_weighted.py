# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Weighted least squares with the torque limit of each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.linear import solve_weighted
from robot_identification.estimation.problem import IdentificationProblem


@dataclass(frozen=True)
class LimitWeightedLeastSquares(Estimator):
    r"""
    Minimize :math:`\sum_j \lVert \tau_j - W_j \theta \rVert^2 / \tau_{\max,j}^2` [1]_, eq. 10.

    Rows are scaled; a dense weight matrix of all rows, which took the authors 139 s, is never
    formed. The common gear ratio in their weights changes nothing and is left out.

    Attributes
    ----------
    torque_limits : tuple of float
        Largest torque of each joint [N m]; if empty, the robot's limits.

    References
    ----------
    .. [1] A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of
       temperature and mounting configuration on the dynamic parameters identification of
       industrial robots", Robotics 10(3), 2021.

    """

    torque_limits: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for joint, limit in enumerate(self.torque_limits):
            if not 0.0 < limit < np.inf:
                raise UsageError(
                    f'the torque limit of joint {joint + 1} is {limit:g} N m, it must be a '
                    'positive number'
                )

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with one over the torque limits as weights; see `Estimator.estimate`."""
        return solve_weighted(problem, 1.0 / self._limits(problem))

    def _limits(self, problem: IdentificationProblem) -> FloatArray:
        if self.torque_limits:
            if len(self.torque_limits) != problem.n:
                raise UsageError(
                    f'{len(self.torque_limits)} torque limits for {problem.n} joints: give one '
                    'for each, in kinematic order'
                )
            return np.array(self.torque_limits)
        if problem.observations is None:
            raise UsageError(
                'estimator limit_weighted needs the torque limits of the joints: give '
                'torque_limits, or identify from the bags'
            )
        robot = problem.observations.robot
        limits: FloatArray = robot.limits.effort
        for name, limit in zip(robot.joint_names, limits, strict=True):
            if not 0.0 < limit < np.inf:
                raise UsageError(
                    f'{robot.name}: the torque limit of {name} is {limit:g} N m, and estimator '
                    'limit_weighted divides by it: state it in the URDF or the YAML of the robot, '
                    'or choose --estimator wls'
                )
        return limits
