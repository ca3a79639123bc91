# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Watch of an arm in motion, without ROS: its place on the path, and its tracking error.

The reference is the path that was sent; time on it advances with the driver's speed scaling, as a
scaled trajectory controller advances it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.stop import START_TOLERANCE, Whereabouts
from robot_identification.model import NamedJoints

# How far a servo may be behind its reference [s] (docs/execution.md); chosen: several times the
# look-ahead of a UR, 0.03 s.
SERVO_DELAY = 0.2
# How far it may be ahead, by rounding of stamps [s]; chosen: above two cycles of 125 Hz.
LEAD = 0.02
DELAYS_TRIED = 12  # number of times; chosen: chords between them are as good as the path
# What one change of the speed scaling by 100 % adds to the uncertainty about the time [s]
# (docs/execution.md); chosen: its messages have no stamp.
SCALING_UNCERTAINTY = 0.1
LARGEST_UNCERTAINTY = 1.0  # [s] (docs/execution.md); chosen: a lag is to be seen in time
# A stop takes up to this long to its controller, which goes on meanwhile [s]; chosen: above two
# cycles of 125 Hz.
COMMAND_TIME = 0.02
# A measurement younger than this shows where the controller is; with an older one it may have
# halted since [s]; chosen: six cycles of 125 Hz.
FRESH = 0.05
# Above this speed the measured place gives the time on the path [rad/s]; chosen: PLACE_ERROR is 5
# ms then.
SIGNIFICANT_SPEED = 0.2
PLACE_ERROR = 1e-3  # [rad]; chosen: above the resolution of encoders
# Near a reversal the same place comes twice: the velocity has to agree as well, to this share;
# chosen: on the wrong side it differs by twice the speed.
AGREEMENT = 0.3
# An arm that is slower than this share of every speed that its path allows for has been halted;
# chosen: midway between both.
STANDING_SHARE = 0.5
# Shorter bursts of effort are noise [s] (docs/execution.md); chosen: twelve cycles of 125 Hz.
EFFORT_TIME = 0.1
# Shorter gaps of effort are lost messages [s]; chosen: as for joint states.
MISSING_EFFORT_TIME = 0.2
# Below it the arm waits for its speed slider, share of 1; chosen: UR drivers avoid values below
# 0.01.
STANDSTILL_SCALING = 0.001
REST_SPEED = 0.02  # [rad/s]; chosen: above the noise of a resting joint
# An arm departs from its path no faster than so many times the peak speed of a joint, and this
# margin [rad], from one look to the next; chosen: a joint that is held departs with its speed.
LARGEST_DEPARTURE = 2.0
DEPARTURE_MARGIN = 0.02
# In a longer time between two looks the arm may have halted and gone on unseen [s]; chosen: five
# periods of the watch.
UNSEEN_TIME = 0.1
# An arm that was not watched is looked for on its path at this spacing [s]. It may be as much
# further off than from the nearest instant as it moves in that time, and PLACE_ERROR.
SEARCH_SPACING = 0.005
# After the end of the reference [s] (docs/execution.md); chosen: a controller waits for ever.
END_TIMEOUT = 3.0


class OffPathError(UnsafeMotionError):
    """The arm is measured where its motion does not lead."""


class ImplausibleStateError(OffPathError):
    """The measured place of an arm cannot be where it is."""


@dataclass(frozen=True, eq=False)
class WatchLimits:
    """Limits at which a motion is stopped."""

    tracking: float  # largest distance from the path [rad]
    scaling_timeout: float  # longest time with a speed scaling of zero [s]
    # (n,): largest effort, in the driver's unit; infinite where it is not watched.
    effort: FloatArray


