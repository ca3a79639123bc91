# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort that contradicts the arm or its own current, was held, or has spikes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray, release, span_of
from robot_identification.model import (
    inertial_regressor, Motion, prior_inertial_parameters, rigid_torque, RobotModel,
)
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.dataset import Contradiction, Dataset
from robot_identification.processing.effort_hypotheses import without_friction
from robot_identification.recording import Recording, spread_parts
import scipy

MOST_SAMPLES = 2000  # in which effort and URDF are compared: enough for a wrong sign or unit
# A joint whose rigid torque explains less than this share of what friction, rotor and bias leave
# of its effort says nothing of the URDF's bodies.
TELLING_SHARE = 0.3
# Effort over the URDF's torque outside this range is not a matter of wrong masses.
CREDIBLE_RATIO = (0.4, 2.5)
# Of an arm with fewer joints the contradiction of one counts as that of several.
FEW_JOINTS = 3
# A tool weighs at most so much of the links that move [1]: the rated payload of few arms is more.
HEAVIEST_TOOL = 0.5
# Efforts over the limit that a description states, at most [1]; chosen: motors can do twice their
# lasting torque for a moment.
LARGEST_OVERLOAD = 3.0
ROUNDING = 1.0e-12  # share of a sum of squares that is rounding [1]
# An effort that stands still for so long while its joint moves so far is stale [s], [rad].
STALE_SECONDS, STALE_MOTION = 1.0, 0.1
# A sample is a spike where it is so many standard deviations of the effort off both of its
# neighbours, the deviation being that of medians of three samples, which have no spikes [1].
# Measured: white noise alone is so in 4 samples of 10 000, the public UR10 recording nowhere.
SPIKE_DEVIATIONS = 6.0
# Share of spikes [1] that is worth a note: with ten times the RMS they are a tenth of its square.
# Fewer than six may be of white noise: of 5000 samples it has two in the mean.
NOTABLE_SPIKES, FEWEST_SPIKES = 0.001, 6
# Rate below which a single sample may be a torque [Hz]; chosen: between that of the public Panda
# recording, 30 Hz, where 4 samples of a joint are 12 deviations off, and those of drivers.
SPIKE_RATE = 100.0


def find_contradictions(dataset: Dataset, robot: RobotModel) -> tuple[Contradiction, ...]:
    """Return where the effort of a dataset contradicts the arm in sign, size or limits."""
    if not dataset.fitted.any():
        return ()
    motion, effort = dataset.thinned(MOST_SAMPLES)
    measured, rigid = effort * dataset.torque_per_effort(robot), rigid_torque(robot, motion)
    found = []
    overloads = exceeded_limits(robot, measured, rigid)
    # Of one or two joints the limit may be a placeholder.
    if 2 * len(overloads) > robot.n:
        found.append(Contradiction(
            f'largest effort over the limit of the joint is {_listed(overloads)}: check effort '
            'unit and drive gains, or correct the limits',
            of_several=True, joints=tuple(overloads),
        ))
    if ratios := contradicting_ratios(robot, measured, rigid, motion):
        found.append(Contradiction(
            f'measured over expected torque of the bodies is {_listed(ratios)}: check effort '
            'unit, drive gains, signs and mounting',
            of_several=len(ratios) > 1 or robot.n < FEW_JOINTS, joints=tuple(ratios),
        ))
    return tuple(found)


def _listed(values: dict[str, float]) -> str:
    return ', '.join(f'{name} {value:.2g}' for name, value in values.items())


def exceeded_limits(
    robot: RobotModel, measured: FloatArray, rigid: FloatArray
) -> dict[str, float]:
    """
    Return the largest torque over its limit of the joints that clearly exceed it, by name.

    A limit below the torque (N, n) that the URDF's own bodies need, such as a placeholder, is left
    out, and so is the hundredth of the samples with the largest efforts, which may be spikes.
    """
    limit = robot.limits.effort
    credible = np.isfinite(limit) & (limit > np.abs(rigid).max(axis=0))
    overload = np.quantile(np.abs(measured), 0.99, axis=0) / np.where(credible, limit, np.inf)
    return {
        robot.joint_names[joint]: float(overload[joint])
        for joint in np.flatnonzero(overload > LARGEST_OVERLOAD)
    }


