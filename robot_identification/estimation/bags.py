# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Bags that a fit reads in each of its passes, in this process or in others.

What crosses between processes are descriptions of bags, estimates and triangular factors, never
samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import (
    BoolArray, FloatArray, LARGEST_IN_MEMORY, release, slices_of,
)
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.rows import divided_period, TrainingData
from robot_identification.files import file_sha256
from robot_identification.model import KinematicFilter, RobotModel
from robot_identification.processing import (
    check_robot_name, Contradiction, Dataset, find_constant_effort_joints, find_stationary_joints,
    held_joint_remarks, process, read_arm, smooth_effort, with_position_error,
)
from robot_identification.recording import read_command, Recording


@dataclass(frozen=True, eq=False)
class Processing:
    """Processing that makes datasets of recordings; see `processing.process`."""

    robot: RobotModel | None  # the arm, with its drive gains where effort is in ampere
    unit: str  # of the effort, one of EFFORT_UNITS
    kinematic_filter: KinematicFilter  # smoothing of the kinematics
    start: float | None = None  # begin of the window after the first joint state [s]
    stop: float | None = None  # and its end [s]
    delay: float = 0.0  # of the effort, compensated [s]
    rotor_side: bool = True  # use the positions of the rotors where they were recorded

    def process(self, recording: Recording) -> Dataset:
        """Return a recording as it is fitted."""
        return process(
            recording, self.kinematic_filter, self.unit, start=self.start, stop=self.stop,
            robot=self.robot, delay=self.delay, rotor_side=self.rotor_side,
        )


@dataclass(frozen=True, eq=False)
class BagSource:
    """Source of a dataset: a bag and how it is processed, in any process."""

    name: str  # the bag, as messages call it
    path: Path  # where it is; the same on all machines
    sha256: str  # hash of its content
    robot: RobotModel  # the arm
    processing: Processing
    topic: str | None = None  # joint-state topic
    joint_names: Mapping[str, str] | None = None  # model name by bag name, where they differ
    mapping: Path | None = None  # columns and units of a table
    command_delay: float | None = None  # of commands whose position error is the effort [s]
    effort_filter: KinematicFilter | None = None  # smoothing of the effort that is fitted


@dataclass(frozen=True, eq=False)
class Bag:
    """
    A bag, and what is known of it before it is fitted.

    It is training data that are read again in each pass; see `TrainingData`.
    """

    source: BagSource
    count: int  # samples that parameters are estimated from
    rate: float  # sampling rate [Hz]
    period: float | None  # after which the motion repeats itself [s], see `divided_period`
    stationary: tuple[int, ...]  # joints that hardly move
    constant_effort: tuple[int, ...]  # joints that move while their effort never changes
    # (n,) mean of each joint while it was fitted [deg C], if recorded
    temperature: FloatArray | None
    temperature_range: FloatArray | None  # (2, n) its lowest and highest then
    # (n,) standard deviation of the effort in the samples that are fitted [A or N m]
    standard_deviation: FloatArray
    has_rotors: bool  # the rotors' positions are used
    fastest: FloatArray  # (n,) largest speed of each joint in the samples that are fitted [rad/s]
    contradictions: tuple[Contradiction, ...]  # where the effort contradicts the URDF
    stated_unit: str | None  # unit of the effort as the bag has it
    robot_note: str  # on the robot's name
    completeness: str  # how much of a damaged bag could be read
    notes: tuple[str, ...]  # what a reader should know of the data

    @property
    def name(self) -> str:
        """Return the bag, as messages call it."""
        return self.source.name

    @property
    def unseen(self) -> tuple[int, ...]:
        """Joints that hardly move, or whose effort never changes."""
        return tuple(sorted({*self.stationary, *self.constant_effort}))

    def load(self) -> TrainingData:
        """Read the bag; see `read_bag`."""
        dataset = self.source.processing.process(read_bag(self.source))
        return training_data(
            self.source.robot, dataset, dataset.fitted, self.source.effort_filter
        )


def training_data(
    robot: RobotModel, dataset: Dataset, rows: BoolArray, effort_filter: KinematicFilter | None
) -> TrainingData:
    """
    Return some samples of a recording to estimate from.

    `rows` (N,) mask the samples to take; `effort_filter` smooths the effort that is fitted.
    """
    return TrainingData(
        dataset, dataset.torque_per_effort(robot), rows,
        None if effort_filter is None else smooth_effort(dataset, effort_filter),
        find_constant_effort_joints(dataset),
    )


