# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The identification problem: rows of recordings, reduced to one triangular factor per joint.

Every linear estimator, re-weighting and covariance follows from the factors, so that memory does
not grow with the recording. What needs residuals again passes over the rows: of short recordings
they are kept as matrices, of long ones computed again in every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby, pairwise
import math
from operator import attrgetter
from typing import TypeVar

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError
from robot_identification.estimation.bags import Bag
from robot_identification.estimation.rows import (
    begin_time_blocks, BlockLabels, count_time_blocks, decimate, JointRows, make_layouts,
    NO_TREATMENT, ObservationBlock, QRAccumulator, RowTreatment, TrainingData, Weighing,
)
from robot_identification.model import (
    BaseReduction, block_slices, friction_motion, inertial_regressor, initial_friction_states,
    Motion, RELEASED_BLOCKS, rigid_torque, RobotModel, run_friction,
)
from robot_identification.parallel import run_jobs
from robot_identification.texts import short_repr

# Matrices of more numbers than this are not kept (64 MB) but computed again.
KEPT_NUMBERS = 8_000_000
# Rows that are filtered together are kept, up to this (1.6 GB).
DECIMATED_NUMBERS = 200_000_000

Result = TypeVar('Result')


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """The rows of one joint, reduced by orthogonal transformations."""

    columns: IntArray  # (k,) the unknowns that act on the joint; all others have zero columns
    # (k + 1, k + 1) upper triangular R of ``[W_j[:, columns] tau_j] = Q R``
    # [N m per parameter, N m]
    triangle: FloatArray

    __repr__ = short_repr

    def select(self, chosen: IntArray) -> TriangularFactor:
        """Return the factor for the unknowns `chosen` (m,) that stay, in their new order."""
        place = {int(column): at for at, column in enumerate(self.columns)}
        kept = [new for new, old in enumerate(chosen) if int(old) in place]
        at = [place[int(chosen[new])] for new in kept] + [len(self.columns)]
        return TriangularFactor(np.array(kept, dtype=int), triangle_of(self.triangle[:, at]))


# Factors of every joint, block by block.
Blocks = tuple[tuple[TriangularFactor, ...], ...]


def combine_factors(factors: Sequence[TriangularFactor]) -> TriangularFactor:
    """Return the factor of all rows behind some factors of one joint."""
    return TriangularFactor(
        factors[0].columns, triangle_of(np.vstack([factor.triangle for factor in factors]))
    )


def check_sample_count(
    sources: Sequence[str], samples: int, reduction: BaseReduction
) -> None:
    """Raise DataError where samples of all joints are fewer rows than there are parameters."""
    if samples * reduction.parameters.n < reduction.rank:
        raise DataError(
            f'{", ".join(sources)}: {samples} usable samples for {reduction.rank} parameters: '
            'record a longer motion'
        )


