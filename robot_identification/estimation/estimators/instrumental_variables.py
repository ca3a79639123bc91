# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Instrumental variables: rows along the smooth motion behind the recorded one, without its noise.

An arm whose drives know its model follows that motion with any parameters. Of a motion that
repeats itself it is a Fourier series, in which the noise of all samples shares a few numbers;
of others a spline with knots much farther apart than samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby
from typing import ClassVar

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.problem import (
    Blocks, combine_factors, IdentificationProblem, Observations, stack_factors, TriangularFactor,
)
from robot_identification.estimation.rows import (
    count_time_blocks, ObservationBlock, QRAccumulator,
)
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
        instruments = observations.changed(data=data)
        passes, change = 0, np.inf
        while passes < self.iterations and change > self.tolerance:
            passes += 1
            blocks, samples = gather_instruments(problem, instruments, theta)
            problem = replace(problem, samples=samples)
            before = theta
            for _ in range(self.reweightings + 1):
                theta, projected = solve_along(problem, blocks, weights)
                weights = residual_weights(projected, theta)
            theta, projected = solve_along(problem, blocks, weights)
            change = relative_change(problem, weights, before, theta)
        if change > self.tolerance:
            notes.append(
                f'the estimate still changed by {change:.1e} of its size in pass '
                f'{passes}, {self.tolerance:.0e} was asked for'
            )
        return replace(
            describe_estimate(replace(projected, observations=instruments), weights, theta),
            passes=1 + 2 * passes,
            notes=tuple(notes),
        )


def gather_instruments(
    problem: IdentificationProblem, instruments: Observations, theta: FloatArray
) -> tuple[Blocks, IntArray]:
    """
    Pass over smooth and measured rows of the same samples, under the load of `theta` (size,).

    The factors are of ``[Z_j W_j tau_j]``, block by block of time. Their unknowns are those of Z,
    then those of the problem. Second are the rows of each joint, (n,).
    """
    observations = need_motions(problem, 'iv')
    accumulators = [
        [
            QRAccumulator(2 * len(observations.columns(joint)) + 1)
            for _ in range(count_time_blocks(observations.duration, observations.time_blocks))
        ]
        for joint in range(problem.n)
    ]
    passes = merge(observations.blocks(), instruments.blocks(), key=_place)
    for _, both in groupby(passes, _place):
        pair = list(both)
        if len(pair) < 2:
            continue
        measured, smooth = pair
        labels = observations.label_blocks(measured.bag, measured.part)
        for joint, (one, other) in enumerate(zip(measured.joints, smooth.joints, strict=True)):
            # Of rows that were chosen by their speed, those that both chose.
            common, here, there = np.intersect1d(
                one.samples, other.samples, assume_unique=True, return_indices=True
            )
            table = np.hstack([
                instruments.matrix(joint, other, theta)[there],
                observations.matrix(joint, one, theta)[here],
                one.tau[here, None],
            ])
            blocks = labels.by_time(common)
            for number in np.unique(blocks):
                accumulators[joint][number].add(table[blocks == number])
    factors = []
    for joint, of_joint in enumerate(accumulators):
        columns = observations.columns(joint)
        twice = np.append(columns, problem.size + columns)
        factors.append([TriangularFactor(twice, one.triangle()) for one in of_joint])
    return tuple(zip(*factors, strict=True)), np.array([
        sum(one.count for one in of_joint) for of_joint in accumulators
    ])


def _place(block: ObservationBlock) -> tuple[int, int]:
    """Return which stretch of time a block is of."""
    return block.bag, block.start


def solve_along(
    problem: IdentificationProblem, blocks: Blocks, weights: FloatArray
) -> tuple[FloatArray, IdentificationProblem]:
    """
    Return the unknowns (size,) at which weighted residuals have no part along the instruments.

    With ``Z = Q R`` that is ``Q' W theta = Q' tau``, a square system. Second is the least-squares
    problem with the same solution, residuals and scores: its rows are the part of the measured
    rows along the instruments, ``Z C`` with ``C = R^-1 Q' W``, and their torque is that of the
    estimate there and its residual. The covariance that follows is ``(Z'W)^-1 Z'Z (W'Z)^-1``.
    Raises RankDeficientError if the instruments do not determine the unknowns.
    """
    size = problem.size
    factors = [combine_factors(of_joint) for of_joint in zip(*blocks, strict=True)]
    rows, tau = stack_factors(factors, weights, 2 * size)
    scale = np.linalg.norm(rows[:, :size], axis=0)
    try:
        if not np.all(scale > 0.0):
            raise np.linalg.LinAlgError
        triangle = triangle_of(np.column_stack([rows[:, :size] / scale, rows[:, size:], tau]))
        R, along = triangle[:size, :size], triangle[:size, size:]
        if np.abs(np.diag(R)).min(initial=1.0) < RANK_TOLERANCE:
            raise np.linalg.LinAlgError
        theta = least_squares(along[:, :-1], along[:, -1])
    except np.linalg.LinAlgError as error:
        raise RankDeficientError(
            'the smooth motion determines fewer parameters than there are: record a richer '
            'motion, or choose --estimator wls'
        ) from error
    C = scipy.linalg.solve_triangular(R, along[:, :-1]) / scale[:, None]
    return theta, replace(
        problem,
        factors=_project(factors, C, theta),
        blocks=tuple(_project(block, C, theta) for block in blocks) if problem.blocks else (),
        phases=(),
    )


def _project(
    factors: Sequence[TriangularFactor], C: FloatArray, theta: FloatArray
) -> tuple[TriangularFactor, ...]:
    """Return factors in all unknowns of rows along the instruments; see `solve_along`."""
    projected = []
    for factor in factors:
        k = len(factor.columns) // 2
        columns = factor.columns[:k]
        matrix = factor.triangle[:, :k] @ C[columns]
        residual = factor.triangle[:, -1] - factor.triangle[:, k:-1] @ theta[columns]
        rows = np.column_stack([matrix, residual + matrix @ theta])
        projected.append(TriangularFactor(np.arange(len(theta)), triangle_of(rows)))
    return tuple(projected)


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
