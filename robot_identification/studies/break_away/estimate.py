# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Statistics of repeated break-away tests: median, quartiles, whiskers, outliers, uncertainty.

Also the file that keeps them, joint by joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
import math
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import (
    DataError, DescriptionError, IdentificationError, UsageError,
)
from robot_identification.files import check_keys, check_schema_version, read_yaml
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayRepeat

BREAK_AWAY_SCHEMA = 1  # of the file
CORRECTIONS = ('onset', 'inertia', 'none')
DEFAULT_CORRECTION = CORRECTIONS[0]
GRAVITY = ('free', 'subtracted')
# Reach of whiskers at most, in interquartile ranges (Tukey).
WHISKER_REACH = 1.5
# Values that differ by less than this part are equal but for rounding.
ROUNDING = 1.0e-9
# Confidence of the interval of a median; the usual one.
CONFIDENCE = 0.95
# Replicates of its bootstrap; chosen: more change the ends by less than a value of the sample.
REPLICATES = 2000
# Values of a box plot, at least: one has no quartiles.
FEWEST_VALUES = 2
# Directions that differ by this share are distinguished in a note; chosen.
DIFFERENT_SHARE = 0.1
# Share of the torque from which a note states a correction that inertia does not explain; chosen
# (docs/break_away.md).
UNEXPLAINED_SHARE = 0.05


@dataclass(frozen=True)
class BoxStatistics:
    """A box plot in numbers."""

    count: int  # number of values
    median: float  # what is reported
    # By linear interpolation, as NumPy has them.
    lower_quartile: float
    upper_quartile: float
    # The outermost values that are within 1.5 interquartile ranges of the quartiles.
    lower_whisker: float
    upper_whisker: float
    outliers: tuple[float, ...]  # the values beyond, ascending
    interval: tuple[float, float]  # of the median, by bootstrap
    confidence: float  # of the interval

    @property
    def interquartile_range(self) -> float:
        """Upper minus lower quartile."""
        return self.upper_quartile - self.lower_quartile


@dataclass(frozen=True)
class BreakAwayRun:
    """The test of one joint, whole or ended early."""

    joint: str  # its name
    gravity: str  # 'free' (a pose without moment of gravity) or 'subtracted' (by the model)
    settings: BreakAwaySettings  # how it was tested
    repeats: tuple[BreakAwayRepeat, ...]  # what the ramps found, in their order
    aborted: str = ''  # why it ended early; empty if it did not

    def __post_init__(self) -> None:
        if self.gravity not in GRAVITY:
            raise UsageError(
                f'{self.joint}: gravity is {self.gravity!r}, it must be {" or ".join(GRAVITY)}'
            )
        for repeat in self.repeats:
            if repeat.direction not in (1, -1):
                raise UsageError(
                    f'{self.joint}: a direction is {repeat.direction}, it must be 1 or -1'
                )

    def towards(self, direction: int) -> tuple[BreakAwayRepeat, ...]:
        """Return the repeats of one direction, 1 or -1."""
        return tuple(one for one in self.repeats if one.direction == direction)


@dataclass(frozen=True)
class BreakAway:
    """Break-away torque of one joint."""

    run: BreakAwayRun  # what it was found in
    correction: str  # one of `CORRECTIONS`
    # Of each direction that was tested, 1 and -1, the values of its repeats [N m].
    values: dict[int, FloatArray]
    boxes: dict[int, BoxStatistics]  # the same in numbers [N m]
    # Of the torques at the threshold, which Rajagopal 2017 reports [N m].
    uncorrected: dict[int, BoxStatistics]
    notes: tuple[str, ...]  # what a reader should know

    @property
    def torque(self) -> float:
        """Mean of the medians of both directions [N m]."""
        return float(np.mean([box.median for box in self.boxes.values()]))

    @property
    def uncorrected_torque(self) -> float:
        """Mean of the medians at the threshold, of both directions [N m]."""
        return float(np.mean([box.median for box in self.uncorrected.values()]))


def box_statistics(values: FloatArray) -> BoxStatistics:
    """
    Return the box plot of values (N,) in numbers, two at least, all finite.

    The interval of the median is that of a bootstrap, the same for the same values. Raise
    DataError if there is no box plot of the values.
    """
    values = np.sort(np.asarray(values, dtype=float))
    if values.ndim != 1 or len(values) < FEWEST_VALUES:
        raise DataError(
            f'a box plot needs a list of at least {FEWEST_VALUES} values, these have the shape '
            f'{values.shape}: repeat the test more often'
        )
    if not np.all(np.isfinite(values)):
        raise DataError('a box plot needs finite values')
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
    # Values that are equal but for rounding are no outliers.
    reach = max(WHISKER_REACH * (upper - lower), ROUNDING * abs(median))
    # A quartile lies between two values, so that there is one on its inner side at least.
    inside = (values >= lower - reach) & (values <= upper + reach)
    drawn = np.random.default_rng(0).choice(values, size=(REPLICATES, len(values)))
    tail = 0.5 * (1.0 - CONFIDENCE)
    low, high = np.quantile(np.median(drawn, axis=1), [tail, 1.0 - tail])
    return BoxStatistics(
        count=len(values), median=float(median),
        lower_quartile=float(lower), upper_quartile=float(upper),
        lower_whisker=float(values[inside][0]), upper_whisker=float(values[inside][-1]),
        outliers=tuple(values[~inside].tolist()), interval=(float(low), float(high)),
        confidence=CONFIDENCE,
    )


