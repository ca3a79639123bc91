# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Repairs of a recording: its time, positions within one turn, and joints that are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from robot_identification.arrays import (
    allocate, BoolArray, FloatArray, IntegerArray, LARGEST_IN_MEMORY,
)
from robot_identification.errors import DataError
from robot_identification.model import (
    Motion, reach_of_joints, rigid_torque, RobotModel,
)
from robot_identification.processing.blocks import row_blocks, rows_where, some_intervals
from robot_identification.processing.dataset import Gap
from robot_identification.recording import Recording

# Nothing is interpolated over more than three periods; stamps jitter by less than half of one.
GAP_PERIODS = 3.5
# A pause longer than this many periods lacks a sample; chosen: half a period is jitter.
MISSING_PERIODS = 1.5
# Where single messages are lost at random, a pause that chance explains is no gap, up to this [s].
LONGEST_CHANCE_PAUSE = 0.1
# Longer pauses than those are expected this often in a recording.
RARE = 0.05
# Of both sides of a step back in time, in messages; single displaced ones do not change medians.
CLOCK_WINDOW = 15
SMALLEST_CLOCK_STEP = 5.0  # in typical intervals between messages; chosen
# More set-backs than this are messages in disorder, not a clock.
MOST_CLOCK_STEPS = 1000
# Rows with a velocity of zero and an unchanged position, over changes of the position, of which
# more are the log's doing; chosen: joints stop once in many samples.
MOST_BLANK = 0.5


@dataclass(frozen=True, eq=False)
class Timeline:
    """A recording in the order of time."""

    # shape (N,); recorded row of each sample; None where they were recorded in order
    order: IntegerArray | None
    stamps: FloatArray  # shape (N,); seconds after the first joint state, not decreasing
    branch: IntegerArray  # shape (N,); counts how often the clock was set back before the sample
    displaced: int  # Joint states that came out of order
    steps: tuple[tuple[float, float], ...]  # When the clock was set back, and by how much [s]

    def notes(self) -> list[str]:
        """Return what a reader should know."""
        notes = []
        if self.displaced:
            notes.append(
                f'{self.displaced} joint states came out of order and were sorted by stamp'
            )
        notes += [
            f'the clock was set back by {step:.3f} s at {at:.3f} s: what was recorded before and '
            'after is kept apart, and times go on from there'
            for at, step in self.steps
        ]
        return notes


def order_by_time(stamps: FloatArray) -> Timeline:
    """
    Sort by stamp, and find out where the clock was set back.

    After a set-back the same time comes twice, so that stamps alone do not say what was first:
    the parts stay in the order they were recorded in, the later one moved behind the earlier.
    """
    N = len(stamps)
    descents = 1 + rows_where(
        N - 1, lambda block: np.diff(stamps[block.start: block.stop + 1]) < 0.0, stamps
    )
    if not descents.size:
        return Timeline(None, np.asarray(stamps), np.zeros(N, dtype=np.int32), 0, ())
    steps = _clock_steps(stamps, descents)
    order = np.empty(N, dtype=np.int64)
    repaired = np.empty(N)
    branch = np.zeros(N, dtype=np.int32)
    named = []
    for number, (first, last) in enumerate(pairwise([0, *steps, N])):
        part = slice(first, last)
        order[part] = first + np.argsort(stamps[part], kind='stable')
        repaired[part] = stamps[order[part]]
        branch[part] = number
        if number:
            step = float(repaired[first - 1] - repaired[first])
            repaired[part] += step + _typical_interval(stamps)
            named.append((float(repaired[first - 1]), step))
    return Timeline(order, repaired, branch, len(descents) - len(steps), tuple(named))


def _typical_interval(stamps: FloatArray) -> float:
    """Return the median distance between neighbours in recorded order [s]."""
    return float(np.median(np.abs(np.diff(stamps))))


