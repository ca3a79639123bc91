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

"""Losses are counted from stamps: what is missing counts, what is late does not."""

import struct

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.nodes.recording_losses import stamp_of
from robot_identification.nodes.recording_losses import StampCounter

START = 1_700_000_000 * 10**9
# 500 and 125 Hz [ns].
PERIODS = st.sampled_from([2_000_000, 8_000_000])


def count(stamps, delays=None):
    """Return the counter after messages with these stamps, that arrive a millisecond later."""
    counter = StampCounter()
    delays = np.full(len(stamps), 1_000_000) if delays is None else delays
    for stamp, delay in zip(stamps, delays, strict=True):
        counter.add(int(stamp), int(stamp + delay))
    return counter


@settings(max_examples=50, deadline=None)
@given(period=PERIODS, seed=st.integers(0, 1000), dropped=st.integers(0, 40))
def test_what_is_dropped_is_counted(period, seed, dropped):
    """Any messages missing between the first and the last, alone or in rows, are all counted."""
    rng = np.random.default_rng(seed)
    kept = np.ones(600, dtype=bool)
    kept[rng.choice(np.arange(1, 599), dropped, replace=False)] = False
    # A driver's stamps lie within a tenth of a period of its clock.
    jitter = rng.uniform(-0.1, 0.1, 600) * period
    counter = count((START + period * np.arange(600) + jitter)[kept])
    assert counter.lost == dropped
    assert counter.duplicates == counter.jumps == 0


@settings(max_examples=50, deadline=None)
@given(period=PERIODS, late=st.integers(1, 20), where=st.integers(1, 500))
def test_a_late_publisher_that_catches_up_loses_nothing(period, late, where):
    """A pause of the publisher, then the messages that were due, at once."""
    stamps = START + period * np.arange(600)
    end = min(where + late, 599)
    resumed = stamps[end]
    stamps[where:end] = resumed + 1000 * np.arange(end - where)
    stamps[end] = resumed + 1000 * (end - where)
    assert count(stamps).lost <= 1  # the pause itself may round to one period more


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), repeated=st.integers(0, 30))
def test_duplicates_are_counted_apart(seed, repeated):
    """A stamp that comes twice is a duplicate and no loss."""
    rng = np.random.default_rng(seed)
    stamps = START + 2_000_000 * np.arange(300)
    again = rng.choice(stamps, repeated, replace=False)
    counter = count(np.sort(np.concatenate([stamps, again])))
    assert (counter.duplicates, counter.lost) == (repeated, 0)


@pytest.mark.parametrize('jump', [-100.0, 60.0])
def test_a_clock_that_was_set_is_no_loss(jump):
    """Stamps jump, arrivals do not: 60 s are not 30000 lost messages."""
    stamps = START + 2_000_000 * np.arange(400)
    delays = np.full(400, 1_000_000)
    stamps[200:] += int(jump * 1e9)
    delays[200:] -= int(jump * 1e9)
    counter = count(stamps, delays)
    assert (counter.jumps, counter.lost) == (1, 0)


def test_a_silence_is_a_loss():
    """Nothing arrived for a minute in which 500 messages a second were due."""
    stamps = START + 2_000_000 * np.arange(400)
    stamps[200:] += 60 * 10**9
    counter = count(stamps)
    assert (counter.jumps, counter.lost) == (0, 30_000)


def test_a_stalled_recorder_is_no_clock_that_was_set():
    """What waited in the queue arrives late, and what did not fit into it is lost."""
    stamps = START + 2_000_000 * np.concatenate([np.arange(200), np.arange(900, 1200)])
    delays = np.full(500, 1_000_000)
    # The recorder stood still for six seconds: its queue held the latest messages only.
    delays[200:] = np.maximum(6 * 10**9 - 2_000_000 * np.arange(300), 1_000_000)
    counter = count(stamps, delays)
    assert (counter.jumps, counter.lost) == (0, 700)


def test_a_topic_without_a_period_loses_nothing():
    """What is published on change has pauses, not gaps."""
    rng = np.random.default_rng(1)
    stamps = START + np.cumsum(rng.exponential(1e9, 300)).astype(np.int64)
    counter = count(stamps)
    assert counter.lost == 0
    assert counter.period == 0.0


def test_the_period_is_known_and_absent_stamps_are_not_counted():
    """A stamp of zero was never set."""
    counter = count(START + 8_000_000 * np.arange(50))
    assert counter.period == pytest.approx(0.008, rel=1e-12)
    silent = count(np.zeros(50, dtype=np.int64))
    assert (silent.lost, silent.duplicates, silent.jumps) == (0, 0, 0)


@given(seconds=st.integers(0, 2**31 - 1), nanoseconds=st.integers(0, 10**9 - 1))
def test_a_stamp_is_read_from_either_byte_order(seconds, nanoseconds):
    """The second byte of a serialised message says which it is."""
    expected = seconds * 10**9 + nanoseconds
    little = bytes([0, 1, 0, 0]) + struct.pack('<iI', seconds, nanoseconds) + bytes(8)
    big = bytes([0, 0, 0, 0]) + struct.pack('>iI', seconds, nanoseconds) + bytes(8)
    assert stamp_of(little) == stamp_of(big) == expected
    assert stamp_of(little[:11]) == stamp_of(b'') == 0
