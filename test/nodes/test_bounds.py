# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a parameter may be is decided at once, whatever it is, and said with value and limit."""

from array import array
import math
import re

from hypothesis import given, strategies as st
import pytest
from robot_identification.nodes.bounds import LONGEST_LIST, LONGEST_TEXT, ParameterBounds

SHARE = ParameterBounds(0.0, 1.0)


@given(values=st.lists(st.floats(), max_size=5))
def test_numbers_of_a_list_are_inside_and_finite(values):
    """What is not refused is finite and in the range, each number of it."""
    inside = all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)
    assert (SHARE.refusal('shares', array('d', values)) == '') == inside


@pytest.mark.parametrize(
    ('bounds', 'value', 'reason'),
    [
        (SHARE, 1.5, 'x is 1.5, allowed are 0 to 1'),
        (SHARE, array('d', [0.0, -1.0]), r'x\[1\] is -1.0, allowed are 0 to 1'),
        (SHARE, math.nan, 'x is nan, a finite number is needed'),
        (ParameterBounds(choices=('A', 'Nm')), 'mA', "x is 'mA', it must be 'A' or 'Nm'"),
        (ParameterBounds(), 'x' * (LONGEST_TEXT + 1), 'x has 4097 characters, at most 4096'),
        (ParameterBounds(), ['a', 'b\n'], r"x\[1\] is 'b\\n': control characters"),
        (ParameterBounds(), [0] * (LONGEST_LIST + 1), 'x has 257 entries, at most 256'),
    ],
)
def test_a_reason_names_value_and_limit(bounds, value, reason):
    assert re.search(reason, bounds.refusal('x', value))
