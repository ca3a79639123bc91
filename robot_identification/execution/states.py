# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The states of an execution, each with all that it remembers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.execution.events import Plan
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.watch import MotionWatch, WatchLimits

APPROACHING, EXECUTING = 'APPROACHING', 'EXECUTING'
# Of what waits in the controller on a topic, where no hold of the arm can be proved.
WAITING = (
    'the controller goes on with its motion when the arm is released or the slider moved, as no '
    'hold is proved'
)
ON_PATH, WHERE_IT_IS, BY_ITSELF = 'on the path', 'where it is', 'by itself'
AS_PLANNED = 'as planned'


@dataclass(frozen=True)
class Idle:
    """Nothing is armed."""

    reason: str
    name = 'IDLE'


@dataclass(frozen=True)
class Armed:
    """A person has approved a trajectory; also between two executions of one approval."""

    approval: Any  # what was approved; the machine only hands it on
    executions: int  # how many are left
    until: float  # when this ends [s]
    reason: str
    name: str = 'ARMED'  # DONE after an execution, whose end was reached; {'ARMED', 'DONE'}


@dataclass(frozen=True)
class Planning:
    """The way to the start is being planned."""

    armed: Armed
    name = 'ARMED'

    @property
    def reason(self) -> str:
        """Why it was armed."""
        return self.armed.reason


@dataclass(frozen=True, eq=False)
class Starting:
    """Planned; the motion begins with the first joint state after a new look at the robot."""

    armed: Armed
    plan: Plan
    planned_at: float
    # Whether driver, graph and recorder were looked at since: proofs take seconds, in which a busy
    # machine may keep the watch from looking.
    looked: bool = False
    name = 'ARMED'

    @property
    def reason(self) -> str:
        """Why it was armed."""
        return self.armed.reason


@dataclass(frozen=True, eq=False)
class Moving:
    """A motion was sent."""

    armed: Armed  # what is left when it has ended
    plan: Plan  # the execution
    name: str  # which of its two motions; {'APPROACHING', 'EXECUTING'}
    reason: str
    path: SentPath  # what was sent
    number: int  # under which number
    # When, by our clock and by the stamps of joint states [s].
    sent_at: float
    sent_stamp: float
    accepted: bool = False  # whether the controller follows it
    failure: str = ''  # reason that the controller states for giving its goal up
    # When it stated it [s]; its cause may be published a moment later, and is named first.
    failed_at: float = np.inf
    # Follows the motion, from the first joint state after it was accepted.
    watch: MotionWatch | None = None
    worst_error: float = 0.0  # of the execution until now [rad]
    kept: list[Measurement] = field(default_factory=list)  # of the trajectory, a hundred a second

    @property
    def limits(self) -> WatchLimits:
        """Limits at which this motion is stopped."""
        plan = self.plan
        return plan.approach_limits if self.name == APPROACHING else plan.motion_limits


@dataclass(frozen=True)
class StopUndecided:
    """No stop could be proved yet."""


@dataclass(frozen=True)
class StopSent:
    """A proved stop was sent under a number, and takes a duration [s]."""

    number: int
    duration: float
    sent_at: float
    accepted: bool = False
    # Whether it keeps an arm that rests where it is, instead of bringing it to rest.
    holds: bool = False
    # How far the controller is in it [s], as of a time [s]: it waits while the speed scaling is
    # zero or the arm is stopped, and would go on later.
    progress: float = 0.0
    looked_at: float = -np.inf

    def at(self, now: float, rate: float) -> StopSent:
        """Return what it is after time in which the controller advanced at a rate."""
        step = now - max(self.looked_at, self.sent_at)
        return replace(self, progress=self.progress + rate * step, looked_at=now)

    @property
    def is_executed(self) -> bool:
        """Return whether nothing is left of it that would move the arm."""
        return self.accepted and self.progress > self.duration

    def has_ended(self, rate: float) -> bool:
        """Return whether no more is to be waited for: a hold may wait while the arm is stopped."""
        waits = self.holds and not rate and self.accepted
        return self.is_executed or (waits and self.looked_at - self.sent_at > self.duration)


@dataclass(frozen=True)
class Cancelling:
    """Goals are cancelled, next at a time [s]; `released` once the controller has confirmed it."""

    next_at: float
    released: bool = False
    # Whether the arm moved when it was cancelled: the controller may then have to decelerate.
    decelerates: bool = False


@dataclass(frozen=True, eq=False)
class Stopping:
    """The arm is brought to rest."""

    motion: Moving  # what it followed
    cause: str  # why it is stopped
    # ON_PATH: slowed down on the path that was proved. WHERE_IT_IS: from what was measured, as the
    # arm is not on its path. AS_PLANNED: on the path, and what was measured is not believed.
    # BY_ITSELF: nothing is sent that moves it.
    how: str
    since: float  # when it began [s]
    attempt: StopUndecided | StopSent | Cancelling  # what has been done
    rests_since: float | None = None  # since when the arm is seen at rest [s]
    rests_at: FloatArray | None = None  # (n,): where that is [rad]
    leaving_at: float = np.inf  # when the process ends in any case [s]
    outdated: int = 0  # number of stops that were proved and not sent, as it had become too late
    unproved: str = ''  # why at first no stop could be proved
    goes_on: bool = False  # whether the motion goes on meanwhile, as a topic has no cancel
    proved_at: float = np.inf  # when a stop was sent all the same [s]
    waiting: str = ''  # why no hold can be proved of what waits in the controller
    name = 'STOPPING'

    @property
    def reason(self) -> str:
        """Why it is stopped, and what stands in the way of that."""
        parts = [self.cause, self._delay]
        if self.unproved and not self._delay:
            instead = 'the motion goes on' if self.goes_on else 'the goal is cancelled'
            parts.append(f'no stop is proved, {instead}: {self.unproved}')
        held = isinstance(self.attempt, StopSent) and self.attempt.holds
        if self.waiting and not held:
            parts.append(f'{WAITING}: {self.waiting}')
        return '; '.join(filter(None, parts))

    def account(self, *, settled: bool) -> str:
        """Return the same when it is over; `settled` where nothing waits in the controller."""
        ended = replace(self, waiting='') if settled else self
        if self.unproved and not self._delay:
            instead = 'the motion went on' if self.goes_on else 'the goal was cancelled'
            ended = replace(
                ended, unproved='',
                cause=f'{self.cause}; no stop was proved, {instead}: {self.unproved}',
            )
        return ended.reason

    @property
    def _delay(self) -> str:
        """Return how late a stop was proved, empty where it was at once or not at all."""
        if not self.unproved or np.isinf(self.proved_at):
            return ''
        return (
            f'no stop was proved for {self.proved_at - self.since:.2f} s, in which the motion '
            f'went on: {self.unproved}'
        )


@dataclass(frozen=True)
class Fault:
    """The motion has ended after a fault; only arming again resumes."""

    reason: str  # what went wrong, and whether the arm rests
    # Goals that the controller has not released yet are cancelled until it does.
    cancelling: Cancelling | None = None
    name = 'FAULT'


State = Idle | Armed | Planning | Starting | Moving | Stopping | Fault
