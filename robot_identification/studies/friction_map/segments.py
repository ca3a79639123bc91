# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Constant-velocity segments in a recording, and the pairs of them that go both ways.

Gravity at a position is the same in both directions of the joint, friction is reversed. So
half the difference of the torques of both ways, at the same position and speed, is friction
without any model of the arm, and half their sum is gravity, with what friction has that does not
turn around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation import NORMAL_DEVIATION
from robot_identification.processing import Dataset
from robot_identification.studies.friction_map.curves import standard_errors
from robot_identification.studies.reading import group_alike

# Poses of the other joints that are nearer than this are one [rad]; chosen: as `still` below.
SAME_POSE = 0.02
# Time over which a speed is averaged before it is called constant [s]; chosen.
SPEED_WINDOW = 0.1
# A speed is constant within this, however slow it is [rad/s]; chosen: what noise leaves.
NOISE_OF_SPEED = 0.002
# A straight line through fewer samples of a bin is noise; chosen.
FEWEST_IN_BIN = 6
# A mean of fewer positions has no slope; chosen.
FEWEST_FOR_SLOPE = 5
# Iterations of the reweighting within a bin, and over bins; chosen: weights change no more after.
ITERATIONS = 5
# Residuals beyond so many standard deviations count less: Huber's constant for an efficiency of
# 95 % under normal noise.
HUBER_THRESHOLD = 1.345
# Criteria of a segment, chosen: a joint that is slower rests [rad/s], a speed is even within this
# share of it, what is left out at both ends while the drive settles and how long the rest must be
# [s], and by how much the other joints may move meanwhile [rad].
SLOWEST, EVENNESS, TRANSIENT, SHORTEST, STILL = 0.005, 0.05, 0.1, 0.2, 0.02
# Of a pair, chosen: the share by which speeds may differ, and that of the shorter way that both
# must have in common.
SAME_SPEED, OVERLAP = 0.05, 0.5
BINS = 24  # positions at which the torques of a pair are compared, at most


@dataclass(frozen=True, eq=False)
class Segment:
    """One way of one joint at constant velocity, the others at rest; m samples."""

    joint: int  # its number
    speed: float  # mean velocity [rad/s]; negative backwards
    time: float  # its middle, after the first joint state [s]
    pose: FloatArray  # (n,) mean position of all joints [rad]
    q: FloatArray  # (m,) position of the joint [rad]
    torque: FloatArray  # (m,) torque of the joint [N m]
    temperature: float  # mean of the joint [deg C]; NaN where not recorded

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest position [rad]."""
        return float(self.q.min()), float(self.q.max())


@dataclass(frozen=True, eq=False)
class BinnedWay:
    """The torque of a segment, or of a pair of them, at b ascending positions."""

    segments: tuple[Segment, ...]  # one, or forwards and backwards
    q: FloatArray  # (b,) positions [rad]
    # (b,) half the sum of a pair: gravity, and what friction has alike both ways; of one segment
    # its torque [N m].
    gravity: FloatArray
    # (b,) half the difference of a pair: friction that turns around with the velocity [N m]; empty
    # of one segment.
    odd: FloatArray

    @property
    def is_pair(self) -> bool:
        """Return whether both ways are there."""
        return len(self.segments) == 2


def find_segments(dataset: Dataset, torque: FloatArray) -> tuple[tuple[Segment, ...], int]:
    """
    Find where one joint alone moves at constant velocity; `torque` (N, n) is in N m.

    Return the segments in the order of time, and the number of motions at constant velocity that
    were left out because another joint moved as well.
    """
    found: list[Segment] = []
    moved = 0
    window = max(round(SPEED_WINDOW * dataset.rate), 1)
    for block in dataset.segments:
        usable = dataset.scored[block] & np.all(np.isfinite(torque[block]), axis=1)
        for joint in range(len(dataset.joint_names)):
            speed = _averaged(dataset.motion.dq[block, joint], window)
            for first, last in _runs(np.sign(speed) * (np.abs(speed) > SLOWEST) * usable):
                rows = _even_part(dataset.stamps[block][first:last], speed[first:last])
                if rows is None:
                    continue
                part = slice(
                    block.start + first + rows.start, block.start + first + rows.stop
                )
                ways = np.ptp(dataset.motion.q[part], axis=0)
                if np.any(np.delete(ways, joint) > STILL):
                    moved += 1
                    continue
                found.append(_make_segment(dataset, torque, joint, part))
    return tuple(sorted(found, key=lambda segment: segment.time)), moved


def group_segments(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return segments of the same joint with the others at the same pose, group by group."""
    def alike(one: Segment, other: Segment) -> bool:
        away = np.delete(np.abs(one.pose - other.pose), one.joint)
        return one.joint == other.joint and bool(np.all(away <= SAME_POSE))

    return group_alike(segments, alike)