def contradicting_ratios(
    robot: RobotModel, measured: FloatArray, rigid: FloatArray, motion: Motion
) -> dict[str, float]:
    """
    Return measured over expected torque (N, n) of the joints that contradict the URDF, by name.

    None do where a tool on the last link explains all of them.
    """
    ratios = _ratios(robot, measured, rigid, motion)
    if ratios:
        tool = _tool_torque(robot, measured - rigid, motion)
        if tool is not None and not _ratios(robot, measured, rigid + tool, motion):
            return {}
    return ratios


def _ratios(
    robot: RobotModel, measured: FloatArray, expected: FloatArray, motion: Motion
) -> dict[str, float]:
    ratios, correlations = effort_per_torque(measured, expected, motion)
    return {
        name: float(ratio)
        for name, ratio, correlation in zip(robot.joint_names, ratios, correlations, strict=True)
        if correlation**2 > TELLING_SHARE and not CREDIBLE_RATIO[0] < ratio < CREDIBLE_RATIO[1]
    }


def _tool_torque(robot: RobotModel, torque: FloatArray, motion: Motion) -> FloatArray | None:
    """Return the torque (N, n) of the tool that explains most of one; None of no credible tool."""
    columns = inertial_regressor(robot, motion).reshape(*torque.shape, -1)[:, :, -10:]
    rows = np.concatenate([
        without_friction(
            motion, joint,
            np.column_stack([columns[:, joint], torque[:, joint]])
            / (float(np.std(torque[:, joint])) or 1.0),
            np.ones(len(motion)),
        )[0]
        for joint in range(robot.n)
    ])
    # Directions that the motion does not show stay at zero.
    tool = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=1e-6)[0]
    heaviest = HEAVIEST_TOOL * float(prior_inertial_parameters(robot)[::10].sum())
    return columns @ tool if 0.0 < tool[0] < heaviest else None


def effort_per_torque(
    effort: FloatArray, torque: FloatArray, motion: Motion
) -> tuple[FloatArray, FloatArray]:
    """
    Return effort per rigid torque, and their correlation, both (n,).

    An offset, viscous and Coulomb friction and the acceleration of the joint, of which a URDF says
    nothing, are taken out first. Both are zero of a joint of which nothing is left.
    """
    n = effort.shape[1]
    scale, correlation = np.zeros(n), np.zeros(n)
    for joint in range(n):
        signals = np.column_stack([effort[:, joint], torque[:, joint]])
        left, _ = without_friction(motion, joint, signals, np.ones(len(motion)))
        # Rounding errors, as of a torque that gravity does not reach, have no scale.
        if np.all(np.sum(left**2, axis=0) > ROUNDING * np.sum(signals**2, axis=0)):
            seen, expected = left.T
            scale[joint] = seen @ expected / (expected @ expected)
            correlation[joint] = seen @ expected / np.linalg.norm(seen) / np.linalg.norm(expected)
    return scale, correlation


def find_wrong_samples(dataset: Dataset, robot: RobotModel | None) -> tuple[str, ...]:
    """Return notes on joints whose effort was held, or has spikes."""
    return (*find_stale_effort(dataset, robot), *find_effort_spikes(dataset))


def find_stale_effort(dataset: Dataset, robot: RobotModel | None) -> tuple[str, ...]:
    """
    Return notes on joints whose effort does not change, throughout or while they move.

    Without the arm, it is not known which of them slide.
    """
    rows = span_of(dataset.scored)
    release(dataset.scored)
    stamps, effort = dataset.stamps[rows], dataset.effort[rows]
    notes = []
    standstills = _longest_standstills(stamps, effort)
    for joint, (name, found) in enumerate(zip(dataset.joint_names, standstills, strict=True)):
        if found is None:
            notes.append(
                f'effort of {name} is {effort[0, joint]:g} throughout: nothing can be learned '
                'from it'
            )
            continue
        begin, end = found
        duration = stamps[min(end, len(stamps) - 1)] - stamps[begin]
        if duration < STALE_SECONDS:
            continue
        travel = float(np.ptp(dataset.motion.q[rows][begin:end, joint]))
        if travel > STALE_MOTION:
            unit = 'rad or m' if robot is None else robot.position_units[joint]
            notes.append(
                f'effort of {name} stood still at {effort[begin, joint]:g} for '
                f'{duration:.2f} s from {stamps[begin]:.2f} s on, while the joint moved '
                f'by {travel:.2g} {unit}: it is stale there'
            )
    return tuple(notes)


