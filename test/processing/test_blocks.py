# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rows are taken as they are told, in blocks where there are many."""

from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
import numpy as np
import pytest
from robot_identification import arrays
from robot_identification.arrays import span_of
from robot_identification.processing import blocks
from robot_identification.processing.blocks import (
    chosen_rows, mask_where, row_blocks, take_off, thin_chosen,
)


@given(
    masks=st.integers(1, 60).flatmap(lambda size: drawn_arrays(bool, (2, size))),
    value=st.booleans(), most=st.integers(1, 20), in_file=st.booleans(),
)
def test_masks_are_what_they_are_in_one_piece(masks, value, most, in_file):
    """In blocks of seven rows, in memory or on the disk, with any of the rows chosen or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, 'BLOCK_ROWS', 7)
        patch.setattr(arrays, 'slices_of', row_blocks)
        patch.setattr(arrays, 'LARGEST_IN_MEMORY', 0 if in_file else 100)
        first, other = masks
        mask = mask_where(len(first), lambda block: first[block])
        np.testing.assert_array_equal(mask, first)
        chosen = np.flatnonzero(first == value)
        np.testing.assert_array_equal(chosen_rows(mask, value), chosen)
        np.testing.assert_array_equal(
            thin_chosen(mask, most), np.flatnonzero(first)[:: max(first.sum() // most, 1)]
        )
        span = span_of(mask)
        assert not first[: span.start].any() and not first[span.stop:].any()
        assert not first.any() or (first[span.start] and first[span.stop - 1])
        assert take_off(mask, other, value) == np.count_nonzero(first & (other == value))
        np.testing.assert_array_equal(mask, first & (other != value))
