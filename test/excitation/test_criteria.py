# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Criteria by hand, their smooth stand-ins, and gradients of both."""

import numpy as np
import pytest
from robot_identification.excitation import CRITERIA

INF = float('inf')
SHARPNESSES = (1.0, 2.0, 8.0, 30.0, INF)
ROWS = 30
# Of singular values 4, 1 and 1/2 per sample; columns of unit length have none but 1 / sqrt(ROWS).
SINGULAR = np.array([1.0, 4.0, 0.5])
BY_HAND = {
    'condition_number': 8.0,
    'condition_number_scaled': 1.0,
    'log_determinant': -2.0 * np.log(1.0 * 4.0 * 0.5) / 3.0,
    'trace_of_inverse': 1.0 + 1.0 / 16.0 + 4.0,
}
# The stand-ins as functions of the criteria, where nothing is smoothed.
EXACT = {
    'log_determinant': lambda value: value,
}


def with_singular_values(rng, values):
    """Return a matrix whose singular values per sample are these, columns in any direction."""
    left = np.linalg.qr(rng.standard_normal((ROWS, len(values))))[0]
    right = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return np.sqrt(ROWS) * (left * values) @ right.T


def slopes(function, W, step):
    """Return central differences of a function of a matrix by its entries, (.., rows, columns)."""
    differences = []
    for index in np.ndindex(W.shape):
        above, below = W.copy(), W.copy()
        above[index] += step
        below[index] -= step
        differences.append((np.asarray(function(above)) - function(below)) / (2.0 * step))
    return np.moveaxis(np.array(differences), 0, -1).reshape(*np.shape(differences[0]), *W.shape)


@pytest.mark.parametrize('name', CRITERIA)
def test_values_by_hand(name, rng):
    """Of orthogonal columns, as they stand and with more samples of the same."""
    W = np.zeros((ROWS, 3))
    W[[3, 7, 20], [0, 1, 2]] = np.sqrt(ROWS) * SINGULAR
    assert CRITERIA[name](W) == pytest.approx(BY_HAND[name], rel=1e-12)
    assert CRITERIA[name](np.vstack([W, -W, W])) == pytest.approx(BY_HAND[name], rel=1e-12)
    # A product of rotations has other columns of unit length.
    if not CRITERIA[name].unit_columns:
        turned = with_singular_values(rng, SINGULAR)
        assert CRITERIA[name](turned) == pytest.approx(BY_HAND[name], rel=1e-10)


@pytest.mark.parametrize('name', CRITERIA)
def test_a_stand_in_without_smoothing_is_the_criterion(name, rng):
    """It is its logarithm; that of its root for the squared one, itself where it is one."""
    W = rng.standard_normal((ROWS, 5)) * np.geomspace(0.1, 3.0, 5)
    value, _ = CRITERIA[name].descend(W, INF)
    assert value == pytest.approx(EXACT.get(name, np.log)(CRITERIA[name](W)), rel=1e-10)


@pytest.mark.parametrize('name', CRITERIA)
@pytest.mark.parametrize('sharpness', SHARPNESSES)
def test_gradients_of_stand_ins(name, sharpness, rng):
    """Against central differences, of matrices of unrelated entries."""
    W = rng.standard_normal((ROWS, 5)) * np.geomspace(0.3, 3.0, 5)
    criterion = CRITERIA[name]
    value, gradient = criterion.descend(W, sharpness)
    assert gradient.shape == W.shape
    expected = slopes(lambda M: criterion.descend(M, sharpness)[0], W, 1e-5)
    # Steps of 1e-5 are good to 1e-10 of the third derivative, which is some thousand times the
    # first: the sharpest mean turns within a thirtieth of a singular value.
    np.testing.assert_allclose(gradient, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
    assert np.isfinite(value)


@pytest.mark.parametrize('W', [
    np.random.default_rng(1).standard_normal((ROWS, 4)) * [1.0, 1.0, 0.0, 1.0],
    np.random.default_rng(2).standard_normal((3, 6)),
], ids=['hidden', 'fewer rows than columns'])
@pytest.mark.parametrize('name', CRITERIA)
def test_what_does_not_show_all_is_infinitely_bad_and_no_warning(name, W):
    """Whatever the others see; a gradient that is zero lets a search reverse."""
    assert CRITERIA[name](W) == INF
    for sharpness in (2.0, INF):
        value, gradient = CRITERIA[name].descend(W, sharpness)
        assert value == INF
        np.testing.assert_array_equal(gradient, np.zeros_like(W))
