# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What each trajectory form promises of its own, and that a motion can be designed with it.

Forms that are not closed promise nothing of their ends, and are not designed.
"""

from dataclasses import replace
from itertools import pairwise

from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import (
    Budget, design_excitation, dump_trajectory, find_experiment, FourierParametrization,
    load_experiment, load_trajectory,
)
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from scipy.interpolate import make_interp_spline

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


def test_smooth_passage_is_the_quintic_spline(rng):
    """Interpolated by SciPy with velocity and acceleration zero at both ends."""
    form, coefficients = PARAMETRIZATIONS['via_points'](6, 'smooth', 7.0), rng.normal(size=7)
    coefficients[0] = 0.0
    values = np.concatenate([[0.0], coefficients[1:], [0.0]])
    rest = [(1, 0.0), (2, 0.0)]
    spline = make_interp_spline(np.arange(8.0), values, k=5, bc_type=(rest, rest))
    t = np.linspace(0.0, 7.0, 141)
    for order, basis in enumerate(form.basis(t)):
        np.testing.assert_allclose(basis @ coefficients, spline(t, nu=order), atol=1e-10)


@pytest.mark.parametrize(
    ('form', 'options', 'message'),
    [
        ('fourier', {'base_period': float('nan')}, 'base_period is nan'),
        ('fourier', {'harmonics': 3, 'duration': 5.0}, r'harmonics is 3, at least 4'),
        ('fourier', {'duration': 20.0 / 3.0}, r'base_period 10.0 s: rest at both ends does not'),
        ('fourier', {'harmonics': 20, 'duration': 5.0}, r'harmonics is 20, too many for a durat'),
        ('via_points', {'passage': 'jump'}, "passage is 'jump', it must be smooth or rest"),
        ('static_poses', {'dwell': 0.0}, 'dwell is 0.0 s, it must be above 0'),
        ('static_poses', {'monotone': True, 'both_directions': False}, 'in reverse, too; leave'),
        ('static_poses', {'poses': 100}, r'202 moves of 2.0 s with 402 s of dwell take 806 s'),
        ('trapezoidal', {'blend': 0.01, 'move_time': 0.5}, 'the arm accelerates in 0.005 s'),
        ('sampled', {'times': [0.5, 1.0]}, 'times go from 0.5 to 1.0 s'),
        ('sampled', {'times': [0.0, 1.0, 1.0015]}, 'by two milliseconds at least'),
    ],
)
def test_wrong_options_are_refused_by_name(form, options, message):
    with pytest.raises(DescriptionError, match=message):
        PARAMETRIZATIONS[form](**options)
