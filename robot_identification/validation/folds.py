# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Blocks for cross-validation, and what was tried on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.processing import Dataset
from robot_identification.validation.bag_errors import BagErrors
import scipy

# Chosen: four fifths of the samples are trained on.
FOLDS = 5
# Chosen: longer than filters and friction remember [s]; models state the errors with a wider gap.
GAP_SECONDS = 0.3
# One-sided confidence of a difference between candidates that is called sure.
SURE = 0.975
# Held-out residuals beyond so many times this quantile of their sizes are outliers; chosen: eight
# standard deviations of normal numbers, and a joint that rests most of the time has none.
OUTLIER, TYPICAL = 5.0, 0.9


@dataclass(frozen=True)
class Folds:
    """Held-out blocks: their number, all of equal size, and the time left out next to each [s]."""

    count: int = FOLDS
    gap: float = GAP_SECONDS

    def period_of(self, dataset: Dataset) -> float | None:
        """
        Return the period of which blocks are held out [s]; None where they are of the time.

        That is where a motion does not repeat itself, and where blocks of its period would be
        shorter than the gap, which leaves too little to train on.
        """
        period = dataset.period
        return None if period is None or period < self.count * self.gap else period

    def describe(self, datasets: Sequence[Dataset]) -> str:
        """Return in words which blocks of recordings are held out."""
        repeats = any(self.period_of(dataset) is not None for dataset in datasets)
        what = 'of the period, in all its repetitions' if repeats else 'of the training recording'
        return f'{self.count} contiguous blocks {what}, {self.gap:g} s apart'


def blocked_folds(
    stamps: FloatArray,
    fitted: BoolArray,
    folds: int = FOLDS,
    gap: float = GAP_SECONDS,
    period: float | None = None,
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """
    Yield training and held-out rows (N,) of contiguous blocks of equal size.

    `stamps` (N,) increase [s]; both results are disjoint parts of `fitted` (N,). Samples within
    `gap` [s] on both sides of the held-out block are not trained on, because neighbouring samples
    are nearly the same sample. Where the motion repeats itself after a `period` [s], a block is a
    part of the period in all its repetitions: what was trained on at another time would be the
    held-out motion.
    """
    at = stamps if period is None else (stamps - stamps[0]) % period
    turns = (0.0,) if period is None else (-period, 0.0, period)
    rows = np.flatnonzero(fitted)
    for part in np.array_split(rows[np.argsort(at[rows], kind='stable')], folds):
        held_out = np.zeros(len(stamps), dtype=bool)
        held_out[part] = True
        first, last = at[part[0]] - gap, at[part[-1]] + gap
        far = np.all([(at + turn < first) | (at + turn > last) for turn in turns], axis=0)
        yield fitted & far, held_out


def hold_out(
    dataset: Dataset, rows: BoolArray, folds: Folds
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Yield training and held-out ones of some rows (N,) of a recording; see `blocked_folds`."""
    return blocked_folds(dataset.stamps, rows, folds.count, folds.gap, folds.period_of(dataset))


@dataclass(frozen=True, eq=False)
class Trial:
    """A choice that was tried on held-out blocks."""

    name: str  # the choice in words
    errors: tuple[BagErrors, ...]  # errors on the held-out blocks, by bag
    # (folds,): mean NRMSE over joints of each block, over the deviation of the whole recordings;
    # outliers limited.
    by_fold: FloatArray
    # (m, n): effort at the samples of each bag, by fits to the other blocks.
    predictions: tuple[FloatArray, ...] = ()
    # As `errors`, with outliers limited; empty where there is no choice to make.
    limited: tuple[BagErrors, ...] = ()

    @property
    def score(self) -> float:
        """Mean NRMSE over joints and bags; smaller is better."""
        return float(np.nanmean([errors.nrmse_mean for errors in self.errors]))

    @property
    def loss(self) -> float:
        """The score by which it is chosen: a few outliers would decide by themselves."""
        return float(np.nanmean([errors.nrmse_mean for errors in self.limited or self.errors]))

    def is_as_good_as(self, best: Trial) -> bool:
        """
        Return whether it is no worse than the best by one standard error.

        The error is that of the difference block by block: blocks are unequal, and what makes
        one hard to predict does so for all candidates.
        """
        return is_no_worse(self.by_fold, best.by_fold)

    def is_surely_better_than(self, other: Trial) -> bool:
        """Return whether it is better with a confidence of 97.5 %, by the same difference."""
        count = len(self.by_fold)
        quantile = float(scipy.special.stdtrit(count - 1, SURE)) if count > 1 else np.inf
        return not is_no_worse(other.by_fold, self.by_fold, quantile)


def limit_outliers(residual: FloatArray) -> FloatArray:
    """Return residuals (N, n), of each joint at most `OUTLIER` times what a tenth exceeds."""
    largest = OUTLIER * np.quantile(np.abs(residual), TYPICAL, axis=0)
    return np.clip(residual, -largest, largest)


def is_no_worse(by_fold: FloatArray, best: FloatArray, errors: float = 1.0) -> bool:
    """
    Return whether errors by block (folds,) are those of the best, but for some standard errors.

    The error is that of the difference block by block; see `Trial.is_as_good_as`.
    """
    difference = by_fold - best
    error = float(np.std(difference, ddof=1) / np.sqrt(len(difference)))
    return bool(difference.mean() <= errors * error)
