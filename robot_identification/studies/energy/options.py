# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the energy of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import UsageError
from robot_identification.options import check_options, option


@dataclass(frozen=True)
class EnergyOptions:
    """Options of the energy of a motion; raises UsageError if the threshold is not positive."""

    threshold: float | None = option(
        float, 'kinetic energy that --energy is compared with [J]', minimum=0.0, metavar='J'
    )
    trajectory: Path | None = option(
        Path, 'planned motion for --energy instead of a bag', metavar='FILE'
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.threshold == 0.0:
            raise UsageError('--threshold is 0 J, it must be positive')