class Observations:
    """
    Rows of an identification problem.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    reduction : BaseReduction
        Meaning of the base parameters.
    data : sequence of TrainingData or Bag
        Recordings and the samples to take. Bags are read in each pass.
    offset_by_recording : bool
        Whether each recording has its own offset of every joint; the parameter is their mean.
    time_blocks : int
        Into how many contiguous blocks factors are divided at most, for what asks how estimates
        scatter; they are no shorter than SHORTEST_BLOCK.
    treatment : RowTreatment
        What is done to the rows.
    executor : Executor, optional
        Passes over bags; by default this process.
    kept : sequence of ObservationBlock, optional
        The rows, where they are known.

    Raises
    ------
    DataError
        If rows are to be decimated and there are too many of them.

    Attributes
    ----------
    passes : int
        How often the rows were passed over.
    recordings : int
        Recordings that have their own offsets; 1 where they share them.
    samples : int
        Samples taken of all recordings.
    duration : float
        Time that the samples take [s].

    """

    def __init__(
        self,
        robot: RobotModel,
        reduction: BaseReduction,
        data: Sequence[TrainingData | Bag],
        *,
        offset_by_recording: bool = False,
        time_blocks: int = 1,
        treatment: RowTreatment = NO_TREATMENT,
        executor: Executor | None = None,
        kept: Sequence[ObservationBlock] | None = None,
    ) -> None:
        self.robot = robot
        self.reduction = reduction
        self._parts = tuple(data)
        self.offset_by_recording = offset_by_recording and len(data) > 1 and any(
            term.law.is_offset for term in reduction.parameters.friction
        )
        self.time_blocks = time_blocks
        self.treatment = treatment
        self.executor = executor
        self.passes = 0
        counts = [part.count for part in self._parts]
        times = [count / part.rate for count, part in zip(counts, self._parts, strict=True)]
        self.recordings = len(self._parts) if self.offset_by_recording else 1
        self.samples, self.duration = sum(counts), float(sum(times))
        # The number of the first recording among all of them, and the samples before it.
        self._first, self._before = 0, 0
        self._layouts = make_layouts(
            robot, reduction, self.recordings,
            has_rotors=all(part.has_rotors for part in self._parts),
        )
        self._kept = kept
        numbers = self.samples * sum(len(layout.columns) + 1 for layout in self._layouts)
        # Bags are read for what is asked of them alone.
        if kept is None and not any(isinstance(part, Bag) for part in self._parts):
            if treatment.decimation is not None and numbers > DECIMATED_NUMBERS:
                raise DataError(
                    f'{numbers // 10**6} million numbers are too many to filter together with '
                    'their torques: choose a part with --start/--stop, or leave decimation '
                    'out of the recipe'
                )
            if numbers <= KEPT_NUMBERS or treatment.decimation is not None:
                self._kept = list(self._compute())

    @cached_property
    def groups(self) -> int:
        """Divisions of the rows: by time, and by parts of a period where a motion repeats."""
        repeats = self.time_blocks > 1 and any(part.period is not None for part in self._parts)
        return 2 if repeats else 1

    @cached_property
    def distinct_duration(self) -> float:
        """Time that the samples take, repetitions of a motion counted once [s]."""
        return float(sum(
            min(part.period or math.inf, part.count / part.rate) for part in self._parts
        ))

    @property
    def data(self) -> tuple[TrainingData, ...]:
        """Return the recordings; bags are read, all of them."""
        return tuple(part.load() for part in self._parts)

    def changed(
        self, reduction: BaseReduction | None = None, data: Sequence[TrainingData] | None = None
    ) -> Observations:
        """Return rows in other base parameters, or with other motions of the same recordings."""
        return Observations(
            self.robot, reduction or self.reduction, self._parts if data is None else data,
            offset_by_recording=self.offset_by_recording, time_blocks=self.time_blocks,
            treatment=self.treatment, executor=self.executor,
        )

    def select(self, rows: Sequence[BoolArray]) -> Observations:
        """
        Return a part of the rows; matrices that are kept are not computed again.

        `rows` (N,) mask the samples to take of each recording, among those that are there.
        """
        data = [
            replace(part, rows=chosen)
            for part, chosen in zip(self.data, rows, strict=True)
        ]
        return Observations(
            self.robot, self.reduction, data, offset_by_recording=self.offset_by_recording,
            treatment=self.treatment,
            kept=None if self._kept is None else [
                ObservationBlock(
                    block.bag, data[block.bag],
                    tuple(joint.select(rows[block.bag]) for joint in block.joints), block.start,
                )
                for block in self._kept
            ],
        )

    def only(self, number: int) -> Observations:
        """Return the rows of one recording in the unknowns and the blocks of time of all."""
        one = copy(self)
        # Those of all recordings.
        one.groups, one.distinct_duration = self.groups, self.distinct_duration
        one._parts, one.executor, one._kept = (self._parts[number],), None, None
        one._first = self._first + number
        one._before = self._before + sum(part.count for part in self._parts[:number])
        return one

    def untreated(self) -> Observations:
        """Return the rows as they were recorded, which is what errors are taken on."""
        data = self.data
        if self.treatment == NO_TREATMENT and all(part.effort is None for part in data):
            return self
        return Observations(
            self.robot, self.reduction, [replace(part, effort=None) for part in data],
            offset_by_recording=self.offset_by_recording,
        )

    @property
    def nuisance(self) -> int:
        """Return the number of unknowns that are no base parameters."""
        return self.robot.n * (self.recordings - 1)

    @property
    def loaded(self) -> BoolArray:
        """Unknowns whose columns are in proportion to the load, shape (size,)."""
        loaded = np.zeros(self.reduction.rank + self.nuisance, dtype=bool)
        for layout in self._layouts:
            loaded[layout.columns] = layout.loaded
        return loaded

    def columns(self, joint: int) -> IntArray:
        """Return the unknowns that act on a joint, shape (k,)."""
        return self._layouts[joint].columns

    def blocks(self, *, with_load: bool = True) -> Iterator[ObservationBlock]:
        """Pass over the rows; the URDF's load may be left out where an estimate has its own."""
        self.passes += 1
        yield from self._compute(with_load) if self._kept is None else self._kept

    def collect(self, function: Callable[[Observations], Result]) -> Iterator[Result]:
        """
        Yield what a function makes of the rows: of all, or of each recording by itself.

        It takes rows in the same unknowns; with an executor it must be picklable. What it returns
        for several recordings must be the sum of what it returns for each.
        """
        if self.executor is None:
            yield function(self)
            return
        self.passes += 1
        yield from run_jobs(
            self.executor, function, [self.only(number) for number in range(len(self._parts))]
        )

    def matrix(self, joint: int, rows: JointRows, theta: FloatArray | None) -> FloatArray:
        """
        Return the observation matrix of rows of a joint under a load [N m per parameter].

        Of m rows its shape is (m, k). The load is the rigid torque of the unknowns `theta`
        (size,), or the URDF's.
        """
        matrix: FloatArray = self.table(joint, rows, theta)[:, :-1]
        return matrix

    def table(self, joint: int, rows: JointRows, theta: FloatArray | None) -> FloatArray:
        """Return observation matrix and torque of rows of a joint under a load."""
        layout = self._layouts[joint]
        if not layout.loaded.any():
            return rows.table
        load = rows.load
        if theta is not None:
            rigid = layout.rigid
            load = np.abs(rows.table[:, :-1][:, rigid] @ theta[layout.columns[rigid]])
        table = rows.table.copy(order='F')
        table[:, :-1][:, layout.loaded] *= load[:, None]
        return table

    def factor(
        self, theta: FloatArray | None = None, weigh: Weighing | None = None
    ) -> IdentificationProblem:
        """
        Pass over the rows and reduce them to one triangular factor per joint.

        Parameters
        ----------
        theta : ndarray, shape (size,), optional
            An estimate: what load and residuals are of. By default the load is the URDF's.
        weigh : callable, optional
            Weights of rows by joint and residual of the estimate.

        Raises
        ------
        DataError
            If there are fewer rows than parameters.

        """
        reduced = self.reduce(theta, weigh)
        count = count_time_blocks(self.duration, self.time_blocks)
        samples = np.array([sum(one.count for one in of_joint[:count]) for of_joint in reduced])
        check_sample_count(
            [part.name for part in self._parts], int(samples.min()), self.reduction
        )
        by_joint = [
            [TriangularFactor(layout.columns, one.triangle()) for one in of_joint]
            for layout, of_joint in zip(self._layouts, reduced, strict=True)
        ]
        return IdentificationProblem(
            factors=tuple(
                of_joint[0] if count == 1 else combine_factors(of_joint[:count])
                for of_joint in by_joint
            ),
            samples=samples,
            reduction=self.reduction,
            nuisance=self.nuisance,
            blocks=tuple(zip(*(of_joint[:count] for of_joint in by_joint), strict=True))
            if count > 1 else (),
            # A period has fewer parts than its recording has blocks.
            phases=tuple(
                block for block, of_block in zip(
                    zip(*(of_joint[count:] for of_joint in by_joint), strict=True),
                    zip(*(of_joint[count:] for of_joint in reduced), strict=True), strict=True,
                ) if any(one.count for one in of_block)
            ),
            observations=self,
        )

    def reduce(
        self, theta: FloatArray | None, weigh: Weighing | None
    ) -> list[list[QRAccumulator]]:
        """
        Pass over the rows and reduce them by joint and by block of time; see `factor`.

        Where a motion repeats itself, they are also reduced by parts of its period, after these.
        """
        if self.executor is None:
            return _reduce(self, theta, weigh)
        total: list[list[QRAccumulator]] = []
        # Jobs that begin late must not take along what the first have seen.
        reduce = partial(_reduce_one, theta=theta, weigh=deepcopy(weigh))
        for found, seen in self.collect(reduce):
            if weigh is not None:
                weigh.merge(seen)
            for mine, theirs in zip(chain(*total), chain(*found), strict=False):
                mine.merge(theirs)
            total = total or found
        return total

    def torque(self, theta: FloatArray) -> list[FloatArray]:
        """
        Pass over the rows and return the torque of unknowns `theta` (size,) there.

        It is that of the joints at the m samples taken of each recording, in their order, (m, n)
        [N m]; NaN where a joint has no row.
        """
        torques = [np.full((part.count, self.robot.n), np.nan) for part in self._parts]
        bag, ranks = -1, np.zeros(0, dtype=int)
        for block in self.blocks(with_load=False):
            if block.bag != bag:
                bag, ranks = block.bag, np.cumsum(block.part.rows) - 1
            for joint, rows in enumerate(block.joints):
                matrix = self.matrix(joint, rows, theta)
                torques[bag][ranks[rows.samples], joint] = matrix @ theta[self.columns(joint)]
        return torques

    def label_blocks(self, bag: int, part: TrainingData) -> BlockLabels:
        """Return the blocks of the samples of a recording."""
        count = count_time_blocks(self.duration, self.time_blocks)
        before = self._before + sum(one.count for one in self._parts[:bag])
        return BlockLabels(
            begin_time_blocks(part.rows, before, self.samples, count), part.dataset.stamps,
            # One block is not divided, and the period takes time to find.
            part.period if count > 1 else None,
        )

    def _compute(self, with_load: bool = True) -> Iterator[ObservationBlock]:
        loaded = with_load and any(layout.loaded.any() for layout in self._layouts)
        for bag, unread in enumerate(self._parts):
            part = unread.load()
            blocks = self._compute_bag(bag, part, loaded)
            if self.treatment.decimation is None:
                yield from blocks
                part.dataset.release()
            else:
                yield decimate(list(blocks), self.treatment.decimation)

    def _compute_bag(
        self, bag: int, part: TrainingData, with_load: bool
    ) -> Iterator[ObservationBlock]:
        parameters, motion = self.reduction.parameters, part.dataset.motion
        states = initial_friction_states(parameters)
        slowest = self.treatment.slowest
        # Where friction has the sign of the velocity, slow samples have a random one.
        fast = None if slowest is None else np.abs(motion.dq) >= slowest
        for number, rows in enumerate(block_slices(len(motion))):
            if number % RELEASED_BLOCKS == 0:
                part.dataset.release()
            chosen = part.rows[rows]
            samples = rows.start + np.flatnonzero(chosen)
            whole = motion.part(rows)
            # Friction has memory: it runs through what is not taken.
            friction = []
            for index, term in enumerate(parameters.friction):
                seen = friction_motion(self.robot, term, whole, np.ones_like(whole.q))
                columns, states[index] = run_friction(
                    term.law, seen, states[index], whole.starts
                )
                friction.append(columns[chosen])
            if not samples.size:
                continue
            taken = whole.rows(chosen)
            inertial = inertial_regressor(self.robot, taken).reshape(
                len(samples), self.robot.n, -1
            )
            load = (
                np.abs(rigid_torque(self.robot, taken)) if with_load
                else np.zeros((0, self.robot.n))
            )
            effort = part.dataset.effort if part.effort is None else part.effort
            tau = np.asarray(effort[rows])[chosen] * part.torque_per_effort
            joints = [
                JointRows(
                    self._table_of(joint, bag, inertial, friction, taken, tau),
                    load[:, joint] if with_load and self._layouts[joint].loaded.any()
                    else np.zeros(0),
                    samples,
                )
                for joint in range(self.robot.n)
            ]
            for joint in part.constant_effort:
                joints[joint] = replace(
                    joints[joint], table=np.zeros_like(joints[joint].table)
                )
            if fast is not None:
                joints = [of_joint.select(fast[:, j]) for j, of_joint in enumerate(joints)]
            yield ObservationBlock(bag, part, tuple(joints), rows.start)

    def _table_of(
        self,
        joint: int,
        bag: int,
        inertial: FloatArray,
        friction: Sequence[FloatArray],
        motion: Motion,
        tau: FloatArray,
    ) -> FloatArray:
        layout = self._layouts[joint]
        table = np.empty((len(motion), len(layout.columns) + 1), order='F')
        places, standard = layout.inertial
        table[:, places] = inertial[:, joint, standard]
        for term, places, own in layout.friction:
            table[:, places] = friction[term][:, own]
        if layout.rotor is not None:
            table[:, layout.rotor] = motion.drive_side.ddq[:, joint]
        if layout.offsets.size:
            # Deviations from the mean offset add up to zero over the recordings.
            number = self._first + bag
            table[:, layout.offsets] = -1.0
            if number:
                table[:, layout.offsets] = np.arange(1, self.recordings) == number
        table[:, -1] = tau[:, joint]
        return table


