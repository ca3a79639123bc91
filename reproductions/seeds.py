# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What searches with several seeds say: intervals, and outcomes only where these decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from reproductions.reproduction import Claim, Control, judged, Outcome
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
    what: str, printed: float, values: Sequence[float], *, control: Control, why: str = ''
) -> Claim:
    """Return a claim on what one search of the paper found; see `found_outcome`."""
    found = interval_of(values)
    ours = (
        f'{found.words()} in {len(values)} seeds, one more {found.one_low:.4g} to '
        f'{found.one_high:.4g}'
    )
    return judged(
        Claim(what, f'{printed:g}', ours, 'differs', why), found_outcome(printed, values), control
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
    what: str, printed: str, ratios: Sequence[float], other: Sequence[float], *, why: str = ''
) -> Claim:
    """
    Return a claim that one search finds less than another; see `ratio_outcome`.

    The control is a search against itself, with other seeds: there the interval must contain one.

    Parameters
    ----------
    what, printed : str
        The claim, and what the paper has.
    ratios : sequence of float
        One a seed: what the claim calls less over the other.
    other : sequence of float
        What that other search found with each seed.
    why : str
        The reason.

    """
    same = ratios_to_itself(other)
    return judged(
        Claim(
            what, printed, f'ratio {interval_of(ratios).words()}, {len(ratios)} seeds', 'differs',
            why,
        ),
        ratio_outcome(ratios), Control(
            f'the latter against itself, {len(same)} seeds over {len(same)} others: '
            f'{interval_of(same).words()}', ratio_outcome(same) == 'untested',
        ),
    )


def compare_share(
    what: str, printed: str, hits: Sequence[bool], *, control: Control, why: str = ''
) -> Claim:
    """
    Return a claim that something happens, from whether it does with each of several motions.

    It agrees where the interval of 95 % of the share (Clopper and Pearson) lies above one half,
    differs where it lies below, and is untested between: then the motion decides.
    """
    count = sum(hits)
    found = scipy.stats.binomtest(count, len(hits)).proportion_ci(LEVEL)
    outcome: Outcome = 'untested'
    if found.low > 0.5:
        outcome = 'agrees'
    elif found.high < 0.5:
        outcome = 'differs'
    ours = f'with {count} of {len(hits)} motions ({found.low:.0%} to {found.high:.0%})'
    return judged(Claim(what, printed, ours, 'differs', why), outcome, control)
