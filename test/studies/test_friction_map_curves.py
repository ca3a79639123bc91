# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Curves of friction over speed: the laws behind them are found, and no richer ones."""


from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.studies.friction_map.curves import choose_curve, CurvePoints, CURVES

SPEEDS = np.geomspace(0.02, 2.0, 12)
NOISE = 0.01


def dry(speed):
    return 5.0 + 0.0 * speed


def stribeck(speed):
    return 4.0 + 2.0 * np.exp(-(speed / 0.08) ** 2)


def viscous(speed):
    return 3.0 * speed


def power(speed):
    return 4.0 * speed**0.45


def points_of(sizes, speeds=SPEEDS, *, noise=NOISE, seed=0, offset=0.0, load=None,
              temperature=None):
    """Return points both ways whose friction has these sizes (k,), an offset apart."""
    k = len(speeds)
    drawn = noise * np.random.default_rng(seed).normal(size=k)
    return CurvePoints(
        np.concatenate([-speeds, speeds]),
        np.concatenate([-sizes - drawn, sizes + drawn]) + offset,
        np.full(2 * k, noise),
        np.tile(np.zeros(k) if load is None else load, 2),
        np.tile(np.full(k, np.nan) if temperature is None else temperature, 2),
        True, 0.02, k,
    )


@pytest.mark.parametrize(('parts', 'name'), [
    ((dry, viscous), 'coulomb + viscous'),
    ((dry, power), 'coulomb + power'),
    ((stribeck, viscous), 'stribeck + viscous'),
    ((stribeck, power), 'stribeck + power'),
])
def test_the_curve_that_made_the_points_is_chosen(parts, name):
    """The simplest that can: richer ones predict speeds left out no better."""
    sizes = sum(part(SPEEDS) for part in parts)
    curve = choose_curve(points_of(sizes, offset=0.3))
    assert curve.name == name
    between = np.geomspace(0.025, 1.8, 30)
    true = sum(part(between) for part in parts)
    # Noise of a fifth of a per cent, of which twelve speeds leave less.
    assert curve.torque(between) == pytest.approx(true + 0.3, rel=0.01)
    assert curve.torque(-between) == pytest.approx(-true + 0.3, rel=0.01)
    assert [trial.name for trial in curve.trials] == list(CURVES)


def test_load_and_temperature_are_terms_only_where_they_vary():
    speeds = np.tile(SPEEDS, 4)
    load = np.repeat([5.0, 30.0, 5.0, 30.0], 12)
    warmth = np.repeat([20.0, 20.0, 35.0, 35.0], 12)
    sizes = dry(speeds) + 0.06 * load + (3.0 - 0.04 * (warmth - 20.0)) * speeds
    curve = choose_curve(points_of(sizes, speeds, load=load, temperature=warmth))
    assert curve.coefficient('fcl') == pytest.approx(0.06, rel=0.02)
    assert curve.coefficient('fvT') == pytest.approx(-0.04, rel=0.02)
    # Friction of a load and a temperature that were not recorded together.
    assert curve.torque(np.array([1.0]), 15.0, 25.0)[0] == pytest.approx(
        5.0 + 0.9 + 3.0 - 0.2, rel=0.01
    )
    same = choose_curve(points_of(sizes[:12], load=load[:12], temperature=warmth[:12]))
    assert {term.symbol for term in same.terms} == {'fc', 'fv', 'f0'}
    assert same.temperature == 20.0


@given(seed=st.integers(0, 10_000), count=st.integers(2, 14))
@settings(max_examples=20)
def test_no_curve_gives_energy_back(seed, count):
    """Whatever the points, dry and viscous parts take energy; all numbers are finite."""
    rng = np.random.default_rng(seed)
    speeds = np.geomspace(0.05, 1.0, count)
    curve = choose_curve(points_of(rng.normal(size=count), speeds))
    for term in curve.terms:
        assert np.isfinite(term.value)
        assert term.value >= 0.0 or term.symbol == 'f0'
    assert np.all(np.isfinite(curve.torque(speeds)))