def find_effort_spikes(dataset: Dataset) -> tuple[str, ...]:
    """Return notes on joints whose effort has single samples far from their neighbours."""
    rows = span_of(dataset.scored)
    release(dataset.scored)
    effort = dataset.effort[rows]
    if len(effort) < 3 or dataset.rate < SPIKE_RATE:
        return ()
    n = effort.shape[1]
    count, total, squares = np.zeros(n), np.zeros(n), np.zeros(n)
    for _, median in _medians_of_three(effort):
        known = np.isfinite(median)
        values = np.where(known, median, 0.0)
        count, total = count + known.sum(axis=0), total + values.sum(axis=0)
        squares += np.square(values).sum(axis=0)
    count = np.maximum(count, 1.0)
    deviation = np.sqrt(np.maximum(squares / count - np.square(total / count), 0.0))
    spikes, largest = np.zeros(n, dtype=int), np.zeros(n)
    for values, median in _medians_of_three(effort):
        # Comparisons with an effort that is not known are false.
        is_spike = np.abs(values - median) > SPIKE_DEVIATIONS * deviation
        spikes += is_spike.sum(axis=0)
        largest = np.maximum(largest, np.where(is_spike, np.abs(values), 0.0).max(axis=0))
    fewest = max(NOTABLE_SPIKES * len(effort), FEWEST_SPIKES)
    return tuple(
        f'effort of {dataset.joint_names[joint]} has {spikes[joint]} spikes of up to '
        f'{largest[joint]:.4g}, single samples far from their neighbours '
        f'({spikes[joint] / len(effort):.1%} of all): they are no torque of the arm, and all '
        'errors of this joint count them; look where driver or log make them'
        # An effort without any deviation is none.
        for joint in np.flatnonzero((spikes >= fewest) & (deviation > 0.0))
    )


