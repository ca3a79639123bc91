# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Rows are taken as they are told, in blocks where there are many."""

import numpy as np
import pytest
from robot_identification.processing import blocks
from robot_identification.processing.blocks import block_of
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.blocks import take_rows

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
