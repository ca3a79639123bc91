# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Quintics through via points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, with_centre, within_period,
)
from robot_identification.excitation.parametrizations.stop_and_go import quintic_step
import scipy

PASSAGES = ('smooth', 'rest')
DEGREE = 5  # of the splines of a smooth passage


@dataclass(frozen=True)
class ViaPointsParametrization(Parametrization):
    """
    Piecewise quintic through via points, evenly spaced in time.

    The motion starts and ends at the centre, at rest and without acceleration. The coefficients of
    a joint are the centre and the offset of each via point. In a 'smooth' passage velocities and
    accelerations at the via points make the third and fourth derivatives continuous; with 'rest'
    both are zero there.
    """

    points: int = 6  # m, between start and end, passed at k T / (m + 1)
    passage: str = 'smooth'
    duration: float = 10.0  # T [s]

    name = 'via_points'

    def __post_init__(self) -> None:
        check_count('points', self.points, 1, 100)
        check_seconds('duration', self.duration)
        if self.passage not in PASSAGES:
            raise DescriptionError(
                f'passage is {self.passage!r}, it must be {" or ".join(PASSAGES)}'
            )

    @property
    def n_coefficients(self) -> int:
        return 1 + self.points

    @property
    def via_times(self) -> FloatArray:
        """Times at which the via points are passed [s], shape (m,)."""
        return np.linspace(0.0, self.duration, self.points + 2)[1:-1]

    @property
    def pieces(self) -> FloatArray:
        ends = np.array([0.0, self.duration])
        return ends if self.passage == 'smooth' else np.union1d(ends, self.via_times)

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return with_centre(
            *(self._smooth(t) if self.passage == 'smooth' else self._with_rests(t))
        )

    def _smooth(self, t: FloatArray) -> list[FloatArray]:
        """
        Return the quintic splines that are 1 at one via point and 0 at all others.

        Quintics with four continuous derivatives are the splines whose knots are the via times;
        as many of them are at rest at both ends as there are via points.
        """
        at_points, _, _ = free_splines(self.via_times, self.points, self.duration)
        to_control_points = np.linalg.inv(at_points)
        return [
            basis @ to_control_points for basis in free_splines(t, self.points, self.duration)
        ]

    def _with_rests(self, t: FloatArray) -> list[FloatArray]:
        """Return a step up into each via point, and down out of it, from rest to rest."""
        t, piece = within_period(t, self.duration), self.duration / (self.points + 1)
        u = np.clip(np.subtract.outer(t, piece * np.arange(self.points + 1)) / piece, 0.0, 1.0)
        s, ds, dds, _ = quintic_step(u)
        return [step[:, :-1] - step[:, 1:] for step in (s, ds / piece, dds / piece**2)]


def free_splines(
    t: FloatArray, count: int, duration: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return quintic B-splines at rest at both ends and two derivatives, (N, count) each.

    As many knots divide the duration [s] evenly.
    """
    knots = np.concatenate([
        np.zeros(DEGREE), np.linspace(0.0, duration, count + 2), np.full(DEGREE, duration)
    ])
    # Three control points at each end, for position, velocity and acceleration there, stay zero.
    spline = scipy.interpolate.BSpline(knots, np.eye(count + 6)[:, 3:-3], DEGREE)
    t = within_period(t, duration)
    return spline(t), spline(t, nu=1), spline(t, nu=2)
