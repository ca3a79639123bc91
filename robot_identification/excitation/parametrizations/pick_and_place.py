# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Pick-and-place motions: from one pose to another and back."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import FloatArray
from robot_identification.excitation.parametrizations.parametrization import (
    check_seconds, Parametrization,
)
from robot_identification.excitation.parametrizations.stop_and_go import (
    check_blend, check_dwell, Itinerary, trapezoidal_samples, trapezoidal_step,
)

# Numbers of the coefficients.
HOME, ABOVE_PICK, PICK, ABOVE_PLACE, PLACE = range(5)
STOPS = (HOME, ABOVE_PICK, PICK, ABOVE_PICK, ABOVE_PLACE, PLACE, ABOVE_PLACE, HOME)


@dataclass(frozen=True)
class PickAndPlaceParametrization(Parametrization):
    """
    Home, above pick, pick, above pick, above place, place, above place, home.

    Each move has a trapezoidal velocity in every joint, as in `trapezoidal`: the acceleration is
    piecewise constant, and given as zero where it jumps. The arm stops at every pose. The
    coefficients of a joint are the home position and the offsets of the poses above pick, pick,
    above place and place.
    """

    dwell: float = 0.5  # at pick and at place [s]
    move_time: float = 1.5  # from one pose to the next [s]
    # share of `move_time` in which the arm accelerates, and in which it brakes
    blend: float = 0.25

    name = 'pick_and_place'
    smooth = False

    def __post_init__(self) -> None:
        check_dwell('dwell', self.dwell, none_allowed=True)
        check_seconds('move_time', self.move_time)
        check_blend(self.blend, self.move_time)
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + max(STOPS)

    @property
    def duration(self) -> float:
        return self.itinerary.duration

    @property
    def grid_samples(self) -> int:
        return trapezoidal_samples(self.itinerary, self.blend)

    @property
    def itinerary(self) -> Itinerary:
        """Return the order in which poses are visited, and when."""
        rests = tuple(self.dwell if stop in (PICK, PLACE) else 0.0 for stop in STOPS[1:-1])
        return Itinerary(STOPS, rests, self.move_time)

    @property
    def pieces(self) -> FloatArray:
        return self.itinerary.instants(0.0, self.blend, 1.0 - self.blend, 1.0)

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        B, dB, ddB, _ = self.itinerary.basis(t, lambda u: trapezoidal_step(u, self.blend))
        return B, dB, ddB

    def jerk_basis(self, t: FloatArray) -> FloatArray:
        return self.itinerary.basis(t, lambda u: trapezoidal_step(u, self.blend))[3]