@dataclass(frozen=True, eq=False)
class IdentificationProblem:
    """Find the base parameters in ``tau_j = W_j @ theta_base + noise`` for every joint j."""

    # All rows. Unknowns are the b base parameters and, after them, `nuisance` others.
    factors: tuple[TriangularFactor, ...]
    samples: IntArray  # (n,) rows behind each factor
    reduction: BaseReduction  # meaning of the base parameters
    # unknowns that are no parameters of the model: how far the offset of each joint in each
    # recording after the first is from their mean
    nuisance: int = 0
    # the same rows by contiguous blocks of time, for what asks how estimates scatter
    blocks: Blocks = ()
    # the same rows by parts of the period of a motion that repeats itself, each with all its
    # repetitions; empty where none does
    phases: Blocks = ()
    # the rows themselves, for what needs residuals again
    observations: Observations | None = field(default=None, repr=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if len(self.factors) != len(self.samples):
            raise ValueError(
                f'{len(self.factors)} factors for the samples of {len(self.samples)} joints'
            )
        for factor in self.factors:
            k = len(factor.columns)
            if factor.triangle.shape != (k + 1, k + 1) or np.any(factor.columns >= self.size):
                raise ValueError(
                    f'a factor of {k} of {self.size} unknowns has shape {factor.triangle.shape}'
                )

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return len(self.factors)

    @property
    def size(self) -> int:
        """Return the number of unknowns."""
        return self.reduction.rank + self.nuisance

    def squared_residuals(self, theta: FloatArray) -> FloatArray:
        """Return the sum (n,) of squared residuals of unknowns (size,) by joint [N^2 m^2]."""
        return _squared_residuals(self.factors, theta)

    def squared_residuals_by_block(self, theta: FloatArray) -> FloatArray:
        """Return the same sums in each block of time, shape (blocks, n) [N^2 m^2]."""
        return np.array([_squared_residuals(block, theta) for block in self.blocks])

    @property
    def squared_torque(self) -> FloatArray:
        """Sum of squared torques of each joint, shape (n,) [N^2 m^2]."""
        return np.array([np.sum(factor.triangle[:, -1] ** 2) for factor in self.factors])

    def stacked(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return matrix R (m, size) and side z (m,) of an equivalent least-squares problem.

        It has ``m = sum(k_j + 1)`` rows. `weights` (n,) are factors on the rows of each joint, one
        over the standard deviation of its noise.
        """
        return stack_factors(self.factors, weights, self.size)

    def select(
        self, chosen: IntArray, reduction: BaseReduction | None = None
    ) -> IdentificationProblem:
        """Return the problem with `chosen` (m,) base parameters, which may mean something else."""
        reduction = reduction or self.reduction.only(chosen)
        b = self.reduction.rank
        unknowns = np.concatenate([chosen, np.arange(b, b + self.nuisance)])
        observations = self.observations
        return replace(
            self,
            factors=tuple(factor.select(unknowns) for factor in self.factors),
            reduction=reduction,
            blocks=select_blocks(self.blocks, unknowns),
            phases=select_blocks(self.phases, unknowns),
            observations=None if observations is None else observations.changed(reduction),
        )


def select_blocks(blocks: Blocks, unknowns: IntArray) -> Blocks:
    """Return blocks of a problem with fewer unknowns."""
    return tuple(tuple(factor.select(unknowns) for factor in block) for block in blocks)


def _squared_residuals(factors: Sequence[TriangularFactor], theta: FloatArray) -> FloatArray:
    return np.array([
        np.sum((factor.triangle @ np.append(-theta[factor.columns], 1.0)) ** 2)
        for factor in factors
    ])


def stack_factors(
    factors: Sequence[TriangularFactor], weights: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return matrix and right-hand side of all joints; see `IdentificationProblem.stacked`."""
    heights = [len(factor.triangle) for factor in factors]
    R = np.zeros((sum(heights), size))
    z = np.zeros(len(R))
    first = 0
    for factor, weight, height in zip(factors, weights, heights, strict=True):
        rows = slice(first, first + height)
        R[rows, factor.columns] = weight * factor.triangle[:, :-1]
        z[rows] = weight * factor.triangle[:, -1]
        first += height
    return R, z


def _accumulate(
    accumulators: Sequence[QRAccumulator], table: FloatArray, groups: Sequence[IntArray]
) -> None:
    """Add rows (m, k + 1) to the blocks that groups (m,) number, of which the first is by time."""
    for numbers in groups:
        edges = [0, *(1 + np.flatnonzero(np.diff(numbers))), len(numbers)]
        for first, last in pairwise(edges):
            if last > first:
                accumulators[numbers[first]].add(table[first:last])
    # Blocks of time that are over hold their triangles alone.
    for one in accumulators[: groups[0][-1] if len(groups[0]) else 0]:
        one.reduce()


def _reduce(
    observations: Observations, theta: FloatArray | None, weigh: Weighing | None
) -> list[list[QRAccumulator]]:
    """Return the rows by joint and block; see `Observations.reduce`."""
    groups = observations.groups
    count = count_time_blocks(observations.duration, observations.time_blocks)
    accumulators = [
        [QRAccumulator(len(observations.columns(joint)) + 1) for _ in range(groups * count)]
        for joint in range(observations.robot.n)
    ]
    for bag, blocks in groupby(
        observations.blocks(with_load=theta is None), attrgetter('bag')
    ):
        labels = None
        for block in blocks:
            labels = labels or observations.label_blocks(bag, block.part)
            for joint, rows in enumerate(block.joints):
                table = observations.table(joint, rows, theta)
                if theta is not None and weigh is not None:
                    residual = rows.tau - table[:, :-1] @ theta[observations.columns(joint)]
                    table = table * weigh(joint, residual)[:, None]
                parts = [labels.by_time(rows.samples)]
                if groups > 1:
                    parts.append(count + labels.by_phase(rows.samples))
                _accumulate(accumulators[joint], table, parts)
    return accumulators


def _reduce_one(
    observations: Observations, *, theta: FloatArray | None, weigh: Weighing | None
) -> tuple[list[list[QRAccumulator]], Weighing | None]:
    """Return the factors of a recording by joint and block, and the weights with what they saw."""
    seen = deepcopy(weigh)
    accumulators = _reduce(observations, theta, seen)
    for one in chain(*accumulators):
        one.reduce()
    return accumulators, seen
