# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Fits to more bags than one process holds: every bag is read, and reduced to its factors, elsewhere.

What crosses between processes are descriptions of bags, estimates and triangular factors, never
samples. The rows of a bag have an offset of their own; here it becomes the deviation from the
mean of all, so that the problem is that of all bags in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
import secrets
import threading
from typing import Any, Protocol, runtime_checkable

import numpy as np
from robot_identification.arrays import (
    BoolArray, FloatArray, free_room, is_in_file, LARGEST_IN_MEMORY, release, slices_of,
)
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.fitting import training_data
from robot_identification.estimation.method import Method
from robot_identification.estimation.problem import Observations, Result
from robot_identification.estimation.rows import (
    BlockLabels, count_time_blocks, make_layouts, ObservationBlock, QRAccumulator, RowTreatment,
    TrainingData, Weighing,
)
from robot_identification.files import file_sha256
from robot_identification.model import BaseReduction, KinematicFilter, RobotModel
from robot_identification.parallel import Scheduler, worker_name
from robot_identification.processing import (
    check_robot_name, Dataset, find_constant_effort_joints, find_stationary_joints,
    held_joint_remarks, process, read_arm, with_position_error,
)
from robot_identification.recording import read_command, Recording
from robot_identification.validation import Contradiction, find_contradictions

# What a process keeps in memory of the bags it has read, so that it need not read them again
# [bytes]; files are kept while they take less of the disk than they leave free.
LARGEST_MEMORY = 256_000_000


@dataclass(frozen=True, eq=False)
class BagSource:
    """Source of a dataset: a bag and how it is processed, in any process."""

    name: str  # the bag, as messages call it
    path: Path  # where it is; the same on all machines
    sha256: str  # hash of its content
    fit: str  # the fit that it is for: what a process keeps of others is let go
    robot: RobotModel  # the arm, with its drive gains where effort is in ampere
    unit: str  # of the effort, one of EFFORT_UNITS
    kinematic_filter: KinematicFilter  # smoothing of the kinematics
    delay: float = 0.0  # of the effort, compensated [s]
    topic: str | None = None  # joint-state topic
    joint_names: Mapping[str, str] | None = None  # model name by bag name, where they differ
    start: float | None = None  # begin of the window after the first joint state [s]
    stop: float | None = None  # and its end [s]
    rotor_side: bool = True  # use the positions of the rotors where they were recorded
    mapping: Path | None = None  # columns and units of a table
    command_delay: float | None = None  # of commands whose position error is the effort [s]


@dataclass(frozen=True, eq=False)
class BagSurvey:
    """Survey of a bag before it is fitted."""

    name: str
    samples: int  # samples that parameters are estimated from
    rate: float  # sampling rate [Hz]
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
    def unseen(self) -> tuple[int, ...]:
        """Joints that hardly move, or whose effort never changes."""
        return tuple(sorted({*self.stationary, *self.constant_effort}))


@dataclass(frozen=True, eq=False)
class BagPass:
    """One pass over the rows of a bag."""

    source: BagSource
    key: str  # names reduction, treatment and filter: rows of another key are not the same
    reduction: BaseReduction  # meaning of the base parameters
    treatment: RowTreatment  # what is done to the rows
    effort_filter: KinematicFilter | None  # smoothing of the effort that is fitted
    # offsets of the bag are unknowns after the base parameters, as minus ones for each joint
    has_own_offset: bool
    before: int  # samples of the bags before it
    total: int  # samples of all bags
    blocks: int  # number of blocks of time in all
    groups: int  # divisions of the rows, by time and by parts of a period
    theta: FloatArray | None = None  # (b,) what load and residuals are of
    weigh: MergeableWeighing | None = None  # weights of rows, which have seen no residual yet

    @property
    def name(self) -> str:
        """Return the bag."""
        return self.source.name


@dataclass(frozen=True, eq=False)
class BagCall:
    """Request for the rows of a bag."""

    rows: BagPass
    function: Callable[[Observations], Any]  # what makes it, as `Observations.collect` has it

    @property
    def name(self) -> str:
        """Return the bag."""
        return self.rows.name


@dataclass(frozen=True, eq=False)
class BagFactors:
    """Factors of one pass over a bag."""

    # by block of time, the triangular factor of each joint
    triangles: Mapping[int, tuple[FloatArray, ...]]
    counts: Mapping[int, tuple[int, ...]]  # by block of time, the rows behind each of them
    weigh: MergeableWeighing | None  # the weights, having seen the residuals


