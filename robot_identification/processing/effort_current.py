# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The recorded effort against the motor current that the robot itself reports, where both are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.recording import Recording
import scipy

# Both are compared in means over it [s]; chosen: many samples of a 125 Hz topic, whose noise and
# times of arrival say nothing, and short beside a motion.
BIN = 0.2
# Fewer of them are not compared; chosen: three seconds.
FEWEST_BINS = 15
# A long recording is compared in evenly spread parts of so many joint states; chosen: 20 s at
# 500 Hz each, so that memory does not grow with the bag.
PARTS, PART = 10, 10_000
# By which effort in ampere may differ from the current, as a share; chosen: above what a mean of
# other samples makes of it, below any factor of a unit or a gear.
TOLERANCE = 0.05
# Correlation below which one does not follow the other; chosen: well below the 0.99 of the same
# signal, above the 0.8 that torque and current of a joint with friction may have.
FOLLOWS = 0.9


@dataclass(frozen=True)
class CurrentComparison:
    """One joint's effort beside its current."""

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
    size = len(recording)
    length = min(size, PART)
    starts = np.linspace(0, size - length, min(-(-size // PART), PARTS)).astype(int)
    efforts, currents = [], []
    for start in starts:
        part = slice(start, start + length)
        times = recording.stamps[part]
        first, count = float(times[0]), int(float(np.ptp(times)) / BIN)
        near = slice(*np.searchsorted(stamps, (first, first + count * BIN)))
        efforts.append(_bin_means(times - first, recording.effort[part], count))
        currents.append(_bin_means(stamps[near] - first, values[near], count))
    effort, current = np.concatenate(efforts), np.concatenate(currents)
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
    """Return in words what effort is beside the current."""
    if not found:
        return []
    return [f'effort over actual_current: {", ".join(map(str, found))}']
