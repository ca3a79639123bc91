# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a parameter may be is decided at once, whatever it is, and said with value and limit."""

from array import array
import math
import re
import time
import tracemalloc

from hypothesis import given, strategies as st
import pytest
from robot_identification.errors import UsageError
from robot_identification.nodes.bounds import LONGEST_LIST, LONGEST_TEXT, ParameterBounds

SHARE = ParameterBounds(0.0, 1.0)


@given(values=st.lists(st.floats(), max_size=5))
def test_numbers_of_a_list_are_inside_and_finite(values):
    """What is not refused is finite and in the range, each number of it."""
    inside = all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)
    assert (SHARE.refusal('shares', array('d', values)) == '') == inside


@given(value=st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none(),
                       st.lists(st.text(), max_size=3)))
def test_a_refusal_is_one_line(value):
    """Whatever is given, the answer is empty or one line of printable letters."""
    for bounds in (SHARE, ParameterBounds(), ParameterBounds(choices=('A', 'Nm'), longest=3)):
        assert bounds.refusal('x', value).isprintable()


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


def test_a_hundred_million_numbers_are_refused_at_once():
    """In less than 50 ms and 10 MB: nothing looks at the entries."""
    many = range(100_000_000)
    tracemalloc.start()
    began = time.perf_counter()
    reason = SHARE.refusal('x', many)
    seconds = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reason == 'x has 100000000 entries, at most 256 are allowed'
    assert seconds < 0.05
    assert peak < 10e6


def test_a_check_of_ones_own_has_the_last_word():
    """Its error becomes the reason; what the bounds refuse does not reach it."""
    def check(value):
        raise UsageError(f'{value} is not wanted')

    assert ParameterBounds(check=check).refusal('x', 'a') == 'x: a is not wanted'
    assert 'is not wanted' not in ParameterBounds(longest=1, check=check).refusal('x', 'ab')