def corrected_torque(repeat: BreakAwayRepeat, inertia: float, correction: str) -> float:
    r"""
    Return the break-away torque of one ramp [N m], without what accelerated the joint.

    At the threshold the torque :math:`u` also accelerates the inertia :math:`I` and overcomes
    friction at the threshold's speed. With `onset`, the default, it is the torque :math:`u_o` at
    the onset of motion, :math:`d` after the start, less what the ramp of rate :math:`r` grew
    since: from :math:`I \ddot x = r t` follows :math:`d = r t^3 / (6 I)`, so :math:`u_o - (6 I
    r^2 d)^{1/3}`. With `inertia` it is :math:`u - I \dot v`: friction at the threshold's speed,
    which is too low where friction falls with speed. With `none` it is :math:`u`, as reported by
    Rajagopal 2017: never too low, as a joint does not move before it breaks away.

    `inertia` is that of the joint [kg m^2]. Raise UsageError if there is no such correction.
    """
    if correction == 'none':
        return repeat.torque
    if correction == 'inertia':
        return repeat.torque - inertia * repeat.acceleration
    if correction == 'onset':
        grown = 6.0 * inertia * repeat.ramp_rate**2 * max(repeat.onset_travel, 0.0)
        return repeat.onset_torque - float(np.cbrt(grown))
    raise UsageError(f'no correction {correction!r}: known are {", ".join(CORRECTIONS)}')


def estimate_break_away(run: BreakAwayRun, *, correction: str = DEFAULT_CORRECTION) -> BreakAway:
    """
    Return the break-away torque of a joint in both directions.

    `correction` is one of `CORRECTIONS`, see `corrected_torque`, with the inertia of the run's
    settings. Raises DataError if neither direction has two repeats or a correction cannot be
    computed, and UsageError if there is no such correction.
    """
    values, boxes, uncorrected = {}, {}, {}
    for direction in (1, -1):
        repeats = run.towards(direction)
        if len(repeats) < FEWEST_VALUES:
            continue
        values[direction] = np.array([
            corrected_torque(repeat, run.settings.inertia, correction) for repeat in repeats
        ])
        boxes[direction] = box_statistics(values[direction])
        uncorrected[direction] = box_statistics(
            np.array([repeat.torque for repeat in repeats])
        )
    if not boxes:
        raise DataError(
            f'{run.joint} broke away {len(run.repeats)} times, needed are {FEWEST_VALUES} in one '
            'direction: repeat the test'
        )
    notes = _notes(run, correction, boxes, uncorrected)
    return BreakAway(run, correction, values, boxes, uncorrected, tuple(notes))


def largest_excess(settings: BreakAwaySettings) -> float:
    """
    Return by how much the torque at the threshold exceeds constant friction [N m].

    From ``inertia v' = rate t`` follows ``inertia v = rate t^2 / 2``; where friction falls with
    speed, a joint is sooner at the threshold and the excess is less.
    """
    return math.sqrt(2.0 * settings.inertia * settings.rate * settings.threshold)


def _notes(
    run: BreakAwayRun, correction: str, boxes: Mapping[int, BoxStatistics],
    uncorrected: Mapping[int, BoxStatistics],
) -> list[str]:
    notes, unit = [], run.settings.unit
    if run.aborted:
        notes.append(f'The test ended early: {run.aborted}.')
    if run.gravity == 'subtracted':
        notes.append(
            'The moment of gravity was subtracted by the model: its error is in the values, with '
            'opposite signs in the two directions.'
        )
    if correction == 'onset':
        notes += _unexplained(run.settings, boxes, uncorrected)
    elif correction == 'none':
        notes.append(
            f'The values hold what accelerates the joint to {run.settings.threshold:g} '
            f'{unit("rad/s")}, {largest_excess(run.settings):.3g} {unit("N m")} if friction stays '
            'what it is; a slower ramp, or the correction onset, has less of it.'
        )
    elif correction == 'inertia':
        notes.append(
            f'Corrected by inertia times acceleration, the values are friction at '
            f'{run.settings.threshold:g} {unit("rad/s")}: below break-away where friction falls '
            'with speed.'
        )
    missing = [name for sign, name in ((1, 'positive'), (-1, 'negative')) if sign not in boxes]
    if missing:
        notes.append(f'There are too few repeats in the {missing[0]} direction.')
    elif abs(boxes[1].median - boxes[-1].median) > DIFFERENT_SHARE * 0.5 * (
        boxes[1].median + boxes[-1].median
    ):
        notes.append(
            f'The directions differ: {boxes[1].median:.4g} and {boxes[-1].median:.4g} '
            f'{unit("N m")}. Is the pose free of gravity, and is the offset of the drive known?'
        )
    return notes


