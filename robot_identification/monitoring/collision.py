# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Contact detection: external torques against the uncertainty of the model.

A threshold is a factor times the standard deviation that model and noise have at this very state,
so that it is wide where the model is unsure. The factor is found on free motion: of the largest
ratio of each second, whose distribution is Gumbel's for nearly any distribution of the ratios, the
quantile that leaves as many false alarms an hour as are allowed.

Where a joint rests or reverses, friction is anything up to break-away, and no model knows it.
There, and as long as the observer remembers it, a torque is added: the largest that was seen at
rest. Break-away bounds it, so that there is no tail to extrapolate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError, UsageError

# Of which the largest ratio counts [s].
BLOCK = 1.0
FEWEST_BLOCKS = 20  # chosen: their standard deviation is then known to 16 %
# A joint that is slower may stick or reverse [rad/s]: above the noise of measured velocities,
# below what matters in motion.
REST_SPEED = 0.02
# Errors of the model stay below the limit in free motion, or there would be alarms. So many times
# the smallest step is seen even where such an error is against it.
SURE = 2.0
# Share of a rest in what the observer remembers that does not matter any more, and from which on
# what is observed is that of the rest.
NEGLIGIBLE, MOSTLY = 0.05, 0.5
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class CollisionThresholds:
    """
    Limits from which a joint counts as in contact.

    `factor` (n,) is external torque over its standard deviation, to be exceeded for `hold` [s]:
    shorter bursts are noise. `rest` (n,) is added for a joint that rests or reverses [N m], see
    `RestMemory`; None adds nothing. Raises UsageError if one of them is out of range.
    """

    factor: FloatArray
    hold: float = 0.004
    rest: FloatArray | None = None

    def __post_init__(self) -> None:
        if not (np.all(np.isfinite(self.factor)) and np.all(self.factor > 0.0)):
            raise UsageError(f'collision: factors must be positive numbers, got {self.factor}')
        rest = np.zeros_like(self.factor) if self.rest is None else self.rest
        if rest.shape != self.factor.shape or not (
            np.all(np.isfinite(rest)) and np.all(rest >= 0.0)
        ):
            raise UsageError(
                f'collision: rest must be one number of 0 or more for each factor, got {rest}'
            )
        if not 0.0 <= self.hold <= 1.0:
            raise UsageError(f'collision: hold must be from 0 to 1 s, got {self.hold!r}')


class RestMemory:
    """
    Share of a rest that is still in the output of an observer.

    An error of friction that is no larger than a bound while a joint rests is, after a first-order
    low-pass of this `bandwidth` [rad/s], no larger than that bound times what this returns.
    Joints slower than REST_SPEED may stick or reverse.
    """

    def __init__(self, bandwidth: float) -> None:
        self._bandwidth = bandwidth
        self._stamp, self._share = np.nan, np.zeros(0)

    def step(self, stamp: float, dq: FloatArray) -> FloatArray:
        """Return the share (n,) at a stamp [s]: 0 after long motion, 1 after long rest."""
        rests = (np.abs(dq) < REST_SPEED).astype(float)
        elapsed, self._stamp = stamp - self._stamp, stamp
        # The first sample, and one of a clock that went back, have no past.
        kept = math.exp(-self._bandwidth * elapsed) if elapsed > 0.0 else 0.0
        before = self._share if self._share.size else rests
        self._share = kept * before + (1.0 - kept) * rests
        return self._share