def survey_bag(source: BagSource) -> Bag:
    """Read a bag and return it with what is to be known of it; see `read_bag`."""
    recording = read_bag(source)
    return survey(source, recording, source.processing.process(recording))


def survey(source: BagSource, recording: Recording, dataset: Dataset) -> Bag:
    """Return a bag that was read with what is to be known of it."""
    robot, fitted = source.robot, dataset.fitted
    temperature = temperature_range = None
    if dataset.motion.temperature is not None and fitted.any():
        temperature, _, *extremes = _statistics(dataset, dataset.motion.temperature)
        temperature_range = np.array(extremes)
    _, deviation, _, _ = _statistics(dataset, dataset.effort)
    _, _, slowest, fastest = _statistics(dataset, dataset.motion.dq)
    window = (source.processing.start, source.processing.stop)
    return Bag(
        source,
        count=int(np.count_nonzero(fitted)),
        rate=dataset.rate,
        period=divided_period(dataset),
        stationary=find_stationary_joints([dataset]),
        constant_effort=find_constant_effort_joints(dataset),
        temperature=temperature,
        temperature_range=temperature_range,
        standard_deviation=deviation,
        has_rotors=dataset.motion.rotor is not None,
        fastest=np.maximum(-slowest, fastest),
        contradictions=dataset.contradictions,
        stated_unit=recording.metadata.get('effort_unit'),
        robot_note=check_robot_name(recording, robot.name),
        completeness=recording.completeness.describe() or 'complete',
        notes=(*held_joint_remarks(robot, recording, window), *dataset.notes),
    )


def read_bag(source: BagSource) -> Recording:
    """
    Return a bag.

    Raises UsageError if it is missing for this process; DataError if it is another file than was
    named, or cannot be used.
    """
    if not source.path.exists():
        raise UsageError(
            f'{source.path} is not there for a worker process: bags must be on a file system that '
            'all machines share, under the same path'
        )
    found = file_sha256(source.path)
    if found != source.sha256:
        raise DataError(
            f'{source.path} is another file for a worker process (SHA-256 {found[:12]}..) than '
            f'where the command was given ({source.sha256[:12]}..), or was changed since: bags '
            'must be on a file system that all machines share, and finished'
        )
    robot, names = source.robot, source.joint_names or {}
    recording = read_arm(
        robot, source.path, topic=source.topic, names=names, mapping=source.mapping
    )
    if source.command_delay is not None:
        recording = with_position_error(
            read_command(recording, names, robot.encoders, source.mapping), source.command_delay
        )
    return replace(recording, source=source.name)


def _statistics(dataset: Dataset, signal: FloatArray) -> tuple[FloatArray, ...]:
    """
    Return mean, standard deviation, least and largest value of what is fitted of a signal (N, n).

    Each is (n,), zero of nothing; of a long recording they are found part by part.
    """
    count, n = int(np.count_nonzero(dataset.fitted)), signal.shape[1]
    if not count:
        return (np.zeros(n),) * 4
    if count <= LARGEST_IN_MEMORY:
        values = signal[dataset.fitted]
        return values.mean(axis=0), values.std(axis=0), values.min(axis=0), values.max(axis=0)
    mean, variance = np.zeros(n), np.zeros(n)
    least, largest = np.full(n, np.inf), np.full(n, -np.inf)
    for values in _fitted_parts(dataset, signal):
        mean += values.sum(axis=0) / count
        least = np.minimum(least, values.min(axis=0, initial=np.inf))
        largest = np.maximum(largest, values.max(axis=0, initial=-np.inf))
    for values in _fitted_parts(dataset, signal):
        variance += np.sum((values - mean) ** 2, axis=0) / count
    return mean, np.sqrt(variance), least, largest


def _fitted_parts(dataset: Dataset, signal: FloatArray) -> Iterator[FloatArray]:
    """Yield what is fitted of a signal (N, n), of a long one part by part."""
    for rows in slices_of(len(dataset)):
        yield np.asarray(signal[rows])[dataset.fitted[rows]]
        release(signal)
        release(dataset.fitted)