@runtime_checkable
class MergeableWeighing(Protocol):
    """Weights of rows that say what residuals they have seen, in parts."""

    def __call__(self, joint: int, residual: FloatArray) -> FloatArray:
        """Return the factors on rows of a joint with residuals of shape (m,) [N m]."""

    def merge(self, other: Any) -> None:
        """Take the residuals that another has seen, too."""


def hand_over(fit: str, recordings: Sequence[Recording]) -> None:
    """Keep recordings of a fit that were read already for the jobs of this process."""
    _memory.begin(fit)
    for recording in recordings:
        _memory.keep(('recording', recording.source), recording, 0)


def survey_bag(source: BagSource) -> BagSurvey:
    """
    Read a bag and return what is to be known of it before it is fitted.

    A bag that is missing for this process raises a `UsageError`; one that is another file than was
    named, or cannot be used, a `DataError`.
    """
    _memory.begin(source.fit)
    return _read(source)[1]


def reduce_bag(job: BagPass) -> BagFactors:
    """Pass over the rows of a bag and return its factors, which depend on the job alone."""
    rows, weigh = _rows_of(job), deepcopy(job.weigh)
    piles = rows.reduce(job.theta, weigh)
    seen = [
        block for block in range(len(piles[0]))
        if any(of_joint[block].count for of_joint in piles)
    ]
    return BagFactors(
        {block: tuple(of_joint[block].triangle() for of_joint in piles) for block in seen},
        {block: tuple(of_joint[block].count for of_joint in piles) for block in seen},
        weigh,
    )


def call_on_bag(job: BagCall) -> Any:
    """Return what a function makes of the rows of a bag."""
    return job.function(_rows_of(job.rows))


def _rows_of(job: BagPass) -> _BagRows:
    _memory.begin(job.source.fit)
    place = ('rows', job.name)
    kept = _memory.find(place)
    rows: _BagRows | None = None
    if kept is not None and kept[0] == job.key:
        rows = kept[1]
    if rows is None:
        rows = _BagRows(job, _read(job.source)[0])
        _memory.keep(place, (job.key, rows), rows.nbytes)
    # Another thread may be passing over the same rows.
    rows = copy(rows)
    rows.place = (job.before, job.total, job.blocks, job.groups)
    return rows


def _read(source: BagSource) -> tuple[Dataset, BagSurvey]:
    place = ('dataset', source.name)
    kept = _memory.find(place)
    if kept is not None:
        return kept[0], kept[1]
    recording = _memory.find(('recording', source.name))
    if recording is None:
        recording = _read_recording(source)
    robot = source.robot
    dataset = process(
        recording, source.kinematic_filter, source.unit, start=source.start, stop=source.stop,
        robot=robot, delay=source.delay, rotor_side=source.rotor_side,
    )
    fitted = dataset.fitted
    temperature = None
    if dataset.motion.temperature is not None and fitted.any():
        temperature = _mean_and_range(dataset, dataset.motion.temperature)
    survey = BagSurvey(
        name=source.name,
        samples=int(np.count_nonzero(fitted)),
        rate=dataset.rate,
        stationary=find_stationary_joints([dataset]),
        constant_effort=find_constant_effort_joints(dataset),
        temperature=None if temperature is None else temperature[0],
        temperature_range=None if temperature is None else temperature[1:],
        standard_deviation=_deviation_of_effort(dataset),
        has_rotors=dataset.motion.rotor is not None,
        fastest=_fastest(dataset),
        contradictions=find_contradictions(robot, [dataset]) if fitted.any() else (),
        stated_unit=recording.metadata.get('effort_unit'),
        robot_note=check_robot_name(recording, robot.name),
        completeness=recording.completeness.describe() or 'complete',
        notes=(
            *held_joint_remarks(robot, recording, (source.start, source.stop)), *dataset.notes,
        ),
    )
    _memory.keep(place, (dataset, survey), *_sizes_of(dataset))
    return dataset, survey