def calibrate_thresholds(
    external: FloatArray, deviation: FloatArray, stamps: FloatArray, *,
    false_alarms_per_hour: float = 0.1, rest_share: FloatArray | None = None,
) -> CollisionThresholds:
    """
    Find thresholds on a recording of free motion.

    `external` (N, n) are observed torques without contact, `deviation` (N, n) their standard
    deviations [N m], `stamps` (N,) increase [s]. `false_alarms_per_hour` is for all joints
    together. With `rest_share` (N, n) of `RestMemory`, factors are those of motion, and the
    largest torque observed at rest is added there; without it, factors hold for both. The Gumbel
    distribution has the mean and standard deviation of the maxima of blocks: S. Coles, An
    Introduction to Statistical Modeling of Extreme Values, Springer 2001, 3.1. Raises DataError if
    the recording is too short, or a joint does not move or not rest for long enough; UsageError if
    the rate of alarms is not positive.
    """
    if not (np.isfinite(false_alarms_per_hour) and false_alarms_per_hour > 0.0):
        raise UsageError(
            f'false_alarms_per_hour must be a positive number, got {false_alarms_per_hour!r}'
        )
    block = ((stamps - stamps[0]) / BLOCK).astype(int)
    # Where each block begins; the last one may be short.
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    blocks = max(len(starts) - 1, 0)
    if blocks < FEWEST_BLOCKS:
        raise DataError(
            f'{stamps[-1] - stamps[0]:.1f} s of free motion are too short to know how large '
            f'residuals become: record at least {FEWEST_BLOCKS + 1} s'
        )
    allowed = false_alarms_per_hour * BLOCK / SECONDS_PER_HOUR / external.shape[1]
    size = np.abs(external)
    ratios = size / deviation
    if rest_share is None:
        everywhere = np.ones(size.shape, dtype=bool)
        maxima = _largest_of_blocks(ratios, everywhere, starts, 'rest or move')
        return CollisionThresholds(_rarely_exceeded(maxima, allowed))
    maxima = _largest_of_blocks(ratios, rest_share < NEGLIGIBLE, starts, 'move')
    rests = rest_share >= MOSTLY
    at_rest = _largest_of_blocks(
        size / np.maximum(rest_share, MOSTLY), rests, starts, 'rest and reverse'
    )
    return CollisionThresholds(
        _rarely_exceeded(maxima, allowed), rest=np.array([seen.max() for seen in at_rest])
    )


def _largest_of_blocks(
    values: FloatArray, counted: BoolArray, starts: NDArray[np.int64], what: str
) -> list[FloatArray]:
    """
    Return the largest values of the blocks in which some are counted, for each joint.

    The last block may be short and is left out; `what` joints have to do there, in words.
    """
    largest = np.maximum.reduceat(
        np.where(counted, values, -np.inf)[:starts[-1]], starts[:-1], axis=0
    )
    found = [maxima[np.isfinite(maxima)] for maxima in largest.T]
    for joint, seen in enumerate(found):
        if len(seen) < FEWEST_BLOCKS:
            raise DataError(
                f'joint {joint + 1} of {len(found)} is to {what} in at least {FEWEST_BLOCKS} '
                f'seconds of free motion, and does in {len(seen)}: record more, of all joints'
            )
    return found


def _rarely_exceeded(maxima: Sequence[FloatArray], allowed: float) -> FloatArray:
    """Return what the largest value of a block exceeds with a small probability, shape (n,)."""
    found = np.empty(len(maxima))
    for joint, seen in enumerate(maxima):
        scale = float(seen.std(ddof=1)) * np.sqrt(6.0) / np.pi
        location = float(seen.mean()) - np.euler_gamma * scale
        rare = location - scale * np.log(-np.log1p(-allowed))
        found[joint] = max(rare, float(seen.max()))
    return found


def smallest_seen(
    thresholds: CollisionThresholds, deviation: FloatArray, bandwidth: float, within: float
) -> FloatArray:
    """
    Return the smallest external torque step (n,) that is detected in motion in time [N m].

    Without noise and errors of the model, which may delay the alarm or bring it sooner: half of
    the steps of this size are detected `within` the seconds, and steps `SURE` times as large
    always are. The deviation is that of the prediction where the step happens [N m], the bandwidth
    that of the observer [rad/s].
    """
    rise = 1.0 - np.exp(-bandwidth * max(within - thresholds.hold, 0.0))
    if rise <= 0.0:
        return np.full(len(thresholds.factor), np.inf)
    smallest: FloatArray = thresholds.factor * deviation / rise
    return smallest


class CollisionDetector:
    """Decides sample by sample which joints are in contact."""

    def __init__(self, thresholds: CollisionThresholds) -> None:
        self._thresholds = thresholds
        self._since = np.full(len(thresholds.factor), np.nan)

    def step(
        self,
        stamp: float,
        external: FloatArray,
        deviation: FloatArray,
        rest_share: FloatArray | None = None,
    ) -> BoolArray:
        """
        Return which joints (n,) have been above their threshold for long enough.

        Observed torque and its standard deviation are in N m, each (n,); `rest_share` is what
        `RestMemory` returns, and without it all joints count as resting.
        """
        thresholds = self._thresholds
        limit = thresholds.factor * deviation
        if thresholds.rest is not None:
            limit = limit + thresholds.rest * (1.0 if rest_share is None else rest_share)
        over = np.abs(external) > limit
        began = np.where(np.isnan(self._since), stamp, self._since)
        self._since = np.where(over, began, np.nan)
        return over & (stamp - began >= thresholds.hold)
