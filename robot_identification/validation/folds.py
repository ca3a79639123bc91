# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

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
