# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of an identification problem, and which unknowns act on those of each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, slices_of, triangle_of
from robot_identification.errors import DataError
from robot_identification.model import BaseReduction, JointMotion, RobotModel, StandardParameters
from robot_identification.processing import Dataset, decimation_step, parallel_decimate

# A part without gaps that is shorter than this is not filtered.
SHORTEST_DECIMATED = 100
# Contiguous parts of the recordings whose factors are kept apart where errors are asked for.
TIME_BLOCKS = 32
# They are no shorter than this [s]: a few times what smoothing and friction remember.
SHORTEST_BLOCK = 0.5
# Parts of a period that say something of how estimates scatter, at least.
FEWEST_PARTS = 6
# Rows that are gathered before they are reduced.
GATHERED_ROWS = 4096


class Weighing(Protocol):
    """Weights of rows by their residuals, which they have seen in parts."""

    def __call__(self, joint: int, residual: FloatArray) -> FloatArray:
        """Return the factors on rows of a joint with residuals of shape (m,) [N m]."""

    def merge(self, other: Any) -> None:
        """Take the residuals that another has seen, too."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Some samples of a recording to estimate from."""

    dataset: Dataset  # N samples
    torque_per_effort: FloatArray  # (n,): joint torque per recorded effort [N m/A or 1]
    rows: BoolArray  # (N,): the samples to take
    # (N, n): effort to fit in the place of the recorded one, for methods that smooth it.
    effort: FloatArray | None = None
    # Joints whose effort was not really recorded: their rows say nothing.
    constant_effort: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Return the recording, as messages call it."""
        return self.dataset.source

    @property
    def count(self) -> int:
        """Return the number of samples that are taken."""
        return int(np.count_nonzero(self.rows))

    @property
    def rate(self) -> float:
        """Return the sampling rate [Hz]."""
        return self.dataset.rate

    @property
    def has_rotors(self) -> bool:
        """Return whether the rotors have positions of their own."""
        return self.dataset.motion.rotor is not None

    def load(self) -> TrainingData:
        """Return it: its samples are there."""
        return self

    @property
    def period(self) -> float | None:
        """Time after which the motion repeats itself [s], where its parts make enough blocks."""
        return divided_period(self.dataset)


@dataclass(frozen=True)
class RowTreatment:
    """Treatment of rows by published methods before they estimate; none by default."""

    slowest: float | None = None  # rows of a joint slower than this are left out [rad/s]
    # Cut-off of the zero-phase low-pass that the columns and the torque of a joint go through
    # together, before rows are left out [Hz].
    decimation: float | None = None


NO_TREATMENT = RowTreatment()


@dataclass(frozen=True, eq=False)
class JointRows:
    """Rows of one joint."""

    # (m, k + 1) observation matrix of the unknowns that act on the joint [N m per parameter], then
    # the measured torque [N m]; columns in proportion to the load are those of a load of 1 N m
    table: FloatArray
    # (m,) size of the URDF's rigid torque [N m]; empty where no column is in proportion to it
    load: FloatArray
    samples: IntArray  # (m,) the rows of the dataset that they come from

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
    """Consecutive rows of all joints."""

    bag: int  # number of the recording
    part: TrainingData  # the recording
    joints: tuple[JointRows, ...]  # length n
    start: int = 0  # sample of the recording that the stretch of time begins at


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


def decimate(blocks: Sequence[ObservationBlock], cutoff: float) -> ObservationBlock:
    """Return the rows of a recording after a common low-pass, as many as it leaves meaning."""
    part, dataset, n = blocks[0].part, blocks[0].part.dataset, len(blocks[0].joints)
    joints = []
    for joint in range(n):
        rows = [block.joints[joint] for block in blocks]
        table = np.concatenate([one.table for one in rows])
        samples = np.concatenate([one.samples for one in rows])
        load = np.concatenate([one.load for one in rows])
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
    return ObservationBlock(blocks[0].bag, part, tuple(joints))


def count_time_blocks(duration: float, most: int) -> int:
    """Return into how many blocks of time a duration [s] is divided, if they are to be `most`."""
    return int(np.clip(duration / SHORTEST_BLOCK, 1, most))


def begin_time_blocks(rows: BoolArray, before: int, total: int, count: int) -> IntArray:
    """
    Return the sample of a recording that every block of time begins at, (count,).

    `before` samples are taken of earlier recordings and `total` of all; `rows` (N,) are its own.
    """
    ranks = -(-np.arange(count) * total // count) - before
    begins = np.full(count, len(rows))
    begins[ranks <= 0] = 0
    passed = 0
    for part in slices_of(len(rows)):
        taken = np.flatnonzero(rows[part])
        inside = (ranks > 0) & (ranks >= passed) & (ranks < passed + len(taken))
        begins[inside] = part.start + taken[ranks[inside] - passed]
        passed += len(taken)
    return begins


def divided_period(dataset: Dataset) -> float | None:
    """Return the time after which a motion repeats itself [s], if its parts are enough blocks."""
    period = dataset.period
    return None if period is None or period < FEWEST_PARTS * SHORTEST_BLOCK else period


def parts_of_period(t: FloatArray, period: float, most: int) -> IntArray:
    """Return the part of a period that times (m,) are in [s], of at most so many parts."""
    # A period is known to rounding only.
    parts = min(most, int(period / SHORTEST_BLOCK + 0.01))
    found: IntArray = (t % period / period * parts).astype(np.intp)
    return found


@dataclass(frozen=True, eq=False)
class BlockLabels:
    """Blocks of the samples of a recording: parts of its time, and of a period it repeats."""

    begins: IntArray  # (count,): sample that each block of time begins at
    stamps: FloatArray  # (N,): of the recording [s]
    period: float | None  # after which the motion repeats itself [s]

    def by_time(self, samples: IntArray) -> IntArray:
        """Return the blocks of time of some samples (m,), in which they increase."""
        return np.searchsorted(self.begins, samples, side='right') - 1

    def by_phase(self, samples: IntArray) -> IntArray:
        """
        Return parts of the period of some samples (m,), each with all its repetitions.

        What a model leaves unexplained comes back with the motion: repetitions are no further
        evidence of it. Of a motion that does not repeat itself these are the blocks of time.
        """
        if self.period is None:
            return self.by_time(samples)
        first, last = self.by_time(np.array([0, len(self.stamps) - 1]))
        t = self.stamps[samples] - self.stamps[0]
        return int(first) + parts_of_period(t, self.period, int(last - first) + 1)


class QRAccumulator:
    """Rows of a length on their way into a triangular factor, and the count of samples in it."""

    def __init__(self, size: int) -> None:
        self.count = 0
        self._rows: list[FloatArray] = []
        self.height = 0  # rows that it holds
        self._size = size

    def add(self, rows: FloatArray, count: int | None = None) -> None:
        """Add rows (m, size), which stand for m samples or another `count`."""
        self._rows.append(rows)
        self.height += len(rows)
        self.count += len(rows) if count is None else count
        if self.height > GATHERED_ROWS:
            self.reduce()

    def merge(self, other: QRAccumulator) -> None:
        """Take the rows of another, too."""
        if other.count:
            self.add(other.triangle(), other.count)

    def reduce(self) -> None:
        """Reduce the rows that were added, where no more are to come soon."""
        if len(self._rows) > 1 or self.height > self._size:
            self._rows = [self.triangle()]
            self.height = self._size

    def triangle(self) -> FloatArray:
        """Return the triangular factor of the rows that were added, shape (size, size)."""
        rows = np.empty((self.height, self._size), order='F')
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
        for index, (term, columns) in enumerate(parameters.friction_columns):
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
    for term, columns in parameters.friction_columns:
        if term.law.needs_rigid_torque:
            free, _ = term.law.columns(motion, term.law.initial_state())
            loaded[columns] = ~free.any(axis=0)
    return loaded
