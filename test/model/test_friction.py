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
from robot_identification.model import (
    DictionaryFriction, FrictionOffset, FrictionTerm, IdentifiedModel, Motion, reduce_to_base,
    regressor, SignalSource, StandardParameters, STOP,
)
from robot_identification.model.friction import exclude_each_other, FRICTION_LAWS
from robot_identification.model.friction.basis import (
    evaluation_order, JointFunction, run_stops, SampleBasis, steady_positions,
)
from robot_identification.model.friction.law import (
    JointMotion, nearest_plain_friction, sliding_speeds, sliding_torque,
)
from scipy.optimize import lsq_linear

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


SEEDS = st.integers(0, 2**32 - 1)
LAW = DictionaryFriction()
KINDS = np.array([kind for kind, _ in LAW.terms])


def wandering(seed, samples=300, load=None):
    """Return one joint's motion with rests, creeping and reversals, sampled at 100 Hz."""
    rng = np.random.default_rng(seed)
    dq = rng.normal(size=samples) * 10.0 ** rng.uniform(-5.0, 0.5, samples)
    dq[rng.random(samples) < 0.2] = 0.0
    tau = rng.normal(scale=30.0, size=samples) if load is None else np.full(samples, load)
    return JointMotion(np.cumsum(dq) * 0.01, dq, tau, np.full(samples, 25.0))


def columns_of(law, motion):
    return law.columns(motion, law.initial_state())[0]


def test_every_term_by_hand():
    """Four samples of a joint: at rest, 0.1 rad/s after 1 mrad, a stop there, back by 0.5 mrad."""
    law = DictionaryFriction(
        viscous=[2.0], sliding=[0.1], presliding=[0.0008, 0.004], stribeck=[0.1],
        load_sliding=[0.05], load_presliding=[0.0008],
    )
    motion = JointMotion(
        np.array([0.3, 0.301, 0.301, 0.3005]), np.array([0.0, 0.1, 0.0, -0.05]),
        np.array([10.0, -20.0, 30.0, -40.0]), np.full(4, np.nan),
    )
    np.testing.assert_allclose(columns_of(law, motion), [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.2, np.tanh(1.0), 1.0, 0.25, np.exp(-1.0), 20.0 * np.tanh(2.0), 20.0],
        [0.0, 0.0, 1.0, 0.25, 0.0, 0.0, 30.0],
        [-0.1, -np.tanh(0.5), 0.375, 0.125, -np.tanh(5.0) * np.exp(-0.25),
         -40.0 * np.tanh(1.0), 40.0 * 0.375],
    ], rtol=0.0, atol=1e-7)  # tanh(10) is one to 4e-9; positions are exact to 1e-16 of 0.8 mrad


# --- fewer terms -------------------------------------------------------------------------


@given(seed=SEEDS, chosen=st.lists(st.booleans(), min_size=len(KINDS), max_size=len(KINDS)))
def test_keeping_terms_keeps_their_columns(seed, chosen):
    """To the last bit, in the same order, with the same names; no term at all is a law, too."""
    motion, chosen = wandering(seed, 60), np.array(chosen)
    law = LAW.keep(chosen)
    assert law.symbols == tuple(np.array(LAW.symbols)[chosen])
    assert law.units == tuple(np.array(LAW.units)[chosen])
    np.testing.assert_array_equal(columns_of(law, motion), columns_of(LAW, motion)[:, chosen])
    assert DictionaryFriction(**law.constants()) == law


# --- a model with it ---------------------------------------------------------------------


TERMS = (
    FrictionTerm(0, DictionaryFriction(
        viscous=[], sliding=[0.02], presliding=[0.001, 0.1], stribeck=[], load_sliding=[],
        load_presliding=[0.1],
    )),
    FrictionTerm(1, LAW.keep([False] * len(KINDS))),
    FrictionTerm(2, DictionaryFriction()),
    *(FrictionTerm(joint, FrictionOffset()) for joint in range(3)),
)


