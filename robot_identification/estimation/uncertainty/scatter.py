# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Scatter of the scores of an estimate over windows of time.

The score of some rows is ``W' (tau - W theta)``: what they would have the estimate change. Sums of
scores over windows that are longer than the memory of the noise are as good as independent, and
their scatter is that of the estimate.

References
----------
.. [1] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
   multi-stage samples", Survey Methodology 28(2), 2002.
.. [2] E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson, "HAR inference: recommendations for
   practice", J. Business and Economic Statistics 36(4), 2018.

"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
import math

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Blocks, IdentificationProblem, stack_factors
from robot_identification.estimation.rows import TIME_BLOCKS
from robot_identification.estimation.solving import RANK_TOLERANCE
from robot_identification.validation import autocovariance, correlation_distance, MOST_FREEDOM
import scipy

# A window as long as this many correlation distances misses a twentieth of the variance.
DISTANCES_IN_WINDOW = 20.0
# At least this many windows in the data: fewer say nothing of their scatter.
FEWEST_WINDOWS = 6
# Of the square root of the number of samples, by simulation the best trade of bias and scatter
# where nothing is known [2].
WINDOW_PER_ROOT = 1.3
# Most that the variance of a parameter is raised for what the fit takes of the noise: beyond,
# the windows do not tell it.
LARGEST_CORRECTION = 20.0
# Parts of a period at most: every 5 ms of 100 s.
MOST_PHASES = 20000


class TooFewBlocksError(UsageError):
    """A recording that is too short to see how estimates scatter over parts of it."""


def problem_of(estimate: Estimate) -> IdentificationProblem:
    """Return the problem behind an estimate; raise UsageError if it has none."""
    if estimate.problem is None:
        raise UsageError('the estimate does not have its problem: no covariance follows from it')
    return estimate.problem


def held_by_bounds(estimate: Estimate) -> BoolArray:
    """Return which base parameters a bound holds, shape (b,)."""
    if not len(estimate.active):
        return np.zeros(len(estimate.theta), dtype=bool)
    return estimate.active


def choose_lag(residuals: Sequence[FloatArray]) -> int:
    """
    Return over how many samples residuals (N, n) of each recording are taken as correlated.

    They are zero at samples left out.
    """
    samples = sum(int(np.count_nonzero(np.any(r != 0.0, axis=1))) for r in residuals)
    lags = 2 * longest_lag(samples)
    return lag_of_products(
        np.sum([autocovariance(residual, lags) for residual in residuals], axis=0), samples
    )


