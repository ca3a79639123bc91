# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Steps of sequential quadratic programming: where they end, and what they keep on the way."""

import numpy as np
import pytest
from robot_identification.excitation.optimizers.trust_region import BROKEN, Pace, TrustRegion

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


def test_steps_stay_in_the_box_and_near_the_limits():
    valley = Valley(1.0)
    TrustRegion(valley, PACE).run(np.array([-0.7, 0.5, 0.0]))
    seen = np.array(valley.seen)
    # A step starts from the last one that counted, which is among those seen.
    for k, z in enumerate(seen[1:], 1):
        assert np.abs(seen[:k, :2] - z[:2]).max(axis=1).min() <= PACE.largest + 1e-9
    kept = [valley.curved(z)[0][0] <= BROKEN + 1e-9 for z in seen]
    assert kept[0]
    assert kept[-1]


def test_evaluations_are_no_more_than_allowed():
    valley = Valley()
    search = TrustRegion(valley, Pace(7, 0.0, 0.3, 1.0))
    search.run(np.array([-1.0, 0.5, 0.0]))
    assert search.evaluations == len(valley.seen) == 7


def test_a_search_that_knows_the_curvature_is_shorter():
    start = np.array([-1.0, 0.5, 0.0])
    first = TrustRegion(Valley(), PACE)
    first.run(start)
    near = np.array([0.9, 0.8, 2.9])
    fresh, knowing = TrustRegion(Valley(), PACE), TrustRegion(Valley(), PACE)
    knowing.curvature = first.curvature
    ends = fresh.run(near), knowing.run(near)
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3)
    assert knowing.evaluations < fresh.evaluations


def test_a_start_without_a_value_is_where_a_search_ends():
    class Nowhere(Valley):
        def value(self, z):
            return np.inf, np.zeros(3)

    start = np.zeros(3)
    np.testing.assert_array_equal(TrustRegion(Nowhere(), PACE).run(start), start)
