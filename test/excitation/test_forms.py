# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What each trajectory form promises of its own, and that a motion can be designed with it."""

from dataclasses import replace
from itertools import pairwise

from dwells import dwells_of
from hypothesis import given, strategies as st
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    Budget, check_rest_at_ends, design_excitation, dump_trajectory, find_experiment,
    FourierParametrization, knot_coefficients, load_experiment, load_trajectory,
    SampledParametrization, Trajectory,
)
from robot_identification.excitation.fourier_table import check_ends, nearest_at_rest
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from robot_identification.excitation.parametrizations.point_to_point import (
    StaticPosesParametrization,
)
from robot_identification.model.registry import load_robot
from scipy.interpolate import BPoly

# Every form as it is without options, and the options that change what it computes.
FORMS = {
    **{name: form() for name, form in PARAMETRIZATIONS.items()},
    'fourier of half a base period': FourierParametrization(5, 20.0, 10.0),
    'fourier beyond a base period': FourierParametrization(4, 4.0, 6.0),
    'via_points at rest': PARAMETRIZATIONS['via_points'](5, 'rest', 8.0),
    'via_points, one': PARAMETRIZATIONS['via_points'](1, 'smooth', 2.0),
    'via_points, many': PARAMETRIZATIONS['via_points'](60, 'smooth', 30.0),
    'static_poses, one way': PARAMETRIZATIONS['static_poses'](4, 1.0, 1.5, False),
    'static_poses, one': PARAMETRIZATIONS['static_poses'](1, 0.5, 3.0),
    'static_poses, monotone': PARAMETRIZATIONS['static_poses'](4, 1.0, 1.5, True, True),
    'composite of all forms of parts': PARAMETRIZATIONS['composite']([
        {'form': 'via_points', 'points': 3, 'duration': 4.0},
        {'form': 'fourier', 'harmonics': 3, 'base_period': 5.0},
        {'form': 'static_poses', 'poses': 1, 'dwell': 0.3, 'move_time': 1.0},
    ], searched=1),
    'trapezoidal without cruising': PARAMETRIZATIONS['trapezoidal'](5, 0.3, 2.0, 0.5),
    'trapezoidal without dwell': PARAMETRIZATIONS['trapezoidal'](4, 0.0, 2.0, 0.1),
}
IDS = {'argvalues': list(FORMS.values()), 'ids': list(FORMS)}
CLOSED = [name for name, form in FORMS.items() if form.closed]


@pytest.mark.parametrize('form', [FORMS[name] for name in CLOSED], ids=CLOSED)
def test_ends_are_at_rest_to_rounding(form):
    """Velocity and acceleration by every coefficient, and the way from start to end, to 1e-12."""
    T = form.duration
    inside = form.basis(np.linspace(0.0, T, 1001))
    for order, (ends, values) in enumerate(
        zip(form.basis(np.array([0.0, T, T * (1.0 - 1e-15)])), inside, strict=True)
    ):
        size = np.maximum(np.abs(values).max(axis=0), 1.0)
        left = ends if order else ends - ends[0]
        # Of the largest that the coefficient makes, where that is more than one: rounding is 1e-16
        # of the terms that cancel. The end is also taken from below, as times beyond it start
        # anew.
        assert np.all(np.abs(left) < 1e-12 * size)


