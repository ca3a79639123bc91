# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the friction map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
import re

from robot_identification.estimation import LATEST_TIME
from robot_identification.options import option
from robot_identification.studies.friction_map.segments import BINS
from robot_identification.studies.reading import ReadingOptions

_NUMBER = re.compile(r'\s*\[?\s*([0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?)(?:\s*kg)?(?:[\s,;\]]|$)')


@dataclass(frozen=True)
class FrictionMapOptions(ReadingOptions):
    """
    Options of the friction map.

    `model_gains` takes the drive gains of the model, where it has them, instead of those of the
    arm. Raises UsageError if a payload mass is negative or not finite.
    """

    relative_scale: bool = option(
        bool, 'accept currents of unknown drive gains: friction is then in A', default=False,
    )
    payload: tuple[float, ...] | None = option(
        float, 'mass on the flange [kg], one for all bags or one for each',
        otherwise='what the bags note', count='+', minimum=0.0, metavar='KG',
    )
    model: str | None = option(
        str, 'identified_model.yaml: its gravity distinguishes the directions, and its delay is '
        'taken', otherwise='gravity is found in the segments', metavar='FILE',
    )
    delay: float | None = option(
        float, 'time by which effort lags behind position [s]',
        otherwise='that of the model, or 0', metavar='S',
    )
    bins: int = option(
        int, 'largest number of positions at which both directions are compared',
        default=BINS, minimum=4,
    )
    start: float | None = option(
        float, 'start of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    stop: float | None = option(
        float, 'end of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    model_gains: bool = True

    def payload_of(self, number: int, metadata: Mapping[str, str]) -> float:
        """Return the mass that a bag was recorded with [kg], NaN where it is not stated."""
        if self.payload is not None:
            return self.payload[number if len(self.payload) > 1 else 0]
        return payload_mass(metadata.get('payload', ''))


def payload_mass(text: str) -> float:
    """Return the mass [kg] that a bag's note of the payload begins with; NaN without one."""
    match = _NUMBER.match(text)
    return float(match[1]) if match else math.nan
