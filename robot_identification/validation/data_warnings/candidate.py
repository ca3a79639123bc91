# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A warning on its way to the verdict, with how much better its hypothesis explains the data."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.validation.verdict import DataWarning


@dataclass(frozen=True)
class Candidate:
    """A warning and the weight of its evidence."""

    warning: DataWarning  # what is suspected
    # by how much its hypothesis raises the logarithm of the posterior; infinite where the signals
    # show it by themselves, without a model
    gain: float
    # whether the effect is large enough for a warning; if not, it is stated all the same
    matters: bool = True
