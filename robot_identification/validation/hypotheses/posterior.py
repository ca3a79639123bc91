# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Posterior of a hypothesis, from the torques and from the URDF.

Friction, rotors and offsets act on one joint alone. They are projected off its rows, and the rows
are reduced by orthogonal transformations, so that a hypothesis costs one small least-squares
problem for any number of samples.

The noise of every joint is unknown, so the data enter by the logarithm of the residual's variance,
times the number of independent samples. The URDF enters as in a Student distribution: where its
bodies are far off anyway, a little nearer means little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from robot_identification.arrays import FloatArray, triangle_of
from robot_identification.model import BaseReduction, prior_inertial_parameters, RobotModel
from robot_identification.processing import body_deviation
from robot_identification.validation.hypotheses.thresholds import FLOOR, TOOL_SHARE
import scipy

# Columns of unit length are pulled to zero by this much, so that those which the data do not show
# are no reason for large numbers.
RIDGE = 1.0e-6
# Iterations of the reweighting by joint, which starts from a guess of the variances.
ITERATIONS, GUESS = 4, 0.01


@dataclass(frozen=True, eq=False)
class Prior:
    """
    Prior of the bodies' parameters from the URDF: ``matrix @ theta - side`` is white.

    Without rows, nothing is said of them.
    """

    matrix: FloatArray
    side: FloatArray

    def with_steps(self, count: int, size: FloatArray | float) -> Prior:
        """Return the prior with `count` unknowns more, steps of about `size`, one or (count,)."""
        return Prior(
            scipy.linalg.block_diag(self.matrix, np.diag(np.ones(count) / size)),
            np.append(self.side, np.zeros(count)),
        )


@dataclass(frozen=True, eq=False)
class ReducedRows:
    """Reduced rows of each joint, over its deviation and the root of the number of samples."""

    matrix: FloatArray  # (n, h, b) regressor of the bodies
    targets: FloatArray  # (n, h, m) alternative torques, reduced alike

    @cached_property
    def squares(self) -> FloatArray:
        """Return the products of the columns of each joint, (n, b, b), for normal equations."""
        return self.matrix.transpose(0, 2, 1) @ self.matrix


@dataclass(frozen=True, eq=False)
class BodyFit:
    """The most likely bodies under a hypothesis."""

    theta: FloatArray  # (b,) parameters of the bodies
    # (n,) mean squared residual of each joint over the variance of its torque [1]
    variance: FloatArray
    # minus the logarithm of the posterior, but for a constant: smaller is more likely
    score: float


def reduce_rows(
    regressor: FloatArray,
    friction: Sequence[FloatArray],
    targets: FloatArray,
    deviation: FloatArray,
) -> ReducedRows:
    """
    Project friction off the rows of each joint and reduce them.

    `regressor` (M, n, b) is of the bodies, `targets` (M, n, m) are torques to explain; `friction`
    has orthonormal columns (M, f) of each joint, `deviation` (n,) is the size of the torques.
    """
    M, n, b = regressor.shape
    height = min(M, b + targets.shape[2])
    matrix = np.empty((n, height, b))
    reduced = np.empty((n, height, targets.shape[2]))
    for joint, basis in enumerate(friction):
        rows = np.concatenate([regressor[:, joint], targets[:, joint]], axis=1)
        rows -= basis @ (basis.T @ rows)
        R = np.linalg.qr(rows, mode='r') / (deviation[joint] * np.sqrt(M))
        matrix[joint], reduced[joint] = R[:, :b], R[:, b:]
    return ReducedRows(matrix, reduced)


def fit_bodies(
    rows: ReducedRows,
    target: FloatArray,
    prior: Prior,
    independent: FloatArray,
    scale: FloatArray | float = 1.0,
) -> BodyFit:
    """
    Return the most likely bodies behind torques `target` (n, h), of joints of unknown noise.

    `independent` (n,) counts the independent samples of each joint; `scale` is what the measured
    torques are taken to be of the true ones.
    """
    n, _, b = rows.matrix.shape
    factor = np.broadcast_to(scale, n)
    y = target / factor[:, None]
    products = (y[:, None] @ rows.matrix)[:, 0]
    prior_squares, prior_product = prior.matrix.T @ prior.matrix, prior.matrix.T @ prior.side
    theta, variance, weight, squares = np.zeros(b), np.full(n, GUESS), 1.0, 0.0
    for _ in range(ITERATIONS):
        w = independent / (variance + FLOOR**2) * factor**2
        normal = (w @ rows.squares.reshape(n, -1)).reshape(b, b) + weight * prior_squares
        size = np.sqrt(np.maximum(np.diag(normal), 1e-300))
        scaled = normal / np.outer(size, size)
        scaled[np.diag_indices(b)] = 1.0 + RIDGE**2
        side = (w @ products + weight * prior_product) / size
        theta = np.linalg.solve(scaled, side) / size
        variance = factor**2 * np.sum((y - rows.matrix @ theta) ** 2, axis=1)
        squares = float(np.sum((prior.matrix @ theta - prior.side) ** 2))
        weight = 1.0 / (1.0 + squares / max(len(prior.side), 1))
    count = max(len(prior.side), 1)
    score = 0.5 * float(independent @ np.log(variance + FLOOR**2))
    score += 0.5 * len(prior.side) * np.log(1.0 + squares / count)
    return BodyFit(theta, variance, score)


def make_prior(
    robot: RobotModel, reduction: BaseReduction, *, stated: bool, with_tool: bool = False
) -> Prior:
    """Return what the URDF says of the independent inertial columns, if it is `stated`."""
    rows = np.flatnonzero(reduction.independent < 10 * robot.n)
    inertial = prior_inertial_parameters(robot)
    # Masses that all lie in their joints give no length, and so no width of anything.
    if not stated or not np.any(inertial.reshape(-1, 10)[:, 4:]):
        return Prior(np.zeros((0, len(rows))), np.zeros(0))
    parameters = reduction.parameters
    mean, deviation = np.zeros(parameters.size), np.zeros(parameters.size)
    mean[: inertial.size] = inertial
    deviation[: inertial.size] = body_deviation(robot)
    if with_tool:
        last = slice(inertial.size - 10, inertial.size)
        deviation[last] = np.maximum(deviation[last], tool_deviation(robot))
    # A URDF does not state rotors.
    deviation[parameters.reflected_inertia_slice] = 10.0 * np.abs(inertial).max()
    K = reduction.K[rows]
    lower = triangle_of(np.asfortranarray((K * deviation).T)).T
    whitening = scipy.linalg.solve_triangular(lower, np.eye(len(rows)), lower=True)
    return Prior(whitening, whitening @ (K @ mean))


def tool_deviation(robot: RobotModel) -> FloatArray:
    """Return how far a tool may move the parameters (10,) of the last link."""
    links = prior_inertial_parameters(robot).reshape(-1, 10)
    mass, moment = links[:, 0].sum(), 0.5 * links[:, [4, 6, 9]].sum()
    reach = np.sqrt(moment / mass)
    deviation: FloatArray = TOOL_SHARE * mass * np.repeat([1.0, reach, reach**2], [1, 3, 6])
    return deviation
