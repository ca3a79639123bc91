# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
From a recording to a dataset, in the order of docs/processing.md.

Only kinematics are filtered: the effort stays as it was recorded, and errors are taken on the
recorded samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from robot_identification.arrays import (
    allocate, BoolArray, FloatArray, IntegerArray, release, select,
)
from robot_identification.errors import DataError
from robot_identification.model import KinematicFilter, LONGEST_DELAY, Motion, RobotModel
from robot_identification.processing.blocks import (
    block_of, chosen_rows, extremes, mask_where, row_blocks, Rows, some_intervals, take_off,
    take_rows,
)
from robot_identification.processing.dataset import Dataset, Gap
from robot_identification.processing.delay import find_delay
from robot_identification.processing.effort import find_contradictions, find_wrong_samples
from robot_identification.processing.plausibility import (
    check_motor_side, check_positions, check_signed, check_velocities, compare_rates,
    MOST_COMPARED, SMALLEST_MOTION,
)
from robot_identification.processing.repairs import (
    describe_repeats, find_duplicates, find_segments, find_wraps, GAP_PERIODS, is_blank_in_repeats,
    longest_bridged, order_by_time, sampling_period, unwrap,
)
from robot_identification.processing.robot_state import find_exclusions, joint_temperatures
from robot_identification.processing.rotor_side import follow_rotors, RotorSide
from robot_identification.processing.smoothing import (
    follow_period, Kinematics, MINIMUM_SEGMENT_SAMPLES, Samples, smooth_kinematics,
)
from robot_identification.recording import Recording
from robot_identification.texts import counted

MINIMUM_SAMPLES = 50  # joint states in the window; chosen, see docs/formats/bag.md
MAXIMUM_NAN_SHARE = 0.01  # of the joint states; chosen, see docs/formats/bag.md
# No position, velocity, current or torque of a joint is larger [SI]: it is a damaged value, and
# products of such ones are beyond a double.
LARGEST_VALUE = 1.0e11
# Gaps that are named one by one.
MOST_NAMED_GAPS = 10


def describe_damage(recording: Recording) -> tuple[str, ...]:
    """Return what a reader should know of a bag that could not be read whole."""
    damage = recording.completeness
    text = damage.describe()
    return (f'{recording.source}: {text} ({damage.cause})',) if text else ()


