# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The stop operator is the plain recursion, remembers what it should, and makes no energy."""

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.model.friction.stop_operator import run_stops

RADII = np.array([1e-4, 2e-3, 0.05, 0.4])
POSITIONS = st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=90)
SEEDS = st.integers(0, 2**32 - 1)


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


@given(q=POSITIONS, start=st.floats(-2.0, 2.0), seed=SEEDS)
def test_it_is_the_plain_recursion(q, start, seed):
    """From any deflection; to the rounding of sums of positions up to 2 rad."""
    q = np.array(q)
    z = np.random.default_rng(seed).uniform(-RADII, RADII)
    expected = plain_stops(q, RADII, z, start)
    np.testing.assert_allclose(run_stops(q, RADII, z, start), expected, rtol=0.0, atol=1e-14)


@given(seed=SEEDS, size=st.integers(-3, 6))
def test_it_is_the_plain_recursion_whatever_the_size_of_the_steps(seed, size):
    """From a thousandth of the radii to a million of them; rounding is that of the positions."""
    q = walk(seed) * 10.0**size
    expected = plain_stops(q, RADII, np.zeros(4), 0.0)
    away = np.abs(run_stops(q, RADII, np.zeros(4), 0.0) - expected)
    assert away.max() <= 1e-15 * 10.0 * np.abs(q).max()


@given(seed=SEEDS, cuts=st.lists(st.integers(1, 399), max_size=5))
def test_blocks_of_any_size_give_the_same(seed, cuts):
    """Each goes on from the deflections and the position that the one before it ends in."""
    q = walk(seed)
    whole = run_stops(q, RADII, np.zeros(4), 0.0)
    z, q_before, blocks = np.zeros(4), 0.0, []
    for block in np.split(q, sorted(set(cuts))):
        blocks.append(run_stops(block, RADII, z, q_before))
        z, q_before = blocks[-1][-1], block[-1]
    np.testing.assert_allclose(
        np.concatenate(blocks), whole, rtol=0.0, atol=1e-14 * max(1.0, np.abs(q).max())
    )


def test_a_hysteresis_loop_by_hand():
    """Radii of 1 and 3: sliding forward, back through zero, sliding back, forward again."""
    q = np.array([0.0, 0.5, 2.0, 5.0, 4.0, 3.0, -1.0, 0.0, 1.5])
    np.testing.assert_array_equal(
        run_stops(q, np.array([1.0, 3.0]), np.zeros(2), 0.0),
        [[0, 0], [0.5, 0.5], [1, 2], [1, 3], [0, 2], [-1, 1], [-1, -3], [0, -2], [1, -0.5]],
    )


def test_a_joint_at_rest_keeps_its_deflection():
    """To the last bit, however long; jitter of the encoder adds up to nothing."""
    z = np.array([3e-5, -2e-3, 0.01, 0.4])
    still = run_stops(np.full(5000, 0.7), RADII, z, 0.7)
    np.testing.assert_array_equal(still, np.tile(z, (5000, 1)))
    # A bit of an encoder of 20 bits a turn, to and fro: 6e-6 rad, below the least radius.
    jitter = 0.7 + 6e-6 * (np.arange(5000) % 2)
    shaken = run_stops(jitter, RADII, np.zeros(4), 0.7)
    np.testing.assert_allclose(shaken[::2], 0.0, atol=1e-12)


def test_no_stop_at_all():
    assert run_stops(np.arange(4.0), np.zeros(0), np.zeros(0), 0.0).shape == (4, 0)


@given(seed=SEEDS, held=st.floats(-1.0, 1.0))
def test_it_gives_back_no_more_than_it_stored(seed, held):
    """
    The work of a torque c z / r against any motion is -r c / 2 or more, from any deflection.

    From none, it is what is stored at the end or more. Per sample the torque is that after the
    step, and between the samples (the mean of both). Rounding is that of the positions.
    """
    q = walk(seed)
    z = held * RADII
    after = run_stops(q, RADII, z, 0.0)
    before = np.vstack([z, after[:-1]])
    steps = np.diff(q, prepend=0.0)
    rounding = 1e-13 * np.sum(np.abs(steps))
    for torque in (after / RADII, 0.5 * (after + before) / RADII):
        work = np.cumsum(torque * steps[:, None], axis=0)
        assert np.all(work >= -0.5 * RADII - rounding)
        stored = 0.5 * (after**2 - z**2) / RADII
        assert np.all(work >= stored - rounding)


@given(seed=SEEDS)
def test_a_closed_motion_takes_energy_once_it_repeats(seed):
    """After one lap every lap is the same, and its work is none of the sum of stored energies."""
    lap = walk(seed, 100)
    lap = lap - np.linspace(0.0, lap[-1], 100)
    q = np.tile(lap, 3)
    after = run_stops(q, RADII, np.zeros(4), 0.0)
    rounding = 1e-13 * max(1.0, np.abs(q).max())
    np.testing.assert_allclose(after[100:200], after[200:], rtol=0.0, atol=rounding)
    steps = np.diff(q, prepend=0.0)[100:200]
    between = 0.5 * (after[100:200] + after[99:199])
    assert np.all(np.sum(between * steps[:, None], axis=0) >= -100.0 * rounding)


@pytest.mark.parametrize('swing', [0.5, 1.0, 1.5, 4.0])
def test_the_work_of_a_swing_is_the_area_of_its_loop(swing):
    """
    To and fro by `swing` r: none up to r, then 4 c (swing - 1) r a lap.

    The torque is linear between the samples but where it begins to slip: steps of r / 1000 are
    off by less than that part of a lap's way.
    """
    r, c = 0.02, 3.0
    quarter = np.linspace(0.0, swing * r, 1 + round(1000 * swing))
    lap = np.concatenate([quarter, quarter[::-1], -quarter, -quarter[::-1]])
    q = np.concatenate([lap, lap])
    z = run_stops(q, np.array([r]), np.zeros(1), 0.0)[:, 0]
    torque = 0.5 * c / r * (z[1:] + z[:-1])
    work = np.sum((torque * np.diff(q))[len(lap):])
    expected = 4.0 * c * max(swing - 1.0, 0.0) * r
    assert work == pytest.approx(expected, abs=1e-3 * c * 4.0 * swing * r)
