# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The states of an execution: armed by a person, approached, executed, watched, stopped.

No ROS and no clock: events come with the time, commands go back. The state holds all that is to be
remembered of an execution; in addition the machine keeps only what it has observed of the robot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution import events as ev
from robot_identification.execution.joint_state_monitor import JointStateMonitor, Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.states import (
    APPROACHING, Armed, AS_PLANNED, BY_ITSELF, Cancelling, EXECUTING, Fault, Idle, Moving,
    ON_PATH, Planning, Starting, State, Stopping, StopSent, StopUndecided, WHERE_IT_IS,
)
from robot_identification.execution.stop import (
    DURATIONS, QUICK, settle_first, START_TOLERANCE, stop_on_path, stop_where_measured,
    Whereabouts,
)
from robot_identification.execution.watch import (
    COMMAND_TIME, FRESH, ImplausibleStateError, MotionWatch, OffPathError, REST_SPEED,
    STANDSTILL_SCALING,
)
from robot_identification.model import NamedJoints
from robot_identification.simulation import TrajectoryPoints

# How the reason begins where an execution that was accepted is given up before anything moved.
NOT_EXECUTED = 'not executed: '
# How long an arming is good for [s] (docs/execution.md); chosen: time to step back and call.
ARMED_SECONDS = 60.0
# The same for the next execution, from the end of the last [s] (docs/execution.md); chosen: time
# to prepare the next bag.
AGAIN_SECONDS = 120.0
# Without a sign of life for so long a motion is stopped [s] (docs/execution.md); chosen: 25 cycles
# of the slowest driver, 125 Hz.
STATE_TIMEOUT = 0.2
# A longer time between two ticks is a pause of this process, in which messages waited [s]; in a
# pause above the second the arm was not watched, and it is then stopped. Chosen: five periods of
# the watch.
SHORT_PAUSE = 0.1
LONGEST_PAUSE = 1.0  # [s] (docs/execution.md); chosen: five timeouts of joint states
# A controller may begin so long after it accepted a goal, or after a topic was published [s];
# chosen: one period of the action monitor of ros2_controllers, 20 Hz.
COMMAND_DELAY = 0.05
# How long a controller may take to answer to a goal [s]; chosen: 20 of these periods.
ACCEPT_TIMEOUT = 1.0
# A stop waits so long for a fresh joint state before it does without [s]; chosen: five periods of
# the watch.
PATIENCE = 0.1
# At most so many late stops are proved anew, and the next one is sent however late it is; chosen:
# beside three other programs on two processors one in seven was late, by up to 0.04 s.
MOST_OUTDATED = 3
# A robot that stopped by itself rests within this, and what it followed is then taken back [s];
# chosen: short, as what was followed may go on with the release.
COME_TO_REST_TIME = 0.3
# A goal that the controller gave up is named by its cause, if that is published within this [s];
# chosen: one period of the action monitor of ros2_controllers, 20 Hz.
CAUSE_TIME = 0.05
# Goals are cancelled this often until the controller acknowledges it [s]; chosen: an answer takes
# 0.05 s at most where nothing is wrong (the same monitor).
CANCEL_PERIOD = 0.1
# An arm rests that did not move for this long [s]; chosen: a reversal with 1 rad/s^2 is below
# REST_SPEED for 0.04 s.
REST_TIME = 0.1
# Nor does it move further than this from where that began [rad]: there are drivers whose velocity
# is always zero; chosen: what 0.05 rad/s are in REST_TIME.
REST_DISTANCE = 0.005
# A process that is to end waits so long for a stop [s]; chosen: the longest stop takes 3.7 s, and
# ros2 launch terminates what has not ended after 5 s.
LEAVING_TIME = 4.5
# Rest is to be seen this soon after a stop was to end [s]; chosen: as END_TIMEOUT of the watch.
REST_TIMEOUT = 3.0
# A slower speed scaling is taken for this one, of 1, where the end of a motion is waited for;
# chosen: no wait is longer than twenty motions.
SLOWEST_SCALING = 0.05
# Measurements of an execution are kept this far apart [s]; chosen: 100 Hz show what an arm does,
# in a fifth of the memory.
SHORTEST_KEPT = 0.01


Commands = list[ev.Command]


