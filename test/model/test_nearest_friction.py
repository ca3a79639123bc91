# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Coulomb and viscous friction nearest to a law: itself where it is that, else the nearest."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.model import DictionaryFriction, FRICTION_LAWS
from robot_identification.model.friction.nearest import (
    nearest_plain_friction, sliding_speeds, sliding_torque,
)
from scipy.optimize import lsq_linear

SPEEDS = sliding_speeds(2.0)


def dictionary_of(**terms):
    kinds = ('viscous', 'sliding', 'presliding', 'stribeck', 'load_sliding', 'load_presliding')
    return DictionaryFriction(**{kind: terms.get(kind, []) for kind in kinds})


def test_speeds_go_from_sliding_to_the_fastest():
    """Where a joint hardly moves, from a tenth of what it does."""
    np.testing.assert_allclose(SPEEDS[[0, -1]], [0.05, 2.0])
    np.testing.assert_allclose(np.diff(SPEEDS), np.diff(SPEEDS)[0])
    np.testing.assert_allclose(sliding_speeds(0.03)[[0, -1]], [0.003, 0.03])


@pytest.mark.parametrize('load', [0.0, 15.0, -15.0])
def test_a_dictionary_of_plain_terms_is_itself(load):
    """By hand: 3 + 1.5 + 15 (0.1 + 0.02) of Coulomb friction, and 4 of viscous friction."""
    # At 0.05 rad/s a passage of 3 mrad/s is over to 1e-14.
    law = dictionary_of(
        viscous=[1.0], sliding=[0.003], presliding=[0.0002, 0.2], load_sliding=[0.001],
        load_presliding=[0.006],
    )
    coefficients = np.array([4.0, 3.0, 0.5, 1.0, 0.1, 0.02])
    coulomb, viscous = nearest_plain_friction(law, coefficients, SPEEDS, load)
    assert coulomb == pytest.approx(4.5 + 0.12 * abs(load), rel=1e-9)
    assert viscous == pytest.approx(4.0, rel=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_it_is_the_nearest_that_is_not_negative(seed):
    """Against a solver with bounds, for any dictionary; no other pair is nearer."""
    rng = np.random.default_rng(seed)
    law = DictionaryFriction()
    coefficients = rng.exponential(size=22) * (rng.random(22) < 0.4)
    torque = sliding_torque(law, coefficients, SPEEDS, 10.0)
    A = np.column_stack([np.ones_like(SPEEDS), SPEEDS])
    expected = lsq_linear(A, torque, (0.0, np.inf), method='bvls', tol=1e-14).x
    found = nearest_plain_friction(law, coefficients, SPEEDS, 10.0)
    np.testing.assert_allclose(found, expected, atol=1e-8 * (1.0 + np.abs(torque).max()))
    assert min(found) >= 0.0


def test_a_dictionary_without_terms_has_no_friction():
    assert nearest_plain_friction(dictionary_of(), np.zeros(0), SPEEDS, 5.0) == (0.0, 0.0)


@pytest.mark.parametrize(('name', 'coefficients', 'expected'), [
    ('coulomb', [3.0], (3.0, 0.0)), ('coulomb_sign', [3.0], (3.0, 0.0)),
    ('viscous', [2.0], (0.0, 2.0)), ('offset', [7.0], (0.0, 0.0)),
    ('asymmetric', [3.0, 5.0, 1.0, 2.0], (4.0, 1.5)),
    ('load', [0.1], (1.0, 0.0)), ('temperature_viscous', [4.0], (0.0, 0.0)),
])
def test_other_laws_are_themselves(name, coefficients, expected):
    """Under 10 N m, at their reference temperature; the mean of two directions, no bias."""
    # A passage of 0.01 rad/s leaves 1e-4 of the friction at 0.05 rad/s, the slowest of 100 speeds.
    found = nearest_plain_friction(
        FRICTION_LAWS[name](), np.array(coefficients), SPEEDS, 10.0
    )
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_every_law_has_a_nearest_one():
    for law in FRICTION_LAWS.values():
        coefficients = np.ones(len(law().symbols))
        found = nearest_plain_friction(law(), coefficients, SPEEDS, 10.0)
        assert np.all(np.isfinite(found)) and min(found) >= 0.0
