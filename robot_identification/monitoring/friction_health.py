# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Detection of changes of the friction of an arm, beyond its usual variation.

Windows of motion each give the change of friction against the model. Windows in a row that
differ from a reference by more than temperature, load and chance explain, are an alarm, at a
stated rate of false ones. See docs/measuring_friction.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import IdentifiedModel
from robot_identification.monitoring.friction_change import (
    estimate_change, FrictionChange, MotionBlock, reduce_block,
)
from robot_identification.monitoring.health_options import Chart, design_chart, HealthOptions
from robot_identification.monitoring.health_reference import (
    check_model, friction_sha256, HealthReference, JointReference, LARGEST_SHARE, learn_reference,
)

# What is reduced at a time [s], and how many samples at most.
BLOCK = 2.0
MOST_SAMPLES = 4096  # chosen: two seconds at 2 kHz
# After a longer pause, or when the clock goes back, a block ends; shorter ones are not usable [s].
LONGEST_GAP = 0.1
SHORTEST_BLOCK = 0.5
# Numbers that are larger are no measurements [any unit].
LARGEST_VALUE = 1.0e6
# Scatter between fewer blocks says nothing, and what is older than that is of another time [s].
FEWEST_BLOCKS = 8
LONGEST_WINDOW = 1800.0
# CUSUM slack in standard deviations: smaller ones wander, larger ones are blind for small changes.
LEAST_SLACK, MOST_SLACK = 0.25, 1.0
# Residuals that friction does not explain: against those of the reference, and against friction.
WORSE, UNEXPLAINED = 2.0, 0.25
# A model whose friction was that far off says nothing about changes.
LEAST_LEVEL = 0.3
# One-sided, of the reference's mean: 90 %.
MEAN_QUANTILE = 1.28
RECENT, LONGEST_RUN = 5, 20


@dataclass(frozen=True)
class JointHealth:
    """State of the friction of one joint."""

    joint: str  # name
    # A change stays until `FrictionHealth.reset`; {'learning', 'healthy', 'changed', 'not
    # judged'}.
    state: str
    reason: str  # in words
    # Of friction against the reference, normalized to one temperature; mean of the last windows
    # [%]. NaN where there are none.
    change: float
    standard_error: float
    temperature: float  # mean in the last window [deg C]; NaN where it is not known
    windows: int  # how many were judged
    stamp: float  # of the end of the last window, judged or not [s]; NaN before the first
    # Sums of the chart for more and for less friction, and their limit, above which there is an
    # alarm [standard deviations]; the limit is NaN without a reference.
    more: float
    less: float
    limit: float


