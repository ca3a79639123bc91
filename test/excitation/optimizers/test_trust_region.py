# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Steps of sequential quadratic programming: where they end, and what they keep on the way."""

import numpy as np
import pytest
from robot_identification.excitation.optimizers import trust_region
from robot_identification.excitation.optimizers.trust_region import (
    Pace, solve_program, TrustRegion,
)

PACE = Pace(evaluations=200, tolerance=1e-9, radius=0.3, largest=1.0)


class Valley:
    """Rosenbrock's function in a disc, above a line; the last variable is not bounded by steps."""

    def __init__(self, radius=1.2, height=-0.5):
        self.rows, self.bounds = np.array([[0.0, -1.0, 0.0]]), np.array([-height])
        self.boxed, self.radius = 2, radius
        self.seen = []

    def value(self, z):
        self.seen.append(z.copy())
        x, y, w = z
        bend = y - x * x
        return (1 - x) ** 2 + 10 * bend**2 + (w - 3) ** 2, np.array(
            [-2 * (1 - x) - 40 * x * bend, 20 * bend, 2 * (w - 3)]
        )

    def curved(self, z):
        x, y, _ = z
        return np.array([x * x + y * y - self.radius**2]), np.array([[2 * x, 2 * y, 0.0]])


@pytest.mark.parametrize('start', [(-1.0, 0.5, 0.0), (0.0, 0.0, 9.0), (3.0, -2.0, 0.0)])
@pytest.mark.parametrize(
    ('radius', 'height', 'minimum'),
    # Within the disc; on its edge, by its angles a million apart; where the line meets the edge.
    [(1.5, -0.5, (1.0, 1.0)), (1.0, -0.5, (0.78874, 0.61473)), (1.0, 0.8, (0.6, 0.8))],
)
def test_a_search_ends_in_the_minimum(start, radius, height, minimum):
    """From within the limits and from without."""
    valley = Valley(radius, height)
    search = TrustRegion(valley, PACE)
    found = search.run(np.array(start))
    # Of the last case there are two, left and right.
    np.testing.assert_allclose(np.abs(found), [*minimum, 3.0], atol=2e-3)
    assert search.evaluations == len(valley.seen) < 100


def test_evaluations_are_no_more_than_allowed():
    valley = Valley()
    search = TrustRegion(valley, Pace(7, 0.0, 0.3, 1.0))
    search.run(np.array([-1.0, 0.5, 0.0]))
    assert search.evaluations == len(valley.seen) == 7


def test_a_start_without_a_value_is_where_a_search_ends():
    class Nowhere(Valley):
        def value(self, z):
            return np.inf, np.zeros(3)

    start = np.zeros(3)
    np.testing.assert_array_equal(TrustRegion(Nowhere(), PACE).run(start), start)


# --- quadratic programs ------------------------------------------------------------------


INTERIOR_POINT = 'interior point'


@pytest.fixture(params=['daqp', INTERIOR_POINT])
def solver(request, monkeypatch):
    """Have programs solved by DAQP, or without it."""
    if request.param == INTERIOR_POINT:
        monkeypatch.setattr(trust_region, '_import_daqp', lambda: None)
    else:
        pytest.importorskip('daqp', reason='DAQP, which solves quadratic programs, is missing')
    return request.param


def random_program(rng, limits):
    """Return a program of 12 unknowns, of which the origin keeps all limits."""
    root = rng.standard_normal((12, 12))
    return (
        root @ root.T + 0.1 * np.eye(12), rng.standard_normal(12),
        rng.standard_normal((limits, 12)), rng.uniform(0.0, 0.5, limits),
    )


@pytest.mark.parametrize('limits', [0, 5, 200])
def test_what_is_returned_is_the_minimum(solver, rng, limits):
    """By the conditions of Karush, Kuhn and Tucker, which are sufficient here."""
    for _ in range(5):
        hessian, gradient, rows, bounds = random_program(rng, limits)
        d, multipliers = solve_program(hessian, gradient, rows, bounds)
        left = bounds - rows @ d
        slope = hessian @ d + gradient + rows.T @ multipliers
        # The interior point ends at 1e-10 of the numbers involved, which are of the order of 100.
        assert np.all(left > -1e-7)
        assert np.all(multipliers > -1e-7)
        np.testing.assert_allclose(slope, 0.0, atol=1e-6)
        np.testing.assert_allclose(left * multipliers, 0.0, atol=1e-6)


def test_limits_that_no_point_keeps_have_no_minimum(solver, rng):
    hessian, gradient, rows, bounds = random_program(rng, 3)
    rows = np.vstack([rows, -rows[:1]])
    bounds = np.append(bounds, -bounds[0] - 1.0)
    assert solve_program(hessian, gradient, rows, bounds) is None
