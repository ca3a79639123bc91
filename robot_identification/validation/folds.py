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

"""Contiguous folds for blocked cross-validation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
GAP_SECONDS = 0.3


def blocked_folds(
    stamps: NDArray[np.float64],
    fitted: NDArray[np.bool_],
    folds: int = FOLDS,
    gap: float = GAP_SECONDS,
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """
    Yield training and held-out rows of contiguous blocks of equal size.

    Parameters
    ----------
    stamps : ndarray, shape (N,)
        Stamps [s], increasing.
    fitted : ndarray of bool, shape (N,)
        Rows that take part.
    folds : int
        Number of blocks.
    gap : float
        Time on both sides of the held-out block that is not trained on [s], because neighbouring
        samples are nearly the same sample.

    Yields
    ------
    training, held_out : ndarray of bool, shape (N,)
        Disjoint parts of `fitted`.

    """
    rows = np.flatnonzero(fitted)
    for part in np.array_split(rows, folds):
        held_out = np.zeros(len(stamps), dtype=bool)
        held_out[part] = True
        far = (stamps < stamps[part[0]] - gap) | (stamps > stamps[part[-1]] + gap)
        yield fitted & far, held_out
