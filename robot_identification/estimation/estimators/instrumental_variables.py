# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Instrumental variables: rows along the smooth motion behind the recorded one, without its noise.

An arm whose drives know its model follows that motion with any parameters. Of a motion that
repeats itself it is a Fourier series, in which the noise of all samples shares a few numbers;
of others a spline with knots much farther apart than samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, TriangularFactor,
)
from robot_identification.estimation.rows import count_time_blocks, ObservationBlock
from robot_identification.estimation.solving import (
    describe_estimate, FIRST_REWEIGHTINGS, least_squares, need_motions, RANK_TOLERANCE,
    relative_change, renew_weights, residual_weights, solve_unknowns,
)
from robot_identification.model import Motion
from robot_identification.processing import Dataset, find_periodic_motion, NotPeriodicError
import scipy

# Of the splines: accelerations are smooth.
DEGREE = 5
# A knot needs so many samples, at any sampling rate.
SAMPLES_PER_KNOT = 4


@dataclass(frozen=True)
class InstrumentalVariables(Estimator):
    r"""
    Solve :math:`Z^T (\tau - W \theta) = 0` with instruments Z that do not share the noise [1]_.

    Least squares take the noise of measured velocities and accelerations for motion, and come out
    too small. Z is the observation matrix of the smooth motion behind the recorded one, which an
    arm under control follows, and of the load of the current estimate; joints are weighted by
    their residuals. It is renewed until the estimate stays.

    References
    ----------
    .. [1] A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for
       industrial robot identification", IEEE Transactions on Control Systems Technology 22(1),
       2014.

    """

    needs_rows: ClassVar[bool] = True
    iterations: int = 5  # passes at most
    tolerance: float = 1.0e-3  # relative change of the estimate at which they end
    # Between the knots of the splines that a motion without period is smoothed by [s].
    knot_spacing: float = 0.2
    reweightings: int = 3  # how often the joints' weights are renewed, in each pass

    def __post_init__(self) -> None:
        check_count(self.iterations, 1, 'iterations of iv')
        check_positive(self.tolerance, 'tolerance of iv')
        check_positive(self.knot_spacing, 'knot_spacing of iv [s]')
        check_count(self.reweightings, 0, 'reweightings of iv')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with instruments; see `Estimator.estimate`."""
        observations = need_motions(problem, 'iv')
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        theta = solve_unknowns(problem, weights)
        data, notes = [], []
        for part in observations.data:
            motion, description = smooth_motion(part.dataset, part.rows, self.knot_spacing)
            data.append(replace(part, dataset=replace(part.dataset, motion=motion)))
            notes.append(f'instruments of {part.dataset.source} follow {description}')
        instruments = observations.with_data(data)
        passes, change = 0, np.inf
        while passes < self.iterations and change > self.tolerance:
            passes += 1
            rows = gather_instruments(problem, instruments, theta)
            before = theta
            for _ in range(self.reweightings + 1):
                theta = rows.solve(weights)
                weights = residual_weights(rows.project(weights, theta), theta)
            theta = rows.solve(weights)
            change = relative_change(problem, weights, before, theta)
        if change > self.tolerance:
            notes.append(
                f'the estimate still changed by {change:.1e} of its size in pass '
                f'{passes}, {self.tolerance:.0e} was asked for'
            )
        return replace(
            describe_estimate(rows.project(weights, theta), weights, theta),
            passes=1 + 2 * passes,
            notes=tuple(notes),
        )


@dataclass(frozen=True, eq=False)
class InstrumentRows:
    """
    Instruments and measured rows of every joint, as triangular factors.

    For contiguous parts of time, and each joint with k unknowns, `blocks` holds the upper
    triangular factor (2 k + 1, 2 k + 1) of ``[Z_j W_j tau_j]``.
    """

    problem: IdentificationProblem
    instruments: Observations  # rows along the smooth motion
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
    'the smooth motion determines fewer parameters than there are: record a richer motion, or '
    'choose --estimator wls'
)


def gather_instruments(
    problem: IdentificationProblem, instruments: Observations, theta: FloatArray
) -> InstrumentRows:
    """
    Pass over measured and smooth rows of the same samples.

    Their load is that of `theta`; the time is cut into as many parts as the problem has blocks.
    """
    observations = need_motions(problem, 'iv')
    n = problem.n
    columns = tuple(observations.columns(joint) for joint in range(n))
    blocks = [
        [np.zeros((2 * len(own) + 1,) * 2) for own in columns]
        for _ in range(count_time_blocks(observations.duration, observations.time_blocks))
    ]
    samples = np.zeros(n, dtype=int)
    for measured, smooth in _pairs(observations.blocks(), instruments.blocks()):
        labels = observations.label_blocks(measured.bag, measured.part)
        for joint in range(n):
            one, other = measured.joints[joint], smooth.joints[joint]
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
            part = labels.by_time(common)
            for number in np.unique(part):
                blocks[number][joint] = triangle_of(np.asfortranarray(
                    np.vstack([blocks[number][joint], table[part == number]])
                ))
    return InstrumentRows(
        problem, instruments, columns, tuple(tuple(block) for block in blocks), samples
    )


def _pairs(
    measured: Iterator[ObservationBlock], smooth: Iterator[ObservationBlock]
) -> Iterator[tuple[ObservationBlock, ObservationBlock]]:
    """Yield the blocks of two passes that are of the same stretch of time."""
    other = next(smooth, None)
    for one in measured:
        while other is not None and (other.bag, other.start) < (one.bag, one.start):
            other = next(smooth, None)
        if other is not None and (other.bag, other.start) == (one.bag, one.start):
            yield one, other


def smooth_motion(
    dataset: Dataset, rows: BoolArray, knot_spacing: float
) -> tuple[Motion, str]:
    """
    Return the smooth motion behind a recorded one at all N samples, and what it is in words.

    A period is looked for in all samples that may be estimated from, not `rows` alone: positions
    that are left out in order to test a model are no secret, torques are. Elsewhere knots of
    splines are `knot_spacing` apart [s].
    """
    motion = dataset.motion
    q, dq, ddq = (allocate(motion.q.shape) for _ in range(3))
    smooth = Motion(q, dq, ddq, motion.temperature, starts=motion.starts)
    try:
        periodic = find_periodic_motion(dataset.stamps, motion.q, rows | dataset.fitted)
    except NotPeriodicError:
        follows, description = np.zeros(len(dataset), dtype=bool), ''
    else:
        # Samples that are not estimated from are part of the motion, too.
        follows = periodic.is_followed(dataset.stamps, motion.q)
        description = (
            f'a Fourier series of {periodic.harmonics} harmonics and period '
            f'{periodic.series.period:.6g} s'
        )
        for order, values in enumerate((q, dq, ddq)):
            values[follows] = periodic.series.evaluate(dataset.stamps[follows], order)
    if not np.all(follows | ~rows):
        description += (', and ' if description else '') + (
            f'splines with knots {knot_spacing:g} s apart'
        )
    for segment in dataset.segments:
        for part in _runs(~follows, segment):
            q[part], dq[part], ddq[part] = fit_spline(
                dataset.stamps[part], motion.q[part], knot_spacing
            )
    return smooth, description


def fit_spline(
    t: FloatArray, q: FloatArray, knot_spacing: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return the least-squares spline of positions (N, n) at times (N,) [s], and its derivatives.

    Knots are at least `knot_spacing` apart [s]; it is at rest where there are too few samples.
    """
    times, first = np.unique(t, return_index=True)
    if len(times) <= 2 * DEGREE:
        rest = np.broadcast_to(q.mean(axis=0), q.shape)
        return rest.copy(), np.zeros(q.shape), np.zeros(q.shape)
    rate = (len(times) - 1) / (times[-1] - times[0])
    step = max(round(knot_spacing * rate), SAMPLES_PER_KNOT)
    # At samples, so that each piece has some of them.
    inner = times[step: len(times) - step: step]
    knots = np.concatenate([
        np.full(DEGREE + 1, times[0]), inner, np.full(DEGREE + 1, times[-1])
    ])
    spline = scipy.interpolate.make_lsq_spline(times, q[first], knots, k=DEGREE)
    return spline(t), spline(t, 1), spline(t, 2)


def _runs(chosen: BoolArray, segment: slice) -> list[slice]:
    """Return the consecutive samples of a segment that are chosen."""
    inside = np.concatenate([[False], chosen[segment], [False]])
    edges = segment.start + np.flatnonzero(np.diff(inside))
    return [slice(first, last) for first, last in zip(edges[::2], edges[1::2], strict=True)]