@pytest.mark.parametrize('form', **IDS)
def test_velocity_and_acceleration_add_up_to_the_motion(form):
    """Gauss integrals of derivatives over short intervals are the steps of what they derive."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    edges = np.union1d(np.linspace(0.0, form.duration, 2521), form.pieces)
    # Two instants that are one but for rounding are no interval.
    edges = edges[np.append(True, np.diff(edges) > 1e-9)]
    half = 0.5 * np.diff(edges)[:, None]
    t = edges[:-1, None] + half * (nodes + 1.0)
    at_edges, at_nodes = form.basis(edges), form.basis(t.ravel())
    for value, rate in pairwise(range(3)):
        rates = at_nodes[rate].reshape(*t.shape, -1)
        steps = half * np.einsum('g,ngc->nc', weights, rates)
        # Four nodes are exact for pieces of degree five. Of 61 pieces some end inside one of the
        # 2520 intervals, but have four continuous derivatives there. An interval is a 300th of a
        # turn of the highest harmonic. All this is 1e-9 of the largest rate.
        np.testing.assert_allclose(
            np.diff(at_edges[value], axis=0), steps, atol=1e-9 * np.abs(rates).max()
        )


@pytest.mark.parametrize('form', [
    FORMS['fourier'], FORMS['static_poses, monotone'], *(
        pytest.param(FORMS[name], marks=long_test) for name in CLOSED
        if name in PARAMETRIZATIONS and name != 'fourier'
    ), pytest.param(FORMS['fourier of half a base period'], marks=long_test),
], ids=lambda form: form.name)
def test_a_motion_is_designed_and_certified(form, ur5, tmp_path):
    """Within the limits after thirty tries, every joint moves, and the file is read back."""
    # The quickest there is: what a form can do counts here, not what an optimizer can. Clearance
    # of the arm's own links takes most of the time, so it is for forms without options.
    experiment = replace(
        load_experiment(find_experiment('demo')), form=form, segments=(), optimizer='random',
        samples=(50,),
        collision=form == PARAMETRIZATIONS[form.name](),
    )
    trajectory = design_excitation(ur5, experiment, seed=1, budget=Budget(30))
    shares = [use['share'] for use in trajectory.certificate['limits'].values()]
    assert 0.3 < max(shares) <= 1.0
    assert np.all(np.ptp(trajectory.sample(trajectory.times(50.0)).q, axis=0) > 0.05)
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory))
    assert load_trajectory(path).form == form


SEEDS = st.integers(0, 2**32 - 1)
MONOTONE = StaticPosesParametrization(3, 1.0, 1.5, True, True)
WAYS = {
    'one way': StaticPosesParametrization(4, 1.0, 1.5, False),
    'both ways': StaticPosesParametrization(4, 1.0, 1.5, True),
    'monotone': MONOTONE,
}


@pytest.fixture
def coefficients(rng):
    """Return two joints' coefficients of four poses, or of three and a turning point."""
    return rng.normal(size=(2, 5))


def pose(coefficients, number):
    offset = coefficients[:, number] if number else 0.0
    return coefficients[:, 0] + offset


def sides(form, coefficients):
    """Return the sign of each joint's velocity before every rest, (rests at it, n), by pose."""
    found = {}
    for dwell in dwells_of(form.itinerary):
        on_the_way = np.array([dwell.start - 0.5 * form.move_time])
        _, dq, _ = form.sample(coefficients, on_the_way)
        found.setdefault(dwell.pose, []).append(np.sign(dq[0]))
    return {pose: np.array(signs) for pose, signs in found.items()}


def check_both_sides(form, coefficients):
    """Assert that every joint comes to every pose once upwards and once downwards."""
    found = sides(form, coefficients)
    assert sorted(found) == list(range(1, form.poses + 1))
    for signs in found.values():
        assert np.array_equal(signs[0], -signs[1]) and np.all(signs[0] != 0.0)


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_the_arm_stands_still_at_the_pose_in_every_dwell(form, coefficients):
    """To rounding: 1e-12 of poses of size one."""
    dwells = dwells_of(form.itinerary)
    for dwell in dwells:
        assert dwell.stop - dwell.start == pytest.approx(form.dwell, rel=1e-12)
        t = np.linspace(dwell.start, dwell.stop, 11)[1:-1]
        q, dq, ddq = form.sample(coefficients, t)
        np.testing.assert_allclose(q, np.tile(pose(coefficients, dwell.pose), (9, 1)), atol=1e-12)
        assert np.abs(dq).max() < 1e-12 and np.abs(ddq).max() < 1e-12


