# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
B-splines.

References
----------
.. [1] W. Rackl, R. Lampariello, G. Hirzinger, "Robot excitation trajectories for dynamic
   parameter estimation using optimized B-splines", ICRA 2012.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.parametrizations.parametrization import (
    check_count, check_seconds, Parametrization, with_centre, within_period,
)
import scipy

DEGREE = 5  # of the splines: accelerations are smooth, and at rest at the ends ([1]_)


@dataclass(frozen=True)
class BSplineParametrization(Parametrization):
    """
    Spline of degree five over uniform clamped knots [1]_.

    The first three control points and the last three are the centre: the motion starts and ends
    there at rest and without acceleration. The coefficients of a joint are the centre and the
    offsets of the control points between them; position stays within the hull of the control
    points.
    """

    control_points: int = 10  # number of free ones
    duration: float = 10.0  # of the motion [s]

    name = 'bspline'

    def __post_init__(self) -> None:
        check_count('control_points', self.control_points, 1, 100)
        check_seconds('duration', self.duration)

    @property
    def n_coefficients(self) -> int:
        return 1 + self.control_points

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return with_centre(*free_splines(t, self.control_points, self.duration))


def free_splines(
    t: FloatArray, control_points: int, duration: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return m quintic B-splines at rest at both ends and two derivatives, (N, m) each.

    As many knots divide the duration [s] evenly.
    """
    knots = np.concatenate([
        np.zeros(DEGREE), np.linspace(0.0, duration, control_points + 2), np.full(DEGREE, duration)
    ])
    # Three control points at each end, for position, velocity and acceleration there, stay zero.
    spline = scipy.interpolate.BSpline(knots, np.eye(control_points + 6)[:, 3:-3], DEGREE)
    t = within_period(t, duration)
    return spline(t), spline(t, nu=1), spline(t, nu=2)
