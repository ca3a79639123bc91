# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Velocities are trapezoids."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.excitation.parametrizations.point_to_point import (
    trapezoidal_step, TrapezoidalParametrization,
)

FORM = TrapezoidalParametrization(points=3, dwell=0.4, move_time=2.0, blend=0.2)


@given(blend=st.floats(0.01, 0.5))
def test_a_step_is_the_integral_of_a_trapezoid(blend):
    """Its corners joined by straight lines; from 0 to 1 with speed 1 / (1 - blend) in between."""
    corners = [0.0, blend, 1.0 - blend, 1.0]
    u = np.union1d(np.linspace(0.0, 1.0, 301), corners)
    s, ds, _, _ = trapezoidal_step(u, blend)
    speed = 1.0 / (1.0 - blend)
    # The trapezoidal rule is exact on pieces of a straight velocity, to rounding of 1e-16 a
    # sample.
    np.testing.assert_allclose(ds, np.interp(u, corners, [0.0, speed, speed, 0.0]), atol=1e-12)
    area = np.concatenate([[0.0], np.cumsum(0.5 * (ds[1:] + ds[:-1]) * np.diff(u))])
    np.testing.assert_allclose(s, area, atol=1e-12)
    assert s[-1] == 1.0


def test_the_acceleration_has_three_values_and_is_zero_where_it_jumps(rng):
    """Of a move: up, none, down; the jumps are found to rounding of their instants."""
    coefficients = rng.normal(size=(1, FORM.n_coefficients))
    starts = FORM.itinerary.move_starts
    jumps = np.add.outer(
        starts, FORM.move_time * np.array([0.0, FORM.blend, 1.0 - FORM.blend, 1.0])
    )
    for t in (jumps, jumps + 1e-13, jumps - 1e-13):
        inside = np.clip(t, 0.0, FORM.duration).ravel()
        np.testing.assert_array_equal(FORM.sample(coefficients, inside)[2], 0.0)
    stops = np.array(FORM.itinerary.stops)
    poses = coefficients[0, 0] + np.where(stops > 0, coefficients[0, stops], 0.0)
    rise = np.diff(poses) / (FORM.blend * (1.0 - FORM.blend) * FORM.move_time**2)
    for share, factor in ((0.5 * FORM.blend, 1.0), (0.5, 0.0), (1.0 - 0.5 * FORM.blend, -1.0)):
        _, _, ddq = FORM.sample(coefficients, starts + share * FORM.move_time)
        np.testing.assert_allclose(ddq[:, 0], factor * rise, atol=1e-10)


def test_points_are_reached_in_their_order_with_a_dwell_each():
    assert FORM.itinerary.stops == (0, 1, 2, 3, 0)
    assert FORM.itinerary.rests == (0.4,) * 3
    assert FORM.duration == pytest.approx(4 * 2.0 + 3 * 0.4, rel=1e-12)