def _clock_steps(stamps: FloatArray, descents: IntegerArray) -> list[int]:
    """Return the recorded rows before which the clock was set back."""
    interval = _typical_interval(stamps)
    deep = descents[stamps[descents - 1] - stamps[descents] > SMALLEST_CLOCK_STEP * interval]
    steps = [int(row) for row in deep if _is_clock_step(stamps, int(row), interval)]
    return steps if len(steps) <= MOST_CLOCK_STEPS else []


def _is_clock_step(stamps: FloatArray, row: int, interval: float) -> bool:
    """
    Return whether time runs on from a lower level, through times that were there before.

    One message too early or too late does not change the medians of both sides, and messages in
    disorder find their own places free.
    """
    before = stamps[max(row - CLOCK_WINDOW, 0): row][::-1]
    after = stamps[row: row + CLOCK_WINDOW]
    step = float(
        np.median(before + interval * np.arange(len(before)))
        - np.median(after - interval * np.arange(len(after)))
    )
    if step < SMALLEST_CLOCK_STEP * interval:
        return False
    again = after[: max(int(step / interval), 1)]
    reach = int(2.0 * step / interval) + 4 * CLOCK_WINDOW
    known = np.sort(stamps[max(row - reach, 0): row])
    place = np.searchsorted(known, again)
    nearest = np.minimum(
        np.abs(again - known[np.clip(place - 1, 0, len(known) - 1)]),
        np.abs(again - known[np.clip(place, 0, len(known) - 1)]),
    )
    return bool(np.mean(nearest <= 0.5 * interval) >= 0.5)


def find_duplicates(
    stamps: FloatArray, branch: IntegerArray, values: tuple[FloatArray, ...], compared: BoolArray
) -> BoolArray:
    """
    Return which rows repeat the stamp, or all the values, of the row before.

    Nothing repeats what was on another branch of the clock. The effort, last of the values (N, n),
    counts in rows that are `compared`.
    """
    duplicate: BoolArray = allocate((len(stamps),), bool)
    for block in row_blocks(len(stamps) - 1, duplicate, compared, stamps, *values):
        later, earlier = slice(block.start + 1, block.stop + 1), block
        same = np.ones(block.stop - block.start, dtype=bool)
        for signal in values[:-1]:
            same &= np.all(signal[later] == signal[earlier], axis=1)
        if same.any():
            effort_same = np.all(values[-1][later] == values[-1][earlier], axis=1)
            same &= effort_same | ~(compared[later] | compared[earlier])
        duplicate[later] = (
            (stamps[later] <= stamps[earlier]) | same
        ) & (branch[later] == branch[earlier])
    return duplicate


def is_blank_in_repeats(
    branch: IntegerArray, q: FloatArray, dq: FloatArray, effort: FloatArray
) -> bool:
    """
    Return whether velocity is zero in all but one of the rows of one position and effort (N, n).

    A log that writes each joint state several times may fill in a velocity of zero, or compute it
    from one row to the next. Where joints stop, one such row may come; here it comes with most
    changes of the position.
    """
    changes = blanks = 0
    for block in row_blocks(len(q) - 1, q, dq, effort):
        later, earlier = slice(block.start + 1, block.stop + 1), block
        same = np.all(q[later] == q[earlier], axis=1)
        changes += int(np.count_nonzero(~same))
        if same.any():
            same &= np.all(effort[later] == effort[earlier], axis=1)
            same &= branch[later] == branch[earlier]
            same &= np.any(dq[later], axis=1) != np.any(dq[earlier], axis=1)
            blanks += int(np.count_nonzero(same))
    return blanks > MOST_BLANK * changes


