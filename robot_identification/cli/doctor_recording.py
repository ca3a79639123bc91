# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Findings of `doctor` in a bag or a table: its signals, its clock, and what `identify` says."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from robot_identification import load_robot, read_recording
from robot_identification.cli.doctor_arm import ExamineOptions, Finding
from robot_identification.errors import DataError, NotIdentifiableError
from robot_identification.estimation import IdentifyOptions, survey_recordings
from robot_identification.model import EFFORT_UNITS, known_robots, RobotModel
from robot_identification.processing import (
    check_robot_name, compare_with_current, count_missing, current_facts, current_remarks,
    Dataset, hold_as_recorded, judge_effort, read_arm,
)
from robot_identification.recording import (
    describe_table, DRIVER, driver_remarks, find_joint_names, is_table, NOT_KNOWN,
    read_driver_record, Recording, understand_table,
)
from robot_identification.validation import is_low_rate

FEW_DEGREES = 0.05  # [rad]; chosen: about 3 degrees
NOTABLE_JITTER = 0.15  # of the period; chosen: schedulers of desktops stay below it
PAUSE = 3.5  # periods


def examine_recording(path: Path, options: ExamineOptions, found: Finding) -> None:
    """Find what a bag or table holds, and how `identify` judges it."""
    robot, recording = read_known(path, options)
    steps = np.diff(recording.stamps)
    period = float(np.median(steps)) if steps.size else float('nan')
    found.facts += _facts(path, options, robot, recording, period)
    # Joints are sorted by name without the arm: which order is the arm's is not known.
    currents = compare_with_current(recording, order_known=robot is not None)
    found.facts += current_facts(currents)
    try:
        if robot is None:
            _judge_without_arm(path, options, recording, found)
        else:
            _judge(robot, options, recording, found)
    except (DataError, NotIdentifiableError) as error:
        found.error = f'`identify` refuses it: {error}'
        found.notes = list(recording.notes)
    found.warnings += [*_joint_warnings(recording), *_time_warnings(recording, period)]
    unit = options.effort_unit or recording.metadata.get('effort_unit')
    if unit is None:
        found.warnings.append(
            'the recording does not state the unit of its effort: give --effort-unit'
        )
    else:
        found.warnings += driver_remarks([('the recording', recording.metadata)], unit)
        found.warnings += current_remarks(currents, unit)
    if found.error:
        # Of what can be processed, `identify` notes this.
        found.warnings += _clock_warnings(recording, period)


def read_known(path: Path, options: ExamineOptions) -> tuple[RobotModel | None, Recording]:
    """
    Return a recording of the first arm whose joints it has, as `identify` reads it.

    Without such an arm it has all joints that it names. A single arm is the one that is meant:
    what `identify` says of it is raised.
    """
    for robot in options.robots:
        try:
            return robot, read_arm(robot, path, topic=options.topic, mapping=options.mapping)
        except DataError:
            if len(options.robots) == 1:
                raise
    joints = find_joint_names(path, topic=options.topic, mapping=options.mapping)
    if not joints:
        raise DataError(
            f'{path} has no column that is recognized as the position of a joint: name them as in '
            'docs/your_own_log.md, or in a mapping beside it (docs/formats/mapping.md); with a '
            'URDF or robot YAML beside the file, doctor drafts the mapping'
        )
    joints = joints if is_table(path) else tuple(sorted(joints))
    recording = read_recording(path, joints, topic=options.topic, mapping=options.mapping)
    named = recording.metadata.get('robot')
    if not options.robots and named in [known.name for known in known_robots()]:
        robot = load_robot(str(named))
        with suppress(DataError):
            return robot, read_arm(robot, path, topic=options.topic, mapping=options.mapping)
    return None, recording


def _facts(
    path: Path, options: ExamineOptions, robot: RobotModel | None, recording: Recording,
    period: float,
) -> Iterator[str]:
    """Yield what a recording holds: of a table its columns, joints, channels and the driver."""
    if is_table(path):
        opened = understand_table(path, recording.joint_names, mapping=options.mapping)
        units = () if robot is None else robot.position_units
        yield from (line.strip() for line in describe_table(opened, units)[1:])
    # Those out of order are not missing.
    missing = count_missing(np.diff(np.sort(recording.stamps)), period)
    yield (
        f'{len(recording)} '
        + (f'joint states on {recording.topic}' if recording.topic else 'rows')
        + f', {recording.duration:.2f} s, {1.0 / period if period else np.inf:.1f} Hz by the '
        'median period' + (f', {missing} missing' if missing else '')
    )
    yield f'joints: {", ".join(recording.joint_names)}'
    if robot is not None and not is_table(path):
        with suppress(DataError):
            named = find_joint_names(path, topic=options.topic)
            others = [name for name in named if not name.endswith(recording.joint_names)]
            if others:
                yield f'joints that are not of {robot.name}: {", ".join(others)}'
    channels = ', '.join(f'{name} ({len(rows)})' for name, rows in recording.channels.items())
    yield f'besides: {channels or "nothing that is used"}'
    noted = [f'{key}={value}' for key, value in recording.metadata.items() if key != DRIVER]
    yield f'metadata: {", ".join(noted) or "none"}'
    record = read_driver_record(recording.metadata)
    if record is None:
        return
    described = record.describe()
    lacking = [title for title, text in described if text == NOT_KNOWN]
    if len(lacking) == len(described):
        yield 'driver: unknown to the recorder'
        return
    yield from (f'{title}: {text}' for title, text in described if text != NOT_KNOWN)
    if lacking:
        yield f'unknown of the driver: {", ".join(lacking)}'


