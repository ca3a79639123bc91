# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The break-away test of one joint: torque samples out, joint states in, no clock and no ROS.

A joint is brought to its start pose and let come to rest; then the torque grows at a constant rate
until the joint is faster than a threshold for some samples in a row (Rajagopal 2017, section
3.6: 0.13 rad/s, 25 repeats). Directions alternate. Every fault makes the torque zero and
ends the test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.studies.break_away.options import BreakAwaySettings

Gravity = Callable[[float], float]

# Bandwidth of the return at most [1/s]; chosen: a speed loop that is no faster is stable for
# sampling down to 50 Hz.
LOOP_BANDWIDTH = 10.0
# Time after which the speed loop reaches the cap with the full speed missing [s]; chosen.
BUILD_UP_SECONDS = 1.0
# Samples of a ramp that are kept; of a longer one every second of the older half is dropped;
# chosen: 100 s at 200 Hz.
MAXIMUM_RECORD = 20_000
# A parabola through fewer samples follows their noise; chosen.
SAMPLES_OF_A_PARABOLA = 8


class Phase(Enum):
    """Phase of the test."""

    RETURNING = 'returning'
    SETTLING = 'settling'
    RAMPING = 'ramping'
    DONE = 'done'
    ABORTED = 'aborted'


@dataclass(frozen=True)
class BreakAwayRepeat:
    """One ramp that moved the joint."""

    direction: int  # 1 or -1, as the URDF counts
    # Commanded at the first of the samples above the threshold, without gravity, along the
    # direction [N m].
    torque: float
    measured: float  # effort measured then, in the driver's unit and sign; NaN where there is none
    gravity: float  # torque against gravity then [N m]; 0 in a gravity-free pose
    position: float  # where that was [rad]
    onset_torque: float  # as `torque`, at the first sample beyond the onset travel
    onset_travel: float  # how far the joint had moved then [rad]
    ramp_rate: float  # of the torque [N m/s]
    acceleration: float  # at the first sample above the threshold, along the direction [rad/s^2]


class BoundedPI:
    """
    A PI loop whose integral cannot wind up.

    The integral grows only while the output is within its bound, or where it brings it back, and
    never so far that it alone would exceed it. Gains are output per error, and per error and
    second.
    """

    def __init__(self, gain: float, integral_gain: float, bound: float) -> None:
        self._gain, self._integral_gain, self._bound = gain, integral_gain, bound
        self.integral = 0.0  # of the error, in its unit times seconds

    def reset(self) -> None:
        """Forget the past, as at each new set-point."""
        self.integral = 0.0

    def step(self, error: float, dt: float) -> float:
        """Return the output for an error that has been there for `dt` seconds."""
        grown = self.integral + error * dt
        if self._integral_gain > 0.0:
            grown = _clip(grown, self._bound / self._integral_gain)
        wanted = self._gain * error + self._integral_gain * grown
        if abs(wanted) <= self._bound or wanted * error < 0.0:
            self.integral = grown
        return _clip(self._gain * error + self._integral_gain * self.integral, self._bound)


