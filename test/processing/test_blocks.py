# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rows are taken as they are told, in blocks where there are many."""

import numpy as np
import pytest
from robot_identification.processing import blocks
from robot_identification.processing.blocks import block_of, row_blocks, take_rows

VALUES = np.arange(200.0).reshape(100, 2)
CHOICES = [None, slice(10, 90), np.random.default_rng(0).permutation(100)[:70]]


@pytest.mark.parametrize('rows', CHOICES, ids=['all', 'some', 'any order'])
def test_blocks_are_the_rows_one_after_the_other(monkeypatch, rows):
    monkeypatch.setattr(blocks, 'BLOCK_ROWS', 16)
    expected = VALUES if rows is None else VALUES[rows]
    taken = take_rows(VALUES, rows)
    np.testing.assert_array_equal(taken, expected)
    parts = [block_of(VALUES, rows, block) for block in row_blocks(len(expected))]
    assert max(map(len, parts)) == 16
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_consecutive_rows_are_not_copied():
    assert np.shares_memory(take_rows(VALUES, slice(10, 90)), VALUES)
    assert take_rows(VALUES, None) is VALUES