def process(
    recording: Recording,
    kinematic_filter: KinematicFilter,
    effort_unit: str,
    *,
    start: float | None = None,
    stop: float | None = None,
    robot: RobotModel | None = None,
    delay: float = 0.0,
    keep_slowed: bool = False,
    rotor_side: bool = True,
    with_effort: bool = True,
) -> Dataset:
    """
    Return the dataset of a recording.

    `effort_unit` is one of EFFORT_UNITS. `start` and `stop` are in seconds after the first joint
    state: kinematics before `start` run through the filter, but effort is not read there, and
    nothing is read after `stop`. With `robot`, positions and effort are compared with the limits
    of the arm, and the delay of the effort is found. `delay` is the time by which effort lags
    behind position [s]; kinematics are taken that much before the stamp, and effort is never
    shifted. `keep_slowed` keeps samples at reduced speed scaling; `rotor_side` uses the rotor
    positions of a second encoder, if recorded. Without `with_effort` the effort stays as recorded,
    zero or NaN, and no sample is left out for it. Raises DataError if the effort is absent or
    zero, more than 1 % of the samples is not finite, too few samples remain, the delay is
    implausible, or units, signs or names of the kinematics are certainly wrong.
    """
    if not abs(delay) <= LONGEST_DELAY:
        raise DataError(f'a delay of {delay:g} s is not plausible: at most {LONGEST_DELAY:g} s')
    robot = None if robot is None else robot.for_effort(effort_unit)
    found = _Findings([*describe_damage(recording), *recording.notes], robot)
    table = _repair(_read_table(recording, start, stop, with_effort, found), recording, found)
    signals = table.signals(with_effort)
    duplicate = find_duplicates(table.stamps, table.branch, signals, table.in_window)
    samples, gaps = _find_structure(recording, table, duplicate, found)
    samples = replace(samples, delay=delay)
    is_series = kinematic_filter.kind == 'fourier'
    kinematics = smooth_kinematics(samples, KinematicFilter() if is_series else kinematic_filter)
    _count_short_parts(samples, kinematics, recording, found)
    _check_kinematics(recording, table, kinematics, robot, found)
    scored = _rows_to_score(recording, table, kinematics, keep_slowed, found)
    fitted = _rows_to_fit(scored, duplicate, kinematics.moving, found)
    noise: Mapping[str, FloatArray] = {}
    if is_series:
        noise, notes = follow_period(samples, kinematics, fitted, kinematic_filter)
        found.notes += notes
    rotors = follow_rotors(
        recording, samples, kinematics, fitted, kinematic_filter
    ) if rotor_side else RotorSide()
    found.notes += rotors.notes
    if rotors.known is not None:
        without = take_off(fitted, rotors.known, False)
        found.exclude(without, 'without a rotor position (scored, not fitted)')
    found_delay = None if robot is None else find_delay(robot, samples, fitted)
    if found_delay is not None and found_delay.is_significant:
        found.notes.append(found_delay.describe(delay))
    temperature, note = joint_temperatures(recording.channels, table.stamps, table.q.shape[1])
    found.notes += [note] if note else []
    dataset = Dataset(
        source=recording.source,
        joint_names=recording.joint_names,
        stamps=table.stamps,
        motion=Motion(
            kinematics.q, kinematics.dq, kinematics.ddq, temperature,
            rotor=rotors.motion,
            starts=tuple(segment.start for segment in samples.segments),
        ),
        effort=table.effort_in_window(),
        effort_unit=effort_unit,
        scored=scored,
        fitted=fitted,
        segments=kinematics.kept,
        excluded=found.excluded,
        rate=1.0 / samples.period,
        notes=tuple(found.notes),
        gaps=gaps,
        delay=delay,
        found_delay=found_delay,
        noise=noise,
        measured_dq=table.measured_velocity(delay),
        whole=recording.whole,
    )
    return _check_efforts(recording, dataset, robot) if with_effort else dataset


def _check_efforts(recording: Recording, dataset: Dataset, robot: RobotModel | None) -> Dataset:
    """Return a dataset with what its effort contradicts; refuse angles of the arm's motors."""
    if robot is not None and recording.assumes_degrees:
        where = f'{recording.source} {recording.place}'
        check_motor_side(where, robot, *dataset.thinned(MOST_COMPARED))
    return replace(
        dataset, notes=(*dataset.notes, *find_wrong_samples(dataset, robot)),
        contradictions=() if robot is None else find_contradictions(dataset, robot),
    )


def _rows_to_score(
    recording: Recording, table: _Table, kinematics: Kinematics, keep_slowed: bool,
    found: _Findings,
) -> BoolArray:
    """Return the rows (N,) that errors are taken on; DataError if there are none."""
    scored = kinematics.usable
    take_off(scored, table.in_window, False)
    for exclusion in find_exclusions(recording.channels, table.stamps):
        if keep_slowed and exclusion.is_slowed:
            continue
        count = take_off(scored, exclusion.rows)
        found.exclude(count, exclusion.reason)
        if count:
            found.notes.append(exclusion.note)
    _check_remaining(recording, scored, found)
    release(scored)
    return scored


def _rows_to_fit(
    scored: BoolArray, duplicate: BoolArray, moving: slice, found: _Findings
) -> BoolArray:
    """Return the scored rows (N,) that are new and between the first and the last motion."""
    fitted = mask_where(len(scored), lambda block: scored[block], scored)
    take_off(fitted, duplicate)
    for part in (fitted[:moving.start], fitted[moving.stop:]):
        resting = int(np.count_nonzero(part))
        found.exclude(resting, 'at rest before or after all motion (scored, not fitted)')
        part[:] = False
    release(fitted)
    return fitted


