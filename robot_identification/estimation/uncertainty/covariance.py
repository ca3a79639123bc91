# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Covariances of an estimate, one function a kind, all from the estimate itself.

Residuals of a robot are correlated in time, so that errors which count every sample as a new
piece of evidence come out several times too small. What is done about it: the scatter of the
scores over windows of time [1]_ [2]_, corrected for the part of the noise that the fit itself
takes away and stated with degrees of freedom [3]_, so that intervals cover what they promise
(docs/identification.md).

References
----------
.. [1] W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and
   autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.
.. [2] M. S. Meketon, B. Schmeiser, "Overlapping batch means: something for nothing?", Winter
   Simulation Conference, 1984.
.. [3] R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
   multi-stage samples", Survey Methodology 28(2), 2002.

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
import math
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Blocks, Observations
from robot_identification.estimation.rows import ObservationBlock
from robot_identification.estimation.uncertainty.scatter import (
    blocks_in_window, BlockScores, Coordinates, divided, held_by_bounds, lag_of_products,
    LARGEST_CORRECTION, longest_lag, moving_sums, PhaseSums, problem_of,
    TooFewBlocksError, WindowSums,
)
from robot_identification.validation import autocovariance, MOST_FREEDOM

# A note lists no more names than this.
MOST_NAMES = 8
# Relative difference of squared residuals by which rows are distinguished from weighted ones.
SAME_ROWS = 1.0e-6
# Squared residuals below this part of the squared torque are rounding.
ROUNDING = 1.0e-20


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance of the base parameters of an estimate."""

    kind: str  # key of COVARIANCES
    matrix: FloatArray  # (b, b): covariance; zero for parameters held by a bound
    freedom: FloatArray  # (b,): degrees of freedom of Student's t for each parameter
    # (b,): parameters held by a bound: their error is to one side and is not stated.
    held: BoolArray
    # Time over which residuals were taken as correlated [s]; 0 if that was not looked at.
    window: float = 0.0
    notes: tuple[str, ...] = ()  # what a reader should know

    @property
    def standard_errors(self) -> FloatArray:
        """Return the standard errors, shape (b,); NaN for parameters held by a bound."""
        errors: FloatArray = np.sqrt(np.diag(self.matrix))
        return np.where(self.held, np.nan, errors)

    @property
    def correlation(self) -> FloatArray:
        """Correlation matrix, shape (b, b); NaN for parameters without error."""
        errors = np.sqrt(np.diag(self.matrix))
        known = np.where(errors > 0.0, errors, np.nan)
        correlation: FloatArray = self.matrix / known / known[:, None]
        return correlation


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """Sums of residuals, which are zero at samples left out."""

    squares: FloatArray  # of each joint, (n,) [(N m)^2]
    products: FloatArray  # autocovariance, (n, lags + 1)
    samples: int  # their number


def covariance_of(estimate: Estimate, kind: str | None = None) -> Covariance:
    """
    Return the covariance of an estimate, which must have its problem.

    `kind` is a key of COVARIANCES; by default 'hac' where the rows that were solved are there,
    else 'blocks', or 'residual' if the data cannot be divided. Raises UsageError if the kind is
    unknown, or needs data that the estimate does not have.
    """
    if kind is None:
        return _best_covariance(estimate)
    if kind not in COVARIANCES:
        raise UsageError(
            f'unknown kind of covariance {kind!r}: known are {", ".join(COVARIANCES)}'
        )
    return COVARIANCES[kind](estimate)


def _best_covariance(estimate: Estimate) -> Covariance:
    observations = problem_of(estimate).observations
    try:
        if observations is not None and not estimate.weighted:
            seen = _sum_residuals(estimate, observations)
            if _are_solved(estimate, seen):
                return hac_covariance(estimate, seen=seen)
        return blocks_covariance(estimate)
    except TooFewBlocksError as error:
        white = residual_covariance(estimate)
        return replace(white, notes=(str(error), *white.notes))


def residual_covariance(estimate: Estimate) -> Covariance:
    """Return the covariance that white residuals of the size seen would have."""
    problem = problem_of(estimate)
    freedom = float(max(int(problem.samples.sum()) - problem.size, 1))
    return Covariance(
        'residual',
        estimate.covariance,
        np.full(len(estimate.theta), freedom),
        held_by_bounds(estimate),
        notes=('residuals were taken as white, which those of robots are not', *_notes(estimate)),
    )


def blocks_covariance(estimate: Estimate) -> Covariance:
    """
    Return the covariance by the scatter of the scores over blocks of time.

    The factors of the blocks are all that is needed; overlapping windows of about the third root
    of their number serve as batches [2]_. Where a motion repeats itself, errors are at least those
    by parts of its period: the errors of a model come back with the motion. Raises
    TooFewBlocksError below two blocks.
    """
    problem = divided(problem_of(estimate))
    coordinates, observations = Coordinates(estimate, estimate.weights), problem.observations
    # The time is not known where rates are not.
    duration, distinct = (math.nan, math.nan) if observations is None else (
        observations.duration, observations.distinct_duration
    )
    found = _blocks_covariance(coordinates, problem.blocks, duration)
    if not problem.phases:
        return found
    return _raised(found, _blocks_covariance(coordinates, problem.phases, distinct))


def _blocks_covariance(coordinates: Coordinates, parts: Blocks, duration: float) -> Covariance:
    """Return the covariance by blocks that take a time [s]."""
    blocks = BlockScores(coordinates, parts)
    length = blocks_in_window(len(blocks.scores))
    window = np.vstack([blocks.scores, np.zeros((length - 1, coordinates.size))])
    sums = moving_sums(window, length)
    return _assemble(
        'blocks', coordinates, sums.T @ sums / length, blocks.geometry(float(length)),
        length * duration / len(blocks.scores),
    )


def _raised(found: Covariance, least: Covariance) -> Covariance:
    """Return a covariance with each parameter's error raised to that of another one."""
    variance, other = np.diag(found.matrix), np.diag(least.matrix)
    larger = other > variance
    scale = np.sqrt(np.divide(other, variance, out=np.ones_like(other), where=variance > 0.0))
    scale = np.where(larger, scale, 1.0)
    return replace(
        found,
        matrix=found.matrix * scale * scale[:, None],
        freedom=np.where(larger, least.freedom, found.freedom),
        notes=tuple(dict.fromkeys((*found.notes, *least.notes))),
    )