def _survey(robot: RobotModel | None, recording: Recording, unit: str) -> Dataset:
    """Return a recording as `identify` processes it; raise what it raises."""
    dataset, = survey_recordings(robot, [recording], unit, IdentifyOptions()).datasets
    return dataset


def _judge_without_arm(
    path: Path, options: ExamineOptions, recording: Recording, found: Finding
) -> None:
    """Find what `identify` says of the joints that have an effort; raise what it raises."""
    judged = [
        joint for joint, effort in zip(recording.joint_names, recording.effort.T, strict=True)
        if np.isfinite(effort).any()
    ]
    if 0 < len(judged) < len(recording.joint_names):
        # An arm has an effort, a gripper and wheels need none.
        recording = read_recording(path, judged, topic=options.topic, mapping=options.mapping)
    found.notes += _survey(None, recording, 'Nm').notes
    found.facts.append('the kind of its effort was not checked: ' + (
        'give its arm with --robot or --urdf' if not options.robots else
        f'it has not the joints of {" or ".join(robot.name for robot in options.robots)}'
    ))


def _judge(
    robot: RobotModel, options: ExamineOptions, recording: Recording, found: Finding
) -> None:
    """Find what `identify` says of a recording, and what its effort is; raise what it raises."""
    check_robot_name(recording, robot.name)
    robot, held = hold_as_recorded(robot, [recording])
    recorded = recording.metadata.get('effort_unit')
    stated = options.effort_unit or recorded or robot.effort_unit
    stated = stated if stated in EFFORT_UNITS else None
    dataset = _survey(robot, recording, stated or 'Nm')
    meaning = judge_effort(robot, [dataset])
    if stated is None and meaning.kind not in (None, 'Nm'):
        # What is said of the effort of each joint is said in its unit.
        dataset = _survey(robot, recording, str(meaning.kind))
    # Of a unit that is the user's word, `identify` says itself what speaks against it.
    if options.effort_unit is None and meaning.contradicts(str(recorded)):
        found.warnings.append(
            f'it states its effort in {recorded}, but the effort is '
            f'{EFFORT_UNITS[str(meaning.kind)].description}: give --effort-unit {meaning.kind}'
        )
    if stated is not None:
        found.warnings += [one.text for one in dataset.contradictions]
    if meaning.mounting:
        found.warnings.append(
            f'{meaning.mounting} fits the effort better than the stated mounting: give '
            '--mounting or --gravity'
        )
    found.facts.append(meaning.describe())
    found.notes += [*held, *dataset.notes]


def _joint_warnings(recording: Recording) -> Iterator[str]:
    """Yield what is wrong with the signals of single joints."""
    for joint, effort, q in zip(
        recording.joint_names, recording.effort.T, recording.q.T, strict=True
    ):
        if not np.isfinite(effort).any():
            yield f'{joint}: effort is absent'
        elif not np.nan_to_num(effort).any():
            yield f'{joint}: effort is zero throughout'
        if np.ptp(q) < FEW_DEGREES:
            yield f'{joint} moves by {np.ptp(q):.4f} only: it cannot be identified'
        if not np.all(np.isfinite(q)):
            yield f'{joint}: {np.count_nonzero(~np.isfinite(q))} positions not finite'


def _time_warnings(recording: Recording, period: float) -> Iterator[str]:
    """Yield what is missing of a recording, and what its rate and its clock cost."""
    if recording.completeness.state == 'recovered':
        yield f'{recording.completeness.describe()}: {recording.completeness.cause}'
    if period > 0.0 and is_low_rate(1.0 / period):
        yield (
            f'{1.0 / period:.3g} Hz is slow: acceleration can be computed for motion below about '
            f'{0.1 / period:.2g} Hz; record faster, or excite slowly'
        )
    steps = np.diff(recording.stamps)
    usual = steps[(steps > 0.0) & (steps < PAUSE * period)]
    jitter = float(np.std(usual)) / period if usual.size else 0.0
    if jitter > NOTABLE_JITTER:
        yield (
            f'the clock jitters: intervals vary by {jitter:.0%} of the period (standard '
            'deviation), which adds noise to derivatives; log the time of the measurement, not '
            'that of writing'
        )
    if repeated := np.count_nonzero(steps == 0.0):
        yield f'{repeated} joint states repeat a stamp'


def _clock_warnings(recording: Recording, period: float) -> Iterator[str]:
    """Yield what is wrong with the clock of a recording that cannot be processed."""
    steps = np.diff(recording.stamps)
    if recording.stamps_from == 'log':
        yield 'header stamps are absent; the time of recording is used'
    if disordered := np.count_nonzero(steps < 0.0):
        yield f'{disordered} joint states come out of order'
    if pauses := np.count_nonzero(steps > PAUSE * period):
        yield f'{pauses} joint states follow a pause of more than three periods'
