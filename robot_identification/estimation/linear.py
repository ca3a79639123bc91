# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Least squares by QR of the column-scaled factors; never normal equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.problem import Estimate
from robot_identification.estimation.problem import IdentificationProblem
import scipy.linalg

FloatArray = NDArray[np.float64]

# Relative size below which a singular value of the column-scaled problem is rounding.
RANK_TOLERANCE = 1.0e-10


def solve_weighted(problem: IdentificationProblem, weights: FloatArray) -> Estimate:
    """
    Minimise the weighted sum of squared residuals.

    Parameters
    ----------
    problem : IdentificationProblem
        Factors of the data.
    weights : ndarray, shape (n,)
        Factor on the rows of each joint [1 / N m].

    Returns
    -------
    Estimate
        With the covariance ``(W' V^-1 W)^-1`` where V holds the residual variance of each joint,
        propagated through the weights actually used (a sandwich, exact for any weights).

    Raises
    ------
    RankDeficientError
        If the weighted problem is singular to rounding.

    """
    R, z = problem.stacked(weights)
    scale = np.linalg.norm(R, axis=0)
    names = problem.reduction.names
    if not np.all(scale > 0.0):
        lost = ', '.join(names[i] for i in np.flatnonzero(scale == 0.0))
        raise RankDeficientError(f'the data do not show {lost} at all')
    orthogonal, triangle = np.linalg.qr(R / scale)
    singular = np.linalg.svd(triangle, compute_uv=False)
    if singular[-1] < RANK_TOLERANCE * singular[0]:
        raise RankDeficientError(
            f'the data determine fewer than {len(names)} base parameters (smallest over largest '
            f'singular value {singular[-1] / singular[0]:.1e}): record a richer motion'
        )
    theta = scipy.linalg.solve_triangular(triangle, orthogonal.T @ z) / scale
    freedom = np.maximum(problem.samples - problem.reduction.rank / len(problem.samples), 1.0)
    sigma = np.sqrt(problem.squared_residuals(theta) / freedom)
    # theta = G z with G = triangle^-1 Q' / scale; the rows of joint j have variance
    # (weight_j sigma_j)^2.
    G = scipy.linalg.solve_triangular(triangle, orthogonal.T) / scale[:, None]
    spread = np.repeat(weights * sigma, problem.factors.shape[1])
    return Estimate(
        theta=theta,
        covariance=(G * spread**2) @ G.T,
        sigma=sigma,
        condition_number=float(np.linalg.cond(R)),
        condition_number_scaled=float(singular[0] / singular[-1]),
        singular_values=singular,
    )
