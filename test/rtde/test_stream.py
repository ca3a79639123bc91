# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Samples go on whatever happens to the robot, each of them once and none too late."""

from contextlib import contextmanager
import math
import threading
import time
from types import SimpleNamespace

from fake_rtde_server import Behaviour, CUT, FakeRtdeServer
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.rtde import stream
from robot_identification.rtde.client import RtdeOptions
from robot_identification.rtde.stream import (
    CONNECTING, Delay, judge_arrivals, RECEIVING, REFUSED, RtdeStream,
)

KEYS = ('joint_temperatures',)
DEADLINE = 20.0
SHORTEST, LONGEST = 0.01, 0.04


class Collector:
    def __init__(self, server, **pauses):
        self.kinds, self.stamps = [], []
        self.stream = RtdeStream(
            RtdeOptions('127.0.0.1', KEYS, port=server.port, timeout=10.0, **pauses),
            self.kinds.append, lambda values: self.stamps.append(values['timestamp']),
        )

    def wait_until(self, condition, what):
        end = time.monotonic() + DEADLINE
        tick = threading.Event()
        while not condition(self.stream.status):
            assert time.monotonic() < end, f'waited {DEADLINE} s for {what}: {self.stream.status}'
            tick.wait(0.002)


@contextmanager
def reading(server, shortest=SHORTEST, longest=LONGEST):
    collector = Collector(server, shortest_pause=shortest, longest_pause=longest)
    thread = threading.Thread(target=collector.stream.run)
    thread.start()
    try:
        yield collector
    finally:
        collector.stream.stop()
        thread.join(DEADLINE)
        assert not thread.is_alive(), 'the stream did not stop'


def test_after_a_cut_it_goes_on_with_what_is_new():
    """Each sample once and in order; what the robot said meanwhile is missing, not late."""
    with FakeRtdeServer(Behaviour(fastest=100.0)) as server, reading(server) as collector:
        for connections in (1, 2, 3):
            collector.wait_until(
                lambda status, n=connections: status.connections == n
                and status.state == RECEIVING, 'samples',
            )
            before = len(collector.stamps)
            collector.wait_until(
                lambda status, n=before: len(collector.stamps) > n + 3, 'more samples'
            )
            server.cut()
            collector.wait_until(
                lambda status, n=connections: status.connections > n, 'another connection'
            )
        assert len(collector.kinds) >= 3
    stamps = np.array(collector.stamps)
    assert np.all(np.diff(stamps) > 0.0)
    assert len(stamps) == collector.stream.status.samples
    assert 'connection' in collector.stream.status.reason


def test_pauses_grow_up_to_the_longest():
    """A robot that is not there is not asked in a storm."""
    with FakeRtdeServer() as server:
        server.close()
        with reading(server) as collector:
            found = []
            for attempts in (1, 2, 3, 4, 5):
                collector.wait_until(
                    lambda status, n=attempts: status.attempts >= n and status.pause, 'attempts'
                )
                found.append(collector.stream.status.pause)
            assert collector.stream.status.state == CONNECTING
            assert found == sorted(found)
            collector.wait_until(lambda status: status.pause == LONGEST, 'the longest pause')


def test_a_connection_that_breaks_at_once_is_no_good_one():
    """Pauses grow although the robot answers each time, and are short again after ten seconds."""
    behaviour = Behaviour(samples=1, ending=CUT, paced=False)
    with FakeRtdeServer(behaviour) as server, reading(server) as collector:
        collector.wait_until(lambda status: status.pause == LONGEST, 'the longest pause')
        assert collector.stream.status.connections >= 3
        # More than ten seconds of the robot's time, then nobody.
        server.behaviour = Behaviour(samples=5100, ending=CUT, paced=False)
        collector.wait_until(
            lambda status: status.samples > 5000 and status.pause == SHORTEST, 'a short pause'
        )


