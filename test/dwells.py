# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""When an arm rests on its way from pose to pose."""

from typing import NamedTuple


class Dwell(NamedTuple):
    """A rest from `start` to `stop` [s] at pose number `pose`; 0 is where the motion starts."""

    start: float
    stop: float
    pose: int


def dwells_of(itinerary):
    """Return the rests of an itinerary in their order."""
    starts = itinerary.move_starts
    return [
        Dwell(float(left + itinerary.move_time), float(leaves), pose)
        for left, leaves, pose, rest in zip(
            starts[:-1], starts[1:], itinerary.stops[1:-1], itinerary.rests, strict=True
        )
        if rest > 0.0
    ]
