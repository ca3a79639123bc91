# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the study of temperature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_identification.options import check_options, option


@dataclass(frozen=True)
class TemperatureOptions:
    """
    Options of the study of temperature.

    The fields say in their declaration what each is.
    """

    trajectory: Path | None = option(
        Path, 'trajectory along which torques are compared',
        otherwise='a slow motion within the limits', metavar='FILE',
    )
    at: tuple[float, ...] | None = option(
        float, 'write the model at these temperatures [deg C], one for all joints or one for '
        'each, instead of the one that follows temperature', count='+', metavar='T',
    )

    def __post_init__(self) -> None:
        check_options(self)