def longest_lag(samples: int) -> int:
    """Return over how many of some samples residuals are taken as correlated at most."""
    return max(samples // FEWEST_WINDOWS, 1)


def lag_of_products(products: FloatArray, samples: int) -> int:
    """
    Return the lag of `choose_lag` from sums of products of residuals, (n, lags + 1).

    These are autocovariances of so many samples, up to twice the longest lag or more.
    """
    longest = longest_lag(samples)
    distance = max(
        correlation_distance(of_joint[: 2 * longest + 1], samples) for of_joint in products
    )
    wanted = max(
        4.0 * (samples / 100.0) ** (2.0 / 9.0),
        WINDOW_PER_ROOT * math.sqrt(samples),
        DISTANCES_IN_WINDOW * distance,
    )
    return int(min(math.ceil(wanted), longest))


def blocks_in_window(count: int) -> int:
    """Return how many neighbouring ones of `count` blocks make a batch: the third root."""
    return max(int(np.cbrt(count) + 1e-9), 1)


class Coordinates:
    """
    Coordinates x of the f free unknowns, ``theta_free = root @ x``, with a unit problem matrix.

    Everything is computed in them: no normal equations of the problem itself are formed. `weights`
    (n,) are factors on the rows of each joint [1 / N m], `noise` (n,) the variances of these rows;
    ``root @ root.T`` is the covariance under unit noise. `prior` (r, f) are the rows of the prior
    in the coordinates. Raises RankDeficientError if the problem does not determine the free
    unknowns.
    """

    def __init__(self, estimate: Estimate, weights: FloatArray) -> None:
        self.estimate, self.problem = estimate, problem_of(estimate)
        self.weights = weights
        self.theta = np.append(estimate.theta, estimate.nuisance)
        held = np.append(held_by_bounds(estimate), np.zeros(self.problem.nuisance, dtype=bool))
        self.free = np.flatnonzero(~held)
        self.noise = (weights * estimate.sigma) ** 2
        R, _ = self.problem.stacked(weights)
        prior = estimate.prior
        rows = np.zeros((0, self.problem.size)) if prior is None else prior.matrix
        matrix = np.vstack([R, rows])[:, self.free]
        scale = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
        triangle = np.linalg.qr(matrix / scale, mode='r')
        singular = np.linalg.svd(triangle, compute_uv=False)
        if singular.size and not singular[-1] > RANK_TOLERANCE * singular[0]:
            raise RankDeficientError(
                'the data do not determine every base parameter (smallest over largest singular '
                f'value {singular[-1] / singular[0]:.1e}, at least {RANK_TOLERANCE:.0e} is '
                'needed), so that errors mean nothing: leave out what they do not show'
            )
        self.root: FloatArray = (
            scipy.linalg.solve_triangular(triangle, np.eye(len(self.free))) / scale[:, None]
        )
        self.prior: FloatArray = rows[:, self.free] @ self.root

    @property
    def size(self) -> int:
        """Return the number of free unknowns."""
        return len(self.free)

    def map_of_scores(self) -> FloatArray:
        """Return the matrix (size of the problem, f) that takes scores to the coordinates."""
        found = np.zeros((self.problem.size, self.size))
        found[self.free] = self.root
        return found

    def place(self, matrix: FloatArray) -> FloatArray:
        """Return a covariance of the free unknowns as one of the base parameters, (b, b)."""
        b = self.problem.reduction.rank
        whole = np.zeros((self.problem.size, self.problem.size))
        whole[np.ix_(self.free, self.free)] = matrix
        return whole[:b, :b]


class BlockScores:
    """
    Scores and information of blocks of a problem, in some coordinates.

    ``R_b' (z_b - R_b theta)``, (B, f), and ``R_b' R_b``, (B, f, f). Raises TooFewBlocksError if
    there are fewer than two blocks.
    """

    def __init__(self, coordinates: Coordinates, parts: Blocks) -> None:
        problem = coordinates.problem
        if len(parts) < 2:
            raise TooFewBlocksError(
                'the scatter over blocks of time needs two or more, the problem has '
                f'{len(parts)}: record longer'
            )
        self._coordinates = coordinates
        count, f = len(parts), coordinates.size
        self.scores = np.empty((count, f))
        self.information = np.empty((count, f, f))
        self._noisy = np.empty((count, f, f))
        for number, block in enumerate(parts):
            R, z = stack_factors(block, coordinates.weights, problem.size)
            rows = R[:, coordinates.free] @ coordinates.root
            noise = np.repeat(coordinates.noise, [len(factor.triangle) for factor in block])
            self.scores[number] = rows.T @ (z - R @ coordinates.theta)
            self.information[number] = rows.T @ rows
            self._noisy[number] = (rows.T * noise) @ rows

    def geometry(self, window: float) -> tuple[FloatArray, FloatArray]:
        """
        Return what to make of the scatter of scores over windows of so many blocks [1]_.

        The residuals lack what the fit took of the noise, and more so in blocks that carry much of
        the information. What that makes of the scatter follows for white noise of every joint;
        what happens within the band of the motion hardly depends on the noise being white. First
        is the variance of each free unknown over the expected scatter, (f,), then the degrees of
        freedom of a chi-square variable with the mean and variance of the scatter, (f,).
        """
        coordinates = self._coordinates
        root, prior = coordinates.root, coordinates.prior
        count = len(self.scores)
        apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
        kernel = np.maximum(1.0 - apart / window, 0.0)
        noisy = self._noisy @ root.T
        seen = self.information @ root.T
        meat = self._noisy.sum(axis=0) + prior.T @ prior
        correction, freedom = np.empty(coordinates.size), np.empty(coordinates.size)
        for i in range(coordinates.size):
            own = noisy[:, :, i] @ root[i]
            cross = noisy[:, :, i] @ seen[:, :, i].T
            scatter = np.diag(own) - cross - cross.T + seen[:, :, i] @ meat @ seen[:, :, i].T
            product = kernel @ scatter
            expected = np.trace(product)
            scatter_squares = np.sum(product * product.T)
            # Without noise at all, any of it would do.
            full = max(float(own.sum()), float(np.finfo(float).tiny))
            correction[i] = full / max(expected, full / LARGEST_CORRECTION)
            ratio = expected**2 / scatter_squares if scatter_squares > 0.0 else 1.0
            freedom[i] = np.clip(ratio, 1.0, MOST_FREEDOM)
        return correction, freedom


def divided(problem: IdentificationProblem) -> IdentificationProblem:
    """Return a problem with its blocks of time, if it has some or has rows."""
    if problem.blocks or problem.observations is None:
        return problem
    observations = copy(problem.observations)
    observations.time_blocks = TIME_BLOCKS
    return observations.factor()


class WindowSums:
    """
    Sum of the outer products of all sums over `length` consecutive samples, ends included.

    Divided by `length` this is Newey and West's sum with Bartlett's weights; `finish` returns it,
    (size, size).
    """

    def __init__(self, size: int, length: int) -> None:
        self._total = np.zeros((size, size))
        self._length = length
        self._tail = np.zeros((0, size))
        self._next = 0

    def add(self, first: int, scores: FloatArray) -> None:
        """Go on with the scores of samples from number `first`; those left out count as zero."""
        missing = first - self._next if len(self._tail) else 0
        if missing >= self._length:
            self._end()
        elif missing > 0:
            self._take(np.zeros((missing, scores.shape[1])))
        self._take(scores)
        self._next = first + len(scores)

    def finish(self) -> FloatArray:
        """Return the sum of a recording, to which nothing is added any more."""
        self._end()
        return self._total

    def _end(self) -> None:
        if len(self._tail):
            self._take(np.zeros((self._length - 1, self._tail.shape[1])))
        self._tail = self._tail[:0]

    def _take(self, scores: FloatArray) -> None:
        rows = np.vstack([self._tail, scores])
        sums = moving_sums(rows, self._length)[len(self._tail):]
        self._total += sums.T @ sums
        self._tail = rows[max(len(rows) - self._length + 1, 0):]


class PhaseSums:
    """
    The same for a motion that repeats itself: windows of its period, with all its repetitions.

    `stamps` (N,) are those of the recording [s], `period` [s] and `rate` [Hz] those of the motion.
    """

    def __init__(
        self, size: int, length: int, stamps: FloatArray, period: float, rate: float
    ) -> None:
        self._stamps, self._period = stamps, period
        samples = max(round(period * rate), 1)
        self._scores = np.zeros((min(samples, MOST_PHASES), size))
        self._length = length
        self._width = min(max(round(length * len(self._scores) / samples), 1), len(self._scores))

    def add(self, first: int, scores: FloatArray) -> None:
        """Go on with the scores of samples from number `first`."""
        t = self._stamps[first: first + len(scores)] - self._stamps[0]
        phase = (t % self._period / self._period * len(self._scores)).astype(np.intp)
        np.add.at(self._scores, phase, scores)

    def finish(self) -> FloatArray:
        """Return the sum of a recording, whose last window goes on at the start of the period."""
        width = self._width
        rows = np.vstack([self._scores[len(self._scores) - width + 1:], self._scores])
        sums = moving_sums(rows, width)[width - 1:]
        found: FloatArray = sums.T @ sums * (self._length / width)
        return found


def moving_sums(rows: FloatArray, length: int) -> FloatArray:
    """Return the sums of the last `length` rows up to each, fewer at the start."""
    sums = np.cumsum(rows, axis=0)
    sums[length:] -= sums[:-length].copy()
    return sums