def _read_recording(source: BagSource) -> Recording:
    """Return a bag that has the stated content, `DataError` if it has another."""
    if not source.path.exists():
        raise UsageError(
            f'{source.path} is not there for {worker_name()}: bags must be on a file system that '
            'all machines share, under the same path'
        )
    found = file_sha256(source.path)
    if found != source.sha256:
        raise DataError(
            f'{source.path} is another file for {worker_name()} (SHA-256 {found[:12]}..) than '
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


def _deviation_of_effort(dataset: Dataset) -> FloatArray:
    """Return the standard deviation of what is fitted, shape (n,); zero of nothing."""
    count = int(np.count_nonzero(dataset.fitted))
    n = dataset.effort.shape[1]
    if count <= LARGEST_IN_MEMORY:
        return dataset.effort[dataset.fitted].std(axis=0) if count else np.zeros(n)
    mean, variance = np.zeros(n), np.zeros(n)
    for effort in _fitted_parts(dataset, dataset.effort):
        mean += effort.sum(axis=0) / count
    for effort in _fitted_parts(dataset, dataset.effort):
        variance += np.sum((effort - mean) ** 2, axis=0) / count
    deviation: FloatArray = np.sqrt(variance)
    return deviation


def _fitted_parts(dataset: Dataset, signal: FloatArray) -> Iterator[FloatArray]:
    """Yield what is fitted of a signal (N, n), of a long one part by part."""
    for rows in slices_of(len(dataset)):
        yield np.asarray(signal[rows])[dataset.fitted[rows]]
        release(signal)
        release(dataset.fitted)


def _fastest(dataset: Dataset) -> FloatArray:
    """Return the largest speed of each joint in what is fitted, shape (n,) [rad/s]."""
    fastest: FloatArray = np.max([
        np.abs(dq).max(axis=0, initial=0.0) for dq in _fitted_parts(dataset, dataset.motion.dq)
    ], axis=0)
    return fastest


def _mean_and_range(dataset: Dataset, signal: FloatArray) -> FloatArray:
    """Return mean, least and largest value of what is fitted of a signal, shape (3, n)."""
    count = np.count_nonzero(dataset.fitted)
    parts = [
        (part.sum(axis=0), part.min(axis=0, initial=np.inf), part.max(axis=0, initial=-np.inf))
        for part in _fitted_parts(dataset, signal)
    ]
    totals, lowest, highest = (np.array(values) for values in zip(*parts, strict=True))
    return np.stack([totals.sum(axis=0) / count, lowest.min(axis=0), highest.max(axis=0)])


def _sizes_of(dataset: Dataset) -> tuple[int, int]:
    """Return what a dataset takes of the memory and of the disk [bytes]."""
    files = sum(array.nbytes for array in dataset.arrays if is_in_file(array))
    return sum(array.nbytes for array in dataset.arrays) - files, files


class _Memory:
    """
    Cache of a process: the bags it has read for one fit.

    What is full stays as it is: passes take bags in the same order every time, so that to make
    room for the next one would be to lose all of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fit = ''
        # Value, and what it takes of memory and disk.
        self._kept: dict[tuple[str, str], tuple[Any, int, int]] = {}

    def begin(self, fit: str) -> None:
        """Drop what belongs to another fit."""
        with self._lock:
            if fit != self._fit:
                self._fit, self._kept = fit, {}

    def find(self, place: tuple[str, str]) -> Any:
        """Return what was kept, or None."""
        with self._lock:
            return self._kept.get(place, (None, 0, 0))[0]

    def keep(self, place: tuple[str, str], value: Any, memory: int, files: int = 0) -> None:
        """Keep something in the place of what was there, if there is room for it."""
        with self._lock:
            self._kept.pop(place, None)
            in_memory = memory + sum(kept[1] for kept in self._kept.values())
            in_files = files + sum(kept[2] for kept in self._kept.values())
            if in_memory <= LARGEST_MEMORY and in_files <= free_room():
                self._kept[place] = (value, memory, files)


_memory = _Memory()


class _BagRows(Observations):
    """The rows of one of several bags, with an offset of its own."""

    def __init__(self, job: BagPass, dataset: Dataset) -> None:
        self._has_own_offset = job.has_own_offset
        self.place = (job.before, job.total, job.blocks, job.groups)
        robot = job.source.robot
        super().__init__(
            robot, job.reduction,
            [training_data(robot, dataset, dataset.fitted, job.effort_filter)],
            treatment=job.treatment,
        )

    @property
    def recordings(self) -> int:
        """Two: the other stands for all others, from whose mean this one's offset deviates."""
        return 2 if self._has_own_offset else 1

    @property
    def nbytes(self) -> int:
        """Return what is kept of them in addition to the dataset."""
        return sum(
            rows.table.nbytes + rows.load.nbytes + rows.samples.nbytes
            for block in self._kept or () for rows in block.joints
        )

    @property
    def groups(self) -> int:
        """Divisions of the rows, for all bags alike."""
        return self.place[-1]

    def label_blocks(self) -> tuple[list[BlockLabels], int]:
        """Return the blocks of the bag, and how many blocks all bags have."""
        before, total, count, _ = self.place
        return [self.data[0].divide(before, total, count)], count


class BagObservations(Observations):
    """Rows of bags in other processes, which every pass asks for their factors."""

    has_rows = False

    def __init__(
        self,
        bags: ManyBags,
        method: Method,
        reduction: BaseReduction,
        at_hand: Sequence[TrainingData],
        time_blocks: int,
    ) -> None:
        self._bags, self._method = bags, method
        super().__init__(
            bags.sources[0].robot, reduction, (), time_blocks=time_blocks,
            treatment=method.treatment,
        )
        self.data = tuple(at_hand)
        self.offset_by_recording = (
            method.estimator.chooses_terms and len(bags.sources) > 1
            and any(term.law.is_offset for term in reduction.parameters.friction)
        )
        self._layouts = make_layouts(
            self.robot, reduction, self.recordings,
            has_rotors=all(survey.has_rotors for survey in bags.surveys),
        )
        self._key = secrets.token_hex(8)

    def with_reduction(self, reduction: BaseReduction) -> BagObservations:
        """Return the same rows with other base parameters."""
        return BagObservations(
            self._bags, self._method, reduction, self.data, self.time_blocks
        )

    @property
    def recordings(self) -> int:
        """Return the number of recordings that have their own offsets; 1 where they share them."""
        return len(self._bags.sources) if self.offset_by_recording else 1

    @property
    def samples(self) -> int:
        """Return the number of samples taken of all bags."""
        return sum(survey.samples for survey in self._bags.surveys)

    @property
    def duration(self) -> float:
        """Time that the samples take [s]."""
        return float(sum(survey.samples / survey.rate for survey in self._bags.surveys))

    def select(self, rows: Sequence[BoolArray]) -> Observations:
        """Refuse: samples are chosen where the rows are."""
        raise self._elsewhere()

    def blocks(self, *, with_load: bool = True) -> Iterator[ObservationBlock]:
        """Refuse: rows stay where they are."""
        raise self._elsewhere()

    def _elsewhere(self) -> UsageError:
        return UsageError(
            f'what was asked for needs all rows of {len(self._bags.sources)} bags in this '
            'process, which has only their factors: choose --estimator dictionary, huber or wls, '
            'or leave out --scheduler and give no more bags than bags_in_choice of the recipe '
            '(--config)'
        )

    @property
    def can_collect(self) -> bool:
        """Return whether `collect` can be asked: not where each bag has unknowns of its own."""
        return not self.offset_by_recording

    def collect(self, function: Callable[[Observations], Result]) -> Iterator[Result]:
        """
        Yield what a picklable function makes of the rows of each bag, in their order.

        Bags with unknowns of their own raise a `UsageError`.
        """
        if not self.can_collect:
            raise self._elsewhere()
        self.passes += 1
        yield from self._bags.scheduler.run(
            call_on_bag, [BagCall(job, function) for job in self._jobs(None, None)]
        )

    def reduce(
        self, theta: FloatArray | None, weigh: Weighing | None
    ) -> list[list[QRAccumulator]]:
        """
        Request the factors of every bag, and accumulate them in the order of the bags.

        Weights that do not say in parts what residuals they have seen raise a `UsageError`; bags
        that cannot be used, or lost processes, an `IdentificationError`.
        """
        if weigh is not None and not isinstance(weigh, MergeableWeighing):
            raise self._elsewhere()
        self.passes += 1
        # Jobs that begin late must not take along what the first have seen.
        jobs = self._jobs(theta, deepcopy(weigh))
        piles = [
            [QRAccumulator(len(layout.columns) + 1) for _ in range(self.groups * jobs[0].blocks)]
            for layout in self._layouts
        ]
        for bag, found in enumerate(self._bags.scheduler.run(reduce_bag, jobs)):
            if weigh is not None:
                weigh.merge(found.weigh)
            for block, triangles in found.triangles.items():
                for joint, triangle in enumerate(triangles):
                    piles[joint][block].add(
                        self._widen(bag, joint, triangle), found.counts[block][joint]
                    )
        return piles

    def _jobs(
        self, theta: FloatArray | None, weigh: MergeableWeighing | None
    ) -> list[BagPass]:
        """Return a pass over the rows of each bag."""
        sizes = [survey.samples for survey in self._bags.surveys]
        count = count_time_blocks(self.duration, self.time_blocks)
        return [
            BagPass(
                source, self._key, self.reduction, self.treatment, self._method.effort_filter,
                self.offset_by_recording, sum(sizes[:bag]), sum(sizes), count,
                self.groups, None if theta is None else self._own_unknowns(bag, theta), weigh,
            )
            for bag, source in enumerate(self._bags.sources)
        ]

    def _own_unknowns(self, bag: int, theta: FloatArray) -> FloatArray:
        """Return the base parameters and, on minus ones, the offsets of a bag alone."""
        b = self.reduction.rank
        if not self.offset_by_recording:
            return theta[:b]
        others = theta[b:].reshape(-1, self.robot.n)
        return np.append(theta[:b], others.sum(axis=0) if bag == 0 else -others[bag - 1])

    def _widen(self, bag: int, joint: int, triangle: FloatArray) -> FloatArray:
        """Return the factor of a bag with the columns of all bags' offsets."""
        layout = self._layouts[joint]
        if not layout.offsets.size:
            return triangle
        shared = len(layout.columns) - len(layout.offsets)
        wide = np.zeros((len(triangle), len(layout.columns) + 1))
        wide[:, :shared] = triangle[:, :shared]
        # Deviations from the mean offset add up to zero over the bags.
        minus_ones = triangle[:, shared]
        if bag == 0:
            wide[:, layout.offsets] = minus_ones[:, None]
        else:
            wide[:, layout.offsets[bag - 1]] = -minus_ones
        wide[:, -1] = triangle[:, -1]
        return wide


@dataclass(frozen=True, eq=False)
class ManyBags:
    """Bags that are read by the processes of a scheduler."""

    sources: tuple[BagSource, ...]
    surveys: tuple[BagSurvey, ...]  # in the same order
    scheduler: Scheduler

    def only(self, names: Sequence[str]) -> ManyBags:
        """Return some of the bags."""
        kept = [survey.name in names for survey in self.surveys]
        return ManyBags(
            tuple(source for source, keep in zip(self.sources, kept, strict=True) if keep),
            tuple(survey for survey in self.surveys if survey.name in names),
            self.scheduler,
        )

    def stationary_joints(self) -> tuple[int, ...]:
        """Return the joints that hardly move in all bags."""
        return tuple(sorted(set.intersection(*(set(one.stationary) for one in self.surveys))))

    def unexcited_joints(self) -> tuple[int, ...]:
        """Return the joints that hardly move, or whose effort never changes, in all bags."""
        constant_effort = set.intersection(
            *(set(survey.constant_effort) for survey in self.surveys)
        )
        return tuple(sorted(constant_effort | set(self.stationary_joints())))

    def mean_temperature(self) -> FloatArray | None:
        """Return the mean temperature of each joint while it was fitted [deg C], if recorded."""
        known = [survey for survey in self.surveys if survey.temperature is not None]
        if not known:
            return None
        mean: FloatArray = np.average(
            [survey.temperature for survey in known], axis=0,
            weights=[survey.samples for survey in known],
        )
        return mean if np.all(np.isfinite(mean)) else None


def survey_bags(sources: Sequence[BagSource], scheduler: Scheduler) -> ManyBags:
    """Survey bags; one that cannot be used, or a lost process, raises an `IdentificationError`."""
    return ManyBags(tuple(sources), tuple(scheduler.run(survey_bag, sources)), scheduler)


def spread_evenly(count: int, most: int) -> tuple[int, ...]:
    """Return at most so many of the numbers from 0 to below `count`, ends included."""
    if count <= most:
        return tuple(range(count))
    return tuple(np.round(np.linspace(0, count - 1, most)).astype(int).tolist())