@dataclass
class _Findings:
    """Findings about the data, in the order they are made."""

    notes: list[str]
    robot: RobotModel | None = None  # whose units notes have; None where it is not known
    excluded: dict[str, int] = field(default_factory=dict)

    def exclude(self, count: int, reason: str) -> None:
        """Count rows that are left out for a reason, in addition to those before."""
        if count:
            self.excluded[reason] = self.excluded.get(reason, 0) + count


@dataclass(frozen=True, eq=False)
class _Table:
    """Usable rows in the order of time; `dq` is None where all of it is derived."""

    stamps: FloatArray
    branch: IntegerArray
    q: FloatArray
    dq: FloatArray | None
    derived: BoolArray
    effort: FloatArray
    in_window: BoolArray
    travel: tuple[FloatArray, FloatArray]
    # Places of the joints whose turns were counted on.
    counted: Sequence[int] = ()

    def signals(self, with_effort: bool) -> tuple[FloatArray, ...]:
        """Return what a joint state repeats if it is sent twice: kinematics, then the effort."""
        kinematics = (self.q,) if self.dq is None else (self.q, self.dq)
        return (*kinematics, self.effort if with_effort else self.effort[:, :0])

    def measured_velocity(self, delay: float) -> FloatArray | None:
        """Return the recorded velocity a delay [s] before the stamps, NaN where it is derived."""
        if self.dq is None or (delay == 0.0 and not self.derived.any()):
            return self.dq
        measured = allocate(self.dq.shape)
        for joint in range(measured.shape[1]):
            measured[:, joint] = np.nan if self.derived[joint] else np.interp(
                self.stamps - delay, self.stamps, self.dq[:, joint]
            )
        release(measured)
        return measured

    def effort_in_window(self) -> FloatArray:
        """Return the effort, NaN before the window; itself where all is in the window."""
        before = len(self.in_window) - int(np.count_nonzero(self.in_window))
        release(self.in_window)
        if not before:
            return self.effort
        effort = allocate(self.effort.shape)
        effort[:before] = np.nan
        for block in row_blocks(len(effort) - before, effort, self.effort):
            rows = slice(before + block.start, before + block.stop)
            effort[rows] = self.effort[rows]
        return effort


def _read_table(
    recording: Recording, start: float | None, stop: float | None, with_effort: bool,
    found: _Findings,
) -> _Table:
    """Order, cut and check the rows of a recording."""
    if recording.stamps_from == 'log':
        found.notes.append(
            'header stamps are absent or broken: the time of recording was used instead'
        )
    timeline = order_by_time(recording.stamps)
    found.notes += timeline.notes()
    count = len(timeline.stamps) if stop is None else int(np.searchsorted(timeline.stamps, stop))
    stamps, branch = timeline.stamps[:count], timeline.branch[:count]
    first = -np.inf if start is None else start
    in_window = mask_where(count, lambda block: stamps[block] >= first, stamps)
    window = f'between {start or 0.0:g} s and {"the end" if stop is None else f"{stop:g} s"}'
    if not in_window.any():
        raise DataError(
            f'{recording.source} has no joint state {recording.place} {window}: change '
            '--start/--stop'
        )
    order: slice | IntegerArray = slice(0, count)
    if timeline.order is not None:
        order = timeline.order[:count]
    contents = _survey_contents(recording, order, in_window, with_effort)
    if with_effort:
        _check_effort(recording, contents.has_effort.any(), contents.has_nonzero_effort)
    derived = contents.derived_velocities(recording, found)
    finite = contents.finite
    for block in row_blocks(len(finite), finite, contents.finite_dq):
        finite[block] &= np.all(contents.finite_dq[block] | derived, axis=1)
    _check_finite(recording, finite, found, contents.describe_absent(recording))
    usable = int(np.count_nonzero(finite & in_window))
    for mask in (finite, in_window):
        release(mask)
    if usable < MINIMUM_SAMPLES:
        raise DataError(
            f'{recording.source}: {usable} usable joint states '
            f'{recording.place} {window}, at least {MINIMUM_SAMPLES} are needed: record longer, '
            'or widen --start/--stop'
        )
    rows: Rows = order
    if not finite.all():
        kept = chosen_rows(finite)
        rows = kept if isinstance(order, slice) else order[kept]
        stamps, in_window = take_rows(stamps, kept), select(in_window, finite)
        branch = select(branch, finite)
    return _Table(
        stamps=stamps,
        branch=branch,
        q=take_rows(recording.q, rows),
        dq=None if derived.all() else take_rows(recording.dq, rows),
        derived=derived,
        effort=take_rows(recording.effort, rows),
        in_window=in_window,
        travel=(contents.lowest, contents.highest),
    )