def pair_segments(group: Sequence[Segment], bins: int = BINS) -> tuple[BinnedWay, ...]:
    """
    Return the pairs of one group, and single the segments without a counterpart.

    Torques are compared at no more positions than `bins`.
    Of several that would do, the one nearest in time is taken: the grease is then as warm.
    """
    ahead = [segment for segment in group if segment.speed > 0.0]
    back = [segment for segment in group if segment.speed < 0.0]
    suited = sorted(
        (abs(one.time - other.time), i, k)
        for i, one in enumerate(ahead) for k, other in enumerate(back)
        if _suit(one, other)
    )
    taken: dict[int, int] = {}
    for _, i, k in suited:
        if i not in taken and k not in taken.values():
            taken[i] = k
    ways = [_compare(ahead[i], back[k], bins) for i, k in sorted(taken.items())]
    alone = [segment for i, segment in enumerate(ahead) if i not in taken]
    alone += [segment for k, segment in enumerate(back) if k not in taken.values()]
    ways += [_bin_alone(segment, bins) for segment in alone]
    return tuple(way for way in ways if len(way.q))


def robust_mean(values: FloatArray, along: FloatArray | None = None) -> tuple[float, float]:
    """
    Return Huber's mean of values (b,), two at least, in the order of position, and its error.

    The standard error is the larger of that of values that do not depend on each other, and of the
    one by the scatter of windows of neighbours: what friction ripples with the position goes on
    from one to the next. What values are linear in, `along` (b,), is no scatter; the mean is that
    at the mean of it.
    """
    A, about = np.ones((len(values), 1)), None
    if along is not None and len(values) > FEWEST_FOR_SLOPE and np.ptp(along) > 0.0:
        about = (along - along.mean()) / np.ptp(along)
        A = np.column_stack([A, about])
    mean, slope, weights = _huber(values, about)
    root = np.sqrt(weights)
    line = mean if about is None else mean + slope * about
    error = standard_errors(A * root[:, None], root * (values - line), 0)
    return mean, float(error[0])


def _huber(y: FloatArray, x: FloatArray | None = None) -> tuple[float, float, FloatArray]:
    """
    Return value at 0, slope and weights of a straight line, or of a mean, by Huber's weights.

    From the weights of the median on. The two columns are made orthogonal first: what is solved
    for the slope is a QR decomposition in closed form, as there are thousands of bins.
    """
    value, slope = _median(y), 0.0
    line: FloatArray = np.full(len(y), value)
    weights: FloatArray = np.ones(len(y))
    for _ in range(ITERATIONS):
        distance = np.abs(y - line)
        limit = HUBER_THRESHOLD * NORMAL_DEVIATION * _median(distance)
        weights = np.ones(len(y))
        if limit > 0.0:
            weights = limit / np.maximum(distance, limit)
        total = float(weights.sum())
        value = float(weights @ y) / total
        if x is not None:
            middle = float(weights @ x) / total
            about = weights * (x - middle)
            variance = float(about @ (x - middle))
            slope = float(about @ (y - value)) / variance if variance > 0.0 else 0.0
            value -= slope * middle
            line = value + slope * x
        else:
            line = np.full(len(y), value)
    return value, slope, weights


def _median(values: FloatArray) -> float:
    """Return the median of finite values; NumPy's own takes ten times as long for a few."""
    ordered = np.sort(values)
    return 0.5 * float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2])