def _unexplained(
    settings: BreakAwaySettings, boxes: Mapping[int, BoxStatistics],
    uncorrected: Mapping[int, BoxStatistics],
) -> list[str]:
    """State where the onset of motion is further below the threshold than inertia explains."""
    excess, unit = largest_excess(settings), settings.unit
    return [
        f'In the {"positive" if direction > 0 else "negative"} direction the torque at the onset '
        f'of motion is {taken:.3g} {unit("N m")} below that at the threshold; an inertia of '
        f'{settings.inertia:.3g} {unit("kg m^2")} explains {excess:.3g} {unit("N m")}. Either '
        'friction grows with speed from the start, or inertia is set too low, or the '
        'joint yields before it breaks away (play of the gear, elastic parts) by more than the '
        f'onset_travel of {settings.onset_travel:.2g} {unit("rad")}: then the value is too low; '
        'repeat with a larger onset_travel, and see the uncorrected one.'
        for direction, box in boxes.items()
        for taken in [uncorrected[direction].median - box.median]
        if taken > excess + UNEXPLAINED_SHARE * uncorrected[direction].median
    ]


def run_content(found: BreakAway) -> dict[str, Any]:
    """Return the entry of one joint in a break-away file."""
    run = found.run
    return {
        'joint': run.joint,
        'gravity': run.gravity,
        'aborted': run.aborted,
        'settings': asdict(run.settings),
        'correction': found.correction,
        'torque': found.torque,
        'uncorrected_torque': found.uncorrected_torque,
        'directions': [
            {
                'direction': direction, **_box_content(box),
                'values': found.values[direction].tolist(),
                'uncorrected': _box_content(found.uncorrected[direction]),
            }
            for direction, box in found.boxes.items()
        ],
        'repeats': [asdict(repeat) for repeat in run.repeats],
        'notes': list(found.notes),
    }


def _box_content(box: BoxStatistics) -> dict[str, Any]:
    return {**asdict(box), 'interquartile_range': box.interquartile_range}


def break_away_content(robot: str, found: Sequence[BreakAway]) -> dict[str, Any]:
    """Return the content of a break-away file, one entry a joint; the robot may be empty."""
    return {
        'schema_version': BREAK_AWAY_SCHEMA,
        'robot': robot,
        'joints': [run_content(joint) for joint in found],
    }


_JOINT_KEYS = {
    'joint', 'gravity', 'aborted', 'settings', 'correction', 'torque', 'uncorrected_torque',
    'directions', 'repeats', 'notes',
}


def load_break_away(path: Path) -> tuple[str, list[BreakAway]]:
    """
    Return robot and joints of a break-away file.

    The statistics are computed anew from its repeats. Raises UsageError if there is no such file,
    and DescriptionError if it is not a break-away file of this version.
    """
    content = read_yaml(path)
    check_keys(content, str(path), {'schema_version', 'robot', 'joints'}, set())
    check_schema_version(content, str(path), BREAK_AWAY_SCHEMA)
    try:
        return str(content['robot']), [
            _joint_from_content(entry, str(path)) for entry in content['joints']
        ]
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        raise DescriptionError(f'{path}: an entry is damaged ({error!r})') from error


def _joint_from_content(entry: Mapping[str, Any], source: str) -> BreakAway:
    check_keys(entry, source, _JOINT_KEYS, set())
    where = f'{source}: {entry["joint"]}'
    for kind, one in (
        (BreakAwaySettings, entry['settings']), *((BreakAwayRepeat, r) for r in entry['repeats'])
    ):
        check_keys(one, where, {item.name for item in fields(kind)}, set())
    try:
        run = BreakAwayRun(
            str(entry['joint']), str(entry['gravity']), BreakAwaySettings(**entry['settings']),
            tuple(BreakAwayRepeat(**repeat) for repeat in entry['repeats']),
            str(entry['aborted']),
        )
        return estimate_break_away(run, correction=str(entry['correction']))
    except IdentificationError as error:
        raise DescriptionError(f'{where}: {error}') from error
