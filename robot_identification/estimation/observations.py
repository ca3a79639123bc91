# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The rows behind an identification problem, block by block, as often as an estimator asks for them.

Short recordings are kept as matrices; for long ones the rows are computed again in every pass, so
that memory does not grow with the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError
from robot_identification.estimation.problem import (
    combine_factors, IdentificationProblem, TriangularFactor,
)
from robot_identification.model import (
    BaseReduction, block_slices, friction_motion, inertial_regressor, initial_friction_states,
    JointMotion, Motion, rigid_torque, RobotModel, run_friction, StandardParameters,
)
from robot_identification.processing import (
    Dataset, decimation_step, fast_enough, parallel_decimate,
)

# Matrices of more numbers than this are not kept (64 MB) but computed again.
KEPT_NUMBERS = 8_000_000
# Rows that are filtered together are kept, up to this (1.6 GB).
DECIMATED_NUMBERS = 200_000_000
# A part without gaps that is shorter than this is not filtered.
SHORTEST_DECIMATED = 100
# Contiguous parts of the recordings whose factors are kept apart where errors are asked for.
TIME_BLOCKS = 32
# They are no shorter than this [s]: a few times what smoothing and friction remember.
SHORTEST_BLOCK = 0.5
# Rows that are gathered before they are reduced.
PILE_ROWS = 4096

# Weights of the rows of a joint by their residuals [N m]: (joint, residual) -> weights.
Weighing = Callable[[int, FloatArray], FloatArray]
Result = TypeVar('Result')


@dataclass(frozen=True, eq=False)
class TrainingData:
    """
    Some samples of a recording to estimate from.

    Attributes
    ----------
    dataset : Dataset
        N samples.
    torque_per_effort : ndarray, shape (n,)
        Joint torque per recorded effort [N m/A or 1].
    rows : ndarray of bool, shape (N,)
        The samples to take.
    effort : ndarray, shape (N, n), optional
        Effort to fit in the place of the recorded one, for methods that smooth it.
    constant_effort : tuple of int
        Joints whose effort was not really recorded: their rows say nothing.

    """

    dataset: Dataset
    torque_per_effort: FloatArray
    rows: BoolArray
    effort: FloatArray | None = None
    constant_effort: tuple[int, ...] = ()


@dataclass(frozen=True)
class RowTreatment:
    """
    Treatment of rows by published methods before they estimate; none by default.

    Attributes
    ----------
    slowest : float, optional
        Rows of a joint slower than this are left out [rad/s].
    decimation : float, optional
        Cut-off of the zero-phase low-pass that the columns and the torque of a joint go through
        together, before rows are left out [Hz].

    """

    slowest: float | None = None
    decimation: float | None = None


NO_TREATMENT = RowTreatment()


@dataclass(frozen=True, eq=False)
class JointRows:
    """
    Rows of one joint.

    Attributes
    ----------
    table : ndarray, shape (m, k + 1)
        Observation matrix of the unknowns that act on the joint [N m per parameter], then the
        measured torque [N m]; columns in proportion to the load are those of a load of 1 N m.
    load : ndarray, shape (m,)
        Size of the URDF's rigid torque [N m]; empty where no column is in proportion to it.
    samples : ndarray of int, shape (m,)
        The rows of the dataset that they come from.

    """

    table: FloatArray
    load: FloatArray
    samples: IntArray

    @property
    def tau(self) -> FloatArray:
        """Measured joint torque, shape (m,) [N m]."""
        torque: FloatArray = self.table[:, -1]
        return torque

    def select(self, rows: BoolArray) -> JointRows:
        """Return the rows whose samples a mask of the dataset has."""
        chosen = rows[self.samples]
        if chosen.all():
            return self
        load = self.load[chosen] if self.load.size else self.load
        return JointRows(self.table[chosen], load, self.samples[chosen])


@dataclass(frozen=True, eq=False)
class ObservationBlock:
    """
    Consecutive rows of all joints.

    Attributes
    ----------
    bag : int
        Recording they come from.
    joints : tuple of JointRows, length n
        Rows of each joint.

    """

    bag: int
    joints: tuple[JointRows, ...]