def _averaged(values: FloatArray, window: int) -> FloatArray:
    """Return the mean over a window about each sample, a shorter one at the ends."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    rows = np.arange(len(values))
    first = np.maximum(rows - window // 2, 0)
    last = np.minimum(rows + window // 2 + 1, len(values))
    mean: FloatArray = (sums[last] - sums[first]) / (last - first)
    return mean


def _runs(state: FloatArray) -> list[tuple[int, int]]:
    """Return first and last but one of every run of the same state that is not zero."""
    edges = np.flatnonzero(np.diff(state, prepend=0.0, append=0.0))
    return [
        (int(first), int(last)) for first, last in pairwise(edges)
        if state[first] != 0.0
    ]


def _even_part(stamps: FloatArray, speed: FloatArray) -> slice | None:
    """Return the longest part at constant velocity, its ends left out; None if it is too short."""
    speed = np.abs(speed)
    quarter = len(speed) // 4
    cruise = float(np.median(speed[quarter:len(speed) - quarter]))
    even = np.abs(speed - cruise) <= max(EVENNESS * cruise, NOISE_OF_SPEED)
    runs = _runs(even.astype(float))
    if not runs:
        return None
    first, last = max(runs, key=lambda run: run[1] - run[0])
    start = stamps[first] + TRANSIENT
    stop = stamps[last - 1] - TRANSIENT
    if stop - start < SHORTEST:
        return None
    rows = slice(
        int(np.searchsorted(stamps, start)), int(np.searchsorted(stamps, stop, side='right'))
    )
    return rows if rows.stop - rows.start >= 4 * FEWEST_IN_BIN else None


def _make_segment(dataset: Dataset, torque: FloatArray, joint: int, rows: slice) -> Segment:
    stamps, q = dataset.stamps[rows], np.asarray(dataset.motion.q[rows])
    # The slope of the position: a velocity that was recorded may have a scale of its own.
    about = stamps - stamps.mean()
    speed = float(about @ (q[:, joint] - q[:, joint].mean()) / (about @ about))
    temperature = dataset.motion.temperature
    return Segment(
        joint, speed, float(stamps.mean()), q.mean(axis=0), q[:, joint].copy(),
        np.array(torque[rows, joint]),
        float('nan') if temperature is None else float(np.mean(temperature[rows, joint])),
    )


def _suit(one: Segment, other: Segment) -> bool:
    speeds = abs(one.speed), abs(other.speed)
    if abs(speeds[0] - speeds[1]) > SAME_SPEED * max(speeds):
        return False
    (low, high), (low_other, high_other) = one.ends, other.ends
    common = min(high, high_other) - max(low, low_other)
    return common >= OVERLAP * min(high - low, high_other - low_other)


def _compare(one: Segment, other: Segment, bins: int) -> BinnedWay:
    """Return the torques of a pair at the positions that they have in common."""
    low = max(one.ends[0], other.ends[0])
    high = min(one.ends[1], other.ends[1])
    inside = [
        int(np.count_nonzero((segment.q >= low) & (segment.q <= high))) for segment in (one, other)
    ]
    count = min(bins, min(inside) // FEWEST_IN_BIN)
    centres, forth = _binned(one, low, high, count)
    _, back = _binned(other, low, high, count)
    known = np.isfinite(forth) & np.isfinite(back)
    forth, back = forth[known], back[known]
    return BinnedWay(
        (one, other), centres[known], 0.5 * (forth + back), 0.5 * (forth - back)
    )


def _bin_alone(segment: Segment, bins: int) -> BinnedWay:
    count = min(bins, len(segment.q) // FEWEST_IN_BIN)
    centres, torque = _binned(segment, *segment.ends, count)
    known = np.isfinite(torque)
    return BinnedWay((segment,), centres[known], torque[known], np.zeros(0))


def _binned(
    segment: Segment, low: float, high: float, count: int
) -> tuple[FloatArray, FloatArray]:
    """
    Return middles (b,) of even bins and the torque there, NaN where too few samples are.

    The torque is that of a robust straight line at the middle, so that it does not matter where
    in the bin the samples of either way lie.
    """
    if count < 2:
        return np.zeros(0), np.zeros(0)
    edges = np.linspace(low, high, count + 1)
    centres, torque = 0.5 * (edges[:-1] + edges[1:]), np.full(count, np.nan)
    number = np.searchsorted(edges, segment.q, side='right') - 1
    for k in range(count):
        rows: BoolArray = number == k
        m = int(np.count_nonzero(rows))
        if m < FEWEST_IN_BIN // 2:
            continue
        about = None if m < FEWEST_IN_BIN else segment.q[rows] - centres[k]
        torque[k] = _huber(segment.torque[rows], about)[0]
    return centres, torque
