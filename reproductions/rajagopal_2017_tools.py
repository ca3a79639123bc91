# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tools that J. Rajagopal's report describes: rotations of both conventions, forward dynamics.

The report converts the youBot's fixed angles for its simulator (section 3.1.2) and wants to check
estimates by their forward dynamics (section 4.1), which it did not complete.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.regressor import inertial_regressor, Motion
from robot_identification.model.robot_model import RobotModel

# Equations 3.2 to 3.4: the two axes that a turn about each moves, in the order of its sine.
TURNED = {'x': (1, 2), 'y': (2, 0), 'z': (0, 1)}


def turn(axis: str, angle: float) -> FloatArray:
    """Return equation 3.2, 3.3 or 3.4 of an angle [rad], shape (3, 3)."""
    first, second = TURNED[axis]
    R = np.eye(3)
    R[first, first] = R[second, second] = math.cos(angle)
    R[second, first] = math.sin(angle)
    R[first, second] = -R[second, first]
    return R


def extrinsic_rotation(axes: str, angles: Sequence[float]) -> FloatArray:
    """
    Return the rotation by angles about fixed axes, one after the other, shape (3, 3).

    Parameters
    ----------
    axes : str
        Such as 'zyx': first about z.
    angles : sequence of float
        In the order of the axes [rad].

    """
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        R = turn(axis, angle) @ R
    return R


def intrinsic_rotation(axes: str, angles: Sequence[float]) -> FloatArray:
    """Return the rotation by angles about axes that turn along, shape (3, 3)."""
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        R = R @ turn(axis, angle)
    return R


def to_intrinsic(axes: str, angles: Sequence[float]) -> tuple[str, tuple[float, ...]]:
    """Return axes and angles of the intrinsic convention that turn as given extrinsic ones."""
    return axes[::-1], tuple(angles[::-1])


def forward_dynamics(
    robot: RobotModel, theta: FloatArray, motion: Motion, tau: FloatArray
) -> FloatArray:
    """
    Return the accelerations that torques give to the bodies of an estimate.

    Parameters
    ----------
    robot : RobotModel
        For its geometry and gravity; its own bodies are not used.
    theta : ndarray, shape (10 n,)
        Inertial parameters of the links.
    motion : Motion
        N positions and velocities; its accelerations are not used.
    tau : ndarray, shape (N, n)
        Joint torques [N m].

    Returns
    -------
    ndarray, shape (N, n)
        [rad/s^2].

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mass matrix of the estimate cannot be inverted.

    """
    count, n = motion.q.shape

    def torque(dq: FloatArray, ddq: FloatArray) -> FloatArray:
        states = Motion(np.repeat(motion.q, len(ddq) // count, axis=0), dq, ddq)
        values: FloatArray = (inertial_regressor(robot, states) @ theta).reshape(-1, n)
        return values

    still = np.zeros((count, n))
    # At rest torque is gravity; one joint accelerated, it is a column of the mass matrix more.
    columns = torque(np.zeros((count * n, n)), np.tile(np.eye(n), (count, 1)))
    M = columns.reshape(count, n, n) - torque(still, still)[:, None]
    free = tau - torque(motion.dq, still)
    solved = np.linalg.solve(M.transpose(0, 2, 1), free[..., None])
    ddq: FloatArray = np.asarray(solved[..., 0], dtype=float)
    return ddq
