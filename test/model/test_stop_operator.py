# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The stop operator is the plain recursion, remembers what it should, and makes no energy."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from robot_identification.model.friction.stop_operator import run_stops

RADII = np.array([1e-4, 2e-3, 0.05, 0.4])
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


@given(seed=SEEDS, size=st.integers(-3, 6), start=st.floats(-2.0, 2.0))
def test_it_is_the_plain_recursion(seed, size, start):
    """From any deflection, by steps of a thousandth of the radii to a million of them."""
    q = walk(seed) * 10.0**size
    z = np.random.default_rng(seed).uniform(-RADII, RADII)
    expected = plain_stops(q, RADII, z, start)
    away = np.abs(run_stops(q, RADII, z, start) - expected)
    # Rounding is that of sums of the positions.
    assert away.max() <= 1e-15 * 10.0 * max(2.0, np.abs(q).max())


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
