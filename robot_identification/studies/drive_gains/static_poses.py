# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Dwells: where the arm rests in a recording, at which pose, and from which side it came.

Static friction holds what a joint brought with it. The mean of two dwells at one pose, reached
from below and from above, is free of it as far as it is the same both ways (docs/drive_gains.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.recording import Recording

# Time over which a speed is taken from positions [s]: reported velocities are noisier than the
# limit itself.
SPEED_WINDOW = 0.25
# A joint that was further from its rest than this came from there [rad].
APPROACH = 0.005
# Dwells closer than this in every joint are at one pose [rad].
SAME_POSE = 0.01


@dataclass(frozen=True)
class StaticPoseOptions:
    """
    Criteria of a static pose.

    Attributes
    ----------
    speed : float
        Largest speed of any joint [rad/s].
    shortest : float
        Least duration [s].
    averaged : float
        The last so many seconds are averaged [s].

    """

    speed: float = 1.0e-3
    shortest: float = 2.0
    averaged: float = 1.0

    def __post_init__(self) -> None:
        if not self.speed > 0.0:
            raise UsageError(
                f'the largest speed of a dwell is {self.speed:g} rad/s, it must be positive'
            )
        if not 0.0 < self.averaged <= self.shortest:
            raise UsageError(
                f'a dwell of at least {self.shortest:g} s cannot be averaged over its last '
                f'{self.averaged:g} s: the second must be positive and no more than the first'
            )


@dataclass(frozen=True, eq=False)
class StaticPose:
    """
    One rest of the whole arm.

    Attributes
    ----------
    start, stop : float
        Of the part that is averaged, seconds after the first joint state.
    q : ndarray, shape (n,)
        Mean position [rad].
    approach : ndarray, shape (n,)
        1 where the joint moved upwards into this position, -1 downwards, 0 where it did not move
        since the recording began.

    """

    start: float
    stop: float
    q: FloatArray
    approach: FloatArray

    def mean(self, stamps: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean of what was recorded during the dwell, (n,); NaN if nothing was."""
        inside = (stamps >= self.start) & (stamps <= self.stop)
        inside &= np.all(np.isfinite(values), axis=1)
        if not inside.any():
            return np.full(values.shape[1], np.nan)
        found: FloatArray = np.mean(values[inside], axis=0)
        return found


def find_static_poses(
    stamps: FloatArray, q: FloatArray, options: StaticPoseOptions | None = None
) -> tuple[StaticPose, ...]:
    """
    Find the rests of the whole arm.

    Parameters
    ----------
    stamps : ndarray, shape (N,)
        Not decreasing [s].
    q : ndarray, shape (N, n)
        Positions [rad].
    options : StaticPoseOptions, optional
        What counts as one.

    Returns
    -------
    tuple of StaticPose
        In the order of time.

    """
    options = StaticPoseOptions() if options is None else options
    finite = np.flatnonzero(np.all(np.isfinite(q), axis=1) & np.isfinite(stamps))
    stamps, q = stamps[finite], q[finite]
    if len(stamps) < 2:
        return ()
    resting = _slower(stamps, q, options.speed)
    edges = np.flatnonzero(np.diff(resting.astype(np.int8), prepend=0, append=0))
    dwells: list[StaticPose] = []
    approach = np.zeros(q.shape[1])
    before = 0
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        # The window of a speed reaches beyond the samples it is stated at.
        if stamps[last] - stamps[first] + SPEED_WINDOW < options.shortest:
            continue
        stop = float(stamps[last])
        start = stop - options.averaged
        inside = (stamps >= start) & (stamps <= stop)
        rest = np.mean(q[inside], axis=0)
        approach = np.where(
            (found := _approach(q[before:first + 1], rest)) != 0.0, found, approach
        )
        dwells.append(StaticPose(start, stop, rest, approach))
        before = last
    return tuple(dwells)


def static_poses_of(
    recordings: Sequence[Recording], options: StaticPoseOptions | None = None
) -> list[tuple[Recording, StaticPose]]:
    """Return the dwells of some recordings with the recording that each is of."""
    found = []
    for recording in recordings:
        order = np.argsort(recording.stamps, kind='stable')
        stamps = np.asarray(recording.stamps)[order]
        found += [
            (recording, dwell)
            for dwell in find_static_poses(stamps, np.asarray(recording.q)[order], options)
        ]
    return found


def group_poses(poses: Sequence[FloatArray], tolerance: float = SAME_POSE) -> list[list[int]]:
    """
    Return which dwells are at one pose.

    Parameters
    ----------
    poses : sequence of ndarray, shape (n,)
        Positions [rad].
    tolerance : float
        Largest distance of a joint from the first dwell of its group [rad].

    """
    groups: list[list[int]] = []
    for number, pose in enumerate(poses):
        for group in groups:
            if np.all(np.abs(pose - poses[group[0]]) <= tolerance):
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def mean_of_approaches(values: FloatArray, approach: FloatArray) -> tuple[float, float]:
    """
    Return the mean of a joint's values at one pose, free of static friction if that can be.

    Parameters
    ----------
    values : ndarray, shape (D,)
        Of one joint, from dwells at one pose.
    approach : ndarray, shape (D,)
        From which side it came, see `StaticPose`.

    Returns
    -------
    mean : float
        Of both sides, each as a whole; of all values if it came from one side only.
    holding : float
        Half of what the sides differ by, which static friction holds; NaN of one side.

    """
    up, down = values[approach > 0.0], values[approach < 0.0]
    if not up.size or not down.size:
        return float(values.mean()), math.nan
    above, below = float(up.mean()), float(down.mean())
    return 0.5 * (above + below), 0.5 * (above - below)


def _slower(stamps: FloatArray, q: FloatArray, speed: float) -> np.ndarray:
    """Return where no joint is faster than `speed`, by its way over a window of time."""
    half = 0.5 * SPEED_WINDOW
    earlier = np.searchsorted(stamps, stamps - half)
    later = np.searchsorted(stamps, stamps + half, side='right') - 1
    time = np.maximum(stamps[later] - stamps[earlier], 1.0e-9)
    travelled = np.max(np.abs(q[later] - q[earlier]), axis=1)
    # A window that misses most of its samples, at a gap, says nothing.
    whole = (time > half) & (time < 2.0 * SPEED_WINDOW)
    slow: np.ndarray = whole & (travelled <= speed * time)
    return slow


def _approach(q: FloatArray, rest: FloatArray) -> FloatArray:
    """Return from which side each joint came to rest at last, 0 if it was not away."""
    direction = np.zeros(len(rest))
    for joint in range(len(rest)):
        away = np.flatnonzero(np.abs(q[:, joint] - rest[joint]) > APPROACH)
        if away.size:
            direction[joint] = np.sign(rest[joint] - q[away[-1], joint])
    return direction


def describe_too_few(recordings: Sequence[Recording], options: StaticPoseOptions) -> str:
    """Return in words that a recording has no dwell, with what to do."""
    names = ', '.join(recording.source for recording in recordings)
    return (
        f'{names}: the arm never rests for {options.shortest:g} s with every joint slower than '
        f'{options.speed:g} rad/s: record static poses, '
        'each for 3 s, or shorten --shortest-dwell'
    )
