# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Inputs of an identification: recordings, unit of the effort, drive gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.estimation.many_bags import spread_evenly
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.files import file_sha256
from robot_identification.model import describe_placeholders, EFFORT_UNITS, RobotModel
from robot_identification.processing import check_robot_name
from robot_identification.recording import read_recording, Recording


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of an identification."""

    robot: RobotModel  # the arm, with usable drive gains
    hashes: Mapping[Path, str]  # SHA-256 of every bag
    # the bags that the choices are made on: all, unless there are more than the recipe takes
    recordings: tuple[Recording, ...]
    unit: str  # of the recorded effort: 'A' or 'Nm'
    # whether torques are known up to a factor only, because drive gains are unknown
    relative_scale: bool
    notes: tuple[str, ...]  # remarks on the bags; empty texts among them mean nothing to remark


def read_inputs(robot: RobotModel, bags: Sequence[Path], options: IdentifyOptions) -> Inputs:
    """
    Read the bags that the choices are made on, and settle unit and drive gains.

    Raises UsageError if a bag is missing or given twice, if the effort unit is unknown, or if
    drive gains are needed but unknown and `relative_scale` is not set; DataError if a bag cannot
    be used.
    """
    in_choice = options.recipe.bags_in_choice
    most = len(bags) if options.method.estimator.needs_rows else in_choice
    recordings = tuple(
        read_recording(
            bags[at], robot.joint_names, topic=options.topic, names=options.joint_names,
            encoders=robot.encoders, mapping=options.table_mapping,
        )
        for at in spread_evenly(len(bags), most)
    )
    hashes = hash_bags(bags)
    names = [check_robot_name(recording, robot.name) for recording in recordings]
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    stated = [(found.source, found.metadata.get('effort_unit')) for found in recordings]
    notes = (*names, *unit_notes(stated, unit), describe_placeholders(robot))
    robot, relative_scale = choose_drive_gains(robot, unit, options.relative_scale)
    return Inputs(robot, hashes, recordings, unit, relative_scale, notes)


def hash_bags(bags: Sequence[Path]) -> dict[Path, str]:
    """Return the SHA-256 of every bag; a missing or repeated one raises a `UsageError`."""
    seen: dict[str, Path] = {}
    for bag in bags:
        if not bag.exists():
            raise UsageError(f'no such bag: {bag}')
        digest = file_sha256(bag)
        if digest in seen:
            raise UsageError(
                f'{bag} holds the same bytes as {seen[digest]}: name each recording '
                'once, or its errors would be taken for smaller than they are'
            )
        seen[digest] = bag
    return {bag: digest for digest, bag in seen.items()}


def unit_notes(stated: Sequence[tuple[str, str | None]], unit: str) -> list[str]:
    """Return remarks on the units that bags state, where they differ or only some do."""
    notes = [
        f'{bag} says its effort is in {its_unit}, it is read as {unit}'
        for bag, its_unit in stated if its_unit is not None and its_unit != unit
    ]
    if any(its_unit is not None for _, its_unit in stated):
        notes += [
            f'{bag} does not say the unit of its effort: {unit} is assumed'
            for bag, its_unit in stated if its_unit is None
        ]
    return notes


def choose_effort_unit(
    option: str | None, recordings: Sequence[Recording], robot: RobotModel
) -> str:
    """
    Return the unit of the recorded effort, 'A' or 'Nm'.

    The option comes first, then the record of the bags, then the robot. Raises UsageError if none
    of them states it, or the bags disagree or state an unknown unit.
    """
    if option is not None:
        return option
    recorded = {recording.metadata.get('effort_unit', '') for recording in recordings} - {''}
    if len(recorded) > 1 or not recorded <= set(EFFORT_UNITS):
        raise UsageError(
            f'the bags say their effort is in {", ".join(sorted(recorded))}: choose with '
            '--effort-unit'
        )
    unit = recorded.pop() if recorded else robot.effort_unit
    if unit is None:
        raise UsageError(
            'unit of the effort unknown: add --effort-unit A (motor current, what a UR driver '
            'publishes by default) or --effort-unit Nm (joint torque)'
        )
    return unit


def choose_drive_gains(
    robot: RobotModel, unit: str, relative_scale: bool
) -> tuple[RobotModel, bool]:
    """
    Return the robot with usable drive gains, and whether its scale is only relative.

    Raises UsageError if effort is in ampere, drive gains are unknown and `relative_scale` is not
    set; if it is, all gains become 1.
    """
    unknown = ~np.isfinite(robot.drives.drive_gain)
    if unit == 'Nm' or not unknown.any():
        return robot, False
    if not relative_scale:
        joints = ', '.join(np.array(robot.joint_names)[unknown])
        raise UsageError(
            f'effort is motor current, and the drive gain of {joints} is unknown: give all with '
            '--drive-gains (N m/A, kinematic order), or accept --relative-scale (torques per '
            'unknown gain)'
        )
    return robot.with_drive_gains(np.ones(robot.n)), True