class FrictionHealth:
    """
    Watch over the friction of every joint while the arm does its work.

    `reference` is an older one, of weeks ago; by default one is learned from the first windows.
    Raises DescriptionError if the reference is that of another model, UsageError if it was made
    with other options.
    """

    def __init__(
        self, model: IdentifiedModel, options: HealthOptions | None = None,
        reference: HealthReference | None = None,
    ) -> None:
        self.options = HealthOptions() if options is None else options
        self._model, self._robot = model, model.robot
        known: tuple[JointReference | None, ...] = (None,) * model.robot.n
        if reference is not None:
            check_model(reference, model, 'the reference of friction health')
            for name in ('sliding_time', 'slow_velocity'):
                theirs, ours = getattr(reference, name), getattr(self.options, name)
                if theirs != ours:
                    raise UsageError(
                        f'friction health: the reference was learned with {name} {theirs:g}, and '
                        f'{ours:g} is set: set the same, or learn a new reference'
                    )
            known = reference.joints
        # Found now, because the first search loads what it needs from the disk.
        design_chart(MOST_SLACK, self.options.windows_between_alarms(model.robot.n))
        lawful = {
            term.joint for term in model.parameters.friction if term.law.needs_temperature
        }
        self._watches = tuple(
            _JointWatch(self.options, model.robot.n, joint in lawful, one)
            for joint, one in enumerate(known)
        )
        self._samples = np.empty((MOST_SAMPLES, 6, model.robot.n))
        self._stamps = np.empty(MOST_SAMPLES)
        self._count, self._last = 0, math.nan

    def step(
        self, stamp: float, q: FloatArray, dq: FloatArray, ddq: FloatArray,
        friction: FloatArray, residual: FloatArray, temperature: FloatArray | None = None,
    ) -> None:
        """
        Process a joint state; those that are not finite or repeat a stamp are left out.

        `stamp` [s]; all others (n,): `q` [rad], `dq` [rad/s] and `ddq` [rad/s^2] filtered as for
        the torque; `friction` of the model's laws, at the joint's temperature if a law has one [N
        m]; `residual`, measured torque minus that of the model, friction included [N m];
        `temperature` of the joints [deg C], NaN where it is not known.
        """
        if not math.isfinite(stamp) or stamp == self._last:
            return
        if not 0.0 < stamp - self._last <= LONGEST_GAP:
            self._close()
            if stamp < self._last:
                for watch in self._watches:
                    watch.forget()
        self._last = stamp
        count = self._count
        row = self._samples[count]
        row[0], row[1], row[2], row[3], row[4] = q, dq, ddq, friction, residual
        row[5] = math.nan if temperature is None else temperature
        self._stamps[count] = stamp
        self._count = count = count + 1
        if count == MOST_SAMPLES or stamp - self._stamps[0] >= BLOCK:
            self._close()

    def _close(self) -> None:
        """Reduce the samples that are there, and judge at most one joint."""
        count, self._count = self._count, 0
        samples = self._samples[:count]
        finite = np.all(np.abs(samples[:, :5]) < LARGEST_VALUE, axis=(1, 2))
        stamps = self._stamps[:count][finite]
        if stamps.size < 2 or stamps[-1] - stamps[0] < SHORTEST_BLOCK:
            return
        block = reduce_block(
            self._robot, stamps, samples[finite], self.options.slow_velocity
        )
        for joint, watch in enumerate(self._watches):
            watch.add(block, joint)
        # One at a time, so that no joint state waits for all of them.
        ready = [joint for joint, watch in enumerate(self._watches) if watch.ready]
        if ready:
            longest = max(ready, key=lambda joint: self._watches[joint].slid.min())
            self._watches[longest].judge(longest)

    def report(self) -> tuple[JointHealth, ...]:
        """Return what is known of every joint, kinematic order."""
        return tuple(
            watch.report(name)
            for name, watch in zip(self._robot.joint_names, self._watches, strict=True)
        )

    @property
    def reference(self) -> HealthReference:
        """Return what was learned or given; joints that still learn have none."""
        return HealthReference(
            friction_sha256(self._model), self._robot.joint_names, self.options.sliding_time,
            self.options.slow_velocity, tuple(watch.reference for watch in self._watches),
        )

    def reset(self) -> None:
        """Forget alarms and start the chart anew, against the same reference."""
        for watch in self._watches:
            watch.reset()


