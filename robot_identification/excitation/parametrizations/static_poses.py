# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Poses that an arm rests at, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization,
)
from robot_identification.excitation.parametrizations.stop_and_go import (
    check_dwell, Itinerary, quintic_step,
)
from robot_identification.files import to_switch

# So fine a grid misses the peaks of a quintic's speed and acceleration by a third of a percent.
SAMPLES_OF_A_MOVE = 40
# Steps of a monotone motion [rad]: friction reverses in much less, and `find_dwells` sees the
# side that a joint came from in a quarter of it.
LEAST_STEP = 0.02
# What is added to every drawn step, as a share of the mean one, so that few are too small.
ADDED_STEP = 1.0


@dataclass(frozen=True)
class StaticPosesParametrization(Parametrization):
    """
    Rests at poses, with quintics from rest to rest between them.

    The torque that holds a joint at rest depends on the side that it came from: friction holds. In
    both directions, poses are visited in their order, then in reverse, with a rest at the start in
    between; a joint reaches a pose from either side where that lies between the poses before and
    after it.

    In a monotone motion that is so of every pose and joint: each joint goes one way, up or down,
    from the start through all poses to a turning point, and back. It does not rest at these two,
    which are reached from one side only.

    The coefficients of a joint are the position of the start and the offset of each pose, the
    turning point last.
    """

    poses: int = 6  # besides the start
    dwell: float = 2.0  # length of each rest [s]
    move_time: float = 2.0  # from one pose to the next [s]
    both_directions: bool = True  # whether poses are visited in reverse, too
    monotone: bool = False  # whether every joint reaches every pose from both sides

    name = 'static_poses'

    def __post_init__(self) -> None:
        check_count('poses', self.poses, 1, 100)
        check_dwell('dwell', self.dwell, none_allowed=False)
        check_seconds('move_time', self.move_time)
        for name in ('both_directions', 'monotone'):
            to_switch(getattr(self, name), name)
        if self.monotone and not self.both_directions:
            raise DescriptionError(
                'monotone is true and both_directions false: poses are reached from both sides '
                'only where they are visited in reverse, too; leave one of them out'
            )
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + self.poses + self.monotone

    @property
    def duration(self) -> float:
        return self.itinerary.duration

    @property
    def grid_samples(self) -> int:
        return math.ceil(SAMPLES_OF_A_MOVE * self.duration / self.move_time) + 1

    @property
    def itinerary(self) -> Itinerary:
        """Return the order in which poses are visited, and when."""
        if self.monotone:
            # There and back the same way; the start and the turning point are no poses to rest at.
            way = tuple(range(self.poses + 2))
            rests = (self.dwell,) * self.poses
            return Itinerary((*way, *way[-2::-1]), (*rests, 0.0, *rests), self.move_time)
        there = tuple(range(self.poses + 1))
        stops = (*there, 0, *there[:0:-1], 0) if self.both_directions else (*there, 0)
        return Itinerary(stops, (self.dwell,) * (len(stops) - 2), self.move_time)

    @property
    def pieces(self) -> FloatArray:
        return self.itinerary.instants(0.0, 1.0)

    @property
    def is_ordered(self) -> bool:
        return self.monotone

    def arrange(self, coefficients: FloatArray, direction: FloatArray) -> FloatArray:
        """Return poses one random step further each."""
        if not self.monotone:
            return coefficients
        steps = np.abs(coefficients[:, 1:])
        steps += ADDED_STEP * steps.mean(axis=1, keepdims=True)
        offsets = direction[:, None] * np.cumsum(steps, axis=1)
        return np.hstack([coefficients[:, :1], offsets])

    def suits(self, coefficients: FloatArray) -> bool:
        """Return whether every joint goes one way, far enough."""
        if not self.monotone:
            return True
        steps = np.diff(coefficients[:, 1:], prepend=0.0, axis=1)
        return bool(np.all(steps * np.sign(steps[:, :1]) >= LEAST_STEP))

    def options(self) -> dict[str, Any]:
        """Return the options by name, `monotone` only if it is so."""
        options = super().options()
        if not self.monotone:
            # Older files do not have it, nor do the hashes of what they say.
            del options['monotone']
        return options

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        B, dB, ddB, _ = self.itinerary.basis(t, quintic_step)
        return B, dB, ddB

    def jerk_basis(self, t: FloatArray) -> FloatArray:
        return self.itinerary.basis(t, quintic_step)[3]