def test_who_refuses_is_asked_once_and_then_left_alone():
    """The pause is the longest one at once, and the reason stays to be read."""
    behaviour = Behaviour(versions=(1,))
    with FakeRtdeServer(behaviour) as server, reading(server, longest=1000.0) as collector:
        collector.wait_until(lambda status: status.state == REFUSED, 'a refusal')
        status = collector.stream.status
        assert (status.pause, status.attempts, status.connections) == (1000.0, 1, 0)
        assert 'version 2' in status.reason
        assert server.requests == [['V']]
    assert collector.stamps == []


def test_a_refusal_is_not_for_ever():
    """A robot that was updated meanwhile is read."""
    behaviour = Behaviour(versions=(1,))
    with FakeRtdeServer(behaviour) as server, reading(server, longest=SHORTEST) as collector:
        collector.wait_until(lambda status: status.state == REFUSED, 'a refusal')
        server.behaviour = Behaviour()
        collector.wait_until(lambda status: status.state == RECEIVING, 'samples')


def test_late_samples_are_dropped(monkeypatch):
    """Ten of thirty, which come 0.7 s later than the robot's clock says."""
    late = range(10, 20)
    numbers = iter(range(10**9))

    def now():
        number = next(numbers)
        return 5.0 + number / 500.0 + (0.7 if number in late else 0.0)

    behaviour = Behaviour(samples=30, ending=CUT, paced=False)
    with FakeRtdeServer(behaviour) as server, monkeypatch.context() as patch:
        patch.setattr(stream, 'time', SimpleNamespace(monotonic=now))
        with reading(server, 1000.0, 1000.0) as collector:
            collector.wait_until(lambda status: status.pause, 'the end')
    expected = [100.0 + number / 500.0 for number in range(30) if number not in late]
    # The server adds up its periods.
    assert collector.stamps == pytest.approx(expected, abs=1e-9)
    assert collector.stream.status.late == len(late)
    # A thousandth of the time since the quickest sample may be drift of the clocks.
    assert collector.stream.take_delays().max() == pytest.approx(0.7, abs=1e-4)


@given(offset=st.floats(-1e6, 1e6), drift=st.floats(-1e-4, 1e-4),
       late=st.lists(st.floats(0.0, 2.0), min_size=2, max_size=50))
def test_a_delay_is_that_behind_the_quickest(offset, drift, late):
    """Whatever the offset of the clocks, and as long as they drift less than 1e-3."""
    delay, quickest = Delay(), math.inf
    for number, extra in enumerate(late):
        stamp = 50.0 + 0.002 * number
        found = delay.update(stamp, stamp * (1.0 + drift) + offset + extra)
        quickest = min(quickest, extra)
        # By what the drift and the allowance for it make in 0.1 s, and rounding at 1e6 s.
        assert found == pytest.approx(extra - quickest, abs=2e-4)
        assert found >= 0.0


def test_a_robot_that_was_started_anew_is_not_late():
    delay = Delay()
    assert delay.update(5000.0, 1.0) == 0.0
    assert delay.update(10.0, 2.0) == 0.0
    assert delay.update(10.5, 2.6) == pytest.approx(0.1, abs=1e-3)


@given(period=st.floats(0.002, 1.0), count=st.integers(20, 500), data=st.data())
def test_gaps_are_counted_by_the_robot_s_time(period, count, data):
    """Any samples that are lost, as long as two neighbours remain more often than not."""
    lost = data.draw(st.sets(st.integers(1, count - 2), max_size=count // 5))
    kept = [number for number in range(count) if number not in lost]
    arrivals = judge_arrivals(100.0 + period * np.array(kept))
    assert arrivals.missing == len(lost)
    assert arrivals.samples == len(kept) - 1
    # Stamps near 600 s are rounded to 1e-13 s.
    assert arrivals.rate == pytest.approx(1.0 / period, rel=1e-8)
    assert arrivals.longest == pytest.approx(period * np.diff(kept).max(), rel=1e-8)
