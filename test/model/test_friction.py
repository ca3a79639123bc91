# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Each friction law by numbers computed by hand, its limits, and what it turns into."""

from dataclasses import replace
from pathlib import Path
import re

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model.friction import exclude_each_other, FRICTION_LAWS
from robot_identification.model.friction.law import JointMotion

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'friction.md'
SQRT2 = 1.4142135623730951

# Torques at -2 rad/s with -10 N m at 20 deg C, at rest with 20 N m at 25 deg C, and at 0.5 rad/s
# with 30 N m at 35 deg C; the default temperature of reference is 25 deg C.
BY_HAND = {
    'coulomb': ([2.0], [-2.0, 0.0, 2.0]),
    'coulomb_sign': ([2.0], [-2.0, 0.0, 2.0]),
    'viscous': ([3.0], [-6.0, 0.0, 1.5]),
    'offset': ([4.0], [4.0, 4.0, 4.0]),
    'asymmetric': ([1.0, 2.0, 3.0, 4.0], [-2.0 - 8.0, 0.0, 1.0 + 1.5]),
    'stribeck': ([1.0, 3.0], [-1.0, 0.0, 1.0]),
    'power_viscous': ([2.0], [-2.0 * SQRT2, 0.0, SQRT2]),
    'cubic_viscous': ([2.0], [-16.0, 0.0, 0.25]),
    'load': ([0.1], [-1.0, 0.0, 3.0]),
    'temperature_viscous': ([0.1], [1.0, 0.0, 0.5]),
    'strain_wave': (
        [1.0, 0.1, 2.0, 0.3, 0.4, 5.0, 0.6], [-(1.0 + 1.0) - 2.0 * 2.0, 0.0, 4.0 + 11.0 * 0.5]
    ),
    # Viscous, two of sliding and one of the load; stops stay at rest where positions do.
    'dictionary': (
        [3.0, 1.0, 2.0, *[0.0] * 4, *[9.0] * 8, *[0.0] * 3, 0.1, 0.0, *[9.0] * 2],
        [-6.0 - 3.0 - 1.0, 0.0, 1.5 + 3.0 + 3.0],
    ),
}


def motion_at(dq, *, tau_rigid=0.0, temperature=25.0):
    """Return samples of one joint; load and temperature are the same for all or one for each."""
    dq = np.asarray(dq, dtype=float)
    like = np.zeros_like(dq)
    return JointMotion(like, dq, like + tau_rigid, like + temperature)


def torque_of(law, coefficients, motion):
    return law.columns(motion, law.initial_state())[0] @ np.asarray(coefficients, dtype=float)


@pytest.mark.parametrize('name', FRICTION_LAWS)
def test_every_law_by_hand(name):
    """Static friction has ended at 0.5 rad/s up to exp(-25), 1e-11 of some N m."""
    coefficients, expected = BY_HAND[name]
    motion = motion_at(
        [-2.0, 0.0, 0.5], tau_rigid=[-10.0, 20.0, 30.0], temperature=[20.0, 25.0, 35.0]
    )
    torque = torque_of(FRICTION_LAWS[name](), coefficients, motion)
    np.testing.assert_allclose(torque, expected, atol=1e-9)


@given(
    coefficients=st.lists(st.floats(0.0, 10.0), min_size=7, max_size=7),
    dq=st.floats(-3.0, 3.0), load=st.floats(-100.0, 100.0), warmth=st.floats(0.0, 40.0),
)
def test_friction_takes_energy(coefficients, dq, load, warmth):
    """Above its reference temperature no law drives its joint; an offset is no friction."""
    motion = motion_at([dq], tau_rigid=load, temperature=25.0 + warmth)
    for name, law in FRICTION_LAWS.items():
        count = len(law().symbols)
        torque = torque_of(law(), (4 * coefficients)[:count], motion)
        assert name == 'offset' or torque[0] * dq >= 0.0


# --- passage through rest ------------------------------------------------------------------


