# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of an identification: recordings, unit of the effort, drive gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.method import COMMAND, IdentifyOptions
from robot_identification.files import file_sha256
from robot_identification.model import (
    describe_placeholders, EFFORT_UNITS, POSITION_ERROR, RobotModel,
)
from robot_identification.processing import (
    check_effort_recorded, check_robot_name, CommandDelay, compare_with_current, current_remarks,
    Dataset, find_command_delay, hold_as_recorded, judge_effort, read_arm, with_position_error,
)
from robot_identification.recording import (
    data_hashes, driver_remarks, read_command, Recording, spread_parts,
)

# Joint states that are read for each sample of which choices are made; chosen.
READ_FOR_EACH = 5
# Drive gains this near to one make current and torque numbers of one size [N m/A]; chosen, as the
# masses of a URDF are wrong by less.
NEAR_ONE = 2.0


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of an identification."""

    robot: RobotModel  # the arm as the effort shows it, with usable drive gains
    sources: Mapping[Path, Path | Recording]  # every bag, or what was read of it, by its name
    hashes: Mapping[Path, str]  # SHA-256 of every bag
    # what the choices are made on: all bags, unless there are more than the recipe takes, of which
    # long ones are in evenly spread parts
    recordings: tuple[Recording, ...]
    read: tuple[Recording, ...]  # the same bags as a whole, and all that were read before
    unit: str  # of the recorded effort, one of EFFORT_UNITS
    # whether torques are known up to a factor only, because drive gains are unknown
    relative_scale: bool
    notes: tuple[str, ...]  # remarks on the bags; empty texts among them mean nothing to remark
    command_delay: CommandDelay | None = None  # where the effort is the servos' position error

    @property
    def are_all(self) -> bool:
        """Return whether the choices are made on all that is fitted."""
        return len(self.recordings) == len(self.hashes) and all(
            recording.whole is None for recording in self.recordings
        )


def read_inputs(
    robot: RobotModel, bags: Sequence[Path | Recording], options: IdentifyOptions
) -> Inputs:
    """
    Read the bags that the choices are made on, and settle unit and drive gains.

    Raises UsageError if a bag is missing or given twice, if the effort unit is unknown, or if
    drive gains are needed but unknown and `relative_scale` is not set; DataError if a bag cannot
    be used.
    """
    recipe, sources = options.recipe, name_sources(bags)
    names = list(sources)
    most = len(names) if options.used_estimator.needs_rows else recipe.bags_in_choice

    def read(name: Path) -> Recording:
        return replace(read_arm(
            robot, sources[name], topic=options.topic, names=options.joint_names,
            mapping=options.table_mapping,
        ), source=str(name))

    in_choice = [names[at] for at in spread_evenly(len(names), most)]
    recordings = tuple(map(read, in_choice))
    others = tuple(
        read(name) for name in names
        if name not in in_choice and isinstance(sources[name], Recording)
    )
    hashes, delay = hash_bags(sources), None
    if options.effort_from == COMMAND:
        recordings, delay = take_position_errors(
            robot, recordings, options.joint_names, options.table_mapping,
            (options.start, options.stop),
        )
    remarks = [check_robot_name(recording, robot.name) for recording in recordings]
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    robot, held = hold_as_recorded(robot, recordings, (options.start, options.stop))
    stated = [(found.source, found.metadata.get('effort_unit')) for found in recordings]
    notes = (
        *remarks, *unit_notes(stated, unit), *recorded_remarks(recordings, unit),
        *held, describe_placeholders(robot), '' if delay is None else delay.describe(),
    )
    if not np.all(np.isfinite(robot.drives.drive_gain)):
        # Without any effort, gains are not asked for first.
        for recording in recordings:
            check_effort_recorded(recording)
    robot, relative_scale = choose_drive_gains(
        robot.for_effort(unit), unit, options.relative_scale
    )
    chosen = recordings
    if not (options.used_estimator.needs_rows or options.needs_whole_recordings):
        chosen = spread_parts(
            recordings, READ_FOR_EACH * recipe.samples_in_choice, (options.start, options.stop)
        )
    return Inputs(
        robot, sources, hashes, chosen, recordings + others, unit, relative_scale, notes, delay
    )


def name_sources(bags: Sequence[Path | Recording]) -> dict[Path, Path | Recording]:
    """Return bags by their paths, and recordings that were read before by names of their own."""
    sources: dict[Path, Path | Recording] = {}
    for name, bag in zip(distinct_names(bags), bags, strict=True):
        if name in sources:
            raise _repeated(name, name)
        sources[name] = bag
    return sources


def distinct_names(bags: Sequence[Path | Recording]) -> list[Path]:
    """Return the paths of bags, and of recordings their sources, with a number where taken."""
    taken = {bag for bag in bags if isinstance(bag, Path)}
    names = []
    for bag in bags:
        name = Path(bag.source) if isinstance(bag, Recording) else bag
        number = 2
        while isinstance(bag, Recording) and name in taken:
            name, number = Path(f'{bag.source} ({number})'), number + 1
        taken.add(name)
        names.append(name)
    return names


def spread_evenly(count: int, most: int) -> tuple[int, ...]:
    """Return at most so many of the numbers from 0 to below `count`, ends included."""
    if count <= most:
        return tuple(range(count))
    return tuple(np.round(np.linspace(0, count - 1, most)).astype(int).tolist())


def take_position_errors(
    robot: RobotModel, recordings: Sequence[Recording], names: Mapping[str, str],
    mapping: Path | None, window: tuple[float | None, float | None] = (None, None),
) -> tuple[tuple[Recording, ...], CommandDelay]:
    """Return recordings of tables with the servos' position error as effort, and its delay."""
    commanded = [
        read_command(recording, names, robot.encoders, mapping) for recording in recordings
    ]
    delay = find_command_delay(robot, commanded, window)
    return tuple(with_position_error(one, delay.value) for one in commanded), delay