def _repair(table: _Table, recording: Recording, found: _Findings) -> _Table:
    """Return the rows without what the log made of them; refuse what no row says for certain."""
    where = f'{recording.source} {recording.place}'
    check_signed(where, recording.joint_names, 'position', table.q)
    if table.dq is not None:
        check_signed(where, recording.joint_names, 'velocity', table.dq)
    check_signed(where, recording.joint_names, 'effort', table.effort)
    return _without_wraps(_without_blank_velocity(table, found), recording, found)


def _without_wraps(table: _Table, recording: Recording, found: _Findings) -> _Table:
    """Return the rows with positions that go on where a driver keeps them within one turn."""
    wraps = find_wraps(table.q, table.branch)
    if found.robot is not None:
        turning = np.array([unit == 'rad' for unit in found.robot.position_units])
        wraps = wraps[turning[wraps[:, 1]]]
    if not len(wraps):
        return table
    joints, counts = np.unique(wraps[:, 1], return_counts=True)
    listed = ', '.join(
        f'{recording.joint_names[joint]} {count} times' if count > 1
        else f'{recording.joint_names[joint]} once'
        for joint, count in zip(joints, counts, strict=True)
    )
    found.notes.append(
        f'positions jump by a turn, as those that are kept within one do ({listed}): they are '
        'counted on'
    )
    q = unwrap(table.q, wraps)
    travel = extremes(len(q), lambda block: q[block], q)
    return replace(table, q=q, travel=travel, counted=joints.tolist())


def _without_blank_velocity(table: _Table, found: _Findings) -> _Table:
    """Return the rows without a velocity that is zero wherever the log repeats a joint state."""
    if table.dq is None or not is_blank_in_repeats(
        table.branch, table.q, table.dq, table.effort
    ):
        return table
    found.notes.append(
        'velocity is zero wherever position and effort repeat: it is differentiated from position'
    )
    return replace(table, dq=None, derived=np.ones_like(table.derived))


@dataclass(frozen=True, eq=False)
class _Contents:
    """Columns of a recording, by row or by joint."""

    finite: BoolArray  # shape (N,); rows whose positions, and effort where it is read, are finite
    finite_dq: BoolArray  # shape (N, n)
    has_velocity: BoolArray  # shape (n,)
    has_effort: BoolArray  # shape (n,); all of them where it is not read
    has_nonzero_effort: bool
    lowest: FloatArray
    highest: FloatArray
    slowest: FloatArray
    fastest: FloatArray

    def describe_absent(self, recording: Recording) -> str:
        """Return of which joints there is no position or effort at all, in words."""
        names = np.array(recording.joint_names)
        return ''.join(
            f'; {quantity} of {", ".join(names[absent])} is absent' for quantity, absent in (
                ('position', ~np.isfinite(self.lowest)), ('effort', ~self.has_effort),
            ) if absent.any()
        )

    def derived_velocities(self, recording: Recording, found: _Findings) -> BoolArray:
        """Return the joints whose velocity cannot be used."""
        absent = ~self.has_velocity
        constant = (self.slowest == self.fastest) & (
            self.highest - self.lowest > SMALLEST_MOTION
        )
        names = np.array(recording.joint_names)
        if absent.all():
            found.notes.append(
                'velocity was not recorded: it is differentiated from position'
            )
        elif absent.any():
            found.notes.append(
                f'velocity of {", ".join(names[absent])} was not recorded: it is differentiated '
                'from position'
            )
        for joint in np.flatnonzero(constant & ~absent):
            unit = 'rad or m' if found.robot is None else found.robot.position_units[joint]
            found.notes.append(
                f'velocity of {names[joint]} is {self.fastest[joint] + 0.0:g} throughout, '
                f'although the joint moves by {self.highest[joint] - self.lowest[joint]:.3g} '
                f'{unit}: it is differentiated from position'
            )
        derived: BoolArray = absent | constant
        return derived