@dataclass(frozen=True, eq=False)
class _Layout:
    """
    The unknowns that act on one joint, and where their columns come from.

    `columns` (k,) are the unknowns, `loaded` (k,) those in proportion to the load, `rigid` (k,)
    those of bodies and rotor. `inertial`, `friction`, `rotor` and `offsets` say which place in
    the row holds what.
    """

    columns: IntArray
    loaded: BoolArray
    rigid: BoolArray
    inertial: tuple[IntArray, IntArray]
    friction: tuple[tuple[int, IntArray, IntArray], ...]
    rotor: int | None
    offsets: IntArray


class Observations:
    """
    Rows of an identification problem.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    reduction : BaseReduction
        Meaning of the base parameters.
    data : sequence of TrainingData
        Recordings and the samples to take.
    offset_by_recording : bool
        Whether each recording has its own offset of every joint; the parameter is their mean.
    time_blocks : int
        Into how many contiguous blocks factors are divided at most, for what asks how estimates
        scatter; they are no shorter than SHORTEST_BLOCK.
    treatment : RowTreatment
        What is done to the rows.

    Raises
    ------
    DataError
        If rows are to be decimated and there are too many of them.

    Attributes
    ----------
    passes : int
        How often the rows were passed over.
    has_rows : bool
        Whether the rows themselves can be had, and not only what is made of them elsewhere.

    """

    has_rows = True

    def __init__(
        self,
        robot: RobotModel,
        reduction: BaseReduction,
        data: Sequence[TrainingData],
        *,
        offset_by_recording: bool = False,
        time_blocks: int = 1,
        treatment: RowTreatment = NO_TREATMENT,
    ) -> None:
        self.robot = robot
        self.reduction = reduction
        self.data = tuple(data)
        self.offset_by_recording = offset_by_recording and len(data) > 1 and any(
            term.law.is_offset for term in reduction.parameters.friction
        )
        self.time_blocks = time_blocks
        self.treatment = treatment
        self.passes = 0
        self._layouts = make_layouts(
            robot, reduction, self.recordings,
            has_rotors=all(part.dataset.motion.rotor is not None for part in self.data),
        )
        self._kept: list[ObservationBlock] | None = None
        numbers = sum(len(layout.columns) + 1 for layout in self._layouts) * sum(
            int(part.rows.sum()) for part in self.data
        )
        if treatment.decimation is not None and numbers > DECIMATED_NUMBERS:
            raise DataError(
                f'{numbers // 10**6} million numbers are too many to filter together with their '
                'torques: choose a part with --start/--stop, or another profile'
            )
        if numbers <= KEPT_NUMBERS or treatment.decimation is not None:
            self._kept = list(self._compute())

    def with_reduction(self, reduction: BaseReduction) -> Observations:
        """Return the same rows with other base parameters."""
        return Observations(
            self.robot, reduction, self.data, offset_by_recording=self.offset_by_recording,
            time_blocks=self.time_blocks, treatment=self.treatment,
        )

    def select(self, rows: Sequence[BoolArray]) -> Observations:
        """
        Return a part of the rows; matrices that are kept are not computed again.

        Parameters
        ----------
        rows : sequence of ndarray of bool, shape (N,)
            Samples to take of each recording, among those that are there.

        """
        part = Observations.__new__(Observations)
        part.robot, part.reduction = self.robot, self.reduction
        part.data = tuple(
            replace(one, rows=chosen)
            for one, chosen in zip(self.data, rows, strict=True)
        )
        part.offset_by_recording = self.offset_by_recording
        part.time_blocks, part.treatment, part.passes = 1, self.treatment, 0
        part._layouts = self._layouts
        part._kept = None if self._kept is None else [
            ObservationBlock(
                block.bag, tuple(joint.select(rows[block.bag]) for joint in block.joints)
            )
            for block in self._kept
        ]
        return part

    def untreated(self) -> Observations:
        """Return the rows as they were recorded, which is what errors are taken on."""
        if self.treatment == NO_TREATMENT and all(part.effort is None for part in self.data):
            return self
        return Observations(
            self.robot, self.reduction,
            [replace(part, effort=None) for part in self.data],
            offset_by_recording=self.offset_by_recording,
        )

    @property
    def recordings(self) -> int:
        """Number of recordings that have their own offsets; 1 where they share them."""
        return len(self.data) if self.offset_by_recording else 1

    @property
    def nuisance(self) -> int:
        """Number of unknowns that are no base parameters."""
        return self.robot.n * (self.recordings - 1)

    @property
    def samples(self) -> int:
        """Number of samples taken of all recordings."""
        return sum(int(part.rows.sum()) for part in self.data)

    @property
    def duration(self) -> float:
        """Time that the samples take [s]."""
        return float(sum(
            np.count_nonzero(part.rows) / part.dataset.rate for part in self.data
        ))

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

    def blocks(self) -> Iterator[ObservationBlock]:
        """Pass over the rows."""
        self.passes += 1
        yield from self._compute() if self._kept is None else self._kept

    @property
    def can_collect(self) -> bool:
        """Return whether `collect` can be asked."""
        return True

    def collect(self, function: Callable[[Observations], Result]) -> Iterator[Result]:
        """
        Yield what a function makes of the rows: of all, or of each recording by itself.

        Parameters
        ----------
        function : callable
            Takes rows in the same unknowns. What it returns for several recordings must be the
            sum of what it returns for each.

        """
        yield function(self)

    def matrix(self, joint: int, rows: JointRows, theta: FloatArray | None) -> FloatArray:
        """
        Return the observation matrix of rows of a joint under the load of an estimate.

        Parameters
        ----------
        joint : int
            The joint.
        rows : JointRows
            m rows of it.
        theta : ndarray, shape (size,), optional
            Unknowns whose rigid torque is the load; by default the URDF's is.

        Returns
        -------
        ndarray, shape (m, k)
            Observation matrix [N m per parameter].

        """
        matrix: FloatArray = self._table(joint, rows, theta)[:, :-1]
        return matrix

    def _table(self, joint: int, rows: JointRows, theta: FloatArray | None) -> FloatArray:
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
        piles = self.reduce(theta, weigh)
        count = len(piles[0])
        samples = np.array([sum(pile.count for pile in of_joint) for of_joint in piles])
        if samples.min() * self.robot.n < self.reduction.rank:
            raise DataError(
                f'{samples.min()} usable samples for {self.reduction.rank} parameters: record a '
                'longer motion'
            )
        by_joint = [
            [TriangularFactor(layout.columns, pile.triangle()) for pile in of_joint]
            for layout, of_joint in zip(self._layouts, piles, strict=True)
        ]
        return IdentificationProblem(
            factors=tuple(
                of_joint[0] if count == 1 else combine_factors(of_joint) for of_joint in by_joint
            ),
            samples=samples,
            reduction=self.reduction,
            nuisance=self.nuisance,
            blocks=tuple(zip(*by_joint, strict=True)) if count > 1 else (),
            observations=self,
        )

    def reduce(
        self, theta: FloatArray | None, weigh: Weighing | None
    ) -> list[list[QRAccumulator]]:
        """
        Pass over the rows and pile them up by joint and by block of time.

        Parameters
        ----------
        theta, weigh
            As in `factor`.

        """
        parts, count = self._parts()
        piles = [
            [QRAccumulator(len(layout.columns) + 1) for _ in range(count)]
            for layout in self._layouts
        ]
        for block in self.blocks():
            for joint, rows in enumerate(block.joints):
                table = self._table(joint, rows, theta)
                if theta is not None and weigh is not None:
                    residual = rows.tau - table[:, :-1] @ theta[self.columns(joint)]
                    table = table * weigh(joint, residual)[:, None]
                part = parts[block.bag][rows.samples]
                edges = [0, *(1 + np.flatnonzero(np.diff(part))), len(part)]
                for first, last in pairwise(edges):
                    if last > first:
                        piles[joint][part[first]].add(table[first:last])
        return piles

    def torque(self, theta: FloatArray) -> list[FloatArray]:
        """
        Pass over the rows and return the torque of an estimate there.

        Parameters
        ----------
        theta : ndarray, shape (size,)
            Unknowns.

        Returns
        -------
        list of ndarray, shape (m, n)
            Joint torques at the m samples taken of each recording, in their order [N m]; NaN
            where a joint has no row.

        """
        torques = [np.full((int(part.rows.sum()), self.robot.n), np.nan) for part in self.data]
        ranks = [np.cumsum(part.rows) - 1 for part in self.data]
        for block in self.blocks():
            for joint, rows in enumerate(block.joints):
                matrix = self.matrix(joint, rows, theta)
                places = ranks[block.bag][rows.samples]
                torques[block.bag][places, joint] = matrix @ theta[self.columns(joint)]
        return torques

    def _parts(self) -> tuple[list[NDArray[np.int16]], int]:
        """Return the contiguous part of time that every sample is in, and their number."""
        sizes = [int(part.rows.sum()) for part in self.data]
        count = count_time_blocks(self.duration, self.time_blocks)
        parts: list[NDArray[np.int16]] = []
        before = 0
        for size, part in zip(sizes, self.data, strict=True):
            parts.append(number_time_blocks(part.rows, before, sum(sizes), count))
            before += size
        return parts, count

    def _compute(self) -> Iterator[ObservationBlock]:
        for bag, part in enumerate(self.data):
            blocks = self._compute_bag(bag, part)
            if self.treatment.decimation is None:
                yield from blocks
                part.dataset.release()
            else:
                yield _decimate(
                    list(blocks), part.dataset, self.treatment.decimation, self.robot.n
                )

    def _compute_bag(self, bag: int, part: TrainingData) -> Iterator[ObservationBlock]:
        parameters, motion = self.reduction.parameters, part.dataset.motion
        states = initial_friction_states(parameters)
        with_load = any(layout.loaded.any() for layout in self._layouts)
        for rows in block_slices(len(motion)):
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
            tau = effort[rows][chosen] * part.torque_per_effort
            joints = [
                JointRows(
                    self._table_of(joint, bag, inertial, friction, taken, tau),
                    load[:, joint] if self._layouts[joint].loaded.any() else np.zeros(0),
                    samples,
                )
                for joint in range(self.robot.n)
            ]
            for joint in part.constant_effort:
                joints[joint] = replace(
                    joints[joint], table=np.zeros_like(joints[joint].table)
                )
            if self.treatment.slowest is not None:
                fast = fast_enough(motion.dq, self.treatment.slowest)
                joints = [of_joint.select(fast[:, j]) for j, of_joint in enumerate(joints)]
            yield ObservationBlock(bag, tuple(joints))

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
            table[:, layout.offsets] = -1.0 if bag == 0 else np.eye(self.recordings - 1)[bag - 1]
        table[:, -1] = tau[:, joint]
        return table