def describe_repeats(fresh: IntegerArray, period: float) -> str:
    """Return how often each joint state was written, empty if once; `fresh` are the new rows."""
    some = np.arange(0, len(fresh) - 1, len(fresh) // LARGEST_IN_MEMORY + 1)
    count = float(np.median(fresh[some + 1] - fresh[some])) if some.size else 1.0
    if count < 2.0:
        return ''
    return (
        f'each joint state was written {count:.0f} times: positions change at '
        f'{1.0 / period:.4g} Hz; the repeats are scored, but not fitted'
    )


def sampling_period(stamps: FloatArray) -> float:
    """
    Return the period at which samples were taken, whether or not all of them arrived [s].

    Where messages are lost, the other intervals are multiples of the shortest usual one, which is
    then the period; else it is the median interval.
    """
    intervals = some_intervals(stamps)
    median = float(np.median(intervals))
    short = float(np.quantile(intervals, 0.2))
    single = intervals[(intervals > 0.5 * short) & (intervals < 1.5 * short)]
    shortest = float(np.median(single)) if single.size else median
    multiples = intervals[intervals < 10.0 * shortest] / shortest
    multiples -= np.round(multiples)
    is_divided = np.mean(np.abs(multiples) < 0.15) > 0.9
    return shortest if is_divided else median


def longest_bridged(stamps: FloatArray, period: float) -> float:
    """
    Return the longest pause that is no gap [s].

    Three periods, or as many as single messages lost at random leave out once in a recording by
    chance: with a share p of them lost, N p^k pauses are longer than k periods.
    """
    intervals = some_intervals(stamps)
    lost = float(np.mean(intervals > 1.5 * period))
    if not 0.0 < lost < 1.0:
        return GAP_PERIODS * period
    chance = np.log(RARE / len(stamps)) / np.log(lost)
    bridged = (np.ceil(chance) + 0.5) * period
    return float(max(min(bridged, LONGEST_CHANCE_PAUSE), GAP_PERIODS * period))


def count_missing(intervals: FloatArray, period: float) -> int:
    """Return how many samples of a period are missing in the intervals between others [s]."""
    # Where more stamps are repeated than not, there is no period.
    if not period > 0.0:
        return 0
    pauses = intervals[intervals >= MISSING_PERIODS * period]
    return int(np.sum(np.round(pauses / period) - 1.0))


def find_segments(
    stamps: FloatArray, branch: IntegerArray, fresh: IntegerArray, longest: float
) -> tuple[tuple[slice, ...], tuple[Gap, ...]]:
    """Split rows where the clock was set back and at pauses longer than `longest` [s]."""
    edges, gaps = [0], []
    for block in row_blocks(len(fresh) - 1, stamps, fresh):
        rows = np.asarray(fresh[block.start: block.stop + 1])
        times = np.asarray(stamps[rows])
        intervals, was_set = np.diff(times), np.diff(branch[rows]) != 0
        for end in np.flatnonzero((intervals > longest) | was_set):
            edges.append(int(rows[end + 1]))
            if not was_set[end]:
                gaps.append(Gap(float(times[end]), float(intervals[end])))
    edges.append(len(stamps))
    return tuple(slice(first, last) for first, last in pairwise(edges)), tuple(gaps)


TURN = 2.0 * np.pi  # [rad], by definition
# A jump from row to row of a turn within this [rad] is one: no joint goes so far in a sample, and
# at 10 Hz the fastest go half a radian.
NEAR_TURN = 0.5


def find_wraps(q: FloatArray, branch: IntegerArray) -> IntegerArray:
    """
    Return where positions (N, n) [rad] jump by a turn, shape (m, 3): row, joint, sign.

    The row is that after the jump; there is none from one branch of the clock to another. A joint
    of which most other large steps are no turns has none, as one whose unit is no radian.
    """
    found, large = [np.zeros((0, 3), dtype=np.int64)], np.zeros(q.shape[1])
    for block in row_blocks(len(q) - 1, q):
        steps = np.diff(q[block.start: block.stop + 1], axis=0)
        jumps = np.abs(np.abs(steps) - TURN) < NEAR_TURN
        large += np.count_nonzero(np.abs(steps) > NEAR_TURN, axis=0)
        if jumps.any():
            jumps &= (np.diff(branch[block.start: block.stop + 1]) == 0)[:, None]
            rows, joints = np.nonzero(jumps)
            signs = np.sign(steps[rows, joints]).astype(np.int64)
            found.append(np.column_stack([block.start + 1 + rows, joints, signs]))
    wraps: IntegerArray = np.concatenate(found)
    count = np.bincount(wraps[:, 1], minlength=q.shape[1])
    kept: IntegerArray = wraps[(2.0 * count > large)[wraps[:, 1]]]
    return kept


def unwrap(q: FloatArray, wraps: IntegerArray) -> FloatArray:
    """Return positions (N, n) without their jumps by a turn; the first ones stay."""
    unwrapped: FloatArray = allocate(q.shape)
    for block in row_blocks(len(q), q, unwrapped):
        unwrapped[block] = q[block]
        for row, joint, sign in wraps[wraps[:, 0] < block.stop]:
            unwrapped[max(row, block.start): block.stop, joint] -= sign * TURN
    return unwrapped


# Way of a joint that counts [rad or m]; chosen: some three degrees, and more than a finger.
NOTABLE = 0.05
WILD = 1.0e-3  # share of readings at each end that are no motion [1]; chosen
LEAST_TURN = 1.0e-3  # by which a held joint stood elsewhere [rad or m]; chosen
# Change of the torque of a joint, as a share, for which held joints are moved to where they stood,
# and for which a motion is refused and another place named [1]; chosen: a gripper that opens
# changes less than the second, and a URDF's masses are known to it at best.
LEAST_INFLUENCE, NOTABLE_INFLUENCE = 0.01, 0.05
LEAST_LEVEL = 0.1  # a torque is at least this share of the largest of the arm [1]; chosen
FEW_POSES = 100  # of each recording in which torques are compared; chosen


def hold_as_recorded(
    robot: RobotModel, recordings: Sequence[Recording],
    window: tuple[float | None, float | None] = (None, None),
) -> tuple[RobotModel, tuple[str, ...]]:
    """
    Return the arm with its held joints where they stood in recordings, and remarks on them.

    `window` has the first and last second that count. Raises DataError where a held joint moved,
    or stood in several places, and torques of the arm depend on it.
    """
    poses: dict[str, float] = {}
    moved: dict[str, tuple[tuple[float, float], str]] = {}
    for name in robot.locked:
        places = [
            (recording.source, *place) for recording in recordings
            if (place := _place_of(recording, name, window)) is not None
        ]
        lowest = min((low for _, low, _, _ in places), default=np.nan)
        highest = max((high for *_, high in places), default=np.nan)
        lower, upper = _limits_of(robot, name)
        # Readings beyond the limits are in another unit, or have another zero.
        if not lower - NOTABLE < lowest <= highest < upper + NOTABLE:
            continue
        if highest - lowest > NOTABLE:
            moved[name] = (max(lowest, lower), min(highest, upper)), '; '.join(
                f'{low:.3g} to {high:.3g} in {source}' for source, low, _, high in places
            )
            continue
        pose = float(np.median([middle for _, _, middle, _ in places]))
        if abs(pose - robot.locked[name]) > LEAST_TURN:
            poses[name] = min(max(pose, lower), upper)
    remarks = []
    if _influence(robot, {}, poses, recordings) > LEAST_INFLUENCE:
        listed = ', '.join(
            f'{name} at {pose:.4g} (not {robot.locked[name]:.4g})' for name, pose in poses.items()
        )
        sources = ', '.join(recording.source for recording in recordings)
        remarks.append(
            f'{sources}: joints that are held fixed are held where they stood: {listed} rad or m'
        )
        robot = robot.with_locked(poses)
    for name, ((lowest, highest), listed) in moved.items():
        change = _influence(robot, {name: lowest}, {name: highest}, recordings)
        if change > NOTABLE_INFLUENCE:
            raise DataError(
                f'{name} is held fixed in the model, and was not at one place ({listed}), on '
                f'which torques of {", ".join(robot.joint_names)} depend: include it in --joints, '
                'cut its motion out with --start and --stop, or identify recordings with '
                'different poses by themselves'
            )
    for recording in recordings:
        remarks += held_joint_remarks(robot, recording, window)
    return robot, tuple(remarks)


def held_joint_remarks(
    robot: RobotModel, recording: Recording,
    window: tuple[float | None, float | None] = (None, None),
) -> list[str]:
    """Return which held joints moved in a recording, or stood where torques are others."""
    slides = {joint.name for joint in robot.urdf.joints if joint.kind == 'prismatic'}
    remarks = []
    for name in recording.held:
        place = _place_of(recording, name, window)
        if place is None:
            continue
        (lowest, middle, highest), held = place, robot.locked[name]
        unit, (lower, upper) = 'm' if name in slides else 'rad', _limits_of(robot, name)
        if highest - lowest > NOTABLE:
            found = f'moved by {highest - lowest:.3g} {unit}'
            remedy = 'include it in --joints, or record with it at rest'
        elif not lower - NOTABLE < middle < upper + NOTABLE:
            found = f'was read as {middle:.3g} {unit}, beyond its limits'
            remedy = 'check its unit and its zero'
        elif abs(middle - held) > NOTABLE and _influence(
            robot, {}, {name: min(max(middle, lower), upper)}, [recording]
        ) > NOTABLE_INFLUENCE:
            found = f'stood at {middle:.3g} {unit}'
            remedy = 'record with it there, or identify with it where it stood'
        else:
            continue
        remarks.append(
            f'{recording.source}: {name} is held at {held:.3g} {unit} in the model and {found}: '
            f'{remedy}'
        )
    return remarks


def _limits_of(robot: RobotModel, name: str) -> tuple[float, float]:
    return next(joint.position for joint in robot.urdf.joints if joint.name == name)


def _place_of(
    recording: Recording, name: str, window: tuple[float | None, float | None]
) -> tuple[float, float, float] | None:
    """Return lowest, median and highest position of a held joint; None where it has none."""
    channel = recording.held.get(name)
    if channel is None:
        return None
    start, stop = window
    # Of a long recording some do; single wild readings are no motion.
    rows = slice(None, None, len(channel) // LARGEST_IN_MEMORY + 1)
    stamps, values = np.array(channel.stamps[rows]), np.array(channel.values[rows, 0])
    inside = np.isfinite(values) & (stamps >= (-np.inf if start is None else start))
    inside &= stamps < (np.inf if stop is None else stop)
    if not inside.any():
        return None
    lowest, middle, highest = np.quantile(
        values[inside], (WILD, 0.5, 1.0 - WILD), method='nearest'
    ).tolist()
    return lowest, middle, highest


def _influence(
    robot: RobotModel, first: Mapping[str, float], second: Mapping[str, float],
    recordings: Sequence[Recording],
) -> float:
    """Return the largest share of the torque of a joint that other places of held ones change."""
    if first == second:
        return 0.0
    q = np.concatenate([one.q[::max(len(one) // FEW_POSES, 1)] for one in recordings])
    q = q[np.all(np.isfinite(q), axis=1)]
    ddq = np.random.default_rng(0).uniform(-1.0, 1.0, q.shape)
    motion = Motion(q, np.zeros_like(q), ddq)
    before, after = (
        rigid_torque(robot.with_locked(places), motion) for places in (first, second)
    )
    level = np.sqrt(np.mean(before**2, axis=0))
    if not level.any():
        # Without masses: what carries the arm turns its gravity.
        supporting = reach_of_joints(robot.urdf, robot.joint_names).supporting_joints
        return float(any(name in supporting for name in second))
    change = np.sqrt(np.mean((after - before) ** 2, axis=0))
    return float(np.max(change / np.maximum(level, LEAST_LEVEL * level.max())))