class BreakAwayTest:
    """
    Break-away test of one joint.

    Pass every joint state to `step` and apply the torque it returns until the next one. Every ramp
    begins at `start` [rad]. `gravity` returns the torque that holds the joint against gravity at a
    position [N m]; without it the pose is gravity-free. With `manual` the torque grows only when
    `raise_torque` is called: the pre-test that finds the cap, one ramp in each direction. Raises
    UsageError if `start` or its gravity torque is not finite, or gravity and a ramp together
    exceed `torque_limit`.
    """

    def __init__(
        self, settings: BreakAwaySettings, start: float, gravity: Gravity | None = None, *,
        manual: bool = False,
    ) -> None:
        if not math.isfinite(start):
            raise UsageError(f'break-away test: the start is {start}, not finite')
        self.settings, self.start = settings, start
        # Torque that holds the joint against gravity at a position [N m].
        self.gravity = gravity or _no_gravity
        self._manual = manual
        held = abs(self.gravity(start))
        if not math.isfinite(held):
            raise UsageError(
                f'break-away test: the gravity torque at {start:.3g} {settings.unit("rad")} is '
                f'{self.gravity(start)}'
            )
        if held + settings.torque_cap > settings.torque_limit:
            unit = settings.unit('N m')
            raise UsageError(
                f'break-away test: gravity takes {held:.3g} {unit} and a ramp up to '
                f'{settings.torque_cap:g} {unit}, more than torque_limit '
                f'{settings.torque_limit:g} {unit}: choose a pose with less moment of gravity'
            )
        self._ramps = 2 * (1 if manual else settings.repeats)
        self._repeats: list[BreakAwayRepeat] = []
        self._position_loop = BoundedPI(
            settings.position_gain, settings.integral_gain, settings.return_speed
        )
        self._speed_loop = _speed_loop(settings)
        self.phase, self.reason = Phase.RETURNING, ''
        self._time = self._phase_began = math.nan
        self._inside_since = self._raised_at = math.nan
        self._torque = self._level = self._target = 0.0
        self._record: list[tuple[float, float, float, float, float]] = []

    @property
    def has_ended(self) -> bool:
        """Return whether the torque is zero for good."""
        return self.phase in (Phase.DONE, Phase.ABORTED)

    @property
    def repeats(self) -> tuple[BreakAwayRepeat, ...]:
        """Return the ramps that moved the joint so far."""
        return tuple(self._repeats)

    @property
    def direction(self) -> int:
        """Direction of the present or next ramp."""
        return 1 if len(self._repeats) % 2 == 0 else -1

    @property
    def progress(self) -> float:
        """Share of the ramps that are done."""
        return len(self._repeats) / self._ramps

    @property
    def level(self) -> float:
        """Torque of the present ramp without gravity [N m], without its sign."""
        return self._level if self.phase is Phase.RAMPING else 0.0

    def raise_torque(self, step: float) -> bool:
        """
        Raise the torque of a manual ramp by `step` [N m], at the settings' rate.

        Returns False if there is no ramp now. A step requested while the torque still grows is not
        added to the one before. Raises UsageError if the step is no positive number.
        """
        if not (math.isfinite(step) and step > 0.0):
            unit = self.settings.unit('N m')
            raise UsageError(f'break-away test: a step of {step} {unit} is not positive')
        if self.phase is not Phase.RAMPING:
            return False
        self._target, self._raised_at = self._level + step, self._time
        return True

    def abort(self, reason: str) -> float:
        """End the test; return the torque of that, zero."""
        if not self.has_ended:
            self.phase, self.reason = Phase.ABORTED, reason
        self._torque = 0.0
        return 0.0

    def step(self, t: float, q: float, dq: float, effort: float = math.nan) -> float:
        """
        Return the torque to apply from a joint state until the next one [N m].

        The state is measured at `t` [s]: `q` [rad], `dq` [rad/s] and `effort`, which is only
        noted. The torque is within ``torque_limit``, and 0 once the test has ended.
        """
        if self.has_ended:
            return 0.0
        first = math.isnan(self._time)
        problem = self._problem(t, q, dq)
        if problem:
            return self.abort(problem)
        if first:
            self._phase_began = self._time = t
            dt = 0.0
        else:
            dt = t - self._time
            if dt == 0.0:
                # The same joint state once more.
                return self._torque
            self._time = t
        if self.phase is Phase.RETURNING:
            torque = self._return(q, dq, dt)
        elif self.phase is Phase.SETTLING:
            torque = self._settle(q)
        else:
            torque = self._ramp(q, dq, dt, effort)
        if self.has_ended:
            return self.abort(self.reason)
        wanted, limit = torque + self.gravity(q), self.settings.torque_limit
        if self.phase is Phase.RAMPING and abs(wanted) > limit:
            # A torque that is cut off would falsify the ramp.
            unit = self.settings.unit('N m')
            return self.abort(
                f'{abs(wanted):.3g} {unit} are needed with gravity, torque_limit is {limit:g} '
                f'{unit}'
            )
        self._torque = _clip(wanted, limit)
        return self._torque

    def _problem(self, t: float, q: float, dq: float) -> str:
        """Return why a joint state ends the test; empty if it does not."""
        settings, unit = self.settings, self.settings.unit('rad')
        for name, value in (('time', t), ('position', q), ('velocity', dq)):
            if not math.isfinite(value):
                return f'the {name} of a joint state is {value}'
        if t < self._time:
            return f'a joint state is {self._time - t:.3g} s older than the one before'
        if t - self._time > settings.longest_gap:
            return (
                f'no joint state for {t - self._time:.3g} s, at most {settings.longest_gap:g} s '
                'are accepted'
            )
        away = abs(self._error(q))
        if away > settings.window:
            return (
                f'the joint is {away:.3g} {unit} from its start, the window is '
                f'{settings.window:g} {unit} either side'
            )
        if abs(dq) > settings.speed_limit:
            return (
                f'the joint moves at {dq:.3g} {unit}/s, the limit is {settings.speed_limit:g} '
                f'{unit}/s'
            )
        if not math.isfinite(self.gravity(q)):
            return f'the torque against gravity at {q:.3g} {unit} is not finite'
        return ''

    def _error(self, q: float) -> float:
        """Return the way back to the start [rad]."""
        error = self.start - q
        return math.remainder(error, 2.0 * math.pi) if self.settings.continuous else error

    def _begin(self, phase: Phase) -> None:
        self.phase, self._phase_began = phase, self._time
        self._inside_since, self._raised_at = math.nan, self._time
        self._level = self._target = 0.0
        self._record.clear()
        # Each return has a set-point of its own.
        self._position_loop.reset()
        self._speed_loop.reset()

    def _return(self, q: float, dq: float, dt: float) -> float:
        error = self._error(q)
        # Well inside, or what it rolls on would bring it out again.
        if abs(error) < 0.5 * self.settings.tolerance:
            self._begin(Phase.SETTLING)
            return 0.0
        if self._time - self._phase_began > self.settings.return_timeout:
            self.abort(
                f'the joint is {abs(error):.3g} {self.settings.unit("rad")} from its start after '
                f'{self.settings.return_timeout:g} s: is the torque cap enough to move it?'
            )
            return 0.0
        speed = self._position_loop.step(error, dt)
        return self._speed_loop.step(speed - dq, dt)

    def _settle(self, q: float) -> float:
        if abs(self._error(q)) > self.settings.tolerance:
            self._begin(Phase.RETURNING)
            return 0.0
        if math.isnan(self._inside_since):
            self._inside_since = self._time
        if self._time - self._inside_since >= self.settings.settle_time:
            self._begin(Phase.RAMPING)
        return 0.0

    def _ramp(self, q: float, dq: float, dt: float, effort: float) -> float:
        settings = self.settings
        # What acted on the joint until it was measured.
        away = -self.direction * self._error(q)
        self._record.append((self._time, away, self.direction * dq, self._level, effort))
        if len(self._record) > MAXIMUM_RECORD:
            del self._record[1:MAXIMUM_RECORD // 2:2]
        last = self._record[-settings.confirming_samples:]
        if len(last) == settings.confirming_samples and all(
            speed > settings.threshold for _, _, speed, _, _ in last
        ):
            self._note()
            return 0.0
        level = self._level + settings.rate * dt
        if self._manual:
            level = min(level, self._target)
            if self._time - self._raised_at > settings.patience:
                self.abort(
                    f'the torque was not raised for {settings.patience:g} s: it is not left on a '
                    'joint unattended'
                )
                return 0.0
        self._level = level
        if self._level > settings.torque_cap:
            self.abort(
                f'{settings.torque_cap:g} {settings.unit("N m")}, the torque cap, did not move '
                f'the joint '
                f'{"up" if self.direction > 0 else "down"}: repeat the manual pre-test'
            )
            return 0.0
        return self.direction * self._level

    def _note(self) -> None:
        """Keep what the ramp has found, and go on."""
        settings, direction = self.settings, self.direction
        times, away, speed, level, effort = (
            np.array(column) for column in zip(*self._record, strict=True)
        )
        first = len(times) - settings.confirming_samples
        position = self.start + direction * float(away[first])
        away -= away[0]
        onset = find_onset(away, settings.onset_travel, first)
        self._repeats.append(BreakAwayRepeat(
            direction=direction,
            torque=float(level[first]),
            measured=float(effort[first]),
            gravity=float(self.gravity(position)),
            position=position,
            onset_torque=float(level[onset]),
            onset_travel=float(away[onset]),
            ramp_rate=settings.rate,
            acceleration=acceleration_at(first, times, speed),
        ))
        self._begin(Phase.RETURNING)
        if len(self._repeats) == self._ramps:
            self.phase, self.reason = Phase.DONE, f'{self._ramps} ramps'


def find_onset(away: FloatArray, travel: float, last: int) -> int:
    """
    Return the sample at which a joint began to move and did not come back.

    It is the first of the samples up to `last`, at which the joint certainly moves, that are all
    more than `travel` [rad] `away` (N,) along the ramp; `last` if it is not.
    """
    near = np.flatnonzero(away[:last + 1] < travel)
    return min(int(near[-1]) + 1, last) if len(near) else 0


def acceleration_at(sample: int, t: FloatArray, speed: FloatArray) -> float:
    """
    Return the acceleration of a joint at one sample of its break-away [rad/s^2].

    It is by least squares through the samples from half the speed on, those after it as well: of a
    parabola, as a steady ramp makes it, or of a straight line through few; NaN of a single sample.
    """
    slow = np.flatnonzero(speed[:sample] < 0.5 * speed[sample])
    begin = int(slow[-1]) if len(slow) else 0
    times, values = t[begin:] - t[sample], speed[begin:]
    if len(times) < 2:
        return math.nan
    degree = 2 if len(times) >= SAMPLES_OF_A_PARABOLA else 1
    return float(np.polynomial.Polynomial.fit(times, values, degree).deriv()(0.0))


def _speed_loop(settings: BreakAwaySettings) -> BoundedPI:
    """
    Return the loop from missing speed to torque.

    Its integral overcomes friction, as fast as the inertia allows; the gain damps it critically.
    """
    natural = min(
        math.sqrt(
            settings.torque_cap / (settings.return_speed * BUILD_UP_SECONDS * settings.inertia)
        ),
        LOOP_BANDWIDTH,
    )
    return BoundedPI(
        2.0 * natural * settings.inertia, natural**2 * settings.inertia, settings.torque_cap
    )


def _clip(value: float, bound: float) -> float:
    return max(-bound, min(bound, value))


def _no_gravity(q: float) -> float:
    return 0.0
