# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Point to point with trapezoidal velocity."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import FloatArray
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization,
)
from robot_identification.excitation.parametrizations.stop_and_go import (
    check_blend, check_dwell, Itinerary, trapezoidal_samples, trapezoidal_step,
)


@dataclass(frozen=True)
class TrapezoidalParametrization(Parametrization):
    """
    Moves from point to point, each with a velocity that rises, stays and falls evenly.

    The acceleration is piecewise constant; where it jumps, it is given as zero. All joints
    accelerate together. The motion starts and ends at the centre; the coefficients of a joint are
    the centre and the offset of each point.
    """

    points: int = 6  # between start and end
    dwell: float = 0.5  # at each point [s]
    move_time: float = 1.5  # from one point to the next [s]
    # share of `move_time` in which the arm accelerates, and in which it brakes
    blend: float = 0.25

    name = 'trapezoidal'
    smooth = False

    def __post_init__(self) -> None:
        check_count('points', self.points, 1, 100)
        check_dwell('dwell', self.dwell, none_allowed=True)
        check_seconds('move_time', self.move_time)
        check_blend(self.blend, self.move_time)
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + self.points

    @property
    def duration(self) -> float:
        return self.itinerary.duration

    @property
    def grid_samples(self) -> int:
        return trapezoidal_samples(self.itinerary, self.blend)

    @property
    def itinerary(self) -> Itinerary:
        """Return the order in which points are visited, and when."""
        stops = (*range(self.points + 1), 0)
        return Itinerary(stops, (self.dwell,) * self.points, self.move_time)

    @property
    def pieces(self) -> FloatArray:
        return self.itinerary.instants(0.0, self.blend, 1.0 - self.blend, 1.0)

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        B, dB, ddB, _ = self.itinerary.basis(t, lambda u: trapezoidal_step(u, self.blend))
        return B, dB, ddB

    def jerk_basis(self, t: FloatArray) -> FloatArray:
        return self.itinerary.basis(t, lambda u: trapezoidal_step(u, self.blend))[3]
