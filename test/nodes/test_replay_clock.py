# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The time of a replay is that of its stamps, and its second pass is known."""

import struct

from hypothesis import given, strategies as st
from robot_identification.nodes.replay_clock import ReplayClock

NANOSECONDS = 1_000_000_000
START = 1_700_000_000 * NANOSECONDS
STEP = 8_000_000


def message(stamp, content=b''):
    return b'\x00\x01\x00\x00' + struct.pack('<iI', *divmod(stamp, NANOSECONDS)) + content


def times(messages, arrivals=None):
    clock, found = ReplayClock(), []
    for k, data in enumerate(messages):
        clock.tick(data, k if arrivals is None else arrivals[k])
        found.append(clock.now)
    return found, clock


@given(st.lists(st.integers(0, 10 * NANOSECONDS), min_size=1, max_size=50), st.data())
def test_growing_stamps_are_the_time(steps, data):
    """Whenever they arrive: the rate of the replay has no effect."""
    stamps = [START + sum(steps[: k + 1]) for k in range(len(steps))]
    arrivals = data.draw(st.lists(
        st.integers(0, 2**62), min_size=len(steps), max_size=len(steps)
    ))
    found, clock = times([message(stamp) for stamp in stamps], arrivals)
    assert found == stamps
    assert (clock.jumps, clock.has_come_round) == (0, False)


@given(st.permutations(range(20)))
def test_time_never_goes_back(order):
    """Messages that overtook each other keep the latest time; that is no jump."""
    found, clock = times([message(START + k * STEP) for k in order])
    assert found == sorted(found)
    assert found[-1] == START + 19 * STEP
    assert clock.jumps == 0


@given(st.integers(2 * NANOSECONDS // STEP, 400), st.data())
def test_a_second_pass_is_known(count, data):
    """By its first message, or by a later one where that was lost, and from any beginning."""
    bag = [message(START + k * STEP, bytes([k % 251])) for k in range(count)]
    joined = data.draw(st.integers(0, count - 1))
    lost = data.draw(st.sets(st.integers(0, count - 1), max_size=count // 4))
    played = bag[joined:] + bag[:joined]
    found, clock = times(played)
    assert not clock.has_come_round
    assert clock.jumps == (1 if joined else 0)
    assert found == sorted(found)
    for k, data in enumerate(played):
        if k not in lost:
            clock.tick(data, 0)
            assert clock.has_come_round
    assert clock.now == found[-1]


def test_a_message_that_is_sent_twice_is_no_second_pass():
    """Nor is a driver whose clock is set back: what it sends then is new."""
    first, second = message(START, b'a'), message(START + STEP, b'b')
    found, clock = times([first, first, second, first])
    assert not clock.has_come_round
    assert found == [START, START, START + STEP, START + STEP]
    clock.tick(message(START - 5 * NANOSECONDS, b'c'), 0)
    assert (clock.jumps, clock.has_come_round) == (1, False)
    # One usual step on.
    assert clock.now == START + 2 * STEP


def test_a_simulated_clock_may_begin_at_zero():
    """A first stamp of zero is then the time of arrival, and others follow it."""
    found, clock = times([message(k * STEP) for k in range(5)], [0] * 5)
    assert found == [k * STEP for k in range(5)]
    assert not clock.has_come_round