class ExecutionStateMachine:
    """
    State machine that decides what an execution does next.

    `joints` (n) and `topic`, that of the joint states, are used in messages; `simulated`
    states that the stamps of the joint states are those of a simulation.
    """

    def __init__(
        self, joints: NamedJoints, topic: str = 'joint_states', *, simulated: bool = False,
    ) -> None:
        self._joints, self._topic = joints, topic
        self._state: State = Idle('waiting for a trajectory')
        self._monitor = JointStateMonitor(simulated=simulated)
        self._robot = ev.RobotStateReceived()
        self._unusable = ('', -np.inf)
        self._ticked_at: float | None = None
        # The last pause of this process.
        self._slept_at = self._woke_at = -np.inf
        self._number = 0
        self._now = -np.inf
        self._handlers: dict[type, Callable[[Any, float], Commands]] = {
            ev.JointStateReceived: self._on_joint_state,
            ev.JointStateUnusable: self._on_unusable,
            ev.RobotStateReceived: self._on_robot_state,
            ev.Tick: self._on_tick,
            ev.ArmCalled: self._on_arm,
            ev.Approved: self._on_approved,
            ev.ApprovalRefused: self._on_approval_refused,
            ev.ExecuteCalled: self._on_execute,
            ev.PlanMade: self._on_plan,
            ev.DryRunMade: self._on_dry_run,
            ev.PlanRefused: self._on_plan_refused,
            ev.AbortCalled: self._on_abort,
            ev.StopRequested: self._on_stop_requested,
            ev.GoalAccepted: self._on_accepted,
            ev.GoalFailed: self._on_failed,
            ev.StopOutdated: self._on_outdated,
            ev.GoalsReleased: self._on_released,
            ev.InternalError: self._on_internal_error,
            ev.NoteFailed: self._on_note_failed,
        }

    @property
    def state(self) -> State:
        """Return the state, with its data."""
        return self._state

    @property
    def is_moving(self) -> bool:
        """Return whether a motion was sent and has not ended."""
        return isinstance(self._state, (Moving, Stopping))

    @property
    def is_busy(self) -> bool:
        """Return whether an execution is planned or active: the armed file must not change."""
        return isinstance(self._state, (Planning, Starting, Moving, Stopping))

    @property
    def latest(self) -> Measurement | None:
        """Return the last joint state that showed life."""
        return self._monitor.latest

    @property
    def worst_error(self) -> float:
        """Worst tracking error of the execution under way [rad or m]; 0 while there is none."""
        state = self._state
        motion = state.motion if isinstance(state, Stopping) else state
        if not isinstance(motion, Moving):
            return 0.0
        watched = 0.0 if motion.watch is None else motion.watch.worst_error
        return max(motion.worst_error, watched)

    def age(self, now: float) -> float:
        """Return how old that is [s]."""
        return self._monitor.age(now)

    def silence(self, now: float) -> str:
        """Return in words why there is no fresh joint state; empty where there is one."""
        if self._monitor.age(now) <= STATE_TIMEOUT:
            return ''
        reason, at = self._unusable
        if now - at <= STATE_TIMEOUT:
            return f'no usable joint state on {self._topic}: {reason}'
        return (
            f'{self._monitor.silence(now)} on {self._topic}, at most {STATE_TIMEOUT:g} s are '
            'accepted'
        )

    def waited(self, age: float, now: float) -> float:
        """
        Return for how long this process has waited for a message, whose last one has an age [s].

        What came in a short pause of the process may yet be read; in a long one nothing was
        watched.
        """
        if age > LONGEST_PAUSE:
            return age
        pauses = self._ticked_at is not None and now - self._ticked_at > SHORT_PAUSE
        return 0.0 if pauses else min(age, now - self._woke_at)

    def handle(self, event: ev.Event, now: float) -> Commands:
        """
        Return what is to be done after an event, in order.

        The events are in `events`; `now` is the time of a local monotonic clock [s]. Two threads
        may read it in another order than they call: time stands still then.
        """
        self._now = max(now, self._now)
        return self._handlers[type(event)](event, self._now)

    # What is observed

    def _on_joint_state(self, event: ev.JointStateReceived, now: float) -> Commands:
        alive = self._monitor.add(
            Measurement(event.stamp, now, now, event.q, event.dq, event.effort),
            self._longest_wait(now), forgets=not isinstance(self._state, Stopping),
        )
        state, latest = self._state, self._monitor.latest
        if not alive or latest is None:
            return []
        if isinstance(state, Starting):
            return self._start(state, latest, now)
        if isinstance(state, Moving):
            if state.watch is None and state.accepted and latest.taken_at > state.sent_at:
                self._state = replace(state, watch=self._begin_watch(state, latest))
            kept = state.kept
            if state.name == EXECUTING and (
                not kept or latest.stamp - kept[-1].stamp >= SHORTEST_KEPT
            ):
                kept.append(latest)
        return []

    def _begin_watch(self, motion: Moving, latest: Measurement) -> MotionWatch:
        """Return the watch of a motion that may have begun as soon as it was sent."""
        pace = self._monitor.pace
        # A measurement that waited is of a time at which the motion had not begun for as long.
        waited = latest.taken_at - latest.taken_after
        return MotionWatch(
            self._joints, motion.path, latest, motion.limits,
            # Stamps may have been set since, our clock was not.
            begun=max(latest.stamp - motion.sent_stamp, pace * (latest.taken_at - motion.sent_at)),
            delay=(COMMAND_DELAY + waited) * pace,
        )

    def _longest_wait(self, now: float) -> float:
        """Return how long a message that is read now may have waited [s]."""
        if now - self._woke_at < SHORT_PAUSE:
            return now - self._slept_at
        return SHORT_PAUSE if self._ticked_at is None else now - self._ticked_at

    def _on_unusable(self, event: ev.JointStateUnusable, now: float) -> Commands:
        self._unusable = (event.reason, now)
        return []

    def _on_robot_state(self, event: ev.RobotStateReceived, now: float) -> Commands:
        self._robot = event
        if isinstance(self._state, Starting) and event.looked_at > self._state.planned_at:
            self._state = replace(self._state, looked=True)
        return []

    # Arming

    def _on_arm(self, event: ev.ArmCalled, now: float) -> Commands:
        if self.is_busy:
            return [ev.Reply(False, f'BUSY: {self._state.name}')]
        if isinstance(self._state, Fault) and self._state.cancelling is not None:
            return self._refuse_arming(
                'the controller has not acknowledged yet that the last motion is cancelled: '
                'stop the program on the pendant, or switch the controller off and on'
            )
        return [ev.Approve()]

    def _on_approved(self, event: ev.Approved, now: float) -> Commands:
        if self.is_busy:
            return [ev.Reply(False, f'BUSY: {self._state.name}')]
        self._monitor.forget_jump()
        self._state = Armed(
            event.approval, event.executions, now + ARMED_SECONDS, event.message
        )
        return [ev.Reply(True, event.message)]

    def _on_approval_refused(self, event: ev.ApprovalRefused, now: float) -> Commands:
        return self._refuse_arming(event.reason)

    def _refuse_arming(self, reason: str) -> Commands:
        text = f'not armed: {reason}'
        state = self._state
        self._state = replace(state, reason=text) if isinstance(state, Fault) else Idle(text)
        return [ev.Reply(False, reason)]

    # Executing

    def _on_execute(self, event: ev.ExecuteCalled, now: float) -> Commands:
        state = self._state
        if self.is_busy:
            return [ev.Reply(False, f'BUSY: {state.name}')]
        if not isinstance(state, Armed) or not state.executions:
            return [ev.Reply(False, f'not armed: the state is {state.name}, {state.reason}')]
        if now > state.until:
            self._state = self._expired(state)
            return [ev.Reply(False, self._state.reason)]
        self._state = Planning(state)
        return [ev.MakePlan(state.approval)]

    def _on_plan_refused(self, event: ev.PlanRefused, now: float) -> Commands:
        if isinstance(self._state, Planning):
            self._state = Idle(f'{NOT_EXECUTED}{event.reason}')
        return [ev.Reply(False, event.reason)]

    def _on_dry_run(self, event: ev.DryRunMade, now: float) -> Commands:
        if isinstance(self._state, Planning):
            self._state = Idle(event.message)
        return [ev.Reply(True, event.message)]

    def _on_plan(self, event: ev.PlanMade, now: float) -> Commands:
        state = self._state
        if not isinstance(state, Planning):
            return [ev.Reply(False, f'the state is {state.name}, {state.reason}')]
        if now > state.armed.until:
            self._state = self._expired(state.armed)
            return [ev.Reply(False, self._state.reason)]
        self._state = Starting(state.armed, event.plan, now)
        return [ev.Reply(True, f'approaching the start{event.plan.summary}')]

    def _expired(self, armed: Armed) -> Idle:
        after = (
            f'armed more than {ARMED_SECONDS:.0f} s ago' if armed.name == 'ARMED'
            else f'the last execution ended more than {AGAIN_SECONDS:.0f} s ago'
        )
        return Idle(f'{after}: arm again')

    def _start(self, state: Starting, latest: Measurement, now: float) -> Commands:
        """Send what was planned, if all that is known of the robot is newer than the plan."""
        if latest.taken_at <= state.planned_at or not state.looked:
            return []
        plan, robot = state.plan, self._robot
        moved = np.abs(latest.q - plan.start)
        worst = int(np.argmax(moved))
        unit = self._joints.unit('rad', worst)
        problem = (
            robot.unable or robot.inactive or robot.unlisted or robot.contested
            or robot.unrecorded or robot.hurried
        )
        if now > state.armed.until:
            self._state = self._expired(state.armed)
        elif problem:
            self._state = Idle(f'{NOT_EXECUTED}{problem}')
        elif moved[worst] > START_TOLERANCE or np.max(np.abs(latest.dq)) > REST_SPEED:
            self._state = Idle(
                f'{NOT_EXECUTED}the arm moved by {moved[worst]:.3f} {unit} while its motion was '
                f'planned, at most {START_TOLERANCE:g} {unit} are accepted: execute when it rests'
            )
        else:
            armed = replace(state.armed, executions=state.armed.executions - 1)
            self._monitor.forget_jump()
            return self._send(armed, plan, APPROACHING, now)
        return []

    def _send(
        self, armed: Armed, plan: ev.Plan, name: str, now: float, worst_error: float = 0.0
    ) -> Commands:
        """Send a motion that begins where the arm rests, or close to it."""
        latest = self._monitor.latest
        assert latest is not None
        if name == APPROACHING:
            begin, knots = plan.start, plan.approach
        else:
            begin, knots = plan.approach.q[-1], plan.motion
        try:
            knots = settle_first(knots, begin, START_TOLERANCE, plan.peaks)
        except UnsafeMotionError as error:
            self._state = Idle(f'{NOT_EXECUTED}{error}')
            return []
        self._number += 1
        seconds = float(knots.times[-1])
        reason = f'{seconds:.1f} s to the start' if name == APPROACHING else f'{seconds:.1f} s'
        self._state = Moving(
            armed, plan, name, reason, SentPath(begin, knots), self._number, now, latest.stamp,
            worst_error=worst_error,
        )
        return [ev.Send(self._number, knots)]

    # Watching

    def _on_tick(self, event: ev.Tick, now: float) -> Commands:
        pause = 0.0 if self._ticked_at is None else now - self._ticked_at
        if pause > SHORT_PAUSE:
            self._slept_at, self._woke_at = now - pause, now
        self._ticked_at = now
        state = self._state
        if isinstance(state, Armed) and now > state.until and state.executions:
            self._state = self._expired(state)
        elif isinstance(state, Starting) and now - state.planned_at > STATE_TIMEOUT + pause:
            self._state = Idle(
                f'{NOT_EXECUTED}{self.silence(now) or "no joint state"} after the motion was '
                'planned'
            )
        elif isinstance(state, Moving):
            return self._watch(state, pause, now)
        elif isinstance(state, Stopping):
            return self._watch_stop(state, now)
        elif isinstance(state, Fault) and state.cancelling is not None:
            return self._cancel_again(state, state.cancelling, now)
        return []

    def _watch(self, state: Moving, pause: float, now: float) -> Commands:
        robot = self._robot
        unanswered = not state.accepted and now - state.sent_at > ACCEPT_TIMEOUT + pause
        jump = self._monitor.jump
        for reason, how in (
            (robot.unable, BY_ITSELF),
            (robot.inactive, BY_ITSELF),
            (state.failure if now - state.failed_at > CAUSE_TIME else '', BY_ITSELF),
            (f'the controller did not answer to the goal within {ACCEPT_TIMEOUT:g} s'
             if unanswered else '', BY_ITSELF),
            # Before what such a pause may be taken for.
            (f'this process did not run for {pause:.1f} s, in which the arm was not watched'
             if pause > LONGEST_PAUSE else '', ON_PATH),
            (robot.unlisted, ON_PATH),
            (robot.contested, ON_PATH),
            (robot.unrecorded, ON_PATH),
            (robot.hurried, ON_PATH),
            (self._lifelessness(now), ON_PATH),
            (f'the stamps of joint states jump by {jump:.3f} s: the clock was set, or the driver '
             'was started anew' if jump else '', ON_PATH),
        ):
            if reason:
                return self._stop(state, reason, how, now)
        latest, watch = self._monitor.latest, state.watch
        if latest is None or watch is None:
            return []
        try:
            watch.update(latest, robot.scaling)
        except ImplausibleStateError as error:
            return self._stop(state, str(error), AS_PLANNED, now)
        except UnsafeMotionError as error:
            return self._stop(state, str(error), WHERE_IT_IS, now)
        if watch.has_arrived(latest.q, latest.dq):
            return self._arrive(state, watch, now)
        return []

    def _lifelessness(self, now: float) -> str:
        """Return why there is no sign of life."""
        silent = self.waited(self._monitor.age(now), now) > STATE_TIMEOUT
        return self.silence(now) if silent else ''

    def _arrive(self, state: Moving, watch: MotionWatch, now: float) -> Commands:
        worst = max(state.worst_error, watch.worst_error)
        if state.name == APPROACHING:
            return self._send(state.armed, state.plan, EXECUTING, now, worst)
        self._state = replace(
            state.armed, name='DONE', until=now + AGAIN_SECONDS,
            reason=f'executed, worst tracking error {worst:.4f} {self._joints.units("rad")}',
        )
        return [ev.NoteExecution(state.armed.approval, tuple(state.kept), worst)]

    def _on_note_failed(self, event: ev.NoteFailed, now: float) -> Commands:
        # The arm rests at the end of its motion: what is lost is a note.
        if isinstance(self._state, Armed):
            self._state = replace(
                self._state, reason=f'{self._state.reason}; not noted: {event.reason}'
            )
        return []

    # Goals

    def _on_accepted(self, event: ev.GoalAccepted, now: float) -> Commands:
        state = self._state
        if isinstance(state, Moving) and event.number == state.number:
            self._state = replace(state, accepted=True)
        elif (
            isinstance(state, Stopping) and isinstance(state.attempt, StopSent)
            and event.number == state.attempt.number
        ):
            self._state = replace(state, attempt=replace(state.attempt, accepted=True))
        return []

    def _on_failed(self, event: ev.GoalFailed, now: float) -> Commands:
        state = self._state
        if isinstance(state, Moving) and event.number == state.number:
            self._state = replace(state, failure=event.reason, failed_at=now)
        elif (
            isinstance(state, Stopping) and isinstance(state.attempt, StopSent)
            and event.number == state.attempt.number
        ):
            # The stop itself was not taken.
            return self._take_back(state, now)
        elif (
            isinstance(state, Stopping) and isinstance(state.attempt, StopSent)
            and event.number == state.motion.number and self._robot.by_action
        ):
            # The controller ended the motion by itself before the stop came, which leads away
            # from where it holds the arm.
            return self._take_back(replace(state, cause=f'{state.cause}; {event.reason}'), now)
        elif (
            isinstance(state, Stopping) and isinstance(state.attempt, StopUndecided)
            and event.number == state.motion.number
        ):
            # The controller follows the path no more: a stop on it would move the arm.
            self._state = replace(
                state, how=BY_ITSELF, cause=f'{state.cause}; {event.reason}'
            )
        return []

    def _on_outdated(self, event: ev.StopOutdated, now: float) -> Commands:
        state = self._state
        if (
            isinstance(state, Stopping) and isinstance(state.attempt, StopSent)
            and event.number == state.attempt.number
        ):
            # Proved anew with the next tick, from where the arm is by then.
            self._state = replace(
                state, attempt=StopUndecided(), outdated=state.outdated + 1, proved_at=np.inf
            )
        return []

    def _on_released(self, event: ev.GoalsReleased, now: float) -> Commands:
        state = self._state
        if isinstance(state, Stopping) and isinstance(state.attempt, Cancelling):
            self._state = replace(state, attempt=replace(state.attempt, released=True))
        elif isinstance(state, Fault):
            self._state = replace(state, cancelling=None)
        return []

    # Stopping

    def _on_abort(self, event: ev.AbortCalled, now: float) -> Commands:
        commands: Commands = []
        state = self._state
        if isinstance(state, Moving):
            commands = self._stop(state, 'aborted by a call', ON_PATH, now)
        elif isinstance(state, (Armed, Planning, Starting)):
            self._state = Idle('disarmed')
        return [*commands, ev.Reply(True, self._state.name)]

    def _on_stop_requested(self, event: ev.StopRequested, now: float) -> Commands:
        commands: Commands = []
        if isinstance(self._state, Moving):
            commands = self._stop(self._state, 'interrupted', ON_PATH, now)
        elif isinstance(self._state, (Armed, Planning, Starting)):
            self._state = Idle('interrupted')
        if isinstance(self._state, Stopping) and np.isinf(self._state.leaving_at):
            self._state = replace(self._state, leaving_at=now + LEAVING_TIME)
        return commands

    def _on_internal_error(self, event: ev.InternalError, now: float) -> Commands:
        if isinstance(self._state, Moving):
            return self._stop(self._state, f'internal error: {event.reason}', ON_PATH, now)
        if isinstance(self._state, Stopping):
            # The stop goes on in the controller, and rest is yet to be seen.
            state, text = self._state, f'internal error: {event.reason}'
            if text not in state.cause:
                state = self._state = replace(state, cause=f'{state.cause}; {text}')
            if now - state.since > DURATIONS[-1] + REST_TIMEOUT:
                # Nothing can be seen any more: what the controller may still hold is taken back.
                return self._end(replace(state, attempt=Cancelling(now)), False, now)
        elif not isinstance(self._state, Fault):
            self._state = Idle(f'internal error: {event.reason}')
        return []

    def _stop(self, motion: Moving, reason: str, how: str, now: float) -> Commands:
        """Bring the arm to rest; FAULT is latched when it is."""
        if motion.failure:
            # The controller follows it no more.
            how = BY_ITSELF
        return self._attempt(Stopping(motion, reason, how, now, StopUndecided()), now)

    def _attempt(self, state: Stopping, now: float) -> Commands:
        """Send a proved stop; where there is none, let the controller cancel its goal."""
        self._state = state
        waited = now - state.since
        if state.how == BY_ITSELF:
            rests = state.rests_since is not None
            return self._take_back(state, now) if rests or waited > COME_TO_REST_TIME else []
        age = self._monitor.age(now)
        if age > FRESH and waited < PATIENCE:
            # What was sent while this process did not run is about to be read.
            return []
        try:
            return self._send_stop(state, self._proved_stop(state, now), now)
        except OffPathError as error:
            # No path leads from a place where the arm is not.
            self._state = replace(state, how=WHERE_IT_IS, cause=f'{state.cause}; {error}')
            return self._attempt(self._state, now)
        except UnsafeMotionError as error:
            if not state.unproved:
                state = self._state = replace(
                    state, unproved=str(error), goes_on=not self._robot.by_action
                )
        if self._robot.by_action:
            return self._take_back(state, now)
        # A topic has no cancel: the arm stays on its certified path until a stop can be proved.
        return []

    def _proved_stop(self, state: Stopping, now: float) -> TrajectoryPoints:
        """
        Return a stop; raise UnsafeMotionError with the reason if none can be proved.

        That is an OffPathError where the arm is found not to be on the path that it was on.
        """
        motion, latest = state.motion, self._monitor.latest
        if latest is None:
            raise UnsafeMotionError('there is no joint state')
        if self._robot.hurried:
            raise UnsafeMotionError('a controller that is too fast would stop too hard')
        where = self._whereabouts(state, latest, now)
        if state.how in (ON_PATH, AS_PLANNED):
            # Without a cancel a slow stop is better than none.
            durations = QUICK if self._robot.by_action else len(DURATIONS)
            return stop_on_path(
                motion.path, where, motion.plan.peaks, self._joints, durations
            )
        age = self._monitor.age(now)
        if age > FRESH:
            raise UnsafeMotionError(
                f'the last joint state is {age:.3f} s old, at most {FRESH:g} s are accepted'
            )
        if state.how == BY_ITSELF:
            where = replace(where, dq=np.zeros_like(where.dq))
        return stop_where_measured(motion.path, where, motion.plan.peaks, self._joints)

    def _whereabouts(self, state: Stopping, latest: Measurement, now: float) -> Whereabouts:
        motion, pace = state.motion, self._monitor.pace
        watch = motion.watch
        if watch is None:
            # Not begun as far as is known, and perhaps as long ago as it was sent.
            latest_time = pace * (now - motion.sent_at)
            return Whereabouts(0.0, latest_time, True, 1.0, latest.q, latest.dq)
        before = watch.latest
        seen = latest if not self._monitor.jump else replace(
            # Its stamps are of another clock than those of the motion: the time since is ours.
            latest, stamp=before.stamp + pace * (latest.taken_at - before.taken_at)
        )
        if seen.stamp > before.stamp:
            try:
                # What came since the last look shows better where the controller is.
                watch.follow(seen, self._robot.scaling)
            except OffPathError:
                if state.how == ON_PATH and watch.is_plausible:
                    raise
        if state.how in (BY_ITSELF, WHERE_IT_IS) and not watch.is_plausible:
            # Nor does its path say where it is.
            raise UnsafeMotionError('where the arm is measured, it cannot be')
        where = watch.whereabouts(now, pace, latest, may_pause=self._monitor.simulated)
        believed = state.how != AS_PLANNED and watch.is_plausible
        return where if believed else watch.as_planned(where)

    def _send_stop(
        self, state: Stopping, knots: TrajectoryPoints, now: float, *, holds: bool = False
    ) -> Commands:
        self._number += 1
        sent = StopSent(self._number, float(knots.times[-1]), now, holds=holds)
        proved_at = state.proved_at if holds else now
        self._state = replace(state, attempt=sent, proved_at=proved_at)
        # Later the controller is further than any place from which the stop was proved.
        is_due = not holds and state.outdated < MOST_OUTDATED
        return [ev.Send(self._number, knots, now + COMMAND_TIME if is_due else np.inf)]

    def _take_back(self, state: Stopping, now: float) -> Commands:
        """Take back what the controller follows, which it would go on with when it is released."""
        if self._robot.by_action:
            cancelling = state.attempt if isinstance(state.attempt, Cancelling) else Cancelling(
                now, decelerates=not self._is_still(now)
            )
            self._state = replace(
                state, attempt=replace(cancelling, next_at=now + CANCEL_PERIOD)
            )
            return [ev.CancelGoals()]
        self._state = state
        try:
            knots = self._proved_stop(replace(state, how=BY_ITSELF), now)
        except UnsafeMotionError as error:
            self._state = replace(state, waiting=state.waiting or str(error))
            return []
        return self._send_stop(state, knots, now, holds=True)

    def _is_still(self, now: float) -> bool:
        """Return whether the arm is seen without a velocity."""
        latest = self._monitor.latest
        return (
            latest is not None and self._monitor.age(now) < STATE_TIMEOUT
            and float(np.max(np.abs(latest.dq))) < REST_SPEED
        )

    def _watch_stop(self, state: Stopping, now: float) -> Commands:
        state = self._state = self._look_for_rest(state, now)
        attempt = state.attempt
        rested = state.rests_since is not None and now - state.rests_since >= REST_TIME
        if now > state.leaving_at:
            return self._end(state, rested, now)
        if isinstance(attempt, StopUndecided):
            halted = self._robot.unable or self._robot.inactive
            if halted and state.how != BY_ITSELF:
                # What is sent to an arm that stops by itself would move it.
                state = self._state = replace(
                    state, how=BY_ITSELF, cause=f'{state.cause}; {halted}', since=now
                )
            if now > self._latest_end(state) + REST_TIMEOUT:
                return self._end(state, rested, now)
            return self._attempt(state, now)
        if isinstance(attempt, StopSent):
            return self._watch_sent(state, attempt, rested, now)
        if attempt.decelerates and not self._rate:
            # A deceleration that waits goes on when the slider is raised, or the arm released.
            rested = False
            state = self._state = replace(state, rests_since=None, rests_at=None)
        if (attempt.released and rested) or now - state.since > REST_TIMEOUT:
            return self._end(state, rested, now)
        if not attempt.released and now >= attempt.next_at:
            return self._take_back(state, now)
        return []

    def _look_for_rest(self, state: Stopping, now: float) -> Stopping:
        """Return the state with the time since which the arm rests, by velocity and place."""
        latest = self._monitor.latest
        if (
            latest is None or self._monitor.age(now) >= STATE_TIMEOUT
            or np.max(np.abs(latest.dq)) >= REST_SPEED
        ):
            return replace(state, rests_since=None, rests_at=None)
        at = state.rests_at
        if at is not None and np.max(np.abs(latest.q - at)) <= REST_DISTANCE:
            return state
        return replace(state, rests_since=now, rests_at=latest.q)

    @property
    def _rate(self) -> float:
        """Rate at which the controller advances in what it follows; 0 while it waits."""
        robot = self._robot
        if robot.unable or robot.inactive or robot.scaling <= STANDSTILL_SCALING:
            return 0.0
        return robot.scaling * self._monitor.pace

    def _watch_sent(
        self, state: Stopping, sent: StopSent, rested: bool, now: float
    ) -> Commands:
        """Wait for the end of a stop, and take back what waits in the controller."""
        robot, rate = self._robot, self._rate
        if not robot.by_action and not sent.accepted:
            # What a topic takes is accepted at once: this one could not be published.
            state = replace(state, attempt=StopUndecided(), proved_at=np.inf)
            return self._take_back(state, now) if sent.holds else self._attempt(state, now)
        sent = sent.at(now, rate)
        state = self._state = replace(state, attempt=sent)
        elapsed = now - sent.sent_at
        halted = bool(robot.unable or robot.inactive)
        unanswered = not sent.accepted and elapsed > ACCEPT_TIMEOUT
        if robot.by_action and (halted or unanswered):
            return self._take_back(state, now)
        if sent.has_ended(rate):
            if rested:
                return self._end(state, rested, now)
        elif rested and not sent.holds and (
            halted or elapsed > sent.duration / self._monitor.pace + COME_TO_REST_TIME
        ):
            # The rest of it would be executed when the arm is released, or the slider moved.
            return self._take_back(state, now)
        slowest = min(self._monitor.pace, 1.0) * max(robot.scaling, SLOWEST_SCALING)
        if elapsed > sent.duration / slowest + REST_TIMEOUT:
            return self._end(state, rested, now)
        return []

    def _latest_end(self, state: Stopping) -> float:
        """Return when a motion that could not be stopped has ended by itself [s]."""
        if state.how == BY_ITSELF:
            return state.since
        pace = self._monitor.pace * max(self._robot.scaling, SLOWEST_SCALING)
        return max(state.since, state.motion.sent_at + state.motion.path.duration / pace)

    def _end(self, state: Stopping, rested: bool, now: float) -> Commands:
        """Latch FAULT."""
        attempt = state.attempt
        held = not (
            attempt.is_executed if isinstance(attempt, StopSent)
            else isinstance(attempt, Cancelling) and attempt.released
            and (rested or not attempt.decelerates)
        )
        if rested and not held:
            self._state = Fault(f'at rest after: {state.account(settled=True)}')
            return []
        found = 'at rest' if rested else 'NOT verified at rest'
        hint = (
            '; the controller may still hold the motion: stop the program on the pendant before '
            'you release the arm' if held else ''
        )
        waiting = isinstance(attempt, Cancelling) and not attempt.released
        cancelling = attempt if isinstance(attempt, Cancelling) and waiting else None
        account = state.account(settled=False)
        self._state = Fault(f'{found} after: {account}{hint}', cancelling)
        return []

    def _cancel_again(self, state: Fault, cancelling: Cancelling, now: float) -> Commands:
        if now < cancelling.next_at:
            return []
        self._state = replace(
            state, cancelling=replace(cancelling, next_at=now + CANCEL_PERIOD)
        )
        return [ev.CancelGoals()]