def hash_bags(sources: Mapping[Path, Path | Recording]) -> dict[Path, str]:
    """Return the SHA-256 of every bag; a missing or repeated one raises a `UsageError`."""
    seen: dict[str, Path] = {}
    for name, bag in sources.items():
        if isinstance(bag, Path) and not bag.exists():
            raise UsageError(f'no such bag: {bag}')
        digest = bag.sha256 if isinstance(bag, Recording) else file_sha256(bag)
        if digest in seen:
            raise _repeated(name, seen[digest])
        seen[digest] = name
    read = {name: bag for name, bag in sources.items() if isinstance(bag, Recording)}
    files = {
        digest: name for name, bag in sources.items() if read and isinstance(bag, Path)
        for digest in data_hashes(bag)
    }
    for name, bag in read.items():
        # What was read of a bag holds nothing that the bag does not.
        for digest in data_hashes(bag):
            if digest in files:
                raise _repeated(name, files[digest])
    return {name: digest for digest, name in seen.items()}


def _repeated(bag: Path, other: Path) -> UsageError:
    return UsageError(
        f'{bag} holds the same bytes as {other}: name each recording once, or its errors would be '
        'taken for smaller than they are'
    )


def unit_notes(stated: Sequence[tuple[str, str | None]], unit: str) -> list[str]:
    """Return remarks on the units that bags state, where they differ or only some do."""
    notes = [
        f'{bag} states its effort in {its_unit}, it is read as {unit}'
        for bag, its_unit in stated if its_unit is not None and its_unit != unit
    ]
    if any(its_unit is not None for _, its_unit in stated):
        notes += [
            f'{bag} does not state the unit of its effort: {unit} is assumed'
            for bag, its_unit in stated if its_unit is None
        ]
    return notes


def recorded_remarks(recordings: Sequence[Recording], unit: str) -> list[str]:
    """Return what drivers, their records and the robot's own current say against a unit."""
    return [
        *driver_remarks([(found.source, found.metadata) for found in recordings], unit),
        *(
            f'{found.source}: {remark}' for found in recordings
            for remark in current_remarks(compare_with_current(found), unit)
        ),
    ]


def choose_effort_unit(
    option: str | None, recordings: Sequence[Recording], robot: RobotModel
) -> str:
    """
    Return the unit of the recorded effort, one of EFFORT_UNITS.

    The option comes first, then the record of the bags, then the robot. Raises UsageError if none
    of them states it, or the bags disagree or state an unknown unit.
    """
    if option is not None:
        return option
    recorded = {recording.metadata.get('effort_unit', '') for recording in recordings} - {''}
    if len(recorded) > 1 or not recorded <= set(EFFORT_UNITS):
        raise UsageError(
            f'the bags state their effort in {", ".join(sorted(recorded))}: choose with '
            '--effort-unit'
        )
    unit = recorded.pop() if recorded else robot.effort_unit
    if unit is None:
        raise UsageError(
            'unit of the effort unknown: add --effort-unit A (motor current, what a UR driver '
            'publishes by default), --effort-unit Nm (joint torque) or --effort-unit '
            'Nm-without-gravity; `doctor` says which the recording shows'
        )
    return unit


