# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the energy of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.options import option


@dataclass(frozen=True)
class EnergyOptions:
    """Options of the energy of a motion; raises UsageError if the threshold is not positive."""

    threshold: float | None = option(
        float, 'kinetic energy that --energy is compared with [J]', metavar='J'
    )
    trajectory: Path | None = option(
        Path, 'planned motion for --energy instead of a bag', metavar='FILE'
    )

    def __post_init__(self) -> None:
        given = self.threshold
        if given is not None and not (np.isfinite(given) and given > 0.0):
            raise UsageError(f'--threshold is {given:g} J, it must be positive')
