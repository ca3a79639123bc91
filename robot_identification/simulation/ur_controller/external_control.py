# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
External Control of a Universal Robots arm: messages of the driver in, a reference motion out.

The program runs on the robot and connects to three sockets of the driver. All messages are of
signed 32-bit integers; positions, velocities, accelerations and times are multiplied by 1e6.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.simulation.controller import cubic, quintic, QUINTIC_PEAK

# Integers of a message on the reverse, the trajectory and the script command socket.
REVERSE_SIZE, POINT_SIZE, SCRIPT_SIZE = 8, 21, 28
SCALE = 1.0e6  # of all numbers in these messages
STOPPED, UNINITIALISED, IDLE, SERVO, SPEED, FORWARD = -2, -1, 0, 1, 2, 3  # modes of control
# What a message in mode FORWARD asks for.
CANCEL, START, STREAM, STREAM_END = -1, 1, 2, 3
DONE, CANCELLED, FAILED = 0, 1, 2  # results of a trajectory
CUBIC, QUINTIC = 1, 2
MOVE_JOINTS, SPLINE = 0, 51  # kinds of points
STOP_DECELERATION, SPEED_ACCELERATION = 4.0, 40.0  # of stopj and speedj in the program [rad/s^2]
LOOKAHEAD = 0.03  # of servoj [s], the driver's default; the arm lags behind by it
IGNORED_SPEED = 20.0  # a command that needs more is ignored [rad/s]
FIRST_POINT_TIME = 0.5  # longest time for the first point of a trajectory [s]
NO_WAY = 0.01  # a first point without a time may be so far from the arm [rad]
STANDSTILL = 1e-9  # below it a joint does not move [rad/s]
# Peak acceleration of a quintic from rest to rest over way and squared duration.
QUINTIC_BEND = 5.7735
# Points that are held at most; the driver waits in its socket after them.
MOST_POINTS = 4096
# Positions that wait for their cycle; more come only where this machine was late.
MOST_COMMANDS = 50

State = tuple[FloatArray, FloatArray, FloatArray]


class Reference:
    """Reference position, velocity and acceleration (n,) of the joints, cycle by cycle."""

    def __init__(self, q: FloatArray, period: float) -> None:
        self.period = period  # of a cycle [s]
        self.q = np.array(q, dtype=float)
        self.dq, self.ddq = np.zeros_like(self.q), np.zeros_like(self.q)

    def push(self, ddq: FloatArray) -> None:
        """Go on for a cycle with a constant acceleration (n,) [rad/s^2]."""
        self.ddq = ddq
        self.q = self.q + self.period * self.dq + 0.5 * self.period**2 * ddq
        self.dq = self.dq + self.period * ddq

    def reach(self, dq: FloatArray, acceleration: float) -> None:
        """Approach a velocity (n,) [rad/s], each joint at most at `acceleration` [rad/s^2]."""
        wanted = (dq - self.dq) / self.period
        self.push(np.clip(wanted, -acceleration, acceleration))

    def go_to(self, q: FloatArray, dq: FloatArray) -> None:
        """Be at a position [rad] and velocity [rad/s], (n,) each, at the end of the cycle."""
        self.ddq = (dq - self.dq) / self.period
        self.q, self.dq = q, dq


class Smoothing:
    """
    What servoj does with the positions that it is given: a cubic B-spline of them, which is late.

    Commands of a driver come with jitter, and a filter of second order would make accelerations
    of it. Three moving averages of N cycles are late by 1.5 (N - 1) cycles, here by `LOOKAHEAD`.
    """

    def __init__(self, reference: Reference) -> None:
        width = max(round(LOOKAHEAD / 1.5 / reference.period) + 1, 1)
        box = np.full(width, 1.0 / width)
        self._weights = np.convolve(np.convolve(box, box), box)  # newest last, as in the history
        late = 1.5 * (width - 1)
        # As if the reference had come to where it is at its present velocity.
        ages = np.arange(len(self._weights))[::-1, None]
        self._history = reference.q + (late - ages) * reference.period * reference.dq

    def push(self, q: FloatArray) -> FloatArray:
        """Take a position (n,) [rad], and return the smooth one."""
        self._history = np.vstack([self._history[1:], q])
        smooth: FloatArray = self._weights @ self._history
        return smooth


