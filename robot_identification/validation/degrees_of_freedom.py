# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Degrees of freedom of sums, by the rule of Satterthwaite (Biometrics Bulletin 2(6), 1946)."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray

# More than this is as good as infinitely many.
MOST_FREEDOM = 1.0e6


def freedom_of_sums(M: FloatArray, variances: FloatArray, freedom: FloatArray) -> FloatArray:
    """
    Return the degrees of freedom (..., m) of the sums ``M @ theta`` of b parameters.

    `M` has the shape (..., m, b), the parameters' `variances` and their degrees of `freedom` the
    shape (..., b).
    """
    parts = M**2 * variances[..., None, :]
    divisor = (parts**2 @ (1.0 / freedom)[..., None])[..., 0]
    total = parts.sum(axis=-1) ** 2
    # A sum without variance is known as well as can be.
    found: FloatArray = np.maximum(total, 1.0e-300) / np.maximum(divisor, 1.0e-300 / MOST_FREEDOM)
    return np.minimum(np.maximum(found, 1.0), MOST_FREEDOM)