def arm_motion(seed, samples=240, starts=(0,)):
    """Return a motion of three joints that slide and stick."""
    joints = [wandering(seed + joint, samples) for joint in range(3)]
    q, dq = (np.column_stack([getattr(j, name) for j in joints]) for name in ('q', 'dq'))
    ddq = np.random.default_rng(seed).normal(size=q.shape)
    return Motion(q, dq, ddq, starts=starts)


@pytest.fixture(scope='module')
def dictionary_model(robots):
    """Return a model in which every joint kept other terms."""
    robot, rng = robots['mixed'].with_drive_gains([7.0, 8.0, 9.0]), np.random.default_rng(3)
    parameters = StandardParameters(3, TERMS, reflected_inertia=True)
    reduction = reduce_to_base(robot, parameters)
    root = rng.normal(size=(reduction.rank, reduction.rank))
    return IdentifiedModel(
        robot=robot, effort_unit='A', reduction=reduction,
        theta_base=rng.uniform(0.1, 1.0, reduction.rank), covariance=root @ root.T,
        theta_consistent=None, consistency_note='', source=SignalSource(), provenance={},
        quality={},
    )


@pytest.mark.parametrize('start', [1, 17, 100, 239])
def test_friction_begins_anew_after_a_gap(dictionary_model, start, monkeypatch):
    """What follows a start inside a recording is predicted as a recording of its own."""
    monkeypatch.setattr(regressor, 'BLOCK_SAMPLES', 17)
    motion = arm_motion(7, starts=(0, start))
    later = replace(motion.part(slice(start, None)), starts=(0,))
    torque = dictionary_model.torque(motion)
    np.testing.assert_allclose(torque[start:], dictionary_model.torque(later), atol=1e-10)
    through = dictionary_model.torque(replace(motion, starts=(0,)))
    np.testing.assert_array_equal(torque[:start], through[:start])
    forgotten = np.abs(torque[start:] - through[start:]).max()
    assert start == 1 or forgotten > 0.1, 'there was something to forget'


# --- stop operator -----------------------------------------------------------------------


RADII = np.array([1e-4, 2e-3, 0.05, 0.4])


def plain_stops(q, radii, z, q_before):
    """Return the deflections by the definition, one sample and one stop after the other."""
    rows = []
    for now in q:
        z = [min(max(one + (now - q_before), -r), r) for one, r in zip(z, radii, strict=True)]
        q_before = now
        rows.append(z)
    return np.array(rows)