def _medians_of_three(effort: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield blocks of all samples but the ends, and medians with their neighbours."""
    for block in row_blocks(len(effort) - 2, effort):
        values = np.asarray(effort[block.start: block.stop + 2])
        before, here, after = values[:-2], values[1:-1], values[2:]
        low, high = np.minimum(before, after), np.maximum(before, after)
        yield here, np.clip(here, low, high)


def _longest_standstills(
    stamps: FloatArray, effort: FloatArray
) -> list[tuple[int, int] | None]:
    """Return the first row of the longest time without a change, and the next; None of all."""
    n = effort.shape[1]
    begins, longest = [0] * n, [-1.0] * n
    found: list[tuple[int, int] | None] = [None] * n
    for block in row_blocks(len(effort) - 1, effort, stamps):
        values = np.asarray(effort[block.start: block.stop + 1])
        is_new = values[1:] != values[:-1]
        for joint in range(n):
            changes = block.start + 1 + np.flatnonzero(is_new[:, joint])
            if not changes.size:
                continue
            starts = np.append(begins[joint], changes)
            durations = np.diff(stamps[starts])
            at = int(np.argmax(durations))
            if durations[at] > longest[joint]:
                longest[joint] = float(durations[at])
                found[joint] = int(starts[at]), int(starts[at + 1])
            begins[joint] = int(changes[-1])
    for joint, begin in enumerate(begins):
        if begin and stamps[-1] - stamps[begin] > longest[joint]:
            found[joint] = begin, len(stamps)
    return found


# Both are compared in means over it [s]; chosen: many samples of a 125 Hz topic, whose noise and
# times of arrival say nothing, and short compared with a motion.
BIN = 0.2
# Fewer of them are not compared; chosen: three seconds.
FEWEST_BINS = 15
# Of a long recording so many joint states are compared, in evenly spread parts; chosen: 200 s at
# 500 Hz.
MOST_COMPARED = 100_000
# By which effort in ampere may differ from the current, as a share; chosen: above what a mean of
# other samples makes of it, below any factor of a unit or a gear.
TOLERANCE = 0.05
# Correlation below which one does not follow the other; chosen: well below the 0.99 of the same
# signal, above the 0.8 that torque and current of a joint with friction may have.
FOLLOWS = 0.9


@dataclass(frozen=True)
class CurrentComparison:
    """One joint's effort compared with its current."""

    joint: str
    scale: float  # effort over current, by least squares
    correlation: float  # about their means; NaN where one of them does not change

    @property
    def is_current(self) -> bool:
        """Return whether the effort is the current."""
        return abs(self.scale - 1.0) <= TOLERANCE and not self.correlation < FOLLOWS

    def __str__(self) -> str:
        return f'{self.joint} {self.scale:.3g} (correlation {self.correlation:.3f})'


def compare_with_current(
    recording: Recording, *, order_known: bool = True
) -> tuple[CurrentComparison, ...]:
    """
    Compare effort and `actual_current` joint by joint; nothing where one was not recorded.

    The joints of the channel are in kinematic order. With `order_known` false those of the
    recording may be in another one, and each is compared with the current most like it.
    """
    channel = recording.channels.get('actual_current')
    if channel is None or len(channel) < 2:
        return ()
    effort, current = _means(recording, channel.stamps, channel.values)
    if len(effort) < FEWEST_BINS:
        return ()
    correlation = _correlations(effort, current)
    columns = np.arange(effort.shape[1])
    if not order_known:
        columns = scipy.optimize.linear_sum_assignment(-np.abs(np.nan_to_num(correlation)))[1]
    found = []
    for joint, column in enumerate(columns):
        c, e = current[:, column], effort[:, joint]
        if c.any():
            found.append(CurrentComparison(
                recording.joint_names[joint], float(c @ e / (c @ c)),
                float(correlation[joint, column]),
            ))
    return tuple(found)


def _means(
    recording: Recording, stamps: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means of effort and current over the same times, where both are finite."""
    part, = spread_parts([recording], MOST_COMPARED, (None, None))
    first, count = float(part.stamps[0]), int(float(np.ptp(part.stamps)) / BIN)
    effort = _bin_means(part.stamps - first, part.effort, count)
    current = _bin_means(stamps - first, values, count)
    both = np.isfinite(effort).all(axis=1) & np.isfinite(current).all(axis=1)
    return effort[both], current[both]


def _bin_means(times: FloatArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the mean of the rows in each bin, (count, n); NaN of an empty one."""
    at = np.floor(times / BIN)
    used = (at >= 0) & (at < count)
    at = at[used].astype(np.intp)
    means: FloatArray = np.full((count, rows.shape[1]), np.nan)
    filled = np.bincount(at, minlength=count)
    sums = np.stack([
        np.bincount(at, weights=rows[used, joint], minlength=count)
        for joint in range(rows.shape[1])
    ], axis=1)
    means[filled > 0] = sums[filled > 0] / filled[filled > 0, None]
    return means


def _correlations(effort: FloatArray, current: FloatArray) -> FloatArray:
    """Return the correlation of each joint's effort with each current, (n, n)."""
    e, c = effort - effort.mean(axis=0), current - current.mean(axis=0)
    with np.errstate(invalid='ignore', divide='ignore'):
        found: FloatArray = (e.T @ c) / np.sqrt(
            np.outer((e * e).sum(axis=0), (c * c).sum(axis=0))
        )
    return found


def current_remarks(found: Sequence[CurrentComparison], unit: str) -> list[str]:
    """Return where effort, read in a unit, contradicts the current."""
    if unit == 'A':
        wrong = [one for one in found if not one.is_current]
        return [
            'effort is read as motor current, and it is not actual_current: effort over current '
            f'of {", ".join(map(str, wrong))}, 1 is expected: check --effort-unit and '
            'use_currents_as_efforts of the driver'
        ] if wrong else []
    wrong = [one for one in found if one.is_current]
    return [
        f'effort is read as {unit}, and it is the motor current that actual_current has: effort '
        f'over current of {", ".join(map(str, wrong))}: give --effort-unit A'
    ] if len(wrong) > len(found) / 2 else []


def current_facts(found: Sequence[CurrentComparison]) -> list[str]:
    """Return in words what effort is, compared with the current."""
    if not found:
        return []
    return [f'effort over actual_current: {", ".join(map(str, found))}']
