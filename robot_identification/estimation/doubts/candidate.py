# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A doubt on its way to the verdict, with how much better its hypothesis explains the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.validation import Doubt


@dataclass(frozen=True)
class Candidate:
    """
    A doubt and the weight of its evidence.

    Attributes
    ----------
    doubt : Doubt
        What is suspected.
    gain : float
        By how much its hypothesis raises the logarithm of the posterior; infinite where the
        signals show it by themselves, whatever the model.
    fall : float
        Sum over the joints of the fall of the logarithm of the residual's variance.
    matters : bool
        Whether the effect is large enough for a doubt; if not, it is said all the same.

    """

    doubt: Doubt
    gain: float
    fall: float = np.inf
    matters: bool = True