def choose_drive_gains(
    robot: RobotModel, unit: str, relative_scale: bool
) -> tuple[RobotModel, bool]:
    """
    Return the robot with usable drive gains, and whether its scale is only relative.

    Raises UsageError if effort has drive gains, these are unknown and `relative_scale` is not
    set; if it is, all gains become 1.
    """
    unknown = ~np.isfinite(robot.drives.drive_gain)
    if not (EFFORT_UNITS[unit].is_current and unknown.any()):
        return robot, False
    if not relative_scale:
        joints = ', '.join(np.array(robot.joint_names)[unknown])
        raise UsageError(
            f'effort is {EFFORT_UNITS[unit].description}, and the drive gain of {joints} is '
            f'unknown: give all with --drive-gains (N m/{EFFORT_UNITS[unit].symbol}, kinematic '
            'order), or accept --relative-scale (torques per unknown gain)'
        )
    return robot.with_drive_gains(np.ones(robot.n)), True


def check_effort_meaning(
    robot: RobotModel, datasets: Sequence[Dataset], options: IdentifyOptions, *,
    has_scale: bool, stated: bool,
) -> tuple[str, str]:
    """
    Return what the effort of recordings is, in words, and what speaks against the stated unit.

    Words are with the evidence, or the motion that would decide; the second is empty if nothing
    speaks against it.

    The robot has the drive gains that are used; `has_scale` says whether they are known, `stated`
    whether the unit is the user's or the recordings' word, and no default. Raises DataError,
    unless `trust_effort_unit` is set, if the model would be wrong: the recordings show another
    kind than the unit says, or leave it open while the unit is a default.
    """
    unit = datasets[0].effort_unit
    if unit == POSITION_ERROR:
        return f'effort is the {EFFORT_UNITS[unit].description}', ''
    meaning = judge_effort(robot, datasets)
    text, name = meaning.describe(), f'{EFFORT_UNITS[unit].description} ({unit})'
    if meaning.contradicts(unit):
        kind = str(meaning.kind)
        shown = EFFORT_UNITS[kind].description
        wrong = _is_harmful(robot, unit, kind, has_scale, meaning.scale)
        remedy = f'give --effort-unit {kind}, or keep the unit with --trust-effort-unit'
        if EFFORT_UNITS[kind].is_current and meaning.scale > NEAR_ONE:
            # Geared joints have more torque per current; masses are guessed in many descriptions.
            shown += ', or torque of another unit, factor or mass than is stated'
            remedy = (
                f'give --effort-unit {kind} if it is {EFFORT_UNITS[kind].description}; if it is '
                'not, correct the unit or the factor of the effort, or the masses of the URDF, '
                'or keep both with --trust-effort-unit'
            )
        text = (
            f'effort is read as {name}, but the recording shows {shown} ({meaning.evidence()})'
        )
    elif not meaning.joints or meaning.open_kinds == (unit,):
        return text, ''
    else:
        others = [kind for kind in meaning.open_kinds if kind != unit]
        wrong = bool(meaning.motion) and not stated and any(
            _is_harmful(robot, unit, kind, has_scale, np.nan) for kind in others
        )
        source = 'as stated' if stated else 'which is the default of this arm'
        text = f'effort is read as {name}, {source}, and the recording leaves it open: {text}'
        remedy = 'or state what it is with --effort-unit'
    if not wrong or options.trust_effort_unit:
        return text, text
    raise DataError(f'{", ".join(dataset.source for dataset in datasets)}: {text}: {remedy}')


def _is_harmful(
    robot: RobotModel, unit: str, kind: str, has_scale: bool, scale: float
) -> bool:
    """
    Return whether a model from a unit would be wrong if the effort is of another kind.

    `scale` is the effort per torque of the URDF, NaN where it is not known.
    """
    if EFFORT_UNITS[unit].is_current and kind == 'Nm':
        # A relative scale is no claim, and gains near one turn torques into torques.
        gains = np.abs(robot.drives.drive_gain)
        return has_scale and not 1.0 / NEAR_ONE < float(np.median(gains)) < NEAR_ONE
    # What is near the torque of the URDF is a torque as far as masses tell: a factor, a sign or an
    # axis of some joint makes it differ, which the tests of the data name.
    near = 1.0 / NEAR_ONE < scale < NEAR_ONE
    return not (unit == 'Nm' and EFFORT_UNITS[kind].is_current and near)