def check_effort_recorded(recording: Recording) -> None:
    """Raise DataError if a recording has no effort, or zeros only."""
    has_effort = has_nonzero = False
    for block in row_blocks(len(recording), recording.effort):
        effort = recording.effort[block]
        has_effort |= bool(_are_finite(effort).any())
        has_nonzero |= bool(np.nan_to_num(effort).any())
    _check_effort(recording, has_effort, has_nonzero)


def _check_effort(recording: Recording, has_effort: bool | np.bool_, has_nonzero: bool) -> None:
    where = f'{recording.source}: effort {recording.place}'
    if not has_effort:
        raise DataError(
            f'{where} is absent (not one value): record a driver that fills it, or name '
            + ('another topic with --topic' if recording.topic else 'its columns in a mapping')
        )
    if not has_nonzero:
        raise DataError(
            f'{where} is zero throughout: mock hardware and older Gazebo bridges publish '
            'that; there is nothing to identify from'
        )


def _are_finite(values: FloatArray) -> BoolArray:
    """Return which numbers are finite, and not so large that they cannot be measured."""
    finite: BoolArray = np.abs(values) < LARGEST_VALUE
    return finite


def _survey_contents(
    recording: Recording, order: Rows, in_window: BoolArray, with_effort: bool
) -> _Contents:
    """Look at every column once, block by block."""
    n, N = recording.q.shape[1], len(in_window)
    finite: BoolArray = allocate((N,), bool)
    finite_dq: BoolArray = allocate((N, n), bool)
    has_velocity: BoolArray = np.zeros(n, dtype=bool)
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    slowest, fastest = np.full(n, np.inf), np.full(n, -np.inf)
    has_effort: BoolArray = np.full(n, not with_effort)
    has_nonzero = False
    signals = recording.q, recording.dq, recording.effort
    for block in row_blocks(N, *signals, in_window, finite, finite_dq):
        q, dq, effort = (block_of(values, order, block) for values in signals)
        finite[block] = np.all(_are_finite(q), axis=1)
        if with_effort:
            finite[block] &= np.all(_are_finite(effort), axis=1) | ~in_window[block]
        finite_dq[block] = _are_finite(dq)
        has_velocity |= finite_dq[block].any(axis=0)
        for values, low, high in ((q, lowest, highest), (dq, slowest, fastest)):
            known = _are_finite(values)
            np.minimum(low, np.where(known, values, np.inf).min(axis=0), out=low)
            np.maximum(high, np.where(known, values, -np.inf).max(axis=0), out=high)
        read = effort[in_window[block]]
        has_effort |= _are_finite(read).any(axis=0)
        has_nonzero |= bool(np.nan_to_num(read).any())
    return _Contents(
        finite, finite_dq, has_velocity, has_effort, has_nonzero, lowest, highest, slowest,
        fastest,
    )


def _check_finite(
    recording: Recording, finite: BoolArray, found: _Findings, absent: str
) -> None:
    unusable = int(np.count_nonzero(~finite))
    share = unusable / max(len(finite), 1)
    if share > MAXIMUM_NAN_SHARE:
        raise DataError(
            f'{recording.source}: {share:.1%} of the joint states {recording.place} are not '
            f'finite, more than the {MAXIMUM_NAN_SHARE:.0%} accepted (values beyond '
            f'{LARGEST_VALUE:.0e} are counted as such){absent}: find out what the driver '
            'published, or cut the part out with --start/--stop'
        )
    if unusable:
        found.excluded['not finite'] = unusable


