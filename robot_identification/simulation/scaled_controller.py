# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The robot that stands around a trajectory controller: speed slider, safety, program, restarts.

Trajectory time advances by the pace, 0 to 1, as behind a Universal Robot's scaled controller. The
pace falls as fast as the joints' acceleration limits allow on the way they are on, which is also
how a protective stop ends; it rises by 0.01 a cycle, as the driver lets it after a pause.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.options import check_options, option
from robot_identification.simulation.controller import (
    STOP_TIME, TrajectoryController, TrajectoryPoints,
)

# How much the pace may rise in one cycle.
PACE_STEP = 0.01
# Simulated time that a driver needs to come back [s].
RESTART_TIME = 2.0
# Below this a joint does not move [rad/s].
STANDSTILL = 1e-9


@dataclass(frozen=True)
class RobotCondition:
    """Influence of speed slider, safety and other programs on the motion."""

    speed_scaling: float = option(
        float, 'speed slider: trajectory time advances by it [percent]', default=100.0,
        minimum=0.0, maximum=100.0,
    )
    # The arm moves in 1 (normal) and 2 (reduced) only.
    safety_mode: int = option(
        int, 'as Universal Robots numbers it; other than 1 and 2 the arm stops, the goal stays',
        default=1, minimum=1, maximum=13,
    )
    program_running: bool = option(
        bool, 'false: the controller is inactive, its goal is aborted', default=True
    )
    controller_active: bool = option(
        bool, 'false: another controller has been switched in', default=True
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def pace(self) -> float:
        """Return how fast trajectory time is to advance, 0 to 1."""
        return self.speed_scaling / 100.0 if self.safety_mode in (1, 2) else 0.0

    @property
    def takes_commands(self) -> bool:
        """Return whether the controller is active."""
        return self.program_running and self.controller_active


def pace_rates(
    slope: FloatArray, bend: FloatArray, pace: float, acceleration: FloatArray
) -> tuple[float, float]:
    """
    Return the lowest and highest rate of the pace [1/s] with joints within their acceleration.

    At the pace f a joint's acceleration is `f^2 bend + df/dt slope`: `slope` and `bend` (n,) are
    the derivatives of the trajectory by its own time. The lowest is not above and the highest not
    below zero. A trajectory that brakes harder than the limits by itself is stopped in `STOP_TIME`
    all the same.
    """
    moving = np.abs(slope) > STANDSTILL
    if not moving.any():
        return -math.inf, math.inf
    speed, limit = np.abs(slope[moving]), acceleration[moving]
    along = pace**2 * bend[moving] * np.sign(slope[moving])
    lowest = float(np.max((-limit - along) / speed))
    highest = float(np.min((limit - along) / speed))
    return (lowest if lowest <= 0.0 else -1.0 / STOP_TIME), max(highest, 0.0)


class ScaledController:
    """
    Trajectory controller that follows the robot's condition.

    It holds `q` (n,) [rad] until a trajectory comes, and stops the arm within `acceleration` (n,)
    [rad/s^2], infinite where unknown. `period` is the time between two calls of `sample` [s].
    """

    def __init__(self, q: FloatArray, acceleration: FloatArray, period: float) -> None:
        self._inner = TrajectoryController(q)
        self._acceleration, self._period = acceleration, period
        self._condition = RobotCondition()
        self._pace = 1.0
        # By how much trajectory time is behind [s].
        self._lag = 0.0
        self._braking = False
        self._back_at = -math.inf
        self._reference = self._inner.sample(0.0)

    @property
    def condition(self) -> RobotCondition:
        """Return the robot's condition."""
        return self._condition

    @property
    def executing(self) -> bool:
        """Return whether a trajectory, or a stop, is under way."""
        return self._inner.active

    @property
    def reference(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity and acceleration of the last cycle, shape (n,) each."""
        return self._reference

    @property
    def speed_scaling(self) -> float:
        """Return what the driver publishes as its speed scaling [percent]."""
        return 100.0 * min(self._condition.pace, self._pace)

    def is_silent(self, now: float) -> bool:
        """Return whether the driver is being restarted."""
        return now < self._back_at

    def is_active(self, now: float) -> bool:
        """Return whether trajectories are taken."""
        return self._condition.takes_commands and not self.is_silent(now)

    def set_condition(self, condition: RobotCondition, now: float) -> bool:
        """Change the robot's condition; return whether that switches the controller off."""
        was_active = self.is_active(now)
        self._condition = condition
        if was_active and not self.is_active(now):
            self._halt(now)
            return True
        return False

    def restart(self, now: float) -> None:
        """Lose what is being executed, hold, and take no command for `RESTART_TIME`."""
        self._back_at = now + RESTART_TIME
        self._halt(now)

    def follow(self, knots: TrajectoryPoints, now: float) -> None:
        """
        Replace the trajectory that is executed; the motion goes on from the present reference.

        Raises an `UnsafeMotionError` if the controller is not active, or rejects the trajectory.
        """
        if not self.is_active(now):
            raise UnsafeMotionError('the controller is not active')
        knots.check(self._reference[0].size)
        self._rebase(now)
        self._braking = False
        self._inner.follow(knots, now - self._lag)

    def stop(self, now: float) -> None:
        """Come to rest smoothly from the present reference, as after a cancelled goal."""
        self._rebase(now)
        self._braking = True
        self._inner.stop(now - self._lag)

    def _halt(self, now: float) -> None:
        self._rebase(now)
        self._braking = True
        self._inner.brake(self._acceleration, now - self._lag)

    def _rebase(self, now: float) -> None:
        """
        Restart trajectory time: what comes next is timed from the arm's own velocity.

        A sender plans from what it measures, and a stop must not wait for the speed slider. An
        arm at rest keeps its pace.
        """
        q, slope, bend = self._inner.sample(now - self._lag)
        dq = self._pace * slope
        self._inner.take_over((q, dq, self._pace**2 * bend))
        if np.any(np.abs(dq) > STANDSTILL):
            self._pace = 1.0

    def sample(self, now: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Return q [rad], dq [rad/s], ddq [rad/s^2] of one cycle, and advance trajectory time.

        `now` [s] is a period after that of the call before.
        """
        if self._is_held():
            # Not asked again: trajectory time at rest would be a difference that is rounded.
            self._lag += self._period
            return self._reference
        q, slope, bend = self._inner.sample(now - self._lag)
        self._braking = self._braking and self._inner.active
        pace = self._next_pace(slope, bend)
        rate = (pace - self._pace) / self._period
        self._reference = q, self._pace * slope, self._pace**2 * bend + rate * slope
        self._lag += (1.0 - 0.5 * (self._pace + pace)) * self._period
        self._pace = pace
        return self._reference

    def _is_held(self) -> bool:
        """Return whether the arm has come to rest, and is not to leave it."""
        _, dq, ddq = self._reference
        paused = not self._braking and self._pace == self._condition.pace == 0.0
        return paused and not dq.any() and not ddq.any()

    def _next_pace(self, slope: FloatArray, bend: FloatArray) -> float:
        wanted = 1.0 if self._braking else self._condition.pace
        if self._pace == wanted:
            return wanted
        lowest, highest = pace_rates(slope, bend, self._pace, self._acceleration)
        rise = min(highest * self._period, PACE_STEP)
        return min(max(wanted, self._pace + lowest * self._period), self._pace + rise)