class _JointWatch:
    """The windows, the reference and the chart of one joint."""

    def __init__(
        self, options: HealthOptions, n: int, lawful: bool, reference: JointReference | None
    ) -> None:
        self._options, self._lawful, self._n = options, lawful, n
        self._learned: list[FrictionChange] = []
        self._windows, self._stamp, self._temperature = 0, math.nan, math.nan
        self.forget()
        self.reference: JointReference | None = None
        # None without a reference, or where its model is not usable.
        self._chart: Chart | None = None
        self._scatter = math.nan
        self.reset()
        if reference is not None:
            self._refer_to(reference)

    def forget(self) -> None:
        """Begin the window anew."""
        self._blocks: list[MotionBlock] = []
        self.slid = np.zeros(2)

    def reset(self) -> None:
        """Forget the alarm and start the chart anew."""
        self._alarm, self._problem, self._note = '', '', ''
        self._tolerated = math.nan
        self._recent: deque[float] = deque(maxlen=LONGEST_RUN)
        # Of the chart, for more and less friction.
        self._sums = np.zeros(2)
        self._runs = np.zeros(2, dtype=int)

    def _refer_to(self, reference: JointReference) -> None:
        options = self._options
        self.reference = reference
        level = 1.0 + reference.change
        if level < LEAST_LEVEL:
            return
        self._scatter = reference.long_scatter / level
        apart = (options.change_to_see - options.tolerated_change) / (2.0 * self._scatter)
        # In steps, so that joints share a chart.
        slack = round(float(np.clip(apart, LEAST_SLACK, MOST_SLACK)), 1)
        self._chart = design_chart(slack, options.windows_between_alarms(self._n))

    @property
    def ready(self) -> bool:
        """Return whether the window holds enough."""
        return (
            len(self._blocks) >= FEWEST_BLOCKS
            and float(self.slid.min()) >= self._options.sliding_time
        )

    def add(self, block: MotionBlock, joint: int) -> None:
        """Add a block if the joint slides in it, and drop what is too old."""
        if not block.rows[joint]:
            return
        self._blocks.append(block)
        oldest = block.stop - LONGEST_WINDOW
        if self._blocks[0].stop < oldest:
            self._blocks = [one for one in self._blocks if one.stop >= oldest]
        self.slid = np.sum([one.sliding[joint] for one in self._blocks], axis=0)

    def judge(self, joint: int) -> None:
        """Judge the window, and begin the next one."""
        blocks = self._blocks
        self.forget()
        self._stamp = blocks[-1].stop
        window = estimate_change(blocks, joint)
        if window is None:
            self._problem = 'the model has no friction for this joint: identify one with it'
            return
        self._temperature = window.temperature
        self._problem = self._problem_of(window)
        if self._problem:
            return
        if self.reference is None:
            self._learned.append(window)
            if len(self._learned) >= self._options.reference_windows:
                self._refer_to(learn_reference(
                    self._learned, self._options.smallest_span, with_slope=not self._lawful
                ))
            return
        if self._chart is not None:
            self._windows += 1
            self._step_chart(window, self.reference, self._chart)

    def _problem_of(self, window: FrictionChange) -> str:
        """Return why a window says nothing, empty if it does."""
        options, reference = self._options, self.reference
        if max(abs(window.change), window.unexplained, window.load) > LARGEST_SHARE:
            return (
                'the residual is more than a hundred times the friction of the model: the model '
                'is not usable for this joint, identify the arm again'
            )
        if reference is None:
            return self._imprecision(window)
        expected = reference.expected(window.temperature)
        if self._chart is None or 1.0 + expected < LEAST_LEVEL:
            return (
                f'in the reference friction is {100.0 * (1.0 + expected):.0f} % of that of the '
                'model: the model is not usable for this joint, identify the arm again'
            )
        usual = max(WORSE * reference.unexplained, UNEXPLAINED)
        if window.unexplained > usual:
            return (
                f'friction does not explain the residual: {100.0 * window.unexplained:.0f} % of '
                f'friction is left, allowed are {100.0 * usual:.0f} %; is the arm touched, or '
                'its payload changed in the meantime?'
            )
        if self._imprecision(window):
            return self._imprecision(window)
        distance, slope_error = self._beyond(window.temperature, reference)
        if distance * slope_error > options.tolerated_change:
            known = 'the model has a law of temperature' if self._lawful else (
                f'its slope is known to {100.0 * slope_error:.1f} %/K only'
                if reference.slope is not None else
                'its temperatures did not vary enough for a slope'
            )
            return (
                f'{distance:.0f} deg C from the reference: it is {window.temperature:.0f} deg C '
                f'and was {reference.coldest:.0f} to {reference.warmest:.0f}, and {known}; learn '
                'a reference while the arm warms up'
            )
        return ''

    def _imprecision(self, window: FrictionChange) -> str:
        """Return that a window does not tell friction well enough, empty if it does."""
        error, limit = window.standard_error, self._options.largest_error
        if error <= limit:
            return ''
        return (
            f'the last window determines friction to {100.0 * error:.0f} % only, needed are '
            f'{100.0 * limit:.0f} %: more varied motion helps'
        )

    def _beyond(self, temperature: float, reference: JointReference) -> tuple[float, float]:
        """Return the distance of a temperature from the reference's, and the error per kelvin."""
        options = self._options
        if reference.coldest is None or reference.warmest is None or math.isnan(temperature):
            return 0.0, 0.0
        distance = max(reference.coldest - temperature, temperature - reference.warmest, 0.0)
        if self._lawful:
            return distance, options.slope_uncertainty
        if reference.slope_error is not None:
            return distance, options.slope_uncertainty + 2.0 * reference.slope_error
        return distance, options.unknown_slope

    def _step_chart(
        self, window: FrictionChange, reference: JointReference, chart: Chart
    ) -> None:
        """Add a window to the sums, and note an alarm."""
        options = self._options
        level = 1.0 + reference.expected(window.temperature)
        change = (1.0 + window.change) / level - 1.0
        distance, slope_error = self._beyond(window.temperature, reference)
        tolerated = (
            options.tolerated_change + MEAN_QUANTILE * reference.mean_error / level
            + distance * slope_error
            + options.load_uncertainty * abs(window.load - reference.load) / level
        )
        self._note = ''
        if reference.temperature is None or math.isnan(window.temperature):
            tolerated = max(tolerated, options.warm_up_change)
            self._note = ', as the temperature is unknown and warming may do as much'
        self._tolerated = tolerated
        scatter = max(self._scatter, window.standard_error / level)
        sample = (np.array([change, -change]) - tolerated) / scatter
        self._recent.append(change)
        self._sums = chart.step(self._sums, sample)
        self._runs = np.where(self._sums > 0.0, self._runs + 1, 0)
        over = self._sums > chart.limit
        if np.any(over) and not self._alarm:
            side = int(np.argmax(over))
            size, error = self._mean_change(int(self._runs[side]) or RECENT)
            self._alarm = (
                f'{"less" if side else "more"} friction by {100.0 * abs(size):.0f} +- '
                f'{100.0 * error:.0f} %, seen in window {self._windows}'
            )

    def _mean_change(self, count: int) -> tuple[float, float]:
        """Return the mean of the last changes with its standard error."""
        last = list(islice(reversed(self._recent), count))
        if not last or self.reference is None:
            return math.nan, math.nan
        squared = self._scatter**2 * (1.0 / len(last) + 1.0 / self.reference.windows)
        slope_error, temperature = self.reference.slope_error, self.reference.temperature
        if slope_error is not None and temperature is not None and not math.isnan(
            self._temperature
        ):
            squared += (slope_error * (self._temperature - temperature)) ** 2
        return float(np.mean(last)), math.sqrt(squared)

    def report(self, name: str) -> JointHealth:
        """Return what is known."""
        state, reason = self._state()
        change, error = self._mean_change(RECENT)
        more, less = self._sums.tolist()
        return JointHealth(
            name, state, reason, 100.0 * change, 100.0 * error, self._temperature, self._windows,
            self._stamp, more, less, math.nan if self._chart is None else self._chart.limit,
        )

    def _state(self) -> tuple[str, str]:
        wanted = self._options.sliding_time
        progress = (
            f'the next window has {min(self.slid[0], wanted):.0f} s forwards and '
            f'{min(self.slid[1], wanted):.0f} s backwards of {wanted:g} s'
        )
        if self._alarm:
            return 'changed', self._alarm + (f'; now {self._problem}' if self._problem else '')
        if self._problem:
            return 'not judged', self._problem
        if self.reference is None:
            return 'learning', (
                f'{len(self._learned)} of {self._options.reference_windows} windows of the '
                f'reference; {progress}'
            )
        if not self._recent:
            return 'not judged', f'no window yet; {progress}'
        change, error = self._mean_change(RECENT)
        known = (
            f'friction differs from the reference by {100.0 * change:+.1f} +- '
            f'{100.0 * error:.1f} %; up to {100.0 * self._tolerated:.0f} % are no '
            f'change{self._note}'
        )
        if abs(change) > self._tolerated:
            known += '; more than that, but by too few windows or too little to be sure'
        return 'healthy', known
