# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of the effort, in its stated unit.

Unit and sign are judged by the torques of the URDF's bodies. Their masses may be wrong, and no
sensor decides: findings are notes, and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from robot_identification.arrays import FloatArray, release, span_of
from robot_identification.model import EFFORT_UNITS, Motion, rigid_torque, RobotModel
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.effort_hypotheses import without_friction

# Enough samples to see a unit or a sign in.
MOST_SAMPLES = 1000
# A joint is judged by what its effort and the model's torque have in common, apart from friction.
TELLING_CORRELATION = 0.7
FEWEST_TELLING_JOINTS = 2  # one joint may have a wrong mass
# Standard deviation of the model's torque that says something, as a share of the limit.
NOTABLE_TORQUE = 0.002
# How much nearer another unit has to be than the stated one, as a factor.
CLEARLY_NEARER = 1.5
# Effort per torque of a motor current, where no drive gain is known [A/(N m)].
USUAL_CURRENT = (1.0 / 200.0, 1.0 / 3.0)
ROUNDING = 1.0e-12  # share of a sum of squares that is rounding [1]
# Effort beyond its limit by this factor is not in its unit.
BEYOND_LIMIT = 1.5
# An effort that stands still for so long while its joint moves so far is stale [s], [rad].
STALE_SECONDS = 1.0
STALE_MOTION = 0.1  # [rad]
# A sample is a spike where it is so many standard deviations of the effort off both samples beside
# it, the deviation being that of medians of three samples, which have no spikes [1]. Measured:
# white noise alone is so in 4 samples of 10 000, the public UR10 recording nowhere.
SPIKE_DEVIATIONS = 6.0
# Share of spikes [1] that is worth a note: with ten times the RMS they are a tenth of its square.
NOTABLE_SPIKES = 0.001
# Fewer may be of white noise in a short recording: of 5000 samples it has two in the mean.
FEWEST_SPIKES = 6
# Rate below which a single sample may be a torque [Hz]; chosen: between that of the public Panda
# recording, 30 Hz, where 4 samples of a joint are 12 deviations off, and those of drivers.
SPIKE_RATE = 100.0


def check_effort(dataset: Dataset, robot: RobotModel) -> tuple[str, ...]:
    """Return warnings where the effort fits neither the torques of the URDF nor the limits."""
    motion, effort = dataset.thinned(MOST_SAMPLES)
    if not len(motion):
        return ()
    torque = rigid_torque(robot, motion)
    scale, correlation = effort_per_torque(effort, torque, motion)
    # What is small compared with the joint's limit is small compared with friction, too.
    correlation[np.std(torque, axis=0) < NOTABLE_TORQUE * _finite_limits(robot)] = 0.0
    signs = _judge_signs(robot, dataset.effort_unit, scale, correlation)
    units = _judge_unit(robot, dataset.effort_unit, np.abs(scale), np.abs(correlation))
    return (*signs, *(units or _judge_limits(robot, dataset.effort_unit, effort)))


def _finite_limits(robot: RobotModel) -> FloatArray:
    return np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 0.0)


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


def _judge_signs(
    robot: RobotModel, unit: str, scale: FloatArray, correlation: FloatArray
) -> list[str]:
    """Return notes on joints whose effort, with its drive gain, opposes the torque of the URDF."""
    is_turned = EFFORT_UNITS[unit].is_current & (robot.drives.drive_gain < 0.0)
    sign = np.where(is_turned, -1.0, 1.0)
    scale, correlation = sign * scale, sign * correlation
    return [
        f'effort of {robot.joint_names[joint]} has the opposite sign of the torque of the URDF '
        f'({scale[joint]:.2g} times, correlation {correlation[joint]:.2f}): check the sign of its '
        'drive gain, the mounting (gravity) and the axis in the URDF'
        for joint in np.flatnonzero(correlation < -TELLING_CORRELATION)
    ]


