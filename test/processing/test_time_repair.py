# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Time is put in order, turns are counted on, and what cannot be put in order is kept apart."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.processing.repairs import (
    longest_bridged, order_by_time, sampling_period, TURN,
)

PERIOD = 0.008
STAMPS = np.arange(1000) * PERIOD


def run(recording, **options):
    return process(recording, KinematicFilter(), 'A', **options)


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 60)), min_size=1, max_size=40))
def test_messages_that_came_late_are_put_where_they_belong(moves):
    """However many are late, by up to half a second: no clock was set."""
    order = list(range(1000))
    for at, late in moves:
        order.insert(min(at + late, 999), order.pop(at))
    timeline = order_by_time(STAMPS[order])
    assert timeline.steps == ()
    np.testing.assert_array_equal(timeline.stamps, STAMPS)
    if timeline.order is not None:
        np.testing.assert_array_equal(np.array(order)[timeline.order], np.arange(1000))


@pytest.mark.parametrize('step', [0.05, 0.3, 2.0, 2.003, 3.999])
def test_a_clock_that_was_set_back_is_found(step):
    """What comes after goes on from there, with the same intervals, as a part of its own."""
    stamps = STAMPS.copy()
    stamps[500:] -= step
    timeline = order_by_time(stamps)
    (at, found), = timeline.steps
    assert at == pytest.approx(STAMPS[499])
    # The first message after it came a period later.
    assert found == pytest.approx(step - PERIOD, abs=1e-9)
    np.testing.assert_array_equal(timeline.branch, np.arange(1000) >= 500)
    np.testing.assert_allclose(timeline.stamps, STAMPS, atol=1e-9)
    np.testing.assert_array_equal(timeline.order, np.arange(1000))
    assert f'set back by {step - PERIOD:.3f} s' in timeline.notes()[0]


@given(st.integers(0, 2**32 - 1))
def test_disorder_and_duplicates_change_nothing(exact, rows_of, seed):
    """The dataset is that of the clean recording to 1e-9; the duplicates are scored beside it."""
    rng = np.random.default_rng(seed)
    recording = exact.record()
    doubled = np.sort(np.append(np.arange(1000), rng.choice(999, 50, replace=False)))
    is_second = np.diff(doubled, prepend=-1) == 0
    messy = rows_of(recording, doubled)
    stamps = messy.stamps + np.where(
        is_second & (np.arange(len(doubled)) % 2 == 0), 0.3 * PERIOD, 0.0
    )
    order = np.arange(len(doubled))
    for _ in range(20):
        at, late = rng.integers(len(order) - 40), rng.integers(1, 30)
        order[at: at + late + 1] = np.roll(order[at: at + late + 1], -1)
    messy = rows_of(exact.record(messy.stamps, stamps=stamps, effort=messy.effort), order)
    clean, dataset = run(recording), run(messy)
    assert len(dataset) == 1050
    assert dataset.scored.all()
    assert dataset.excluded == {'duplicate (scored, not fitted)': 50}
    assert any('came out of order' in note for note in dataset.notes)
    kept = dataset.fitted
    np.testing.assert_allclose(dataset.stamps[kept], clean.stamps, atol=1e-9)
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_allclose(
            getattr(dataset.motion, name)[kept], getattr(clean.motion, name), atol=1e-9
        )
    np.testing.assert_array_equal(dataset.effort[kept], clean.effort)


@pytest.mark.parametrize('share', [0.0, 0.01, 0.1, 0.2, 0.5, 0.6])
@pytest.mark.parametrize('jitter', [0.0, 0.02])
def test_the_period_is_that_of_the_sampling(share, jitter):
    """Whether or not all samples arrive; the jitter of stamps is averaged to a thousandth."""
    rng = np.random.default_rng(1)
    kept = rng.random(4000) >= share
    stamps = (np.arange(4000) + rng.uniform(-jitter, jitter, 4000))[kept] * PERIOD
    # With jitter the shortest intervals are chosen, which is a little less than the mean.
    assert sampling_period(stamps) == pytest.approx(PERIOD, rel=1e-9 + 0.5 * jitter)


@pytest.mark.parametrize('share', [0.01, 0.1, 0.2, 0.5])
def test_pauses_that_chance_makes_are_no_gaps(share):
    """Nineteen recordings of twenty stay whole, and no pause of a tenth of a second is filled."""
    rng = np.random.default_rng(3)
    whole = 0
    for _ in range(60):
        stamps = STAMPS[rng.random(1000) >= share]
        longest = longest_bridged(stamps, PERIOD)
        assert longest <= 0.1
        whole += np.diff(stamps).max() <= longest
    # 95 % of sixty, less two standard deviations; the cap of 0.1 s counts with every second lost.
    assert whole >= (53 if share < 0.5 else 40)


# --- turns of a joint --------------------------------------------------------------------


@pytest.mark.parametrize('lowest', [0.0, -np.pi])
def test_a_position_within_one_turn_goes_on(exact, lowest):
    """The joint passes the end of the turn both ways; its motion is that of the clean log."""
    recording = exact.record()
    far = recording.q + np.array([lowest + 0.3, 0.0, 0.0])
    kept = far.copy()
    kept[:, 0] = np.mod(far[:, 0] - lowest, TURN) + lowest
    clean, found = (run(replace(recording, q=q)) for q in (far, kept))
    note, = (text for text in found.notes if 'jump by a turn' in text)
    assert 'a ' in note and 'times' in note and 'b ' not in note
    moved = found.motion.q - clean.motion.q
    np.testing.assert_allclose(moved - moved[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.motion.dq, clean.motion.dq, atol=1e-9)
    np.testing.assert_allclose(found.motion.ddq, clean.motion.ddq, atol=1e-7)
    assert not any('jump' in text for text in clean.notes)
