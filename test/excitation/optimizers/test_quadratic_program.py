# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Quadratic programs: what is returned is the minimum, whichever solver found it."""

import numpy as np
import pytest
from robot_identification.excitation.optimizers import trust_region
from robot_identification.excitation.optimizers.trust_region import solve_program

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