def walk(seed, samples=400):
    """Return positions with rests, creeping, steps far beyond every radius, and reversals."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=samples) * 10.0 ** rng.uniform(-6.0, 0.5, samples)
    steps[rng.random(samples) < 0.2] = 0.0
    return np.cumsum(steps)


@given(seed=SEEDS, size=st.integers(-3, 6), start=st.floats(-2.0, 2.0))
def test_it_is_the_plain_recursion(seed, size, start):
    """From any deflection, by steps of a thousandth of the radii to a million of them."""
    q = walk(seed) * 10.0**size
    z = np.random.default_rng(seed).uniform(-RADII, RADII)
    expected = plain_stops(q, RADII, z, start)
    away = np.abs(run_stops(q, RADII, z, start) - expected)
    # Rounding is that of sums of the positions.
    assert away.max() <= 1e-15 * 10.0 * max(2.0, np.abs(q).max())


STEP = 1e-4


@given(seed=SEEDS)
def test_positions_in_steps_do_not_chatter(seed):
    """A jump between two neighbours is left out; what moves on is followed to the last digit."""
    rng = np.random.default_rng(seed)
    there = np.cumsum(rng.integers(1, 4, 40))
    q = STEP * np.concatenate([
        [0], there, there[-1] - rng.integers(0, 2, 60), there[-1] - 2 - np.arange(30),
    ])
    steady, played = steady_positions(q, STEP, q[0], q[0])
    rest = slice(41, 101)
    np.testing.assert_allclose(steady[:41], q[:41], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(steady[rest], q[40], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(steady[101:], q[101:], rtol=0.0, atol=1e-12)
    # In two parts it is the same.
    at = int(rng.integers(1, len(q)))
    first, between = steady_positions(q[:at], STEP, q[0], q[0])
    second, after = steady_positions(q[at:], STEP, between, float(first[-1]))
    np.testing.assert_allclose(np.append(first, second), steady, rtol=0.0, atol=1e-12)
    assert after == pytest.approx(played, abs=1e-12)


@given(seed=SEEDS)
def test_samples_in_steps_one_by_one_are_those_of_the_whole(seed):
    """Live prediction and the prediction of a recording have the same friction."""
    rng = np.random.default_rng(seed)
    q = STEP * np.round(np.cumsum(rng.normal(scale=2.0, size=200) * rng.integers(0, 2, 200)))
    law = DictionaryFriction().with_position_step(STEP)
    nothing = np.zeros(200)
    columns = columns_of(law, JointMotion(q, nothing, nothing + 1.0, nothing))
    functions = sorted(
        {JointFunction(STOP, term.constants, 0) for term in law.basis if term.kind == STOP},
        key=evaluation_order,
    )
    basis = SampleBasis(1, functions)
    values = np.array([basis.step(one, np.zeros((1, 1)))[:, 0].copy() for one in q[:, None]])
    for k, term in enumerate(law.basis):
        if term.kind == STOP:
            one_by_one = values[:, functions.index(JointFunction(STOP, term.constants, 0))]
            np.testing.assert_allclose(columns[:, k], one_by_one, rtol=0.0, atol=1e-9)


# --- the nearest plain friction ----------------------------------------------------------


SPEEDS = sliding_speeds(2.0)


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


@pytest.mark.parametrize(('name', 'coefficients', 'expected'), [
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


# --- all joints at once ------------------------------------------------------------------


OF_CURVES = {'one': (), 'velocity': (0.7,), 'power': (1.5,)}
WIDTH = 0.01


def functions_of(kinds, exponents=(2.0,)):
    """Return functions of three joints, static friction with each of the exponents."""
    found = []
    for kind in kinds:
        if kind in ('static_sign', 'kinetic_sign'):
            constants = [(WIDTH, 0.1, exponent) for exponent in exponents]
        else:
            constants = [OF_CURVES.get(kind, (WIDTH,))]
        found += [JointFunction(kind, one, joint) for one in constants for joint in (2, 0)]
    return sorted(found, key=evaluation_order)


def test_stops_beside_curves(rng):
    """They remember what came before, at every velocity alike, until they are restarted."""
    functions = sorted([
        *functions_of(('one', 'velocity', 'smooth_sign')),
        *(JointFunction(STOP, (radius, 0.0), joint) for radius in (0.1, 0.4) for joint in (0, 2)),
    ], key=evaluation_order)
    q = np.cumsum(0.1 * rng.normal(size=(200, 3)), axis=0)
    basis = SampleBasis(3, functions)
    for _ in range(2):
        values = np.array([basis.step(one, np.zeros((2, 3))).copy() for one in q])
        for row, one in enumerate(functions):
            if one.kind == STOP:
                radii = np.array(one.constants[:1])
                deflections = run_stops(q[:, one.joint], radii, np.zeros(1), q[0, one.joint])
                for at in range(2):
                    np.testing.assert_allclose(
                        values[:, row, at], deflections[:, 0] / radii[0], rtol=0.0, atol=1e-13
                    )
        basis.restart()


def test_speeds_go_from_sliding_to_the_fastest():
    """Where a joint hardly moves, from a tenth of what it does."""
    np.testing.assert_allclose(SPEEDS[[0, -1]], [0.05, 2.0])
    np.testing.assert_allclose(np.diff(SPEEDS), np.diff(SPEEDS)[0])
    np.testing.assert_allclose(sliding_speeds(0.03)[[0, -1]], [0.003, 0.03])


@pytest.mark.parametrize('twice', [(0.01, 0.01), (0.01, 0.3, 0.010000001)])
def test_the_same_term_twice_is_refused(twice):
    """Their parameters would have one name, and a model file with both could not be read."""
    # A name holds six digits of the constant.
    for kind in LAW.constants():
        with pytest.raises(DescriptionError, match=rf'{kind} of dictionary friction'):
            DictionaryFriction(**{kind: twice})