@given(SEEDS, st.integers(1, 12))
def test_every_joint_comes_to_every_pose_from_both_sides(seed, poses):
    """By the velocity before each rest, whatever was drawn; scaling leaves it so."""
    rng = np.random.default_rng(seed)
    form = StaticPosesParametrization(poses, 1.0, 1.5, True, True)
    drawn = rng.normal(size=(6, form.n_coefficients))
    # Some joints drew the same pose everywhere, or nothing.
    drawn[0, 1:], drawn[1, 1:] = 0.5, np.abs(drawn[1, 1:])
    direction = rng.choice([-1.0, 1.0], 6)
    arranged = form.arrange(drawn, direction)
    check_both_sides(form, arranged)
    np.testing.assert_array_equal(arranged[:, 0], drawn[:, 0])
    np.testing.assert_array_equal(np.sign(arranged[:, 1]), direction)
    steps = np.abs(np.diff(arranged[:, 1:], prepend=0.0, axis=1))
    # A step is what was drawn, at least 0, and one mean of it; to rounding.
    assert np.all(steps >= (1.0 - 1e-12) * 0.5 * steps.mean(axis=1, keepdims=True))
    smaller = np.hstack([arranged[:, :1], 1e-3 * arranged[:, 1:]])
    check_both_sides(form, smaller)
    assert form.suits(np.hstack([drawn[:, :1], 0.0201 / steps.min() * arranged[:, 1:]]))
    assert not form.suits(np.hstack([drawn[:, :1], 0.0199 / steps.min() * arranged[:, 1:]]))


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


# G. Porcelli, master thesis, Politecnico di Torino 2020, tables 4.1 and 4.2, as printed.
RATE = 0.3 * np.pi
SINE = np.array([
    [0.0094, 0.0482, 0.0038, -0.0024, -0.0214],
    [0.5765, -0.0032, -0.0051, -0.0116, 0.1018],
    [0.0435, -0.0250, 0.0174, -0.0023, -0.0074],
    [0.0642, -0.0128, 0.0186, 0.0029, -0.0212],
    [-0.6081, -0.0068, 0.0079, 0.1485, 0.0010],
    [0.6136, -0.0190, -0.1571, -0.0276, 0.0010],
])
COSINE = np.array([
    [-0.0085, 0.1599, -0.0283, -0.0826, 0.0378],
    [0.1459, -0.0048, -0.0093, 0.0120, -0.0094],
    [0.6786, -0.0274, -0.0145, -0.0734, -0.0106],
    [-1.2397, 0.0079, -0.0352, -0.0082, 0.0662],
    [-0.4490, 0.0036, 0.0078, 0.0059, 0.0108],
    [0.1662, 0.0217, -0.0068, -0.0529, 0.0022],
])
JOINTS = tuple(f'joint_{number}' for number in range(1, 7))


def motion(a, b, t):
    """Return position, velocity and acceleration of a table in 'sum', by hand."""
    order = np.arange(1, a.shape[1] + 1)
    rate, phase = RATE * order, RATE * np.outer(t, order)
    sine, cosine = np.sin(phase), np.cos(phase)
    return (
        sine @ a.T - cosine @ b.T,
        rate * cosine @ a.T + rate * sine @ b.T,
        -(rate**2) * sine @ a.T + rate**2 * cosine @ b.T,
    )


def test_the_repaired_table_is_the_nearest_at_rest():
    """It rests, goes off at right angles to all that rest, and is the form's own motion."""
    a, b = nearest_at_rest(SINE, COSINE)
    check_ends(JOINTS, a, b, RATE, tolerance=1e-14)
    np.testing.assert_allclose(nearest_at_rest(a, b), (a, b), atol=1e-15)
    form = FourierParametrization(5, 2.0 * np.pi / RATE)
    coefficients = np.column_stack([np.zeros(6), a[:, 1:], b[:, 1:]])
    np.testing.assert_allclose(form.series(coefficients), (a, b), atol=1e-14)
    resting = form.series(np.eye(form.n_coefficients))
    for off, directions in zip((SINE - a, COSINE - b), resting, strict=True):
        np.testing.assert_allclose(off @ directions.T, 0.0, atol=1e-14)
    t = np.linspace(0.0, form.duration, 101)
    for basis, by_hand in zip(form.basis(t), motion(a, b, t), strict=True):
        np.testing.assert_allclose(basis @ coefficients.T, by_hand, atol=1e-12)


# --- from a file -------------------------------------------------------------------------


@pytest.fixture(scope='module')
def arm():
    return load_robot('ur5_porcelli')
