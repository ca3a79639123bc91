# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A sampled motion passes its knots, is quintic in between, and is not more than it is."""

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    check_rest_at_ends, knot_coefficients, SampledParametrization, Trajectory,
)
from scipy.interpolate import BPoly

TIMES = [0.0, 0.5, 0.8, 2.0, 2.3]
FORM = SampledParametrization(TIMES)


@pytest.fixture
def knots(rng):
    """Return position, velocity and acceleration of three joints at five knots."""
    return tuple(rng.normal(size=(5, 3)) for _ in range(3))


def trajectory(knots, periods=1):
    """Return the motion of three joints through knots."""
    return Trajectory('arm', ('a', 'b', 'c'), FORM, knot_coefficients(*knots), periods, {})


def test_pieces_are_hermites_quintics(knots):
    """The polynomials that SciPy makes of the same states, to rounding."""
    t = np.linspace(0.0, 2.3, 200)
    piecewise = BPoly.from_derivatives(TIMES, np.stack(knots, axis=1))
    motion = trajectory(knots).sample(t)
    for order, values in enumerate((motion.q, motion.dq, motion.ddq)):
        np.testing.assert_allclose(values, piecewise(t, nu=order), atol=1e-10)
    jerk = FORM.jerk(knot_coefficients(*knots), t)
    # Terms are 1 / 0.3^3 times as large, times 60.
    np.testing.assert_allclose(jerk, piecewise(t, nu=3), atol=1e-9)
    np.testing.assert_allclose(
        jerk, FORM.bases(t)[3] @ knot_coefficients(*knots).T, atol=1e-9
    )


@pytest.mark.parametrize('kind', range(3))
def test_what_does_not_end_as_it_starts_is_not_repeated(knots, kind):
    """Neither position nor velocity nor acceleration may jump; the joint is named."""
    for values in knots:
        values[-1] = values[0]
    trajectory(knots, periods=3)
    knots[kind][-1, 1] += 1e-3
    trajectory(knots, periods=1)
    with pytest.raises(DescriptionError, match=r'periods is 3, .* of b is .* periods must be 1'):
        trajectory(knots, periods=3)


@pytest.mark.parametrize(('knot', 'place'), [(0, 'start'), (-1, 'end')])
def test_a_motion_that_starts_or_ends_in_motion_is_found(knots, knot, place):
    for k in (0, -1):
        knots[1][k] = 0.0
    check_rest_at_ends(trajectory(knots))
    knots[1][knot, 2] = 0.25
    with pytest.raises(UnsafeMotionError, match=rf'c moves at 0.25 rad/s at the {place}'):
        check_rest_at_ends(trajectory(knots))
    with pytest.raises(UnsafeMotionError, match=r'c moves at 0.25 m/s'):
        check_rest_at_ends(trajectory(knots), ('rad', 'rad', 'm'))