def _find_structure(
    recording: Recording, table: _Table, duplicate: BoolArray, found: _Findings
) -> tuple[Samples, tuple[Gap, ...]]:
    """Find out what is new, at which rate, and where the gaps are."""
    if duplicate.any():
        found.excluded['duplicate (scored, not fitted)'] = int(
            np.count_nonzero(duplicate & table.in_window)
        )
    fresh = chosen_rows(duplicate, False)
    if len(fresh) < MINIMUM_SEGMENT_SAMPLES:
        raise DataError(
            f'{recording.source}: {len(fresh)} of {len(table.stamps)} joint states '
            f'{recording.place} are new, all others repeat a stamp or all values: the driver or '
            'its clock stood still'
        )
    times = take_rows(table.stamps, fresh) if duplicate.any() else table.stamps
    period = sampling_period(times)
    repeats = describe_repeats(fresh, period)
    found.notes += [repeats] if repeats else []
    longest = longest_bridged(times, period)
    segments, gaps = find_segments(table.stamps, table.branch, fresh, longest)
    begin = table.stamps[np.argmax(table.in_window)]
    gaps = tuple(gap for gap in gaps if gap.start + gap.duration > begin)
    lost = float(np.mean(some_intervals(times) > 1.5 * period))
    if longest > GAP_PERIODS * period:
        found.notes.append(
            f'{lost:.1%} of the joint states are followed by missing ones, at random: pauses of '
            f'up to {longest * 1e3:.0f} ms were interpolated'
        )
    # Those between parts of a recording are no gaps of its own.
    if gaps and recording.whole is None:
        found.notes.append(_describe_gaps(gaps, longest))
    samples = Samples(
        table.stamps, table.q, table.dq, table.derived, fresh, segments, period, table.effort,
        clock_was_set=bool(table.branch[-1]),
    )
    return samples, gaps


def _describe_gaps(gaps: tuple[Gap, ...], longest: float) -> str:
    """Return a table of the gaps in words, the longest ones first where they are many."""
    named = sorted(sorted(gaps, key=lambda gap: -gap.duration)[:MOST_NAMED_GAPS],
                   key=lambda gap: gap.start)
    listed = ', '.join(f'{gap.duration:.3f} s after {gap.start:.3f} s' for gap in named)
    more = len(gaps) - len(named)
    return (
        f'{counted(len(gaps), "gap")} of more than {longest * 1e3:.0f} ms, '
        f'across which nothing is filtered: {listed}'
        + (f', and {more} shorter ones' if more else '')
    )


def _count_short_parts(
    samples: Samples, kinematics: Kinematics, recording: Recording, found: _Findings
) -> None:
    kept = sum(segment.stop - segment.start for segment in kinematics.kept)
    short = len(kinematics.q) - kept
    if short:
        found.excluded['in a part between gaps too short to filter'] = short
    if not kinematics.kept:
        raise DataError(
            f'{recording.source}: none of the {len(samples.segments)} parts between gaps '
            f'{recording.place} has {MINIMUM_SEGMENT_SAMPLES} joint states: too many are lost, '
            'record again'
        )


def _check_kinematics(
    recording: Recording,
    table: _Table,
    kinematics: Kinematics,
    robot: RobotModel | None,
    found: _Findings,
) -> None:
    """Refuse wrong units, signs and names; note what is implausible."""
    where = f'{recording.source} {recording.place}'
    lowest, highest = table.travel
    moved = highest - lowest > SMALLEST_MOTION
    agreement = compare_rates(kinematics.position_rate, kinematics.velocity)
    found.notes += check_velocities(
        where, recording.joint_names, agreement, moved & ~table.derived
    )
    if robot is not None:
        found.notes += check_positions(where, robot, lowest, highest, table.counted)


def _check_remaining(recording: Recording, scored: BoolArray, found: _Findings) -> None:
    if not scored.any():
        reasons = '; '.join(f'{count} {reason}' for reason, count in found.excluded.items())
        raise DataError(
            f'{recording.source}: no joint state {recording.place} is left ({reasons}): '
            'record again at full speed, or change --start/--stop'
        )
