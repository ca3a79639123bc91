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

"""
What is watched while an arm moves, without ROS: how far it is, and whether it follows.

The reference is the path that was sent; time on it advances with the driver's speed scaling, as a
scaled trajectory controller advances it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.simulation.controller import Knots
from robot_identification.simulation.controller import TrajectoryController

FloatArray = NDArray[np.float64]

# How far a servo may be behind its reference [s]; what it is ahead is rounding of stamps.
SERVO_DELAY = 0.2
LEAD = 0.02
DELAYS_TRIED = 12
# What one change of the speed scaling by 100 % adds to the doubt about the time [s].
SCALING_DOUBT = 0.1
LARGEST_DOUBT = 1.0
# Longer steps of the stamps are a jump of the clock [s]; simulated time may be faster than ours.
LONGEST_STEP = 1.0
FASTEST_CLOCK = 20.0
# How long a motion lasts before the pace of its stamps is known [s].
PACE_TIME = 0.2
# Shorter bursts of effort are noise [s].
EFFORT_TIME = 0.1
# Below it the arm waits for its speed slider.
STANDSTILL_SCALING = 0.001
# Where a stop has its knots, as shares of its duration.
STOP_KNOTS = np.array([0.4, 0.6, 0.8, 1.0])
REST_SPEED = 0.02
END_TOLERANCE = 0.01
# After the end of the reference [s].
END_TIMEOUT = 3.0


@dataclass(frozen=True, eq=False)
class WatchLimits:
    """
    When a motion is stopped.

    Attributes
    ----------
    tracking : float
        Largest distance from the path [rad].
    scaling_timeout : float
        Longest time with a speed scaling of zero [s].
    effort : ndarray, shape (n,)
        Largest effort, in the driver's unit; infinite where it is not watched.

    """

    tracking: float
    scaling_timeout: float
    effort: FloatArray


class MotionWatch:
    """
    Follows the execution of one motion.

    Parameters
    ----------
    joint_names : sequence of str
        The n joints, for messages.
    knots : Knots
        What was sent.
    q : ndarray, shape (n,)
        Where the arm stood then [rad].
    stamp : float
        Stamp of that measurement [s].
    now : float
        Our own clock then [s].
    limits : WatchLimits
        When it is stopped.
    begun : float
        How long before `stamp` the motion may have begun [s].

    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        knots: Knots,
        q: FloatArray,
        stamp: float,
        now: float,
        limits: WatchLimits,
        *,
        begun: float = 0.0,
    ) -> None:
        self._joints, self._limits, self._now = joint_names, limits, now
        self._knots, self._begin = knots, (stamp, now)
        self._times = np.append(0.0, knots.times)
        self._q = np.vstack([q, knots.q])
        self._stamp, self._scaling = stamp, 1.0
        self._doubt = min(max(begun, 0.0), LARGEST_DOUBT)
        self._hindered_since: float | None = None
        self._effort_since = np.full(len(joint_names), np.nan)
        self.progress = 0.0
        self.worst_error = 0.0

    @property
    def duration(self) -> float:
        """Of the motion at full speed scaling [s]."""
        return float(self._times[-1])

    def update(
        self,
        stamp: float,
        now: float,
        q: FloatArray,
        effort: FloatArray,
        scaling: float,
    ) -> None:
        """
        Take a measurement.

        Parameters
        ----------
        stamp : float
            Of the joint state [s].
        now : float
            When it came, by our own clock, which no driver sets [s].
        q : ndarray, shape (n,)
            Measured position [rad].
        effort : ndarray, shape (n,)
            In the driver's unit; NaN where there is none.
        scaling : float
            Present speed scaling, 1 at full speed.

        Raises
        ------
        UnsafeMotionError
            If the motion is to be stopped, with the reason.

        """
        self._advance(stamp, now, scaling)
        self._check_tracking(q)
        self._check_effort(stamp, effort)
        self._check_scaling(stamp, scaling)
        if self.progress > self.duration + END_TIMEOUT + self._doubt:
            raise UnsafeMotionError(
                f'the end of the motion was not reached {END_TIMEOUT:g} s after its time'
            )

    def has_arrived(self, q: FloatArray, dq: FloatArray) -> bool:
        """Return whether the arm rests at the end; `q` [rad] and `dq` [rad/s] of shape (n,)."""
        return bool(
            self.progress > self.duration
            and np.max(np.abs(dq)) < REST_SPEED
            and np.max(np.abs(q - self._q[-1])) < END_TOLERANCE
        )

    def stop_on_path(self, now: float, duration: float) -> Knots:
        """
        Return a stop that stays on the path: its places have been proved, what is beside has not.

        Time on the path is slowed down to rest, from where the controller is by now. A few knots
        leave it room to blend what it is off that estimate.

        Parameters
        ----------
        now : float
            Our own clock [s]; measurements may have been missing for a while.
        duration : float
            Until the arm rests [s].

        """
        reached = self.progress + self._scaling * self._pace() * max(now - self._now, 0.0)
        u = STOP_KNOTS
        times = reached + self._scaling * duration * (u - u**3 + 0.5 * u**4)
        rate = self._scaling * (1.0 - 3.0 * u**2 + 2.0 * u**3)
        slope = self._scaling * 6.0 * (u**2 - u) / duration
        path = TrajectoryController(self._q[0])
        path.follow(self._knots, 0.0)
        q, dq, ddq = (
            np.array(column) for column in zip(*map(path.sample, times), strict=True)
        )
        rate, slope = rate[:, None], slope[:, None]
        return Knots(duration * u, q, rate * dq, rate**2 * ddq + slope * dq)

    def _pace(self) -> float:
        """Return how fast stamps go by our own clock: 1, but for a simulation."""
        stamp, now = self._begin
        # Over a while only: messages that waited arrive together.
        if self._now - now < PACE_TIME:
            return 1.0
        return min((self._stamp - stamp) / (self._now - now), FASTEST_CLOCK)

    def _advance(self, stamp: float, now: float, scaling: float) -> None:
        step = stamp - self._stamp
        if not 0.0 <= step <= LONGEST_STEP + FASTEST_CLOCK * (now - self._now):
            raise UnsafeMotionError(
                f'the stamps of joint states jump by {step:.3f} s: the clock was set, or the '
                'driver was started anew'
            )
        changed = SCALING_DOUBT * abs(scaling - self._scaling)
        self._doubt = min(self._doubt + changed, LARGEST_DOUBT)
        self.progress += step * 0.5 * (scaling + self._scaling)
        self._stamp, self._now, self._scaling = stamp, now, scaling

    def _check_tracking(self, q: FloatArray) -> None:
        times = self.progress + np.linspace(
            -SERVO_DELAY - self._doubt, LEAD + self._doubt, DELAYS_TRIED
        )
        # As good as the nearest of all instants between those tried: segments, not points.
        path = np.column_stack([np.interp(times, self._times, column) for column in self._q.T])
        error = _distance_to_path(q, path)
        worst = int(np.argmax(error))
        self.worst_error = max(self.worst_error, float(error[worst]))
        if not error[worst] <= self._limits.tracking:
            raise UnsafeMotionError(
                f'tracking error of {self._joints[worst]} is {error[worst]:.3f} rad, allowed are '
                f'{self._limits.tracking} rad'
            )

    def _check_effort(self, stamp: float, effort: FloatArray) -> None:
        over = np.abs(effort) > self._limits.effort
        since = np.where(np.isnan(self._effort_since), stamp, self._effort_since)
        self._effort_since = np.where(over, since, np.nan)
        held = over & (stamp - self._effort_since >= EFFORT_TIME)
        if held.any():
            joint = int(np.argmax(held))
            raise UnsafeMotionError(
                f'effort of {self._joints[joint]} is {effort[joint]:.3g}, expected is at most '
                f'{self._limits.effort[joint]:.3g}: the arm pushes against something, or payload, '
                'mounting or drive gains are others than stated'
            )

    def _check_scaling(self, stamp: float, scaling: float) -> None:
        if scaling > STANDSTILL_SCALING:
            self._hindered_since = None
            return
        if self._hindered_since is None:
            self._hindered_since = stamp
        waited = stamp - self._hindered_since
        if waited > self._limits.scaling_timeout:
            raise UnsafeMotionError(
                f'the speed scaling has been zero for {waited:.1f} s, allowed are '
                f'{self._limits.scaling_timeout:g} s: is the speed slider at zero, or the program '
                'paused?'
            )


def _distance_to_path(q: FloatArray, path: FloatArray) -> FloatArray:
    """Return the distance of each joint at the point of a polyline that is nearest to `q`."""
    start, along = path[:-1], np.diff(path, axis=0)
    length = np.maximum(np.sum(along**2, axis=1), np.finfo(float).tiny)
    share = np.clip(np.sum((q - start) * along, axis=1) / length, 0.0, 1.0)
    errors = np.abs(q - (start + share[:, None] * along))
    nearest: FloatArray = errors[int(np.argmin(errors.max(axis=1)))]
    return nearest