class ExternalControl:
    """
    The program: it takes messages and moves a reference.

    `largest_speed` is that of motions whose duration the robot chooses [rad/s].

    `results` are the results of trajectories that the driver has not been sent yet, `finished`
    says why the program ended; empty while it runs.
    """

    def __init__(self, reference: Reference, largest_speed: float) -> None:
        self._reference, self._largest_speed = reference, largest_speed
        self.mode = UNINITIALISED
        self.finished = ''
        self.results: deque[int] = deque()
        self._waited = 0.0  # since the last message [s]
        self._timeout = math.inf  # the first message is waited for
        self._commands: deque[FloatArray] = deque(maxlen=MOST_COMMANDS)
        self._extrapolated = 0  # cycles since the last command
        self._target: FloatArray | None = None  # position or velocity that was commanded last
        self._smoothing: Smoothing | None = None
        self._points: deque[tuple[int, ...]] = deque()
        self._left = 0.0  # points of the trajectory that are still to be read
        self._read = 0  # points of it that were read
        self._obsolete = 0.0  # points of an ended trajectory that may still come
        self._silent = 0.0  # since a point came [s]
        self._waited_for_point = 0.0  # [s]
        self._segment: _Segment | None = None
        self._reached: State = reference.q, reference.dq, reference.ddq  # end of the last segment
        self._streaming = self._forwarding = False

    @property
    def is_full(self) -> bool:
        """Return whether points should wait in their socket."""
        return len(self._points) >= MOST_POINTS

    def take(self, message: Sequence[int]) -> None:
        """Take a message of the reverse socket, of `REVERSE_SIZE` integers."""
        timeout, *values, mode = message
        self._waited = 0.0
        self._timeout = timeout / 1000.0 if timeout > 0 else math.inf
        if mode != self.mode:
            if self._forwarding:
                self._end_trajectory(CANCELLED)
            self.mode = mode
            self.forget()
        if mode == STOPPED:
            self.finished = 'the driver stopped the program'
        elif mode == SERVO:
            self._take_position(np.array(values) / SCALE)
        elif mode == SPEED:
            self._target = np.array(values) / SCALE
        elif mode == FORWARD:
            self._take_trajectory(values[0], values[1])

    def forget(self) -> None:
        """Forget what was commanded, where the arm is not where it leads."""
        self._commands.clear()
        self._target, self._smoothing, self._extrapolated = None, None, 0

    def _take_position(self, q: FloatArray) -> None:
        reference = self._reference
        before = self._commands[-1] if self._commands else self._target
        before = reference.q if before is None else before
        reach = IGNORED_SPEED * reference.period
        if min(np.abs(q - before).max(), np.abs(q - reference.q).max()) <= reach:
            self._commands.append(q)

    def _take_trajectory(self, action: int, points: int) -> None:
        if action in (START, STREAM):
            if self._forwarding:
                self._end_trajectory(CANCELLED)
            self._streaming, self._forwarding = action == STREAM, True
            self._left, self._read = (math.inf if self._streaming else float(points)), 0
            self._waited_for_point = 0.0
        elif action == STREAM_END and self._streaming:
            self._left, self._streaming = float(points - self._read), False
        elif action == CANCEL:
            if self._streaming:
                self._left, self._streaming = float(points - self._read), False
            self._end_trajectory(CANCELLED)

    def take_point(self, point: tuple[int, ...]) -> None:
        """Take a point of a trajectory, of `POINT_SIZE` integers."""
        self._silent = 0.0
        if self._obsolete > 0:
            self._obsolete -= 1
        else:
            self._points.append(point)

    def _end_trajectory(self, result: int) -> None:
        left = self._left if math.isfinite(self._left) else len(self._points)
        self._obsolete = max(left - len(self._points), 0)
        self._points.clear()
        self._segment, self._left, self._streaming, self._forwarding = None, 0.0, False, False
        self.results.append(result)

    def step(self, pace: float) -> None:
        """Move the reference by a cycle; the time of trajectories advances by the pace, 0 to 1."""
        reference, rest = self._reference, np.zeros_like(self._reference.q)
        if pace > 0.0:
            self._waited += reference.period
        self._silent += reference.period
        if self._silent > FIRST_POINT_TIME:
            self._obsolete = 0.0
        if self._waited > self._timeout:
            self.finished = f'no message on the reverse socket for {self._timeout:g} s'
        if self.finished:
            reference.reach(rest, STOP_DECELERATION)
        elif self.mode == SERVO:
            self._servo(pace)
        elif self.mode == SPEED and self._target is not None:
            reference.reach(pace * self._target, SPEED_ACCELERATION)
        elif self._forwarding:
            self._forward(pace)
        else:
            reference.reach(rest, STOP_DECELERATION)

    def _servo(self, pace: float) -> None:
        """Follow the positions that are commanded, one in a cycle; none while paused."""
        reference = self._reference
        if pace > 0.0 and self._commands:
            # Those for which the target went on at its speed come too late.
            for _ in range(min(self._extrapolated, len(self._commands) - 1)):
                self._commands.popleft()
            self._target, self._extrapolated = self._commands.popleft(), 0
        elif pace > 0.0 and self._target is not None:
            self._target = self._target + reference.period * reference.dq
            self._extrapolated += 1
        if self._target is None:
            reference.reach(np.zeros_like(reference.q), STOP_DECELERATION)
            return
        if self._smoothing is None:
            self._smoothing = Smoothing(reference)
        q = self._smoothing.push(self._target)
        reference.go_to(q, (q - reference.q) / reference.period)

    def _forward(self, pace: float) -> None:
        """Advance on the trajectory by a cycle; segments begin where the ones before end."""
        reference, left = self._reference, pace * self._reference.period
        rest = np.zeros_like(reference.q)
        while pace > 0.0 and (self._segment is not None or self._begin_segment()):
            segment = self._segment
            assert segment is not None
            left = segment.advance(left)
            q, dq, ddq = segment.state()
            if left < 0.0:
                reference.go_to(q, pace * dq)
                return
            self._segment, self._reached = None, (q, dq, ddq)
            if self._left <= 0:
                # What moves on at the end is stopped in the cycles that follow.
                reference.go_to(q, pace * dq)
                self._end_trajectory(DONE)
                return
        reference.reach(rest, STOP_DECELERATION)

    def _begin_segment(self) -> bool:
        """Begin the next segment; False while its point is waited for, or the motion ended."""
        reference, rest = self._reference, np.zeros_like(self._reference.q)
        is_first = self._read == 0
        is_moving = bool(np.any(np.abs(reference.dq) > STANDSTILL))
        if is_first and is_moving:
            return False  # What moved the arm before is stopped first.
        if not self._points:
            self._waited_for_point += reference.period
            if is_moving or self._left <= 0 or self._waited_for_point > FIRST_POINT_TIME:
                self._end_trajectory(DONE if self._left <= 0 else FAILED)
            return False
        point = self._points.popleft()
        self._read, self._left, self._waited_for_point = self._read + 1, self._left - 1, 0.0
        if is_first:
            self._reached = reference.q, rest, rest
        start = self._reached
        values = np.array(point[:19]) / SCALE
        q, dq, ddq, duration = values[:6], values[6:12], values[12:18], float(values[18])
        form, kind = point[19:]
        if kind == MOVE_JOINTS:
            # The largest speed and acceleration stand behind the unused second block.
            way = float(np.abs(q - start[0]).max())
            speed = float(np.clip(values[12], 1e-3, self._largest_speed))
            acceleration = max(float(values[13]), 1e-3)
            shortest = QUINTIC_PEAK * way / self._largest_speed
            duration = max(shortest, 1e-3, duration or max(
                QUINTIC_PEAK * way / speed, math.sqrt(QUINTIC_BEND * way / acceleration)
            ))
        elif kind != SPLINE or form not in (CUBIC, QUINTIC):
            self._end_trajectory(FAILED)  # Cartesian motions are not simulated.
            return False
        if duration <= 0.0 and is_first and np.abs(q - start[0]).max() < NO_WAY:
            return self._begin_segment()  # A driver may send the present position first.
        if duration <= 0.0 or np.abs(q - start[0]).max() / duration > IGNORED_SPEED:
            self._end_trajectory(CANCELLED)
            return False
        self._segment = _Segment(start, (q, dq, ddq), duration, is_cubic=form == CUBIC)
        return True


class _Segment:
    """A spline between two states of position, velocity and acceleration, (n,) each."""

    def __init__(
        self, start: State, end: State, duration: float, *, is_cubic: bool
    ) -> None:
        self._start, self._end, self._duration = start, end, duration
        self._is_cubic, self._time = is_cubic, 0.0

    def advance(self, time: float) -> float:
        """Go on by a time [s]; return what of it is left at the end, negative before it."""
        self._time += time
        left = self._time - self._duration
        # A sum of cycles is rounded.
        return left if abs(left) > 1e-9 else 0.0

    def state(self) -> State:
        """Return position, velocity and acceleration."""
        time = min(self._time, self._duration)
        if self._is_cubic:
            return cubic(self._start[:2], self._end[:2], self._duration, time)
        return quintic(self._start, self._end, self._duration, time)
