# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Least squares of which some unknowns are not negative."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, triangle_of
import scipy

# Smaller parts of the least length of a column are all one.
LEAST_SHARE = 1.0e-3


def solve_bounded(
    R: FloatArray,
    z: FloatArray,
    bounded: BoolArray,
    shortest: FloatArray,
    shrinkage: float = 0.0,
) -> FloatArray:
    """
    Return the x (k,) of least ``|R @ x - z|``, bounded unknowns not negative.

    Free unknowns are eliminated first by QR, so that they are exact for any bounds.
    Bounded columns are scaled by the larger of their length and `shortest`. `shrinkage` is
    added to the squares, per squared unknown in that scale; the fourth power of the ratio times as
    much where the column is shorter.
    """
    x = np.zeros(len(bounded))
    free = R[:, ~bounded]
    lengths = np.maximum(np.linalg.norm(free, axis=0), np.finfo(float).tiny)
    orthogonal, triangle = np.linalg.qr(free / lengths)
    columns = R[:, bounded]
    scale, shortness = column_scales(columns, shortest[bounded])
    columns = columns / scale
    if columns.shape[1]:
        rest = columns - orthogonal @ (orthogonal.T @ columns)
        side = z - orthogonal @ (orthogonal.T @ z)
        # The factor of the projected columns has at most as many rows as unknowns.
        reduced = triangle_of(np.column_stack([rest, side]))
        count = columns.shape[1]
        x[bounded] = scipy.optimize.nnls(
            np.vstack([reduced[:, :-1], np.sqrt(shrinkage) * np.diag(shortness**2)]),
            np.append(reduced[:, -1], np.zeros(count)),
        )[0]
    x[~bounded] = scipy.linalg.solve_triangular(
        triangle, orthogonal.T @ (z - columns @ x[bounded])
    ) / lengths
    x[bounded] /= scale
    return x


def column_scales(columns: FloatArray, shortest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return as how long each column counts, and how much longer that is than it is."""
    length = np.linalg.norm(columns, axis=0)
    scale = np.maximum(length, shortest)
    scale[scale == 0.0] = 1.0
    # That scale alone leaves a term with a thousandth of it free: it is shrunk by the square, too.
    return scale, scale / np.maximum(length, LEAST_SHARE * scale)
