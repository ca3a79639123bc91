# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Whatever happens, in whatever order: no torque without an operator, and none after a fault."""

import math

from hypothesis import given, strategies as st
import pytest
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.studies.break_away import (
    ARMED, BreakAwaySession, BreakAwaySettings, BreakAwayTest, DONE, FAULT, JointReading, TESTING,
)
from robot_identification.studies.break_away.session import ARMED_SECONDS, ENDING, ZERO_SECONDS

STEP = 0.004
SETTINGS = BreakAwaySettings(
    torque_cap=0.5, torque_limit=0.6, inertia=0.01, settle_time=0.01, ramp_rate=2.0, repeats=2,
    longest_gap=0.1,
)
TEXT = 'break_away wheel 0.5 Nm'


class Bench:
    """A session beside a joint that begins to turn at 0.1 N m, and a clock."""

    def __init__(self):
        self.session = BreakAwaySession()
        self.now, self.q, self.dq, self.torque = 10.0, 0.0, 0.0, 0.0
        self.other, self.sent, self.problem = 0.3, [], ''

    def reading(self):
        return JointReading(self.now, self.q, self.dq, 0.0, {'held': (self.other, 0.0)})

    def send(self, torque):
        """Keep what is sent: the torque acts until the next one."""
        if torque is not None:
            self.sent.append((self.session.state, torque))
            self.torque = torque

    def arm(self):
        self.session.check_not_busy()
        self.session.arm(TEXT, self.now)

    def execute(self, text=TEXT):
        self.session.check_not_busy()
        self.session.check_armed()
        self.session.check_confirmed(text, self.now)
        self.session.begin(BreakAwayTest(SETTINGS, self.q), self.reading(), 'testing')

    def live(self, seconds):
        """Let time pass, in which joint states come."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            # Coulomb friction of 0.1 N m, which holds what does not move.
            driving = self.torque - math.copysign(0.1, self.dq or self.torque)
            if self.dq or abs(self.torque) > 0.1:
                before = self.dq
                self.dq += driving / SETTINGS.inertia * STEP
                if before * self.dq < 0.0:
                    self.dq = 0.0
            self.q += self.dq * STEP
            self.send(self.session.receive(self.reading(), self.now, self.now))
            self.watch()

    def silent(self, seconds):
        """Let time pass without joint states."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self.watch()

    def watch(self):
        self.send(self.session.watch(self.now, self.problem))
        if self.session.has_ended(self.now):
            self.session.leave()


@pytest.fixture
def bench():
    made = Bench()
    made.arm()
    made.execute()
    return made


def test_the_test_ends_with_zero_torque_and_its_ramps(bench):
    bench.live(60.0)
    assert bench.session.state == DONE
    assert len(bench.session.test.repeats) == 4
    # It breaks away at 0.1 N m; the ramp of 2 N m/s grows for 25 ms more, in which the joint of
    # 0.01 kg m^2 travels the 0.5 mrad of the onset, and by two steps of 4 ms.
    assert all(0.1 <= one.onset_torque <= 0.166 for one in bench.session.test.repeats)
    assert bench.torque == 0.0


@pytest.mark.parametrize(('what', 'words'), [
    (lambda bench: setattr(bench, 'other', 0.4), 'held has moved by 0.100 rad'),
    (lambda bench: setattr(bench, 'other', math.nan), 'where held is'),
    (lambda bench: setattr(bench, 'problem', 'another commander'), 'another commander'),
    (lambda bench: bench.silent(0.2), 'no new joint state for'),
    (lambda bench: bench.send(bench.session.abort(bench.now)), 'aborted by a call'),
    (lambda bench: bench.send(bench.session.fail('internal error', bench.now)), 'internal error'),
    (lambda bench: setattr(bench, 'dq', 2.0), 'the limit is 1.5'),
])
def test_a_fault_makes_the_torque_zero_and_stays(bench, what, words):
    """At once and for half a second; a new arming is needed to go on."""
    while not bench.torque:
        bench.live(STEP)
    what(bench)
    bench.live(STEP)
    assert bench.session.state == ENDING
    assert words in bench.session.reason
    assert bench.torque == 0.0
    assert not bench.session.rests(bench.now)
    bench.live(2.0 * ZERO_SECONDS)
    assert bench.session.state == FAULT
    ending = [torque for state, torque in bench.sent if state == ENDING]
    assert set(ending) == {0.0}
    assert len(ending) > 0.9 * ZERO_SECONDS / STEP
    assert bench.session.rests(bench.now)
    with pytest.raises(UsageError, match='not armed: the state is FAULT'):
        bench.execute()


EVENTS = {
    'arm': Bench.arm,
    'execute': Bench.execute,
    'execute another': lambda bench: bench.execute('another'),
    'live': lambda bench: bench.live(0.3),
    'silent': lambda bench: bench.silent(0.15),
    'abort': lambda bench: bench.send(bench.session.abort(bench.now)),
    'fail': lambda bench: bench.send(bench.session.fail('an error', bench.now)),
    'disarm': lambda bench: bench.session.check_not_busy() or bench.session.disarm('by hand'),
    'move the other': lambda bench: setattr(bench, 'other', bench.other + 0.1),
    'push': lambda bench: setattr(bench, 'dq', bench.dq + 1.0),
}


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=30))
def test_no_order_of_events_leaves_a_torque(names):
    """It acts in TESTING alone, after an arming of less than a minute, within its limit."""
    bench, armed_at = Bench(), -math.inf
    for name in names:
        before = bench.session.state
        try:
            EVENTS[name](bench)
        except IdentificationError:
            assert bench.session.state == before
        if name == 'arm' and bench.session.state == ARMED:
            armed_at = bench.now
        if bench.session.state == TESTING and before != TESTING:
            assert name == 'execute'
            assert before == ARMED
            assert bench.now - armed_at <= ARMED_SECONDS
        if bench.session.state != TESTING:
            assert bench.torque == 0.0
    assert all(
        abs(torque) <= SETTINGS.torque_limit and (state == TESTING or torque == 0.0)
        for state, torque in bench.sent
    )
