# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joint states that show that a robot is alive, and the age of each.

A message counts by its stamp, not by its arrival: what waited in a queue is old when it is read,
and what repeats a stamp, or the place of an arm that moves, shows nothing new.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray

# Over so long the pace of a simulation's stamps against our clock is measured [s].
# Chosen: late messages change a pace over a second little.
PACE_WINDOW = 1.0
SHORTEST_PACE_WINDOW = 0.25  # [s]; chosen: a first pace is known soon after the start
# Ratios of both clocks; chosen: the real_time_factor of simulated robots is 0.1 to 20.
SLOWEST_PACE, FASTEST_PACE = 0.05, 20.0
# So fast two clocks drift apart at most, by which states look late or new, ratio of times; chosen:
# twenty times as fast as NTP adjusts a clock that runs.
CLOCK_DRIFT = 0.01
# A simulation whose pace changes makes states look late; within the first time that is forgotten,
# and within the second that they may have been [s]. A gap in which nothing arrived counts as one
# cycle of at most the length below [s]. Chosen: a half and twice the window of the pace.
FORGETTING_TIME, LONGEST_FORGETTING_TIME = 0.5, 2.0
LONGEST_CYCLE = 0.02  # [s]; chosen: above two cycles of the slowest driver, 125 Hz
# States that waited longer in this process do not show the pace [s]; chosen: half the timeout of
# joint states.
LONGEST_WAIT = 0.1
# A step of the stamps that is longer than that of our clock by this is a clock that was set [s];
# chosen: above the jitter of a driver.
LARGEST_LEAD = 0.05
# The same in simulations [s]; chosen: as the timeout of joint states.
LARGEST_SIMULATED_LEAD = 0.2
SIMULATED_HASTE = 3.0  # ratio of its pace then to that before; chosen: a simulation may catch up
# The arm moves above this speed [rad/s]; chosen: above the noise of a resting joint.
MOVING_SPEED = 0.02


@dataclass(frozen=True, eq=False)
class Measurement:
    """A joint state as the model has it."""

    stamp: float  # of its header [s]
    # When it was measured by our own clock [s], as far as its arrival and its stamp show.
    taken_at: float
    # The same at the earliest [s]: a simulation's clock may have paused, or its message waited.
    taken_after: float
    # (n,): position [rad] and velocity [rad/s].
    q: FloatArray
    dq: FloatArray
    effort: FloatArray  # (n,): in the driver's unit; NaN where it gives none


class JointStateMonitor:
    """
    Follows the stamps of joint states; times are of our own monotonic clock [s].

    The clock of a real arm goes as fast as ours. Stamps of a `simulated` arm, whose clock may
    pause and change its pace, show no more than that a message waited while this process did not
    run.
    """

    def __init__(self, *, simulated: bool = False) -> None:
        self.simulated = simulated
        self._latest: Measurement | None = None
        self._arrived_at = -np.inf
        # Arrivals and stamps that give the pace of a simulation, which is None before it is known.
        self._steady: deque[tuple[float, float]] = deque()
        self._pace = None if simulated else 1.0
        self._repeated_since: float | None = None
        self._jump = 0.0

    @property
    def latest(self) -> Measurement | None:
        """Return the last measurement that showed life; None before the first."""
        return self._latest

    @property
    def jump(self) -> float:
        """Jump of the stamps since `forget_jump` [s]; 0: none."""
        return self._jump

    @property
    def pace(self) -> float:
        """Return how fast stamps go by our clock: 1, except in simulations."""
        return 1.0 if self._pace is None else self._pace

    def forget_jump(self) -> None:
        """Take the present clock of the stamps for right."""
        self._jump = 0.0

    def age(self, now: float) -> float:
        """Return the time since the latest measurement was taken [s]; infinite without one."""
        return np.inf if self._latest is None else now - self._latest.taken_at

    def silence(self, now: float) -> str:
        """Return in words what came instead of signs of life."""
        if self._latest is None:
            return 'no joint state has come yet'
        if self._repeated_since is not None:
            return f'the joint states repeat the same one for {now - self._repeated_since:.2f} s'
        if now - self._arrived_at < 0.5 * self.age(now):
            return f'the joint states come {self.age(now):.2f} s late'
        return f'no joint state for {self.age(now):.2f} s'

    def add(
        self, arrived: Measurement, waited: float = np.inf, *, forgets: bool = True
    ) -> bool:
        """
        Take a finite joint state, as if measured on arrival; return whether it shows a live robot.

        It may have waited to be read for up to `waited` [s]. Unless it `forgets`, what is late
        stays late until a state comes in time, though a simulation may only have become slower.
        """
        before, now = self._latest, arrived.taken_at
        if before is None:
            self._accept(arrived, now)
            return True
        if arrived.stamp == before.stamp or (
            np.array_equal(arrived.q, before.q) and np.max(np.abs(arrived.dq)) > MOVING_SPEED
        ):
            if self._repeated_since is None:
                self._repeated_since = self._arrived_at
            self._arrived_at = now
            return False
        step, pace = arrived.stamp - before.stamp, self.pace
        if not 0.0 < step <= self._longest_step(now - before.taken_after):
            self._jump = step
            self._steady.clear()
            self._accept(arrived, now)
            return True
        cycle = min(now - self._arrived_at, LONGEST_CYCLE)
        late, latest = (
            0.0 if self._pace is None else now - (taken + step / pace)
            for taken in (before.taken_at, before.taken_after)
        )
        if self.simulated and not forgets:
            late, latest = max(late, 0.0), max(latest, 0.0)
        elif self.simulated:
            late = min(float(np.exp(-cycle / FORGETTING_TIME)) * max(late, 0.0), waited)
            latest = float(np.exp(-cycle / LONGEST_FORGETTING_TIME)) * max(latest, 0.0)
        else:
            late = latest = max(latest - CLOCK_DRIFT * cycle, 0.0)
        self._accept(replace(arrived, taken_at=now - late, taken_after=now - latest), now)
        return True

    def _longest_step(self, elapsed: float) -> float:
        """Return the longest step of the stamps in a time by our clock [s]."""
        pace = FASTEST_PACE if self._pace is None else self._pace
        if self.simulated:
            return LARGEST_SIMULATED_LEAD + SIMULATED_HASTE * pace * elapsed
        return pace * (LARGEST_LEAD + elapsed)

    def _accept(self, measurement: Measurement, now: float) -> None:
        self._latest, self._arrived_at, self._repeated_since = measurement, now, None
        if not self.simulated or now - measurement.taken_at > LONGEST_WAIT:
            return
        self._steady.append((now, measurement.stamp))
        while now - self._steady[0][0] > PACE_WINDOW and len(self._steady) > 2:
            self._steady.popleft()
        first, stamp = self._steady[0]
        if now - first >= SHORTEST_PACE_WINDOW:
            pace = (measurement.stamp - stamp) / (now - first)
            self._pace = float(np.clip(pace, SLOWEST_PACE, FASTEST_PACE))