def test_a_sign_ignores_rounding_noise():
    """Up to its zero velocity it is at rest, above it is not."""
    column, _ = FRICTION_LAWS['coulomb_sign'](1e-3).columns(
        motion_at([-1.1e-3, -1e-3, 1e-12, 1e-3, 1.1e-3]), np.zeros(0)
    )
    np.testing.assert_array_equal(column[:, 0], [-1.0, 0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize('name', ['coulomb', 'asymmetric', 'stribeck', 'load', 'strain_wave'])
def test_a_width_is_where_76_percent_are_reached(name):
    """The value tanh(1) = 0.7615941559557649, for the torque of sliding alone."""
    law = FRICTION_LAWS[name]()
    law = replace(law, width=0.02, **({'velocity': 1e3} if 'velocity' in law.shape else {}))
    coefficients = np.ones(len(law.symbols))
    if name == 'asymmetric':
        coefficients[2:] = 0.0
    if name == 'strain_wave':
        coefficients[5:] = 0.0
    torque = torque_of(law, coefficients, motion_at([0.02, 2.0], tau_rigid=3.0))
    assert torque[0] / torque[1] == pytest.approx(np.tanh(1.0), rel=1e-5)  # (2 / 1e3)^2


# --- what laws turn into -------------------------------------------------------------------


@pytest.mark.parametrize('exponent', [0.5, 1.0, 2.0])
@given(
    kinetic=st.floats(0.0, 10.0), static=st.floats(0.0, 20.0), velocity=st.floats(0.01, 1.0)
)
def test_stribeck_goes_from_static_to_kinetic_friction(exponent, kinetic, static, velocity):
    """At its velocity 1 / e of the difference is left."""
    # The passage is over at 20 widths.
    law = FRICTION_LAWS['stribeck'](velocity, exponent, width=1e-6 * velocity)
    near, far = 2e-5, 900.0
    torque = torque_of(law, [kinetic, static], motion_at(velocity * np.array([near, 1.0, far])))
    difference = static - kinetic
    assert abs(torque[0] - static) <= abs(difference) * near**exponent + 1e-12
    assert torque[1] == pytest.approx(kinetic + difference * 0.36787944117144233, abs=1e-12)
    assert abs(torque[2] - kinetic) <= abs(difference) * np.exp(-(far**exponent)) + 1e-12


def test_strain_wave_contains_the_simpler_laws(rng):
    """Without static load and temperature parts it is a sum of four others, to rounding."""
    motion = motion_at(
        rng.normal(scale=0.2, size=50), tau_rigid=rng.normal(scale=30.0, size=50),
        temperature=rng.uniform(20.0, 40.0, 50),
    )
    torque = torque_of(
        FRICTION_LAWS['strain_wave'](), [2.0, 0.05, 1.0, 0.0, 0.0, 12.0, -0.1], motion
    )
    parts = {'stribeck': [2.0, 3.0], 'load': [0.05], 'viscous': [12.0],
             'temperature_viscous': [-0.1]}
    whole = sum(torque_of(FRICTION_LAWS[name](), found, motion) for name, found in parts.items())
    np.testing.assert_allclose(torque, whole, atol=1e-12)


# --- shape constants -----------------------------------------------------------------------


WRONG_CONSTANTS = [
    (name, constant, value)
    for name, law in FRICTION_LAWS.items()
    for constant, default in law().constants().items()
    if not isinstance(default, tuple)
    for value in (
        np.nan, np.inf, -np.inf, 'wide', None, True, [1.0],
        *((298.15, -101.0) if constant == 'reference' else (-0.5,)),
        *((0.0,) if constant not in ('reference', 'position_step') else ()),
        *((2.0001, 100.0) if 'exponent' in constant else ()),
    )
]


@pytest.mark.parametrize(('name', 'constant', 'value'), WRONG_CONSTANTS)
def test_wrong_constants_are_refused_by_law_and_name(name, constant, value):
    """A room's 298.15 is in kelvin; an exponent beyond its limits is another law."""
    message = rf'^{constant} of {name} friction.* is .*, it must be a .*number'
    with pytest.raises(DescriptionError, match=message):
        FRICTION_LAWS[name](**{constant: value})


LISTS = [
    (name, constant)
    for name, law in FRICTION_LAWS.items()
    for constant, default in law().constants().items()
    if isinstance(default, tuple)
]


@pytest.mark.parametrize(('name', 'constant'), LISTS)
def test_wrong_lists_of_constants_are_refused_by_law_and_name(name, constant):
    """No list at all, or one of something else than positive numbers; an empty one is no term."""
    for value in ('wide', None, True, 0.1, {0.1: 1.0}):
        with pytest.raises(DescriptionError, match=rf'^{constant} of {name} .* must be a list'):
            FRICTION_LAWS[name](**{constant: value})
    for value in (np.nan, np.inf, 0.0, -0.5, 'wide', None, True, [1.0]):
        with pytest.raises(DescriptionError, match=rf'^{constant} of {name} .* positive number'):
            FRICTION_LAWS[name](**{constant: [1.0, value]})
    assert FRICTION_LAWS[name](**{constant: []}).constants()[constant] == ()


@pytest.mark.parametrize(('name', 'constant', 'limits'), [
    ('stribeck', 'exponent', (0.5, 2.0)),
    ('power_viscous', 'exponent', (5e-324, 1.0)),
    ('strain_wave', 'exponent', (0.5, 2.0)),
    ('strain_wave', 'viscous_exponent', (5e-324, 1.0)),
    ('temperature_viscous', 'reference', (-100.0, 250.0)),
])
def test_limits_themselves_are_allowed(name, constant, limits):
    """So that a fit with bounds may end there; the next number is refused. 5e-324 follows zero."""
    for limit, beyond in zip(limits, (-np.inf, np.inf), strict=True):
        assert FRICTION_LAWS[name](**{constant: limit}).constants()[constant] == limit
        with pytest.raises(DescriptionError, match=constant):
            FRICTION_LAWS[name](**{constant: float(np.nextafter(limit, beyond))})


@pytest.mark.parametrize('name', FRICTION_LAWS)
def test_alternatives_differ_in_the_shape_that_is_searched(name):
    """Few, since all laws' alternatives are tried with each other; other constants are kept."""
    law = FRICTION_LAWS[name]()
    if 'width' in law.shape and name != 'coulomb':
        law = replace(law, width=0.07)
    searched = {'coulomb': 'width', 'stribeck': 'velocity', 'power_viscous': 'exponent'}.get(name)
    assert (len(law.alternatives()) > 1) == (searched is not None)
    assert law in law.alternatives()
    assert len(set(law.alternatives())) == len(law.alternatives()) <= 5
    for other in law.alternatives():
        changed = {} if searched is None else {searched: other.constants()[searched]}
        assert other == replace(law, **changed)


# --- the page ------------------------------------------------------------------------------


def page_rows(heading=None):
    """Return the rows of a section's table: cells by title, by the name in the first column."""
    parts = re.split(r'^## (.+)$', PAGE.read_text(encoding='utf-8'), flags=re.MULTILINE)
    section = parts[0] if heading is None else parts[parts.index(heading) + 1]
    lines = [line for line in section.splitlines() if line[:1] == '|']
    titles, _, *rows = [[cell.strip() for cell in line[1:-1].split('|')] for line in lines]
    assert all(len(row) == len(titles) for row in rows)
    return {row[0].strip('`'): dict(zip(titles, row, strict=True)) for row in rows}


def test_page_explains_every_law():
    """Symbols with units, constants with defaults, needs and exclusions are those of the code."""
    rows = page_rows()
    assert list(rows) == list(FRICTION_LAWS)
    for name, law in FRICTION_LAWS.items():
        row, law = rows[name], law()
        kinds = dict(zip(
            (re.sub(r'\[.*\]', '[]', symbol) for symbol in law.symbols), law.units, strict=True
        ))
        assert row['coefficients'].replace(' (at 1 rad/s)', '') == ', '.join(
            f'`{symbol}` {unit}' for symbol, unit in kinds.items()
        )
        found = re.findall(r'`(\w+)` ([-+.\de ]+)', row['constants, defaults'])
        defaults = {key: tuple(map(float, values.split())) for key, values in found}
        assert defaults == {
            key: value if isinstance(value, tuple) else (value,)
            for key, value in law.constants().items()
        }
        assert ('temperature' in row['needs']) == law.needs_temperature
        assert ('rigid torque' in row['needs']) == law.needs_rigid_torque
        assert re.findall(r'`(\w+)`', row['not beside']) == [
            other for other in FRICTION_LAWS
            if other != name and exclude_each_other(name, other)
        ]
        assert all(symbol.removesuffix('[]') in row['torque'] for symbol in kinds)
        assert f'\n- `{name}`: ' in PAGE.read_text(encoding='utf-8')
