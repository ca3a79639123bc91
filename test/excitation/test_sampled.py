# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A sampled motion passes its knots, is quintic in between, and is not more than it is."""

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    check_rest_at_ends, dump_trajectory, knot_coefficients, load_trajectory,
    SampledParametrization, Trajectory,
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


def test_direct_samples_are_those_of_the_basis(knots):
    """Also before the start, and after the end, where a repetition begins; sums of six terms."""
    t = np.linspace(-1.0, 6.0, 300)
    coefficients = knot_coefficients(*knots)
    for direct, basis in zip(FORM.sample(coefficients, t), FORM.basis(t), strict=True):
        np.testing.assert_allclose(direct, basis @ coefficients.T, atol=1e-10)


def test_the_end_is_the_end_and_not_the_start(knots):
    """Passed by rounding, the motion does not jump to where it started."""
    end = trajectory(knots).sample(2.3 * (1.0 + np.array([-1e-15, 0.0, 1e-15, 1e-12])))
    np.testing.assert_allclose(end.q, np.tile(knots[0][-1], (4, 1)), atol=1e-9)


def test_thousands_of_knots_are_sampled_directly(rng):
    """A basis would take gigabytes."""
    times = np.linspace(0.0, 10.0, 5001)
    q = np.cumsum(rng.normal(size=(5001, 6)), axis=0)
    form = SampledParametrization(times.tolist())
    many = form.sample(knot_coefficients(q, 0.0 * q, 0.0 * q), np.linspace(0.0, 10.0, 20_001))
    # Every fourth sample is a knot; positions of a hundred are rounded to 1e-14.
    np.testing.assert_allclose(many[0][::4], q, atol=1e-11)


def test_the_grid_of_a_check_has_samples_in_every_piece():
    grid = np.linspace(0.0, FORM.duration, FORM.grid_samples)
    assert np.histogram(grid, bins=TIMES)[0].min() >= 8


def test_a_file_holds_it_to_the_bit(knots, tmp_path):
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory(knots)))
    loaded = load_trajectory(path)
    assert loaded.form == FORM
    assert loaded.coefficients.tobytes() == knot_coefficients(*knots).tobytes()


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


def test_no_piece_hides_between_the_instants_of_a_check():
    """A step within the shortest piece allowed is seen a thousand times a second."""
    for first in np.linspace(0.5, 0.501, 11):
        form = SampledParametrization([0.0, first, first + 0.002, 1.0])
        q = np.array([[0.0], [0.0], [0.01], [0.01]])
        times = np.linspace(0.0, 1.0, 1001)
        _, dq, _ = form.sample(knot_coefficients(q, 0.0 * q, 0.0 * q), times)
        # Points at rest on both sides of it: none of them shows its speed, 1.875 of the mean; a
        # sample within the middle half of the piece, which one always is, shows half of that.
        assert dq.max() > 0.5 * 1.875 * 0.01 / 0.002


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