def hac_covariance(
    estimate: Estimate,
    *,
    lag: int | None = None,
    seen: ResidualSums | None = None,
) -> Covariance:
    """
    Return the covariance that holds for residuals correlated in time and between joints [1]_.

    Scores of all joints are added sample by sample, so that what joints share at the same time
    counts; their products over fewer than `lag` samples get Bartlett's weights. By default that is
    the largest of Newey and West's rule, 1.3 root N and twenty correlation distances of the
    residuals, at most a sixth of the data. Where a motion repeats itself, errors are at least
    those by scores that are added over its repetitions first: the errors of a model come back with
    the motion. Raises UsageError if there are no observations, or they are not the rows that were
    solved.
    """
    problem = problem_of(estimate)
    observations = problem.observations
    if observations is None:
        raise UsageError(
            "covariance 'hac' needs the recordings themselves, not only their factors: take "
            "'blocks'"
        )
    seen = seen or _sum_residuals(estimate, observations)
    if not _are_solved(estimate, seen):
        raise UsageError(
            "covariance 'hac' needs the weights that the estimator gave to rows: take 'blocks'"
        )
    coordinates, blocks = Coordinates(estimate, estimate.weights), divided(problem)
    found = _hac_covariance(coordinates, blocks.blocks, lag, seen, by_phase=False)
    if not blocks.phases:
        return found
    return _raised(found, _hac_covariance(coordinates, blocks.phases, lag, seen, by_phase=True))