def _judge_unit(
    robot: RobotModel, unit: str, scale: FloatArray, correlation: FloatArray
) -> list[str]:
    """Return a note where the effort of most joints fits another unit better."""
    gain = np.abs(robot.drives.drive_gain)
    telling = np.flatnonzero((correlation > TELLING_CORRELATION) & (scale > 0.0))
    if len(telling) < FEWEST_TELLING_JOINTS:
        return []
    expected = {
        candidate: float(np.median([
            _log_distance(scale[joint], *_effort_range(candidate, gain[joint]))
            for joint in telling
        ]))
        for candidate in _UNIT_NAMES
    }
    best = min(expected, key=lambda candidate: expected[candidate])
    # The arm has gravity where the effort has.
    stated = 'A' if EFFORT_UNITS[unit].is_current else 'Nm'
    if best == stated or expected[best] + np.log(CLEARLY_NEARER) > expected[stated]:
        return []
    alike = ' or '.join(
        name for candidate, name in _UNIT_NAMES.items()
        if expected[candidate] < expected[best] + np.log(CLEARLY_NEARER)
    )
    listed = ', '.join(f'{robot.joint_names[joint]} {scale[joint]:.3g}' for joint in telling)
    return [
        f'effort is stated to be in {unit}, but looks like {alike}: recorded effort '
        f'per torque of the URDF is {listed}; check the driver, and --effort-unit'
    ]


_UNIT_NAMES: Mapping[str, str] = {
    'Nm': 'joint torque in Nm',
    'mNm': 'joint torque in mNm',
    'A': 'motor current in A',
    'mA': 'motor current in mA',
}


def _effort_range(unit: str, gain: float) -> tuple[float, float]:
    """Return the effort per torque that a unit leads to, from the least to the most."""
    if unit in ('Nm', 'mNm'):
        return (1.0, 1.0) if unit == 'Nm' else (1e3, 1e3)
    low, high = (1.0 / gain, 1.0 / gain) if np.isfinite(gain) and gain > 0.0 else USUAL_CURRENT
    factor = 1000.0 if unit == 'mA' else 1.0
    return factor * low, factor * high


def _log_distance(value: float, low: float, high: float) -> float:
    """Return the logarithm of the factor by which a value is outside a range."""
    return float(max(np.log(low / value), np.log(value / high), 0.0))


def _judge_limits(robot: RobotModel, unit: str, effort: FloatArray) -> list[str]:
    """Return notes on joints whose effort is more than they have."""
    symbol, is_current = EFFORT_UNITS[unit].symbol, EFFORT_UNITS[unit].is_current
    gain = np.abs(robot.drives.drive_gain) if is_current else np.ones(robot.n)
    largest = np.quantile(np.abs(effort), 0.999, axis=0)
    units = [robot.unit('N m', joint) for joint in range(robot.n)]
    # Comparisons with an unknown gain are false.
    return [
        f'effort of {robot.joint_names[joint]} reaches {largest[joint]:.4g} '
        f'{robot.unit(symbol, joint)}'
        + (f', which is {largest[joint] * gain[joint]:.4g} {units[joint]}' if is_current else '')
        + f'; its limit is {robot.limits.effort[joint]:.4g} {units[joint]}: check the unit'
        for joint in np.flatnonzero(largest * gain > BEYOND_LIMIT * robot.limits.effort)
    ]


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
    """Return notes on joints whose effort has single samples far from those beside them."""
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
        f'{largest[joint]:.4g}, single samples far from those beside them '
        f'({spikes[joint] / len(effort):.1%} of all): they are no torque of the arm, and all '
        'errors of this joint count them; look where driver or log make them'
        # An effort without any deviation is none.
        for joint in np.flatnonzero((spikes >= fewest) & (deviation > 0.0))
    )


def _medians_of_three(effort: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield blocks of all samples but the first and the last, and medians with those beside."""
    for block in row_blocks(len(effort) - 2):
        values = np.asarray(effort[block.start: block.stop + 2])
        before, here, after = values[:-2], values[1:-1], values[2:]
        low, high = np.minimum(before, after), np.maximum(before, after)
        yield here, np.clip(here, low, high)
        release(effort)


def _longest_standstills(
    stamps: FloatArray, effort: FloatArray
) -> list[tuple[int, int] | None]:
    """Return the first row of the longest time without a change, and the next; None of all."""
    n = effort.shape[1]
    begins, longest = [0] * n, [-1.0] * n
    found: list[tuple[int, int] | None] = [None] * n
    for block in row_blocks(len(effort) - 1):
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
        release(effort)
        release(stamps)
    for joint, begin in enumerate(begins):
        if begin and stamps[-1] - stamps[begin] > longest[joint]:
            found[joint] = begin, len(stamps)
    return found
