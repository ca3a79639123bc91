# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Thresholds of free motion as a file: written by `collision`, read by the torque predictor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, DescriptionError, UsageError
from robot_identification.files import (
    check_keys, check_schema_version, read_yaml, to_list, to_mapping, to_number, to_plain,
)
from robot_identification.model import IdentifiedModel
from robot_identification.monitoring.collision import (
    calibrate_thresholds, CollisionThresholds, smallest_seen, SURE,
)
from robot_identification.monitoring.contact_observer import DEFAULT_BANDWIDTH, observe_recording
from robot_identification.prediction import Measured

SCHEMA_VERSION = 1  # of the file
# In which the stated step of torque is seen [s].
WITHIN = 0.05
_KEYS = {
    'schema_version', 'robot', 'model_sha256', 'bags', 'duration', 'false_alarms_per_hour',
    'bandwidth', 'hold', 'joints',
}
_JOINT_KEYS = {'name', 'factor', 'rest', 'smallest_step'}


@dataclass(frozen=True, eq=False)
class CollisionCalibration:
    """Thresholds, and what they were found on."""

    # The arm, and the hash of the model file they belong to.
    robot: str
    model_sha256: str
    bags: tuple[str, ...]  # recordings of free motion
    duration: float  # of these together [s]
    false_alarms_per_hour: float  # allowed of all joints together
    bandwidth: float  # of the momentum observer [rad/s]
    thresholds: CollisionThresholds  # when a joint counts as in contact
    joint_names: tuple[str, ...]  # kinematic order
    # (n,): step of an external torque that is seen within 50 ms on a joint in motion, where the
    # band is as wide as on the median of these recordings: twice the one that is seen without
    # noise and errors of the model [N m].
    smallest_step: FloatArray

    @property
    def rest(self) -> FloatArray:
        """Return what is added for joints that rest or reverse [N m], shape (n,)."""
        rest = self.thresholds.rest
        return np.zeros(len(self.joint_names)) if rest is None else rest

    def content(self) -> dict[str, Any]:
        """Return what the file holds."""
        joints = zip(
            self.joint_names, self.thresholds.factor, self.rest, self.smallest_step, strict=True
        )
        content: dict[str, Any] = to_plain({
            'schema_version': SCHEMA_VERSION,
            'robot': self.robot,
            'model_sha256': self.model_sha256,
            'bags': list(self.bags),
            'duration': self.duration,
            'false_alarms_per_hour': self.false_alarms_per_hour,
            'bandwidth': self.bandwidth,
            'hold': self.thresholds.hold,
            'joints': [
                {'name': name, 'factor': factor, 'rest': rest, 'smallest_step': step}
                for name, factor, rest, step in joints
            ],
        })
        return content


def calibrate_on(
    model: IdentifiedModel,
    model_sha256: str,
    recordings: Mapping[str, Measured],
    *,
    false_alarms_per_hour: float,
    bandwidth: float = DEFAULT_BANDWIDTH,
) -> tuple[CollisionCalibration, str]:
    """
    Find thresholds on recordings of free motion, by name, without contact.

    Motion and rest have separate thresholds where the joints move and rest for long enough, and
    the note is empty; else they share one, and the note says why. `model_sha256` is that of the
    model's file, `false_alarms_per_hour` is for all joints together, `bandwidth` that of the
    momentum observer [rad/s]. Raises DataError if drive gains were unknown or the recordings are
    too short, UsageError if an option is out of its range.
    """
    if model.relative_scale:
        raise DataError(
            f'the model of {model.robot.name} has torques of an unknown scale: identify the arm '
            'with its drive gains before its contacts are measured in N m'
        )
    stamps, parts = [], []
    offset = 0.0
    for measured in recordings.values():
        found = observe_recording(
            model, measured.stamps, measured.q, measured.dq,
            measured.effort / model.effort_per_torque, measured.temperature, bandwidth=bandwidth,
        )
        known = np.all(np.isfinite(found.external), axis=1)
        if not known.any():
            continue
        stamps.append(offset + measured.stamps[known] - measured.stamps[known][0])
        parts.append([part[known] for part in (found.external, found.deviation, found.rest_share)])
        offset = float(stamps[-1][-1]) + 1.0 / model.robot.sampling_rate
    if not stamps:
        raise DataError(
            f'nothing can be observed in {", ".join(recordings)}: positions, velocities and '
            'efforts of all joints are needed'
        )
    external, deviation, rest_share = (np.concatenate(part) for part in zip(*parts, strict=True))
    given = external, deviation, np.concatenate(stamps)
    try:
        thresholds = calibrate_thresholds(
            *given, false_alarms_per_hour=false_alarms_per_hour, rest_share=rest_share
        )
        note = ''
    except DataError as error:
        thresholds = calibrate_thresholds(*given, false_alarms_per_hour=false_alarms_per_hour)
        note = f'motion and rest have one threshold, a higher one: {error}'
    smallest = smallest_seen(thresholds, np.median(deviation, axis=0), bandwidth, WITHIN)
    return CollisionCalibration(
        model.robot.name, model_sha256, tuple(recordings), offset, false_alarms_per_hour,
        bandwidth, thresholds, tuple(model.robot.joint_names), SURE * smallest,
    ), note


def load_collision_calibration(
    path: Path, model: IdentifiedModel, model_sha256: str
) -> CollisionCalibration:
    """
    Read a file that `collision` wrote for this model.

    `model_sha256` is that of the model's file. Raises DescriptionError if it is not such a file,
    UsageError if it belongs to another model.
    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(content, source, _KEYS, set())
    if content['model_sha256'] != model_sha256:
        raise UsageError(
            f'{source} was calibrated with another model of {content["robot"]} (SHA-256 '
            f'{content["model_sha256"]}, not {model_sha256}): run `robot-identification '
            'collision` with this one'
        )
    joints = to_list(content['joints'], f'{source}: joints')
    for number, joint in enumerate(joints):
        where = f'{source}: joints[{number}]'
        check_keys(to_mapping(joint, where), where, _JOINT_KEYS, set())
    names = tuple(joint['name'] for joint in joints)
    if names != tuple(model.robot.joint_names):
        raise DescriptionError(
            f'{source}: joints are {names}, the model has {tuple(model.robot.joint_names)}'
        )
    numbers = {
        key: to_number(content[key], f'{source}: {key}')
        for key in ('duration', 'false_alarms_per_hour', 'bandwidth', 'hold')
    }
    factor, rest, step = (
        np.array([
            to_number(joint[key], f'{source}: {key} of {joint["name"]}') for joint in joints
        ])
        for key in ('factor', 'rest', 'smallest_step')
    )
    return CollisionCalibration(
        str(content['robot']), model_sha256,
        tuple(str(bag) for bag in to_list(content['bags'], f'{source}: bags')),
        numbers['duration'], numbers['false_alarms_per_hour'], numbers['bandwidth'],
        CollisionThresholds(factor, numbers['hold'], rest), names, step,
    )
