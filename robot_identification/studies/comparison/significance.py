# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
P-values: of a difference, corrected for the number of tests, and in words.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6(2), 1979.

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# Probability of calling models different that are not, over all groups together; chosen: usual.
LEVEL = 0.05
# Probability that an interval holds the truth; chosen: usual.
CONFIDENCE = 0.95


def two_sided(value: float, error: float, freedom: float) -> float:
    """
    Return the probability of a value at least as far from zero by chance.

    Student's t-test of a value with a standard error of so many degrees of freedom. NaN unless the
    value is finite and the error positive.
    """
    if not (np.isfinite(value) and error > 0.0):
        return float('nan')
    return float(2.0 * scipy.special.stdtr(freedom, -abs(value) / error))


def holm(p_values: Sequence[float]) -> FloatArray:
    """
    Return p-values corrected for their number [1]_.

    Compared with a level, the probability of any false finding among all is at most that level.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    raised = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def p_words(p_value: float) -> str:
    """Return a p-value as it is written after the letter p."""
    return '<1e-6' if p_value < 1.0e-6 else f'={p_value:.2g}'
