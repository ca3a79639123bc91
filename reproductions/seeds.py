# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What searches with several seeds say: intervals, and outcomes only where these decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from reproductions.paper import Outcome, Paper
import scipy

# Of every interval; two-sided.
LEVEL = 0.95
# Of a claim that a search decides.
TEN_SEEDS = tuple(range(10))


@dataclass(frozen=True)
class Interval:
    """Geometric mean of positive numbers with its interval, and that of one more number."""

    mean: float
    low: float
    high: float
    one_low: float
    one_high: float

    def words(self) -> str:
        """Return the mean and its interval."""
        return f'{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})'


def interval_of(values: Sequence[float]) -> Interval:
    """Return the intervals of 95 % of positive numbers, by Student's t of their logarithms."""
    logs = np.log(np.asarray(values, dtype=np.float64))
    count = len(logs)
    half = float(scipy.stats.t.ppf(0.5 * (1.0 + LEVEL), count - 1) * logs.std(ddof=1))
    mean = float(logs.mean())
    of_mean, of_one = half / math.sqrt(count), half * math.sqrt(1.0 + 1.0 / count)
    low, high, one_low, one_high = (
        math.exp(mean + part) for part in (-of_mean, of_mean, -of_one, of_one)
    )
    return Interval(math.exp(mean), low, high, one_low, one_high)


def found_outcome(printed: float, values: Sequence[float]) -> Outcome:
    """
    Return what a printed number is to numbers of which smaller is better.

    It agrees where it lies in the interval that one more of them has with 95 %.
    """
    found = interval_of(values)
    if printed > found.one_high:
        return 'better'
    return 'agrees' if printed >= found.one_low else 'differs'


def compare_found(
    paper: Paper, key: str, printed: float, values: Sequence[float], opposite: bool,
    **words: object,
) -> None:
    """Add a claim on what one search of the paper found; see `found_outcome`."""
    found = interval_of(values)
    ours = (
        f'{found.words()} in {len(values)} seeds, one more {found.one_low:.4g} to '
        f'{found.one_high:.4g}'
    )
    paper.judge(
        key, found_outcome(printed, values), opposite, printed=f'{printed:g}', ours=ours, **words
    )


def ratios_to_itself(values: Sequence[float]) -> list[float]:
    """Return what the first half of the seeds found over the second; in truth it is one."""
    half = len(values) // 2
    return [first / second for first, second in zip(values[:half], values[half:], strict=True)]


def ratio_outcome(ratios: Sequence[float]) -> Outcome:
    """
    Return whether ratios are below one.

    They are where the interval of their mean is, are not where it is above one, and are untested
    where it contains one.
    """
    found = interval_of(ratios)
    if found.high < 1.0:
        return 'agrees'
    return 'differs' if found.low > 1.0 else 'untested'


def compare_ratios(
    paper: Paper, key: str, ratios: Sequence[float], other: Sequence[float], **words: object
) -> None:
    """
    Add a claim that one search finds less than another, by the ratios with each seed.

    `other` is what the other search found with each seed. The control is that search against
    itself, with other seeds: there the interval must contain one.
    """
    same = ratios_to_itself(other)
    paper.judge(
        key, ratio_outcome(ratios), ratio_outcome(same) == 'untested',
        ours=f'ratio {interval_of(ratios).words()}, {len(ratios)} seeds',
        control=f'the latter against itself, {len(same)} seeds over {len(same)} others: '
        f'{interval_of(same).words()}', **words,
    )


def compare_share(
    paper: Paper, key: str, hits: Sequence[bool], others: Sequence[bool], **words: object
) -> None:
    """
    Add a claim that something happens, from whether it does with each of several motions.

    It agrees where the interval of 95 % of the share (Clopper and Pearson) lies above one half,
    differs where it lies below, and is untested between: then the motion decides. `others` is
    whether it happens in the control, where most must not.
    """
    count = sum(hits)
    found = scipy.stats.binomtest(count, len(hits)).proportion_ci(LEVEL)
    outcome: Outcome = 'untested'
    if found.low > 0.5:
        outcome = 'agrees'
    elif found.high < 0.5:
        outcome = 'differs'
    paper.judge(
        key, outcome, 2 * sum(others) < len(others),
        ours=f'with {count} of {len(hits)} motions ({found.low:.0%} to {found.high:.0%})',
        controls=sum(others), number=len(others), **words,
    )


def claim_negative_rotors(
    paper: Paper, key: str, small: Sequence[Sequence[float]], large: Sequence[Sequence[float]],
    **words: object,
) -> None:
    """
    Add the claim that least squares make rotor inertias negative.

    `small` and `large` are identified rotor inertias, a row for each motion, of an arm with small
    rotors, and of one with large ones as the control [kg m^2].
    """
    compare_share(
        paper, key, [min(row) < 0.0 for row in small], [min(row) < 0.0 for row in large],
        counts=', '.join(str(sum(value < 0.0 for value in row)) for row in small),
        rotors=len(small[0]), **words,
    )
