# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A joint-trajectory controller like the one that stands behind ur_robot_driver, without ROS.

It interpolates as ros2_controllers' does (quintic where positions, velocities and accelerations
are given, cubic without accelerations, linear with positions only) and rejects what that rejects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError

# Peak over mean speed of a quintic from rest to rest: 15/8, its slope in the middle.
QUINTIC_PEAK = 1.875
# Duration of the stop of a cancelled motion [s]; chosen.
STOP_TIME = 0.5


@dataclass(frozen=True, eq=False)
class TrajectoryPoints:
    """A trajectory as a message carries it."""

    times: FloatArray  # (K,): time from start [s], strictly increasing
    q: FloatArray  # (K, n): positions [rad]
    # (K, n): velocities [rad/s], accelerations [rad/s^2].
    dq: FloatArray | None = None
    ddq: FloatArray | None = None

    def check(self, n: int) -> None:
        """Refuse what a joint-trajectory controller refuses, and what is not finite."""
        if self.times.ndim != 1 or self.times.size == 0:
            raise UnsafeMotionError('a trajectory needs at least one point')
        for name, values in (('positions', self.q), ('velocities', self.dq),
                             ('accelerations', self.ddq)):
            if values is None:
                continue
            if values.shape != (self.times.size, n):
                raise UnsafeMotionError(
                    f'{name} have shape {values.shape}, needed are {self.times.size} points of '
                    f'{n} joints'
                )
            if not np.all(np.isfinite(values)):
                raise UnsafeMotionError(f'{name} are not all finite')
        if not np.all(np.isfinite(self.times)) or self.times[0] < 0.0:
            raise UnsafeMotionError('times are not finite and positive')
        if np.any(np.diff(self.times) <= 0.0):
            raise UnsafeMotionError('times are not strictly increasing')
        if self.dq is not None and np.any(np.abs(self.dq[-1]) > 1e-6):
            raise UnsafeMotionError('the velocity of the last point is not zero')


