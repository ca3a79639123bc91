# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Read and process a bag the way a model file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from robot_identification.errors import DataError
from robot_identification.files import AnyPath
from robot_identification.model import EFFORT_UNITS, IdentifiedModel, RobotModel
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.processing import process
from robot_identification.processing.repairs import held_joint_remarks
from robot_identification.processing.tracking import with_position_error
from robot_identification.recording import read_command, read_recording, Recording, spread_parts

# Temperatures up to this outside those of an identification are as good as inside [K].
FAR_OUTSIDE = 2.0


def check_robot_name(recording: Recording, robot: str) -> str:
    """
    Check the robot that a bag names; return a warning if it names none, else empty.

    Tables name none, unless their mapping does.

    Raises DataError if the bag was recorded on another robot than `robot`, that of the model.
    """
    found = recording.metadata.get('robot')
    if found is None and not recording.topic:
        return ''
    if found is None:
        return f'{recording.source} does not state its robot: {robot} is assumed'
    if found != robot:
        raise DataError(
            f'{recording.source} was recorded on the robot {found!r}, the model is of {robot!r}: '
            'use the right model, or record again'
        )
    return ''


def read_arm(
    robot: RobotModel,
    bag: AnyPath | Recording,
    *,
    topic: str | None = None,
    names: Mapping[str, str] | None = None,
    mapping: AnyPath | None = None,
) -> Recording:
    """
    Return the recording of an arm, with its held joints that matter (`watched_joints`).

    Arguments and errors are as in `read_recording`; of one that was read already the joints are
    taken, see `Recording.for_arm`.
    """
    if isinstance(bag, Recording):
        return bag.for_arm(robot)
    return read_recording(
        bag, robot.joint_names, topic=topic, names=names, encoders=robot.encoders,
        mapping=mapping, others=robot.watched_joints,
    )


def load_for_model(
    model: IdentifiedModel,
    bag: AnyPath | Recording,
    *,
    start: float | None = None,
    stop: float | None = None,
    most: int | None = None,
) -> tuple[Dataset, tuple[str, ...]]:
    """
    Return the dataset of a bag, processed as for the model, and notes for a reader.

    `start` and `stop` are as in `process`. Of a recording with more than `most` joint states it
    has about so many, in evenly spread parts, unless the model's filter needs the whole. Raises
    DataError if the bag is of another robot or has effort in another unit.
    """
    source = model.source
    recording, note = read_for_model(model, bag)
    if most is not None and not source.kinematic_filter.needs_whole_recording:
        recording, = spread_parts([recording], most, (start, stop))
    dataset = process(
        recording, source.kinematic_filter, model.effort_unit, start=start, stop=stop,
        robot=model.robot, delay=source.delay, rotor_side=model.uses_rotors,
    )
    if model.uses_rotors and dataset.motion.rotor is None:
        # Its friction was found under the torque of the bodies alone.
        dataset = replace(dataset, motion=dataset.motion.with_stiff_joints())
        note += ('; ' if note else '') + (
            f'the model was identified with two encoders a joint, {recording.source} has one: '
            'friction and '
            'rotor inertia see the links'
        )
    if dataset.whole is not None:
        note += ('; ' if note else '') + (
            f'errors are of {len(dataset)} of {dataset.whole} joint states of '
            f'{recording.source}, in evenly spread parts; the others were not checked: choose '
            'them with --start and --stop'
        )
    contradictions = () if model.relative_scale else dataset.contradictions
    notes = (
        note, temperature_note(model, dataset), *dataset.notes,
        *(f'{dataset.source}: {one.text}' for one in contradictions),
    )
    return dataset, tuple(text for text in notes if text)


def read_for_model(
    model: IdentifiedModel, bag: AnyPath | Recording
) -> tuple[Recording, str]:
    """
    Return the recording of a bag with the effort of a model, and a note for a reader.

    It has a note where it names no robot, or a joint that is held stood elsewhere or moved.

    Raises DataError if the bag is of another robot or has effort in another unit.
    """
    robot, source = model.robot, model.source
    recording = read_arm(
        robot, bag, topic=source.topic or None, names=source.joint_names,
        mapping=source.table_mapping,
    )
    if source.command_delay is not None:
        recording = with_position_error(
            read_command(recording, source.joint_names, robot.encoders, source.table_mapping),
            source.command_delay,
        )
    remarks = [check_robot_name(recording, robot.name), *held_joint_remarks(robot, recording)]
    note = '; '.join(remark for remark in remarks if remark)
    check_effort_unit(recording, model)
    return recording, note


def check_effort_unit(recording: Recording, model: IdentifiedModel) -> None:
    """Raise DataError if a recording states another effort unit than that of the model."""
    unit = recording.metadata.get('effort_unit', model.effort_unit)
    if unit == model.effort_unit:
        return
    gains = model.robot.drives.drive_gain
    conversion = ''
    mine, other = EFFORT_UNITS[model.effort_unit], EFFORT_UNITS.get(unit)
    same_torque = other is not None and mine.with_gravity == other.with_gravity
    # The gains of a relative scale are ones that stand for unknown ones.
    if same_torque and np.all(np.isfinite(gains)) and not model.relative_scale:
        verb = 'divide' if mine.is_current else 'multiply'
        stated = ', '.join(
            f'{joint} {gain:g}' for joint, gain in zip(model.robot.joint_names, gains, strict=True)
        )
        conversion = (
            f', or {verb} the recorded effort by the drive gains '
            f'[{model.robot.units("N m/A")}]: {stated}'
        )
    raise DataError(
        f'{recording.source} has effort in {unit}, the model was identified on effort in '
        f'{model.effort_unit}: record with the same driver setting, identify again{conversion}'
    )


def temperature_note(model: IdentifiedModel, dataset: Dataset) -> str:
    """Return which joints are colder or warmer than any that a law of temperature was found in."""
    known = np.asarray(model.quality.get('temperatures'), dtype=float)
    temperature = dataset.motion.temperature
    if known.shape != (2, model.robot.n) or temperature is None or not dataset.scored.any():
        return ''
    scored = temperature[dataset.scored]
    ends = np.stack([scored.min(axis=0), scored.max(axis=0)])
    far = (ends[0] < known[0] - FAR_OUTSIDE) | (ends[1] > known[1] + FAR_OUTSIDE)
    sloped = {term.joint for term in model.parameters.friction if term.law.needs_temperature}
    outside = [
        f'{model.robot.joint_names[j]} at {ends[0, j]:.1f} to {ends[1, j]:.1f}, known from '
        f'{known[0, j]:.1f} to {known[1, j]:.1f} deg C'
        for j in sorted(sloped) if far[j]
    ]
    if not outside:
        return ''
    return (
        f'{dataset.source}: friction over temperature is extrapolated ({"; ".join(outside)}): '
        'identify with a recording at these temperatures'
    )
