# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A joint state counts by its stamp: what waited is old, what repeats itself says nothing."""

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.execution.joint_state_monitor import (
    JointStateMonitor, LARGEST_LEAD, Measurement,
)

CYCLE = 0.008
STAMP, NOW = 1000.0, 50.0
EFFORT = np.zeros(2)


def state(time):
    return np.array([time, -time]), np.array([1.0, -1.0])


def add(monitor, stamp, place, now, *waited, **options):
    """Let a monitor take a joint state that arrives now; return whether it shows life."""
    return monitor.add(Measurement(stamp, now, now, *place, EFFORT), *waited, **options)


def fed(duration, pace=1.0, jitter=0.0, simulated=False):
    """Return a monitor after a while of regular joint states, and the time then."""
    monitor = JointStateMonitor(simulated=simulated)
    rng = np.random.default_rng(0)
    for k in range(round(duration / CYCLE) + 1):
        add(
            monitor, STAMP + pace * k * CYCLE, state(k * CYCLE),
            NOW + k * CYCLE + jitter * rng.random(), CYCLE,
        )
    return monitor, k * CYCLE


@settings(max_examples=20)
@given(pace=st.floats(0.1, 10.0))
def test_the_pace_of_a_simulation_is_found(pace):
    """And its states are as new as they are."""
    monitor, time = fed(2.0, pace, simulated=True)
    assert monitor.pace == pytest.approx(pace, rel=1e-6)
    assert monitor.age(NOW + time) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=20)
@given(pause=st.floats(0.3, 10.0), waiting=st.integers(1, 5))
def test_what_waited_in_a_queue_is_as_old_as_its_stamp_says(pause, waiting):
    """A process that did not run reads old messages first; the first new one is new."""
    monitor, time = fed(1.0)
    for k in range(1, waiting + 1):
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), NOW + time + pause)
        # Jitter of the arrivals is none here: exact but for the forgetting of a cycle of 20 ms.
        assert monitor.age(NOW + time + pause) == pytest.approx(pause - k * CYCLE, rel=0.25)
    later = time + pause + CYCLE
    add(monitor, STAMP + later, state(later), NOW + later)
    assert monitor.age(NOW + later) < 0.01


@pytest.mark.parametrize('what', ['stamp', 'place'])
def test_repetitions_show_no_life(what):
    """The same stamp, or the same place of an arm that moves; a new one of both does."""
    monitor, time = fed(1.0)
    last = monitor.latest
    for k in range(1, 40):
        stamp = last.stamp if what == 'stamp' else last.stamp + k * CYCLE
        q, dq = (last.q, last.dq) if what == 'place' else state(time + k * CYCLE)
        assert not add(monitor, stamp, (q, dq), NOW + time + k * CYCLE)
    now = time + 40 * CYCLE
    assert monitor.age(NOW + now) == pytest.approx(40 * CYCLE)
    assert 'repeat the same one for 0.32 s' in monitor.silence(NOW + now)
    assert add(monitor, STAMP + now, state(now), NOW + now)
    assert monitor.age(NOW + now) < 0.01


def test_an_arm_at_rest_may_say_the_same_again():
    """Its place does not change, its stamps do."""
    monitor, time = fed(1.0)
    q = state(time)[0]
    for k in range(1, 100):
        now = time + k * CYCLE
        assert add(monitor, STAMP + now, (q, np.zeros(2)), NOW + now)


@given(jump=st.one_of(
    st.floats(-1e6, -0.001), st.floats(LARGEST_LEAD + CYCLE + 0.001, 1e6)
))
def test_a_clock_that_is_set_is_a_jump(jump):
    """Noticed once, by its size; states after it are as new as they were before."""
    monitor, time = fed(1.0)
    later = time + CYCLE
    add(monitor, STAMP + time + jump, state(later), NOW + later)
    assert monitor.jump == pytest.approx(jump, abs=1e-6)
    monitor.forget_jump()
    later += CYCLE
    add(monitor, STAMP + time + jump + CYCLE, state(later), NOW + later)
    assert monitor.jump == 0.0
    assert monitor.age(NOW + later) < 0.02


def test_a_simulation_that_pauses_is_not_late():
    """Its clock stood still as well; a real driver's does not."""
    for simulated in (False, True):
        monitor, time = fed(1.0, simulated=simulated)
        now = NOW + time + 0.5
        add(monitor, STAMP + time + CYCLE, state(time + CYCLE), now, 0.02)
        assert (monitor.age(now) < 0.03) == simulated


def test_a_pace_that_changed_is_learned_from_states_that_did_not_wait():
    """A simulation that becomes ten times slower: eight seconds later its states are new again."""
    monitor, time = fed(1.0, pace=10.0, simulated=True)
    stamp = monitor.latest.stamp
    for k in range(1, 1000):
        now = NOW + time + k * CYCLE
        add(monitor, stamp + k * CYCLE, state(time + k * CYCLE), now, CYCLE)
    assert monitor.pace == pytest.approx(1.0)
    assert now - monitor.latest.taken_after < 0.1


@pytest.mark.parametrize('simulated', [False, True])
@given(late=st.floats(0.01, 1.0), calm=st.floats(0.0, 1.0))
def test_one_late_state_leaves_no_wrong_pace(simulated, late, calm):
    """Eight seconds later its states are known to be new; a real arm's pace is never doubted."""
    monitor, time = fed(calm, simulated=simulated)
    for k in range(1, 1000):
        arrival = time + max(k * CYCLE, late)
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), NOW + arrival, CYCLE)
        assert simulated or monitor.pace == 1.0
    assert monitor.pace == pytest.approx(1.0, abs=1e-6)
    # A delay of 1 s is forgotten but for exp(-7 / 2) of it.
    now = NOW + time + k * CYCLE
    assert now - monitor.latest.taken_after < 0.05


@given(growth=st.floats(0.07, 0.9))
def test_a_delay_that_grows_is_noticed(growth):
    """As of a queue that is emptied too slowly: never as if the states were new."""
    monitor, time = fed(1.0)
    oldest = 0.0
    for k in range(1, 500):
        now = NOW + time + k * CYCLE * (1.0 + growth)
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), now, CYCLE)
        oldest = max(oldest, monitor.age(now))
    assert oldest > 0.2


def test_jitter_of_the_arrivals_is_no_delay():
    """Messages that come up to 20 ms late, by chance, stay younger than 50 ms."""
    monitor, time = fed(5.0, jitter=0.02)
    assert monitor.age(NOW + time + 0.02) < 0.05