class MotionWatch:
    """
    Follows the execution of one motion.

    `start` is the first measurement after the controller took it; the motion may have begun up to
    `begun` before or `delay` after that [s of stamps].
    """

    def __init__(
        self, joints: NamedJoints, path: SentPath, start: Measurement,
        limits: WatchLimits, *, begun: float = 0.0, delay: float = 0.0,
    ) -> None:
        self._joints, self._path, self._limits = joints, path, limits
        self._latest, self._scaling, self._uncertainty = start, 1.0, 0.0
        self._delay = delay
        # The controller is at most so far, and may be behind by the second: the time in which it
        # may have halted unseen [s].
        self.progress = self._unseen = max(begun, 0.0)
        self._hindered_since: float | None = None
        self._effort_since = np.full(len(joints.names), np.nan)
        # Only what was there can go missing.
        self._with_effort = np.isfinite(start.effort) & np.isfinite(limits.effort)
        self._effort_seen = np.full(len(joints.names), start.stamp)
        self._error, self._measured_progress = np.zeros(len(joints.names)), 0.0
        # The last of the measured places that the arm can have been at.
        self._followed = start.q
        self._departure = LARGEST_DEPARTURE * path.peaks()[0]
        self.worst_error = 0.0

    @property
    def latest(self) -> Measurement:
        """Return the last measurement taken."""
        return self._latest

    @property
    def is_plausible(self) -> bool:
        """Return whether the arm may be where it was measured last."""
        return self._followed is self._latest.q

    def update(self, measurement: Measurement, scaling: float) -> None:
        """
        Take a measurement with the speed scaling of that time, 1 at full speed.

        Raises UnsafeMotionError, with the reason, if the motion is to be stopped; as `follow`
        does, if the arm is not on its path.
        """
        self.follow(measurement, scaling)
        self._check_effort(measurement.stamp, measurement.effort)
        self._check_scaling(measurement.stamp, scaling)
        late = self._uncertainty + self._unseen
        if self.progress > self._path.duration + END_TIMEOUT + late:
            raise UnsafeMotionError(
                f'the end of the motion was not reached {END_TIMEOUT:g} s after its time'
            )

    def follow(self, measurement: Measurement, scaling: float) -> None:
        """
        Look where the arm is on its path, with a measurement and the speed scaling of that time.

        Raises OffPathError, with the reason, if it is not there; ImplausibleStateError if that is
        because the measurement cannot be right.
        """
        step = measurement.stamp - self._latest.stamp
        watched = measurement.taken_at - self._latest.taken_at <= UNSEEN_TIME
        changed = SCALING_UNCERTAINTY * abs(scaling - self._scaling)
        self._uncertainty = min(self._uncertainty + changed, LARGEST_UNCERTAINTY)
        if watched:
            self.progress += step * 0.5 * (scaling + self._scaling)
        else:
            advance = step * max(scaling, self._scaling)
            self.progress, self._unseen = self.progress + advance, self._unseen + advance
        self._latest, self._scaling = measurement, scaling
        self._check_tracking(measurement.q, step)
        if self._unseen:
            self._find_on_path(measurement)

    def whereabouts(
        self, now: float, pace: float, seen: Measurement, *, may_pause: bool = False
    ) -> Whereabouts:
        """
        Return where the controller may be on the path at `now` of our own clock [s].

        Stamps go `pace` times as fast as that clock. `seen` is the latest measurement; of another
        clock than that of `update` if the stamps have jumped. With `may_pause` their clock, that
        of a simulation, may have stood still since.
        """
        since, longest = (
            self._scaling * pace * max(now + way - taken, 0.0)
            for taken, way in (
                (self._latest.taken_at, 0.0), (self._latest.taken_after, COMMAND_TIME)
            )
        )
        # Before its begin the path rests, as at its begin.
        first = max(self.progress - self._uncertainty - self._delay - self._unseen, 0.0)
        speed = float(np.max(np.abs(seen.dq)))
        if speed > SIGNIFICANT_SPEED and self._is_there(seen, speed):
            # No arm is ahead of its reference.
            first = max(first, self._measured_progress - PLACE_ERROR / speed)
        last = max(self.progress + self._uncertainty, first) + longest
        slowest = self._slowest(first - SERVO_DELAY, last)
        if now - seen.taken_at > FRESH or speed < max(REST_SPEED, STANDING_SHARE * slowest):
            earliest = max(min(first, self._measured_progress), 0.0)
            return Whereabouts(earliest, last, True, self._scaling, seen.q, seen.dq)
        earliest = first if may_pause else first + since
        return Whereabouts(earliest, last, False, self._scaling, seen.q, seen.dq)

    def as_planned(self, where: Whereabouts) -> Whereabouts:
        """Return where the controller may be, with the arm in the middle of that."""
        q, dq, _ = self._path.sample(np.array([0.5 * (where.earliest + where.latest)]))
        return replace(where, q=q[0], dq=where.scaling * dq[0])

    def _is_there(self, seen: Measurement, speed: float) -> bool:
        """Return whether the path has the measured velocity at the place that was measured."""
        _, dq, _ = self._path.sample(np.array([self._measured_progress]))
        return bool(np.max(np.abs(self._scaling * dq[0] - seen.dq)) < AGREEMENT * speed)

    def _slowest(self, first: float, last: float) -> float:
        """Return the least speed of the fastest joint between two times on the path [rad/s]."""
        speeds = np.abs(self._path.sample(np.linspace(first, last, DELAYS_TRIED))[1]).max(axis=1)
        return self._scaling * float(speeds.min())

    def has_arrived(self, q: FloatArray, dq: FloatArray) -> bool:
        """Return whether the arm rests at the end; `q` [rad] and `dq` [rad/s] of shape (n,)."""
        return bool(
            self.progress - self._unseen > self._path.duration
            and np.max(np.abs(dq)) < REST_SPEED
            and np.max(np.abs(q - self._path.end)) < START_TOLERANCE
        )

    def _check_tracking(self, q: FloatArray, step: float) -> None:
        lag = SERVO_DELAY + self._delay + self._uncertainty
        first, last = self.progress - lag - self._unseen, self.progress + LEAD + self._uncertainty
        # Chords of what was not seen are as short as those of a servo's lag.
        tried = max(DELAYS_TRIED, int(DELAYS_TRIED * (last - first) / (lag + LEAD)))
        times = np.linspace(first, last, tried)
        # As good as the nearest of all instants between those tried: segments, not points.
        error, measured_progress = _nearest(q, self._path.positions(times), times)
        # The nearest place of a path may leap while the arm does not, so its reading must, too.
        leaps = np.minimum(error - self._error, np.abs(q - self._followed)) - (
            DEPARTURE_MARGIN + step * self._departure
        )
        worst = int(np.argmax(np.where(error > self._limits.tracking, leaps, -np.inf)))
        unit = self._joints.unit('rad', worst)
        if leaps[worst] > 0.0 and error[worst] > self._limits.tracking:
            raise ImplausibleStateError(
                f'the measured position of {self._joints.names[worst]} is '
                f'{error[worst]:.3f} {unit} off the path, '
                f'{error[worst] - self._error[worst]:.3f} {unit} more than '
                f'{step:.3f} s before, and the arm is not that fast: check its encoders and what '
                'publishes joint states'
            )
        self._error, self._measured_progress, self._followed = error, measured_progress, q
        worst = int(np.argmax(error))
        unit = self._joints.unit('rad', worst)
        self.worst_error = max(self.worst_error, float(error[worst]))
        if not error[worst] <= self._limits.tracking:
            raise OffPathError(
                f'tracking error of {self._joints.names[worst]} is {error[worst]:.3f} {unit}, '
                f'allowed are {self._limits.tracking} {unit}'
            )

    def _find_on_path(self, seen: Measurement) -> None:
        """Bound where the controller is by where the arm moves, as its time alone does not."""
        speed = float(np.max(np.abs(seen.dq)))
        if speed <= REST_SPEED:
            return
        earliest = self.progress - self._unseen
        first = earliest - self._uncertainty - self._delay - SERVO_DELAY
        times = np.arange(first, self.progress + self._uncertainty + LEAD, SEARCH_SPACING)
        q, dq, _ = self._path.sample(times)
        near_by = self._error.max() + PLACE_ERROR + SEARCH_SPACING * speed
        near = np.abs(q - seen.q).max(axis=1) <= near_by
        alike = np.abs(self._scaling * dq - seen.dq).max(axis=1) < AGREEMENT * speed
        places = times[near & alike]
        if not places.size:
            return
        # No arm is ahead of its reference, or further behind it than its servo. Where it may be at
        # several places, it may be at each of them.
        self._measured_progress = min(self._measured_progress, float(places[0]))
        latest = float(places[-1]) + SERVO_DELAY + self._uncertainty
        self.progress = max(min(self.progress, latest), earliest)
        earliest = max(earliest, float(places[0]) - SEARCH_SPACING)
        self._unseen = max(self.progress - earliest, 0.0)

    def _check_effort(self, stamp: float, effort: FloatArray) -> None:
        over = np.abs(effort) > self._limits.effort
        since = np.where(np.isnan(self._effort_since), stamp, self._effort_since)
        self._effort_since = np.where(over, since, np.nan)
        held = over & (stamp - self._effort_since >= EFFORT_TIME)
        if held.any():
            joint = int(np.argmax(held))
            raise UnsafeMotionError(
                f'effort of {self._joints.names[joint]} is {effort[joint]:.3g}, expected is at '
                f'most {self._limits.effort[joint]:.3g}: the arm pushes against something, or '
                'payload, mounting or drive gains are others than stated'
            )
        self._effort_seen = np.where(np.isfinite(effort), stamp, self._effort_seen)
        missing = self._with_effort & (stamp - self._effort_seen > MISSING_EFFORT_TIME)
        if missing.any():
            joint = int(np.argmax(missing))
            raise UnsafeMotionError(
                f'no effort of {self._joints.names[joint]} has come for '
                f'{stamp - self._effort_seen[joint]:.2f} s, at most {MISSING_EFFORT_TIME:g} s are '
                'accepted where efforts are watched: check the driver, or set watch_effort false'
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


def _nearest(
    q: FloatArray, path: FloatArray, times: FloatArray
) -> tuple[FloatArray, float]:
    """Return the distance of each joint at the nearest point of a polyline, and its time."""
    start, along = path[:-1], np.diff(path, axis=0)
    length = np.maximum(np.sum(along**2, axis=1), np.finfo(float).tiny)
    share = np.clip(np.sum((q - start) * along, axis=1) / length, 0.0, 1.0)
    errors = np.abs(q - (start + share[:, None] * along))
    at = int(np.argmin(errors.max(axis=1)))
    return errors[at], float(times[at] + share[at] * (times[at + 1] - times[at]))