def _hac_covariance(
    coordinates: Coordinates, parts: Blocks, lag: int | None, seen: ResidualSums, *,
    by_phase: bool,
) -> Covariance:
    """Return the covariance by windows of time, or of the period of a motion, and its blocks."""
    estimate, problem = coordinates.estimate, coordinates.problem
    observations = problem.observations
    assert observations is not None
    samples, duration = int(problem.samples.max()), observations.duration
    share = 1.0
    if by_phase:
        share = observations.distinct_duration / duration
        samples, duration = max(round(samples * share), 1), observations.distinct_duration
    if lag is None:
        lag = lag_of_products(seen.products, max(round(seen.samples * share), 1))
    length = min(lag + 1, samples)
    total = np.sum(list(observations.collect(partial(
        _sum_windows, length=length, by_phase=by_phase, scores_of=_ScoreMap(
            coordinates.theta, estimate.weights, coordinates.map_of_scores()
        ),
    ))), axis=0)
    blocks = BlockScores(coordinates, parts)
    in_window = length * len(blocks.scores) / samples
    correction, freedom = blocks.geometry(max(in_window, 1.0))
    if in_window < 1.0:
        # A window shorter than a block loses less to the fit, and there are more of them.
        correction = 1.0 / (1.0 - (1.0 - 1.0 / correction) * in_window)
        freedom = freedom / in_window
    return _assemble(
        'hac', coordinates, total / length, (correction, freedom), length * duration / samples
    )


COVARIANCES: Mapping[str, Callable[[Estimate], Covariance]] = {
    'residual': residual_covariance,
    'hac': hac_covariance,
    'blocks': blocks_covariance,
}


class _ScoreMap(NamedTuple):
    """Map from the rows of recordings to scores in coordinates."""

    theta: FloatArray  # (size,): unknowns
    weights: FloatArray  # (n,): of the rows of each joint
    matrix: FloatArray  # (size, f): from scores to coordinates


def _sum_windows(
    observations: Observations, *, scores_of: _ScoreMap, length: int, by_phase: bool
) -> FloatArray:
    """Return the sum over windows of the products of the scores in coordinates, (f, f)."""
    total = np.zeros((scores_of.matrix.shape[1],) * 2)
    sums: WindowSums | PhaseSums | None = None
    bag = -1
    for block in observations.blocks():
        if sums is None or block.bag != bag:
            total += 0.0 if sums is None else sums.finish()
            bag = block.bag
            part = block.part
            sums = PhaseSums(
                len(total), length, part.dataset.stamps, part.period, part.dataset.rate
            ) if by_phase and part.period is not None else WindowSums(len(total), length)
        first, scores = _scores(block, observations, scores_of.theta, scores_of.weights)
        sums.add(first, scores @ scores_of.matrix)
    return total if sums is None else total + sums.finish()


def _scores(
    block: ObservationBlock, observations: Observations, theta: FloatArray, weights: FloatArray
) -> tuple[int, FloatArray]:
    """Return the number of the first sample of a block, and the scores from it on, (m, size)."""
    taken = [rows.samples for rows in block.joints]
    first = min(int(samples[0]) for samples in taken)
    last = max(int(samples[-1]) for samples in taken)
    scores = np.zeros((last - first + 1, len(theta)))
    for joint, rows in enumerate(block.joints):
        matrix, columns = observations.matrix(joint, rows, theta), observations.columns(joint)
        residual = rows.tau - matrix @ theta[columns]
        factor = weights[joint] ** 2 * residual
        scores[np.ix_(rows.samples - first, columns)] += matrix * factor[:, None]
    return first, scores


