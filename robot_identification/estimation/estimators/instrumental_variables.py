# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Instrumental variables: rows of a simulated arm, which has no measurement noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import InconsistentModelError, RankDeficientError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.closed_loop import ClosedLoop, Servo
from robot_identification.estimation.estimators.options import check_count, check_positive
from robot_identification.estimation.estimators.reference_motion import smooth_reference
from robot_identification.estimation.linear import describe_estimate, RANK_TOLERANCE
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, TriangularFactor,
)
from robot_identification.estimation.rows import JointRows, ObservationBlock, TrainingData
from robot_identification.estimation.solving import (
    FIRST_REWEIGHTINGS, least_squares, need_motions, relative_change, renew_weights,
    residual_weights, solve_unknowns,
)
from robot_identification.model import base_dynamics, Motion, standard_torque
import scipy


@dataclass(frozen=True)
class InstrumentalVariables(Estimator):
    r"""
    Solve :math:`Z^T (\tau - W \theta) = 0` with instruments Z that do not share the noise [1]_.

    Least squares take the noise of measured velocities and accelerations for motion, and come out
    too small. Z is the observation matrix of a simulated arm with the current estimate, which
    follows the smooth motion behind the recorded one under control; joints are weighted by their
    residuals. It is renewed until the estimate stays.

    Attributes
    ----------
    iterations : int
        Simulations at most.
    tolerance : float
        Relative change of the estimate at which they end.
    knot_spacing : float
        Between the knots of the splines that a motion without period is smoothed by [s].
    reweightings : int
        How often the joints' weights are renewed, for each simulation.
    servo : Servo
        The control law of the simulated arm.

    References
    ----------
    .. [1] A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for
       industrial robot identification", IEEE Transactions on Control Systems Technology 22(1),
       2014.

    """

    needs_rows: ClassVar[bool] = True
    iterations: int = 5
    tolerance: float = 1.0e-3
    knot_spacing: float = 0.2
    reweightings: int = 3
    servo: Servo = field(default_factory=Servo)

    def __post_init__(self) -> None:
        check_count(self.iterations, 1, 'iterations of iv')
        check_positive(self.tolerance, 'tolerance of iv')
        check_positive(self.knot_spacing, 'knot_spacing of iv [s]')
        check_count(self.reweightings, 0, 'reweightings of iv')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with simulated instruments; see `Estimator.estimate`."""
        observations = need_motions(problem, 'iv')
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        theta = solve_unknowns(problem, weights)
        references, descriptions = zip(
            *(
                smooth_reference(part.dataset, part.rows, self.knot_spacing)
                for part in observations.data
            ), strict=True,
        )
        simulations = 0
        for _ in range(self.iterations):
            simulations += 1
            instruments, refused = self._simulate(observations, references, theta)
            rows = gather_instruments(problem, instruments, theta)
            before = theta
            for _ in range(self.reweightings + 1):
                theta = rows.solve(weights)
                weights = residual_weights(rows.project(weights, theta), theta)
            theta = rows.solve(weights)
            change = relative_change(problem, weights, before, theta)
            if change <= self.tolerance:
                break
        projected = rows.project(weights, theta)
        notes = [
            f'instruments of {part.dataset.source} follow {description}'
            for part, description in zip(observations.data, descriptions, strict=True)
        ] + list(refused)
        if change > self.tolerance:
            notes.append(
                f'the estimate still changed by {change:.1e} of its size in simulation '
                f'{simulations}, {self.tolerance:.0e} was asked for'
            )
        return replace(
            describe_estimate(projected, weights, theta),
            passes=1 + 2 * simulations,
            notes=tuple(notes),
        )

    def _simulate(
        self, observations: Observations, references: Sequence[Motion], theta: FloatArray
    ) -> tuple[Observations, tuple[str, ...]]:
        """Return the rows of the simulated arm, and what could not be simulated, in words."""
        reduction = observations.reduction
        base = theta[: reduction.rank]
        dynamics = base_dynamics(observations.robot, reduction, base)
        data, notes = [], []
        for part, reference in zip(observations.data, references, strict=True):
            dataset = part.dataset
            try:
                motion = ClosedLoop(
                    dynamics, reference, dataset.stamps, self.servo,
                    self._friction(observations, reference, base),
                ).simulate(dataset.segments)
            except InconsistentModelError as error:
                motion = reference
                notes.append(
                    f'{dataset.source}: {error}, so that instruments are those of the reference '
                    'itself: not the estimate of a possible arm, record a richer motion'
                )
            data.append(replace(part, dataset=replace(dataset, motion=motion)))
        instruments = Observations(
            observations.robot, reduction, data,
            offset_by_recording=observations.offset_by_recording,
            time_blocks=observations.time_blocks, treatment=observations.treatment,
        )
        return instruments, tuple(notes)

    def _friction(
        self, observations: Observations, reference: Motion, base: FloatArray
    ) -> FloatArray | None:
        """Return the friction of an estimate along a reference, (N, n), if it is not undone."""
        if self.servo.compensates_friction:
            return None
        reduction = observations.reduction
        parameters = reduction.parameters
        standard = np.zeros(parameters.size)
        standard[reduction.independent] = base
        rigid = standard.copy()
        rigid[parameters.friction_slice] = 0.0
        whole, without = (
            standard_torque(observations.robot, parameters, values, reference)
            for values in (standard, rigid)
        )
        return whole - without


@dataclass(frozen=True, eq=False)
class InstrumentRows:
    """
    Instruments and measured rows of every joint, as triangular factors.

    For contiguous parts of time, and each joint with k unknowns, `blocks` holds the upper
    triangular factor (2 k + 1, 2 k + 1) of ``[Z_j W_j tau_j]``.
    """

    problem: IdentificationProblem
    instruments: Observations  # rows of the simulated arm
    columns: tuple[IntArray, ...]  # unknowns that act on each joint
    blocks: tuple[tuple[FloatArray, ...], ...]
    samples: IntArray  # rows of each joint, (n,)

    def solve(self, weights: FloatArray) -> FloatArray:
        """
        Return the unknowns (size,) at which weighted residuals have no part along the instruments.

        With ``Z = Q R`` that is ``Q' W theta = Q' tau``, a square system. Raises
        RankDeficientError if the instruments do not determine them.
        """
        along = self._along(weights)
        try:
            return least_squares(along[:, :-1], along[:, -1])
        except np.linalg.LinAlgError as error:
            raise RankDeficientError(_TOO_WEAK) from error

    def project(self, weights: FloatArray, theta: FloatArray) -> IdentificationProblem:
        """
        Return the least-squares problem with the same solution `theta`, residuals and scores.

        Its rows are the part of the measured rows along the instruments, ``Z C`` with
        ``C = R^-1 Q' W``, and their torque is that of the estimate there and its residual. The
        covariance that follows is ``(Z'W)^-1 Z'Z (W'Z)^-1``.
        """
        Z = self._stacked(weights)[:, : self.problem.size]
        scale = np.linalg.norm(Z, axis=0)
        R = triangle_of(np.asfortranarray(Z / scale))
        C = scipy.linalg.solve_triangular(R, self._along(weights)[:, :-1]) / scale[:, None]
        whole = [
            triangle_of(np.asfortranarray(np.vstack(parts)))
            for parts in zip(*self.blocks, strict=True)
        ]
        return replace(
            self.problem,
            factors=self._project(whole, C, theta),
            samples=self.samples,
            blocks=tuple(self._project(block, C, theta) for block in self.blocks)
            if self.problem.blocks else (),
            phases=(),
            observations=self.instruments,
        )

    def _project(
        self, triangles: Sequence[FloatArray], C: FloatArray, theta: FloatArray
    ) -> tuple[TriangularFactor, ...]:
        factors = []
        everything = np.arange(self.problem.size)
        for columns, triangle in zip(self.columns, triangles, strict=True):
            k = len(columns)
            matrix = triangle[:, :k] @ C[columns]
            residual = triangle[:, -1] - triangle[:, k:-1] @ theta[columns]
            rows = np.column_stack([matrix, residual + matrix @ theta])
            factors.append(TriangularFactor(everything, triangle_of(np.asfortranarray(rows))))
        return tuple(factors)

    def _along(self, weights: FloatArray) -> FloatArray:
        """Return the part of the measured rows and torques along the instruments."""
        size = self.problem.size
        stacked = self._stacked(weights)
        Z = stacked[:, :size]
        scale = np.linalg.norm(Z, axis=0)
        if not np.all(scale > 0.0):
            raise RankDeficientError(_TOO_WEAK)
        triangle = triangle_of(np.asfortranarray(np.hstack([Z / scale, stacked[:, size:]])))
        diagonal = np.abs(np.diag(triangle)[:size])
        if diagonal.min(initial=1.0) < RANK_TOLERANCE:
            raise RankDeficientError(_TOO_WEAK)
        along: FloatArray = triangle[:size, size:]
        return along

    def _stacked(self, weights: FloatArray) -> FloatArray:
        """Return the rows of all joints ``[Z W tau]``, weighted."""
        size = self.problem.size
        stacked = []
        for block in self.blocks:
            for columns, triangle, weight in zip(self.columns, block, weights, strict=True):
                k = len(columns)
                rows = np.zeros((len(triangle), 2 * size + 1))
                rows[:, columns] = weight * triangle[:, :k]
                rows[:, size + columns] = weight * triangle[:, k:-1]
                rows[:, -1] = weight * triangle[:, -1]
                stacked.append(rows)
        return np.vstack(stacked)


_TOO_WEAK = (
    'the simulated motion determines fewer parameters than there are: record a richer motion, or '
    'choose --estimator wls'
)


def gather_instruments(
    problem: IdentificationProblem, instruments: Observations, theta: FloatArray
) -> InstrumentRows:
    """
    Pass over measured and simulated rows of the same samples side by side.

    Their load is that of `theta`; the time is cut into as many parts as the problem has blocks.
    """
    observations = need_motions(problem, 'iv')
    n = problem.n
    columns = tuple(observations.columns(joint) for joint in range(n))
    count = max(len(problem.blocks), 1)
    total = sum(int(part.rows.sum()) for part in observations.data)
    ranks = _ranks(observations.data)
    blocks = [
        [np.zeros((2 * len(own) + 1,) * 2) for own in columns] for _ in range(count)
    ]
    samples = np.zeros(n, dtype=int)
    # Where only one has rows, intersections are empty.
    for measured, simulated in _side_by_side(observations.blocks(), instruments.blocks()):
        for joint in range(n):
            one, other = measured.joints[joint], simulated.joints[joint]
            # Of rows that were chosen by their speed, those that both chose.
            common, here, there = np.intersect1d(
                one.samples, other.samples, assume_unique=True, return_indices=True
            )
            table = np.hstack([
                instruments.matrix(joint, other, theta)[there],
                observations.matrix(joint, one, theta)[here],
                one.tau[here, None],
            ])
            samples[joint] += len(common)
            part = ranks[measured.bag][common] * count // max(total, 1)
            for number in np.unique(part):
                blocks[number][joint] = triangle_of(np.asfortranarray(
                    np.vstack([blocks[number][joint], table[part == number]])
                ))
    return InstrumentRows(
        problem, instruments, columns, tuple(tuple(block) for block in blocks), samples
    )


def _side_by_side(
    measured: Iterator[ObservationBlock], simulated: Iterator[ObservationBlock]
) -> Iterator[tuple[ObservationBlock, ObservationBlock]]:
    """Yield the blocks of two passes, cut where either ends: of the same stretch of time."""
    one, other = next(measured, None), next(simulated, None)
    while one is not None and other is not None:
        end = min(_end(one), _end(other))
        (first, one), (second, other) = _cut(one, end), _cut(other, end)
        yield first, second
        one = one if _has_rows(one) else next(measured, None)
        other = other if _has_rows(other) else next(simulated, None)


def _end(block: ObservationBlock) -> tuple[int, int]:
    """Return recording and last sample of a block, which may be empty."""
    last = max((int(rows.samples[-1]) for rows in block.joints if rows.samples.size), default=-1)
    return block.bag, last


def _has_rows(block: ObservationBlock) -> bool:
    return any(rows.samples.size for rows in block.joints)


def _cut(
    block: ObservationBlock, end: tuple[int, int]
) -> tuple[ObservationBlock, ObservationBlock]:
    """Return what a block has up to a sample of a recording, and what it has after it."""
    bag, last = end
    edge = last if block.bag == bag else (np.inf if block.bag < bag else -1)
    before, after = [], []
    for rows in block.joints:
        at = int(np.searchsorted(rows.samples, edge, 'right'))
        before.append(JointRows(rows.table[:at], rows.load[:at], rows.samples[:at]))
        after.append(JointRows(rows.table[at:], rows.load[at:], rows.samples[at:]))
    return (
        ObservationBlock(block.bag, block.part, tuple(before)),
        ObservationBlock(block.bag, block.part, tuple(after)),
    )


def _ranks(data: Sequence[TrainingData]) -> list[IntArray]:
    """Return the place of every sample among all those taken."""
    ranks: list[IntArray] = []
    before = 0
    for part in data:
        ranks.append(before + np.maximum(np.cumsum(part.rows) - 1, 0))
        before += int(part.rows.sum())
    return ranks
