# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Losses are counted from the publisher's numbers: gaps count, bursts and restarts do not."""

import struct

from hypothesis import given, settings, strategies as st
import pytest
from robot_identification.nodes.direct_subscription import LossCounter
from robot_identification.nodes.recording_types import stamp_of


def count(numbers, publishers=1):
    counter = LossCounter()
    for number in numbers:
        counter.add(number, publishers)
    return counter


@settings(max_examples=50, deadline=None)
@given(kept=st.sets(st.integers(1, 500), min_size=1))
def test_what_is_missing_between_the_first_and_the_last_is_lost(kept):
    """Alone or in rows, and none before the first: who joins late has lost nothing."""
    assert count(sorted(kept)).lost == max(kept) - min(kept) + 1 - len(kept)


def test_a_publisher_that_is_started_anew_loses_nothing():
    """Its numbers begin again, or anywhere when it was met late, once the old one was missed."""
    counter = count([7, 8, 9, 1, 2, 4])
    assert counter.lost == 1
    counter.update(0)
    counter.add(5000, 1)
    assert counter.lost == 1
    counter.update(1)
    counter.add(5002, 1)
    assert counter.lost == 2


@pytest.mark.parametrize('number', [None, 0], ids=['none', 'zero'])
def test_without_numbers_the_middleware_counts(number):
    """And with them it does not, as both would count the same messages."""
    counter = count([1, 2, 5])
    counter.report(2)
    assert counter.lost == 2
    counter.add(number, 1)
    counter.report(3)
    assert counter.lost == 5


@settings(max_examples=50, deadline=None)
@given(numbers=st.lists(st.integers(1, 10**9)))
def test_several_publishers_are_not_told_apart(numbers):
    """Nothing is invented from numbers in any order; what the middleware reports counts."""
    counter = count(numbers, publishers=2)
    assert counter.lost == 0
    counter.add(1, 2)
    counter.report(4)
    # One is left: from its next number on they tell again.
    for number in (100, 101, 103):
        counter.add(number, 1)
    counter.report(1)
    assert counter.lost == 5


@given(seconds=st.integers(0, 2**31 - 1), nanoseconds=st.integers(0, 10**9 - 1))
def test_a_stamp_is_read_from_either_byte_order(seconds, nanoseconds):
    """The second byte of a serialized message says which it is."""
    expected = seconds * 10**9 + nanoseconds
    little = bytes([0, 1, 0, 0]) + struct.pack('<iI', seconds, nanoseconds) + bytes(8)
    big = bytes([0, 0, 0, 0]) + struct.pack('>iI', seconds, nanoseconds) + bytes(8)
    assert stamp_of(little) == stamp_of(big) == expected
    assert stamp_of(little[:11]) == stamp_of(b'') == 0
