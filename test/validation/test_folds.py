# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Blocks that are held out share no sample, and no neighbour, with what is trained on."""

from hypothesis import given, strategies as st
import numpy as np
from robot_identification.validation.folds import blocked_folds


@given(
    fitted=st.lists(st.booleans(), min_size=60, max_size=200).filter(lambda rows: sum(rows) > 10),
    folds=st.integers(2, 7), gap=st.floats(0.0, 0.5),
)
def test_folds_are_disjoint_with_a_gap(fitted, folds, gap):
    """Each row is held out once; training keeps away from the block by the gap on both sides."""
    fitted = np.array(fitted)
    stamps = 0.02 * np.arange(len(fitted))
    times_held_out = np.zeros(len(fitted), dtype=int)
    pairs = list(blocked_folds(stamps, fitted, folds, gap))
    assert len(pairs) == folds
    for training, held_out in pairs:
        times_held_out += held_out
        assert not np.any(training & held_out)
        assert not np.any(training & ~fitted)
        block = stamps[held_out]
        inside = (stamps >= block.min() - gap) & (stamps <= block.max() + gap)
        assert not np.any(training & inside)
        # And nothing is thrown away without need.
        np.testing.assert_array_equal(training, fitted & ~inside)
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))


def test_blocks_are_contiguous_and_of_equal_size():
    fitted = np.ones(100, dtype=bool)
    fitted[::10] = False
    sizes = []
    for _, held_out in blocked_folds(0.01 * np.arange(100), fitted):
        rows = np.flatnonzero(held_out)
        sizes.append(len(rows))
        np.testing.assert_array_equal(
            rows, [row for row in range(rows[0], rows[-1] + 1) if fitted[row]]
        )
    assert sizes == [18] * 5


@given(
    period=st.floats(1.6, 3.0), folds=st.integers(2, 5), gap=st.floats(0.0, 0.3),
    start=st.floats(-5.0, 5.0),
)
def test_what_repeats_with_a_period_is_held_out_together(period, folds, gap, start):
    """No phase of the motion that is held out, or near such a one, is trained on at any time."""
    stamps = start + 0.02 * np.arange(300)
    fitted = np.arange(300) % 7 > 0
    phase = (stamps - start) % period
    times_held_out = np.zeros(300, dtype=int)
    for training, held_out in blocked_folds(stamps, fitted, folds, gap, period):
        times_held_out += held_out
        apart = np.abs(phase[training][:, None] - phase[held_out])
        # A sample at the very end of the gap may round to either side.
        assert np.minimum(apart, period - apart).min() > gap - 1e-9
        # And nothing is thrown away without need: a block and its gaps, of the whole period.
        assert training.sum() > (1.0 - 1.0 / folds - 2.0 * gap / period - 0.15) * fitted.sum()
    np.testing.assert_array_equal(times_held_out, fitted.astype(int))
