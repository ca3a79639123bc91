# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Static poses: where the arm rests in a recording, and from which side each joint came.

Static friction holds what a joint brought with it. The mean of two rests at one pose, reached
from below and from above, is free of it as far as it is the same both ways (docs/drive_gains.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import NotIdentifiableError, UsageError
from robot_identification.recording import Recording
from robot_identification.studies.reading import group_alike

# Time over which a speed is taken from positions [s]; chosen: noise of reported velocities is
# above the limit itself.
SPEED_WINDOW = 0.25
# Rests closer than this in every joint are at one pose [rad]; chosen: above what visits of a pose
# from both sides differ by.
SAME_POSE = 0.01
# A joint that was further from its rest than this came from there [rad]; chosen: half of that.
APPROACH = 0.5 * SAME_POSE
SPEED = 1.0e-3  # largest speed of any joint at rest [rad/s]; chosen
SHORTEST = 2.0  # least duration of a rest [s], whose last half is averaged; chosen


@dataclass(frozen=True, eq=False)
class StaticPose:
    """One rest of the whole arm."""

    start: float  # of the part that is averaged, after the first joint state [s]
    stop: float  # [s]
    q: FloatArray  # (n,) mean position [rad]
    # (n,) 1 where the joint moved upwards into its position, -1 downwards, 0 where it did not
    # move since the recording began.
    approach: FloatArray

    def mean(self, stamps: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean of what was recorded during the rest, (n,); NaN if nothing was."""
        inside = (stamps >= self.start) & (stamps <= self.stop)
        inside &= np.all(np.isfinite(values), axis=1)
        if not inside.any():
            return np.full(values.shape[1], np.nan)
        found: FloatArray = np.mean(values[inside], axis=0)
        return found


def find_static_poses(
    stamps: FloatArray, q: FloatArray, shortest: float = SHORTEST
) -> tuple[StaticPose, ...]:
    """
    Find the rests of the arm in positions (N, n) [rad] at ascending stamps (N,) [s].

    A rest is as long as `shortest` [s] or longer; the last half of that time is averaged.
    """
    finite = np.flatnonzero(np.all(np.isfinite(q), axis=1) & np.isfinite(stamps))
    stamps, q = stamps[finite], q[finite]
    if len(stamps) < 2:
        return ()
    resting = _slower(stamps, q, SPEED)
    edges = np.flatnonzero(np.diff(resting.astype(np.int8), prepend=0, append=0))
    poses: list[StaticPose] = []
    approach = np.zeros(q.shape[1])
    before = 0
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        # The window of a speed reaches beyond the samples it is stated at.
        if stamps[last] - stamps[first] + SPEED_WINDOW < shortest:
            continue
        stop = float(stamps[last])
        start = stop - 0.5 * shortest
        rest = np.mean(q[(stamps >= start) & (stamps <= stop)], axis=0)
        approach = np.where(
            (found := _approach(q[before:first + 1], rest)) != 0.0, found, approach
        )
        poses.append(StaticPose(start, stop, rest, approach))
        before = last
    return tuple(poses)


def static_poses_of(
    recordings: Sequence[Recording], shortest: float, start: float | None = None
) -> list[tuple[Recording, StaticPose]]:
    """
    Return the static poses of one or more recordings, each with its recording.

    Rests whose averaged part begins before `start` [s after the first joint state] are left out.
    Raises NotIdentifiableError if no rest is found, UsageError if `shortest`, the least duration
    of one [s], is not positive.
    """
    if not shortest > 0.0:
        raise UsageError(
            f'the shortest rest of a static pose is {shortest:g} s, it must be positive'
        )
    found = []
    for recording in recordings:
        order = np.argsort(recording.stamps, kind='stable')
        stamps = np.asarray(recording.stamps)[order]
        found += [
            (recording, pose)
            for pose in find_static_poses(stamps, np.asarray(recording.q)[order], shortest)
            if start is None or pose.start >= start
        ]
    if not found:
        raise NotIdentifiableError(
            f'{", ".join(recording.source for recording in recordings)}: the arm never rests for '
            f'{shortest:g} s with every joint slower than {SPEED:g} rad/s: record '
            'static poses, each for 3 s, or shorten --shortest-dwell'
        )
    return found


def group_poses(poses: Sequence[FloatArray]) -> list[list[int]]:
    """
    Return the indices of the rests at one pose, group by group.

    Each pose (n,) is in rad; no joint is further than SAME_POSE from the first rest of its group.
    """
    return group_alike(range(len(poses)), lambda one, other: bool(
        np.all(np.abs(poses[other] - poses[one]) <= SAME_POSE)
    ))


def mean_of_approaches(values: FloatArray, approach: FloatArray) -> tuple[float, float]:
    """
    Return the mean of a joint's values at one pose, and half the difference of sides.

    `values` (D,) are from rests at one pose; `approach` (D,) is 1 where the joint came from below,
    -1 from above, 0 where that is not known. The mean gives both sides the same weight, so that
    static friction cancels; half the difference is what static friction holds. With one side only,
    the mean is that of all values and the other result NaN.
    """
    up, down = values[approach > 0.0], values[approach < 0.0]
    if not up.size or not down.size:
        return float(values.mean()), math.nan
    above, below = float(up.mean()), float(down.mean())
    return 0.5 * (above + below), 0.5 * (above - below)


def _slower(stamps: FloatArray, q: FloatArray, speed: float) -> BoolArray:
    """Return where no joint is faster than `speed`, by its way over a window of time."""
    half = 0.5 * SPEED_WINDOW
    earlier = np.searchsorted(stamps, stamps - half)
    later = np.searchsorted(stamps, stamps + half, side='right') - 1
    time = np.maximum(stamps[later] - stamps[earlier], 1.0e-9)
    travelled = np.max(np.abs(q[later] - q[earlier]), axis=1)
    # A window that misses most of its samples, at a gap, says nothing.
    whole = (time > half) & (time < 2.0 * SPEED_WINDOW)
    slow: BoolArray = whole & (travelled <= speed * time)
    return slow


def _approach(q: FloatArray, rest: FloatArray) -> FloatArray:
    """Return from which side each joint came to rest at last, 0 if it was not away."""
    direction = np.zeros(len(rest))
    for joint in range(len(rest)):
        away = np.flatnonzero(np.abs(q[:, joint] - rest[joint]) > APPROACH)
        if away.size:
            direction[joint] = np.sign(rest[joint] - q[away[-1], joint])
    return direction
