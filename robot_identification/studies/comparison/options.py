# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the comparison of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import UsageError
from robot_identification.options import check_options, option


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of the comparison of models; raises UsageError if two contradict each other."""

    joints_of_size: bool = option(
        bool, 'compare friction of joints with the same drive, instead of parameters',
        default=False,
    )
    robots: tuple[str, ...] | None = option(
        str, 'known robots or robot YAMLs with drives and gear ratios, one for each model',
        otherwise='those with the names of the arms', count='+', metavar='R',
    )
    trajectory: Path | None = option(
        Path, 'trajectory along which torques are compared',
        otherwise='a slow motion within the limits', metavar='FILE',
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.robots is not None and not self.joints_of_size:
            raise UsageError('--robots is for --joints-of-size')
        if self.joints_of_size and self.trajectory is not None:
            raise UsageError('--trajectory is for models of one arm, not for --joints-of-size')
