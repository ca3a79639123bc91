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

"""How good a motion is for identification: criteria of the base observation matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def condition_number(W: FloatArray) -> float:
    """
    Return the condition number of a base observation matrix as it stands.

    It depends on the units and on the choice of the base set: compare only within one set.

    Parameters
    ----------
    W : ndarray, shape (N n, b)
        Observation matrix of the base parameters.

    """
    singular = _singular_values(W)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')


def condition_number_scaled(W: FloatArray) -> float:
    """Return the condition number with columns of unit length; see `condition_number`."""
    scale = np.linalg.norm(W, axis=0)
    return condition_number(W / scale) if np.all(scale > 0.0) else float('inf')


def log_determinant(W: FloatArray) -> float:
    """
    Return minus the mean log of the information per sample (D-optimality).

    Differences between motions depend neither on units nor on the base set.
    """
    singular = _singular_values(W) / np.sqrt(len(W))
    if singular[-1] <= 0.0:
        return float('inf')
    return float(-2.0 * np.mean(np.log(singular)))


def _singular_values(W: FloatArray) -> FloatArray:
    # By way of the triangular factor: much cheaper for tall matrices, and as accurate.
    values: FloatArray = np.linalg.svd(np.linalg.qr(W, mode='r'), compute_uv=False)
    return values


CRITERIA: dict[str, Callable[[FloatArray], float]] = {
    'condition_number': condition_number,
    'condition_number_scaled': condition_number_scaled,
    'log_determinant': log_determinant,
}