def quintic(
    start: tuple[FloatArray, FloatArray, FloatArray],
    end: tuple[FloatArray, FloatArray, FloatArray],
    duration: float,
    t: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return position, velocity and acceleration of the quintic between two states.

    States are position [rad], velocity [rad/s] and acceleration [rad/s^2], each (n,), `duration`
    [s] apart; `t` counts from the start [s].
    """
    # Joint by joint in Python's numbers: a third of the time of sixty NumPy calls on short rows.
    states = np.array([*start, *end]).T.tolist()
    joints = [_joint_quintic(duration, t, state) for state in states]
    q, dq, ddq = np.array(list(zip(*joints, strict=True)))
    return q, dq, ddq


def _joint_quintic(T: float, t: float, state: Sequence[float]) -> tuple[float, float, float]:
    """Return position, velocity and acceleration of one joint; see `quintic`."""
    p0, v0, a0, p1, v1, a1 = state
    distance = p1 - p0 - v0 * T - 0.5 * a0 * T**2
    speed = v1 - v0 - a0 * T
    bend = a1 - a0
    c3 = (10.0 * distance - 4.0 * speed * T + 0.5 * bend * T**2) / T**3
    c4 = (-15.0 * distance + 7.0 * speed * T - bend * T**2) / T**4
    c5 = (6.0 * distance - 3.0 * speed * T + 0.5 * bend * T**2) / T**5
    return (
        p0 + v0 * t + 0.5 * a0 * t**2 + c3 * t**3 + c4 * t**4 + c5 * t**5,
        v0 + a0 * t + 3.0 * c3 * t**2 + 4.0 * c4 * t**3 + 5.0 * c5 * t**4,
        a0 + 6.0 * c3 * t + 12.0 * c4 * t**2 + 20.0 * c5 * t**3,
    )


def cubic(
    start: tuple[FloatArray, FloatArray], end: tuple[FloatArray, FloatArray], T: float, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the cubic between two positions and velocities at time `t`; see `quintic`."""
    (p0, v0), (p1, v1) = start, end
    c2 = (3.0 * (p1 - p0) - (2.0 * v0 + v1) * T) / T**2
    c3 = (-2.0 * (p1 - p0) + (v0 + v1) * T) / T**3
    return (
        p0 + v0 * t + c2 * t**2 + c3 * t**3,
        v0 + 2.0 * c2 * t + 3.0 * c3 * t**2,
        2.0 * c2 + 6.0 * c3 * t,
    )


class TrajectoryController:
    """Turns trajectories into references; holds `q` (n,) [rad] until one comes."""

    def __init__(self, q: FloatArray) -> None:
        self._hold = np.asarray(q, dtype=float).copy()
        self._knots: TrajectoryPoints | None = None
        self._start = 0.0
        self._state = (self._hold, np.zeros_like(self._hold), np.zeros_like(self._hold))

    @property
    def active(self) -> bool:
        """Return whether a trajectory is being executed."""
        return self._knots is not None

    def follow(self, knots: TrajectoryPoints, now: float) -> None:
        """
        Replace the trajectory that is executed; the motion goes on from the present reference.

        A trajectory that a controller rejects raises an `UnsafeMotionError`, and the present one
        goes on.
        """
        knots.check(self._hold.size)
        self.sample(now)
        if knots.times[0] > 0.0:
            q, dq, ddq = self._state
            knots = TrajectoryPoints(
                np.append(0.0, knots.times),
                np.vstack([q, knots.q]),
                None if knots.dq is None else np.vstack([dq, knots.dq]),
                None if knots.ddq is None else np.vstack([ddq, knots.ddq]),
            )
        self._knots, self._start = knots, now

    def take_over(self, state: tuple[FloatArray, FloatArray, FloatArray]) -> None:
        """Forget the trajectory and start anew from a reference; its position is held."""
        self._state, self._hold, self._knots = state, state[0].copy(), None

    def brake(self, acceleration: FloatArray, now: float) -> None:
        """
        Come to rest as fast as the joints may, all at once, each at a constant deceleration.

        `acceleration` (n,) are the largest decelerations [rad/s^2], infinite where unknown.
        """
        q, dq, _ = self.sample(now)
        rest = np.zeros_like(q)
        if not dq.any():
            self.take_over((q, rest, rest))
            return
        known = np.isfinite(acceleration)
        limited = np.abs(dq[known]) / acceleration[known]
        unlimited = [STOP_TIME] if dq[~known].any() else []
        # Over less than a millisecond differences of positions are nothing but rounding.
        duration = max(1e-3, *limited, *unlimited)
        # The cubic that this end makes is a parabola.
        end = q + 0.5 * duration * dq
        self.follow(TrajectoryPoints(np.array([duration]), end[None], rest[None]), now)

    def stop(self, now: float) -> None:
        """Come to rest smoothly from the present reference."""
        q, dq, _ = self.sample(now)
        rest = np.zeros_like(q)
        target = q + 0.5 * STOP_TIME * dq
        stop = TrajectoryPoints(np.array([STOP_TIME]), target[None], rest[None], rest[None])
        self.follow(stop, now)

    def sample(self, now: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the reference position, velocity and acceleration, shape (n,) each."""
        if self._knots is not None:
            self._state = self._interpolate(self._knots, now - self._start)
        return self._state

    def _interpolate(
        self, knots: TrajectoryPoints, t: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        if t >= knots.times[-1]:
            self._hold, self._knots = knots.q[-1].copy(), None
            return self._hold, np.zeros_like(self._hold), np.zeros_like(self._hold)
        k = int(np.searchsorted(knots.times, max(t, 0.0), side='right')) - 1
        T = float(knots.times[k + 1] - knots.times[k])
        local = max(t, 0.0) - float(knots.times[k])
        if knots.dq is None:
            speed = (knots.q[k + 1] - knots.q[k]) / T
            return knots.q[k] + speed * local, speed, np.zeros_like(speed)
        if knots.ddq is None:
            return cubic(
                (knots.q[k], knots.dq[k]), (knots.q[k + 1], knots.dq[k + 1]), T, local
            )
        return quintic(
            (knots.q[k], knots.dq[k], knots.ddq[k]),
            (knots.q[k + 1], knots.dq[k + 1], knots.ddq[k + 1]),
            T,
            local,
        )