def _decimate(
    blocks: Sequence[ObservationBlock], dataset: Dataset, cutoff: float, n: int
) -> ObservationBlock:
    """Return the rows of a recording after a common low-pass, as many as it leaves meaning."""
    joints = []
    for joint in range(n):
        rows = [block.joints[joint] for block in blocks]
        table = np.concatenate([part.table for part in rows])
        samples = np.concatenate([part.samples for part in rows])
        load = np.concatenate([part.load for part in rows])
        kept: list[IntArray] = []
        filtered = []
        for segment in dataset.segments:
            inside = np.flatnonzero((samples >= segment.start) & (samples < segment.stop))
            if len(inside) < SHORTEST_DECIMATED:
                continue
            smooth = parallel_decimate(table[inside], dataset.rate, cutoff)
            step = decimation_step(dataset.rate, cutoff)
            filtered.append(smooth)
            kept.append(inside[::step][: len(smooth)])
        if not kept:
            raise DataError(
                f'{dataset.source}: no part is long enough to be filtered at {cutoff:g} Hz: '
                'record longer without gaps'
            )
        at = np.concatenate(kept)
        joints.append(JointRows(
            np.asfortranarray(np.concatenate(filtered)), load[at] if load.size else load,
            samples[at],
        ))
    return ObservationBlock(blocks[0].bag, tuple(joints))