def _assemble(
    kind: str,
    coordinates: Coordinates,
    meat: FloatArray,
    geometry: tuple[FloatArray, FloatArray],
    window: float,
) -> Covariance:
    """Return a covariance from the scatter of the scores, and its correction and freedom."""
    estimate, (correction, freedom) = coordinates.estimate, geometry
    scale = np.sqrt(correction)
    root = coordinates.root
    data = (root @ meat @ root.T) * scale * scale[:, None]
    of_prior = root @ (coordinates.prior.T @ coordinates.prior) @ root.T
    # The part that comes from the prior is known, not estimated.
    variance, known = np.diag(data), np.diag(of_prior)
    share = (variance + known) / np.maximum(variance, np.finfo(float).tiny)
    freedom = np.minimum(freedom * share**2, MOST_FREEDOM)
    notes = _notes(estimate)
    unclear = [
        coordinates.problem.reduction.names[unknown]
        for unknown, raised in zip(coordinates.free, correction, strict=True)
        if raised >= LARGEST_CORRECTION and unknown < len(estimate.theta)
    ]
    if unclear:
        notes += (f'the error of {", ".join(unclear)} is a guess: a single part of the recording '
                  'shows them',)
    return Covariance(
        kind,
        coordinates.place(data + of_prior),
        _of_all(estimate, coordinates, freedom),
        held_by_bounds(estimate),
        window,
        notes,
    )


def _sum_residuals(estimate: Estimate, observations: Observations) -> ResidualSums:
    """Return the sums of the residuals of an estimate over all recordings."""
    parts = list(observations.collect(partial(
        _residual_sums, theta=np.append(estimate.theta, estimate.nuisance),
        lags=2 * longest_lag(observations.samples),
    )))
    return ResidualSums(
        np.sum([part.squares for part in parts], axis=0),
        np.sum([part.products for part in parts], axis=0),
        sum(part.samples for part in parts),
    )


def _residual_sums(
    observations: Observations, *, theta: FloatArray, lags: int
) -> ResidualSums:
    """Return sums of the residuals of some recordings."""
    n = observations.robot.n
    squares, products, samples = np.zeros(n), np.zeros((n, lags + 1)), 0
    for _, blocks in groupby(observations.blocks(with_load=False), attrgetter('bag')):
        residual: FloatArray | None = None
        for block in blocks:
            effort, scale = block.part.dataset.effort, block.part.torque_per_effort
            if residual is None:
                residual = np.zeros(effort.shape)
            for joint, rows in enumerate(block.joints):
                matrix = observations.matrix(joint, rows, theta)
                residual[rows.samples, joint] = (
                    effort[rows.samples, joint] * scale[joint]
                    - matrix @ theta[observations.columns(joint)]
                )
        if residual is not None:
            squares += np.sum(residual**2, axis=0)
            products += autocovariance(residual, lags)
            samples += int(np.count_nonzero(np.any(residual != 0.0, axis=1)))
    return ResidualSums(squares, products, samples)


def _are_solved(estimate: Estimate, seen: ResidualSums) -> bool:
    """Return whether residuals are those of the rows that were solved, without weights."""
    problem = problem_of(estimate)
    expected = problem.squared_residuals(np.append(estimate.theta, estimate.nuisance))
    rounding = ROUNDING * problem.squared_torque
    return bool(np.all(np.abs(seen.squares - expected) <= SAME_ROWS * expected + rounding))


def _notes(estimate: Estimate) -> tuple[str, ...]:
    # What is known beforehand is held, too, and not at zero.
    held = held_by_bounds(estimate) & (estimate.theta == 0.0)
    if not held.any() or estimate.problem is None:
        return ()
    names = [estimate.problem.reduction.names[i] for i in np.flatnonzero(held)]
    listed = ', '.join(names) if len(names) <= MOST_NAMES else f'{len(names)} parameters'
    return (
        f'held by a bound: {listed}; their error is to one side and not stated, the others are '
        'as certain as if the bound were known',
    )


def _of_all(
    estimate: Estimate, coordinates: Coordinates, values: FloatArray
) -> FloatArray:
    """Return values of the free unknowns for every base parameter, 1 for those held."""
    whole = np.ones(coordinates.problem.size)
    whole[coordinates.free] = values
    return whole[: len(estimate.theta)]
