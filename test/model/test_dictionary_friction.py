# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction dictionary, the stops under it, and the plain friction that is nearest to it."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model import (
    CURVES, DictionaryFriction, FRICTION_LAWS, FrictionOffset, FrictionTerm, IdentifiedModel,
    JointMotion, Motion, reduce_to_base, regressor, SignalSource, StandardParameters, STOP,
)
from robot_identification.model.friction.basis import (
    evaluation_order, JointFunction, run_stops, SampleBasis, steady_positions,
)
from robot_identification.model.friction.law import (
    nearest_plain_friction, sliding_speeds, sliding_torque,
)
from scipy.optimize import lsq_linear

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


@pytest.mark.parametrize('twice', [(0.01, 0.01), (0.01, 0.3, 0.010000001)])
def test_the_same_term_twice_is_refused(twice):
    """Their parameters would have one name, and a model file with both could not be read."""
    # A name holds six digits of the constant.
    for kind in LAW.constants():
        with pytest.raises(DescriptionError, match=rf'{kind} of dictionary friction'):
            DictionaryFriction(**{kind: twice})


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


def test_speeds_go_from_sliding_to_the_fastest():
    """Where a joint hardly moves, from a tenth of what it does."""
    np.testing.assert_allclose(SPEEDS[[0, -1]], [0.05, 2.0])
    np.testing.assert_allclose(np.diff(SPEEDS), np.diff(SPEEDS)[0])
    np.testing.assert_allclose(sliding_speeds(0.03)[[0, -1]], [0.003, 0.03])


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


@pytest.mark.parametrize('kinds', [
    tuple(CURVES), ('smooth_sign', 'static_sign'), *((kind,) for kind in CURVES), (),
])
@pytest.mark.parametrize('exponents', [(2.0,), (2.0, 0.7)])
def test_every_curve(kinds, exponents, rng):
    functions = functions_of(kinds, exponents)
    basis = SampleBasis(3, functions)
    for m in (1, 2, 5):
        dq = rng.normal(size=(m, 3))
        expected = np.array([
            CURVES[one.kind](dq[:, one.joint], *one.constants) for one in functions
        ]).reshape(-1, m)
        # A factor is multiplied here that is divided by there.
        np.testing.assert_allclose(
            basis.at(dq, np.zeros((m, 0))), expected, rtol=1e-13, atol=1e-15
        )


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
