# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A break-away test with an operator: armed, executed, ended. No clock and no ROS.

Every end of a test makes the torque zero, which is then sent repeatedly; a fault is latched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import math

from robot_identification.errors import UnsafeMotionError, UsageError
from robot_identification.studies.break_away.procedure import BreakAwayTest, Phase

IDLE, ARMED, TESTING, ENDING, DONE, FAULT = (
    'IDLE', 'ARMED', 'TESTING', 'ENDING', 'DONE', 'FAULT'
)
ARMED_SECONDS = 60.0  # [s] (docs/break_away.md); chosen: as of the experiment runner
# Zero is sent repeatedly for so long [s]; chosen: 25 messages, as one may be lost.
ZERO_SECONDS = 0.5
# Of a joint that is held [rad] (docs/break_away.md); chosen: one that is held yields less.
OTHERS_TRAVEL = 0.05


@dataclass(frozen=True)
class JointReading:
    """A joint state as far as the test of one joint needs it."""

    stamp: float  # of its header [s]
    # Of the tested joint, as the model counts [rad], [rad/s]; NaN where the message has none.
    q: float
    dq: float
    effort: float  # of the tested joint, in the driver's unit; NaN where the message has none
    # Positions [rad] and velocities [rad/s] of the other joints, as the driver has them.
    others: Mapping[str, tuple[float, float]]


class BreakAwaySession:
    """
    States of a test: IDLE, ARMED, TESTING, ENDING (the torque is zero), then DONE or FAULT.

    Methods take the present time [s] where they need it. What returns a torque returns that to
    send now [N m], None for nothing. `unit_of` returns a unit of another joint, by its name.
    """

    def __init__(self) -> None:
        self.state, self.reason = IDLE, 'waiting for a joint'
        self.test: BreakAwayTest | None = None
        self.unit_of: Callable[[str, str], str] = lambda joint, unit: unit
        self._text, self._armed_at = '', -math.inf
        self._stamp, self._new_at = math.nan, -math.inf
        self._others: dict[str, float] = {}
        self._zero_until = -math.inf

    @property
    def is_busy(self) -> bool:
        """Return whether torques are sent."""
        return self.state in (TESTING, ENDING)

    def silence(self, now: float) -> float:
        """Return for how long no joint state with a new stamp has come [s]."""
        return now - self._new_at

    def rests(self, now: float) -> bool:
        """Return whether zero has been sent often enough after the last test."""
        return not self.is_busy and now > self._zero_until

    # Arming

    def check_not_busy(self) -> None:
        """Raise UsageError while a test runs or ends."""
        if self.is_busy:
            raise UsageError(f'BUSY: {self.state}')

    def disarm(self, reason: str) -> None:
        """Forget what was armed; a fault stays one."""
        self.state, self.reason = FAULT if self.state == FAULT else IDLE, reason

    def arm(self, text: str, now: float) -> None:
        """Be ready, for a while and one execution, for what the operator has typed."""
        self.state, self._text, self._armed_at, self.test = ARMED, text, now, None
        self.reason = f'armed for {ARMED_SECONDS:.0f} s: {text}'

    def check_armed(self) -> None:
        """Raise UsageError if it is not armed."""
        if self.state != ARMED:
            raise UsageError(f'not armed: the state is {self.state}, {self.reason}')

    def check_confirmed(self, text: str, now: float) -> None:
        """Raise UnsafeMotionError if what was armed is outdated, or not what would be done."""
        self._check_in_time(now)
        if text != self._text:
            raise UnsafeMotionError(
                f'{self._text} was armed, and {text} would be executed: the joint was moved, arm '
                'again'
            )

    def _check_in_time(self, now: float) -> None:
        if now > self._armed_at + ARMED_SECONDS:
            raise UnsafeMotionError(f'armed more than {ARMED_SECONDS:.0f} s ago: arm again')

    # Testing

    def begin(self, test: BreakAwayTest, reading: JointReading, reason: str) -> None:
        """Begin a test, while the other joints stand as they are read."""
        self.check_armed()
        self.test = test
        self._others = {name: position for name, (position, _) in reading.others.items()}
        self.state, self.reason = TESTING, reason

    def receive(self, reading: JointReading | None, stamp: float, now: float) -> float | None:
        """Return the torque that answers a joint state of a stamp [s]; None: another joint's."""
        if self.state == TESTING and reading is None:
            # Of another broadcaster; if it is the only one, silence ends the test.
            return None
        if stamp != self._stamp:
            self._stamp, self._new_at = stamp, now
        if self.state != TESTING or self.test is None or reading is None:
            return None
        problem = self._moved(reading)
        if problem:
            return self.fail(problem, now)
        torque = self.test.step(reading.stamp, reading.q, reading.dq, reading.effort)
        return self._end(self.test.reason, now) if self.test.has_ended else torque

    def watch(self, now: float, problem: str = '') -> float | None:
        """Look at the time, and at a problem that the surroundings have; to be called often."""
        if self.state == ARMED:
            try:
                self._check_in_time(now)
            except UnsafeMotionError as error:
                self.disarm(str(error))
        if self.state == ENDING:
            return 0.0
        if self.state != TESTING or self.test is None:
            return None
        longest = self.test.settings.longest_gap
        if self.silence(now) > longest:
            problem = (
                f'no new joint state for {self.silence(now):.2f} s, at most {longest:g} s'
            )
        return self.fail(problem, now) if problem else None

    def abort(self, now: float) -> float | None:
        """End a test as an operator asks for it, or disarm."""
        if self.state == ARMED:
            self.disarm('disarmed')
        return self.fail('aborted by a call', now) if self.state == TESTING else None

    def fail(self, reason: str, now: float) -> float | None:
        """Make the torque zero at once; FAULT is latched when that was sent often enough."""
        if self.state == TESTING and self.test is not None:
            self.test.abort(reason)
            return self._end(reason, now)
        if self.state == ENDING:
            return 0.0
        # Nothing was sent, and nothing is.
        self.state, self.reason = FAULT, reason
        return None

    def _end(self, reason: str, now: float) -> float:
        self._zero_until = now + ZERO_SECONDS
        self.state, self.reason = ENDING, f'torque zero: {reason}'
        return 0.0

    def has_ended(self, now: float) -> bool:
        """Return whether a test has ended whose result was not concluded yet."""
        return self.state == ENDING and now > self._zero_until

    def leave(self) -> BreakAwayTest:
        """Go to the state in which the test ended, DONE or FAULT, and return the test."""
        assert self.test is not None
        self.state = DONE if self.test.phase is Phase.DONE else FAULT
        self.reason = self.test.reason
        return self.test

    def _moved(self, reading: JointReading) -> str:
        """Return which other joint is not where it was, or not seen; empty if all are held."""
        for name, before in self._others.items():
            position, _ = reading.others.get(name, (math.nan, math.nan))
            if math.isnan(position):
                return (
                    f'joint states do not show any more where {name} is: the other joints must be '
                    'seen to be held'
                )
            moved = abs(position - before)
            if not moved <= OTHERS_TRAVEL:
                unit = self.unit_of(name, 'rad')
                return (
                    f'{name} has moved by {moved:.3f} {unit}, the limit is {OTHERS_TRAVEL:g} '
                    f'{unit}: the other joints must be held'
                )
        return ''