def build_problem(
    robot: RobotModel, reduction: BaseReduction, data: Sequence[TrainingData]
) -> IdentificationProblem:
    """
    Reduce recordings to one triangular factor per joint; see `Observations`.

    Raises
    ------
    DataError
        If there are fewer rows than parameters.

    """
    return Observations(robot, reduction, data).factor()


def count_time_blocks(duration: float, most: int) -> int:
    """Return into how many blocks of time a duration [s] is divided, if they are to be `most`."""
    return int(np.clip(duration / SHORTEST_BLOCK, 1, most))


def number_time_blocks(
    rows: BoolArray, before: int, total: int, count: int
) -> NDArray[np.int16]:
    """
    Return the block of time that every sample of a recording is in, shape (N,).

    Parameters
    ----------
    rows : ndarray of bool, shape (N,)
        The samples that are taken.
    before, total : int
        Samples taken of the recordings before it, and of all.
    count : int
        Number of blocks.

    """
    rank = before + np.maximum(np.cumsum(rows) - 1, 0)
    numbers: NDArray[np.int16] = (rank * count // max(total, 1)).astype(np.int16)
    return numbers


class QRAccumulator:
    """
    Rows on their way into a triangular factor.

    Parameters
    ----------
    size : int
        Their length.

    Attributes
    ----------
    count : int
        Samples behind them.

    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self._rows: list[FloatArray] = []
        self._height = 0
        self._size = size

    def add(self, rows: FloatArray, count: int | None = None) -> None:
        """Put rows (m, size) on it, which stand for m samples or another `count`."""
        self._rows.append(rows)
        self._height += len(rows)
        self.count += len(rows) if count is None else count
        if self._height > PILE_ROWS:
            self._rows = [self.triangle()]
            self._height = self._size

    def triangle(self) -> FloatArray:
        """Return the triangular factor of what is on it, shape (size, size)."""
        rows = np.empty((self._height, self._size), order='F')
        if self._rows:
            np.concatenate(self._rows, out=rows)
        return triangle_of(rows)


def make_layouts(
    robot: RobotModel, reduction: BaseReduction, recordings: int, *, has_rotors: bool = False
) -> tuple[_Layout, ...]:
    """Return for every joint which unknowns act on it; rotors may have their own motion."""
    parameters, n = reduction.parameters, robot.n
    # A body acts on the joints that carry it.
    carried_by = [set(robot.pinocchio.supports[link + 1]) for link in range(n)]
    unknown_of = {int(column): row for row, column in enumerate(reduction.independent)}
    loaded = _loaded_columns(parameters)
    layouts = []
    for joint in range(n):
        standard = [
            c for c in range(10 * n) if c in unknown_of and joint + 1 in carried_by[c // 10]
        ]
        unknowns = [unknown_of[c] for c in standard]
        friction, offsets, is_loaded = [], [], [False] * len(unknowns)
        for index, (term, columns) in enumerate(
            zip(parameters.friction, parameters.friction_slices, strict=True)
        ):
            if term.joint != joint:
                continue
            own = [c for c in range(columns.start, columns.stop) if c in unknown_of]
            places = np.arange(len(unknowns), len(unknowns) + len(own))
            friction.append((index, places, np.array(own, dtype=int) - columns.start))
            unknowns += [unknown_of[c] for c in own]
            is_loaded += [loaded[c] for c in own]
            # Also where the mean is not known: of a joint that stands.
            if term.law.is_offset:
                offsets = [
                    reduction.rank + (recording - 1) * n + joint
                    for recording in range(1, recordings)
                ]
        rotor = parameters.reflected_inertia_slice.start + joint
        rotor_at = None
        if parameters.reflected_inertia and rotor in unknown_of:
            rotor_at = len(unknowns)
            unknowns.append(unknown_of[rotor])
            is_loaded.append(False)
        rigid = np.zeros(len(unknowns) + len(offsets), dtype=bool)
        rigid[: len(standard)] = True
        if rotor_at is not None:
            # Of a rotor that is measured itself, the torque does not pass through the gear.
            rigid[rotor_at] = not has_rotors
        layouts.append(_Layout(
            columns=np.array(unknowns + offsets, dtype=int),
            loaded=np.array(is_loaded + [False] * len(offsets), dtype=bool),
            rigid=rigid,
            inertial=(np.arange(len(standard)), np.array(standard, dtype=int)),
            friction=tuple(friction),
            rotor=rotor_at,
            offsets=np.arange(len(unknowns), len(unknowns) + len(offsets)),
        ))
    return tuple(layouts)


def _loaded_columns(parameters: StandardParameters) -> BoolArray:
    """Return which standard columns are in proportion to the load, shape (p,)."""
    loaded = np.zeros(parameters.size, dtype=bool)
    # From a creep, at which no Stribeck term has ended, to fast.
    dq = np.geomspace(1e-6, 1.0, 7)
    # Not at the one temperature at which a law's columns may vanish.
    motion = JointMotion(np.arange(7.0), dq, np.zeros(7), np.linspace(20.0, 50.0, 7))
    for term, columns in zip(parameters.friction, parameters.friction_slices, strict=True):
        if term.law.needs_rigid_torque:
            free, _ = term.law.columns(motion, term.law.initial_state())
            loaded[columns] = ~free.any(axis=0)
    return loaded
