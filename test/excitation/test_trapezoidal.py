# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Velocities are trapezoids; a pick-and-place motion is made of them."""

from dwells import dwells_of
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.excitation.parametrizations.pick_and_place import (
    PickAndPlaceParametrization,
)
from robot_identification.excitation.parametrizations.stop_and_go import trapezoidal_step
from robot_identification.excitation.parametrizations.trapezoidal import TrapezoidalParametrization

FORM = TrapezoidalParametrization(points=3, dwell=0.4, move_time=2.0, blend=0.2)
PICKING = PickAndPlaceParametrization(dwell=0.6, move_time=1.0, blend=0.3)


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


@pytest.mark.parametrize('form', [FORM, PICKING], ids=lambda form: form.name)
def test_the_acceleration_has_three_values_and_is_zero_where_it_jumps(form, rng):
    """Of a move: up, none, down; the jumps are found to rounding of their instants."""
    coefficients = rng.normal(size=(1, form.n_coefficients))
    starts = form.itinerary.move_starts
    jumps = np.add.outer(
        starts, form.move_time * np.array([0.0, form.blend, 1.0 - form.blend, 1.0])
    )
    for t in (jumps, jumps + 1e-13, jumps - 1e-13):
        inside = np.clip(t, 0.0, form.duration).ravel()
        np.testing.assert_array_equal(form.sample(coefficients, inside)[2], 0.0)
    stops = np.array(form.itinerary.stops)
    poses = coefficients[0, 0] + np.where(stops > 0, coefficients[0, stops], 0.0)
    rise = np.diff(poses) / (form.blend * (1.0 - form.blend) * form.move_time**2)
    for share, factor in ((0.5 * form.blend, 1.0), (0.5, 0.0), (1.0 - 0.5 * form.blend, -1.0)):
        _, _, ddq = form.sample(coefficients, starts + share * form.move_time)
        np.testing.assert_allclose(ddq[:, 0], factor * rise, atol=1e-10)


def test_points_are_reached_in_their_order_with_a_dwell_each():
    assert FORM.itinerary.stops == (0, 1, 2, 3, 0)
    assert FORM.itinerary.rests == (0.4,) * 3
    assert FORM.duration == pytest.approx(4 * 2.0 + 3 * 0.4, rel=1e-12)


def test_picking_and_placing_goes_over_both_places(rng):
    """Home, above pick, pick, above pick, above place, place, above place, home."""
    coefficients = rng.normal(size=(2, 5))
    home, above_pick, pick, above_place, place = (
        coefficients[:, 0] + (coefficients[:, k] if k else 0.0) for k in range(5)
    )
    arrivals = np.append(0.0, PICKING.itinerary.move_starts + PICKING.move_time)
    expected = [home, above_pick, pick, above_pick, above_place, place, above_place, home]
    q, dq, _ = PICKING.sample(coefficients, arrivals)
    np.testing.assert_allclose(q, expected, atol=1e-12)
    np.testing.assert_allclose(dq, 0.0, atol=1e-12)
    dwells = dwells_of(PICKING.itinerary)
    rests = [(dwell.pose, dwell.stop - dwell.start) for dwell in dwells]
    assert rests == [(2, pytest.approx(0.6)), (4, pytest.approx(0.6))]
    assert PICKING.duration == pytest.approx(7 * 1.0 + 2 * 0.6, rel=1e-12)
