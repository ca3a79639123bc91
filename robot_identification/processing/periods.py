# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The period of a recorded motion, found in its positions, and the Fourier series that it follows.

What else is recorded, such as the way to its start, is distinguished from it.

References
----------
.. [1] J. Swevers, C. Ganseman, D. B. Tuekel, J. de Schutter, H. Van Brussel, "Optimal robot
   excitation and identification", IEEE Transactions on Robotics and Automation 13(5), 1997.

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.errors import DataError
from robot_identification.processing.blocks import take_rows, thin_chosen
from robot_identification.processing.fourier import (
    fit_fourier, FourierSeries, HIGHEST_HARMONIC,
)
import scipy

# Samples of the positions that the period is searched in, and tried on, at most.
SEARCHED_SAMPLES = 3000
# Samples that positions are compared at, at most: every 0.1 s of half an hour.
COMPARED_SAMPLES = 20000
# Square of the change over a period, of the mean over the worst time, below which a time may be a
# period: in the middle noise of a sixth of the motion's standard deviation; in the mean, which has
# the way to the motion, a tenth of the recording that does not follow it.
SAME_SHARE = 0.05
ALIKE_SHARE = 0.2
# Samples below which no repetition is looked for.
FEWEST_COMPARED = 20
# Samples that a multiple of a time may be off, which is known to a part of a sample.
MOST_SHIFT = 2.0
# Shortest times are tried first; so many of them.
MOST_CANDIDATES = 6
# A longer time is the period only where its series leaves less than this part of the squares.
MUCH_BETTER = 0.5
# Highest frequency that the period is searched with [Hz], unless these are fewer harmonics than
# this; and the most harmonics that are looked for in positions.
SEARCHED_FREQUENCY = 5.0
SEARCHED_HARMONICS = 10
MOST_HARMONICS = 25
# Steps by which the period is refined, the longest and the last of them, in periods.
MOST_STEPS = 20
LONGEST_STEP = 0.1
SMALLEST_STEP = 1.0e-7
# The motion is to be seen so often, but for the last sample and a little that noise makes.
FEWEST_PERIODS = 2.0
MISSING_SHARE = 0.01
# Positions farther off the series than so many deviations do not follow it, unless they are near
# on the scale of the motion.
FAR_DEVIATIONS = 8.0
LAST_SELECTIONS = 2
STRICT_DEVIATIONS = 3.0
STRICT_SELECTIONS = 6
SETTLED_SHARE = 0.005
NEAR_SHARE = 1.0e-3
# Part of the recording that must follow the period.
LEAST_SHARE = 0.5
# Deviation of the positions from a periodic motion, in their standard deviations, at most.
MOST_DEVIATION = 0.2
# What joints that hardly move count, of those that move most.
LEAST_MOTION = 0.05
# Positions are known no better than this part of their range.
LEAST_DEVIATION = 1.0e-12


class NotPeriodicError(DataError):
    """A recorded motion that does not repeat itself."""


@dataclass(frozen=True, eq=False)
class PeriodicMotion:
    """A motion that repeats itself."""

    series: FourierSeries  # of the positions [rad]
    deviation: FloatArray  # standard, of one recorded position about it, (n,) [rad]
    near: FloatArray  # farthest that positions which follow it are off, (n,) [rad]
    follows: BoolArray  # samples near it, of those asked about, (N,)

    @property
    def harmonics(self) -> int:
        """Return the number of harmonics K."""
        return (len(self.series.coefficients) - 1) // 2

    def is_followed(self, stamps: FloatArray, q: FloatArray) -> BoolArray:
        """Return which positions (N, n) at N times [s] are near the series."""
        near: BoolArray = np.all(np.abs(q - self.series.evaluate(stamps)) <= self.near, axis=1)
        return near


def find_periodic_motion(
    stamps: FloatArray,
    q: FloatArray,
    rows: BoolArray,
    *,
    period: float | None = None,
    harmonics: int | None = None,
) -> PeriodicMotion:
    """
    Return the Fourier series that the recorded positions of some samples follow [1]_.

    By default with the shortest period after which the positions repeat [s], and as many harmonics
    as Schwarz's criterion finds in them. Raises NotPeriodicError if the motion does not repeat
    itself, or is seen less than twice.
    """
    chosen = np.flatnonzero(rows)
    t, x = stamps[chosen], q[chosen]
    if len(t) < 2 * (2 * (harmonics or 1) + 1):
        raise NotPeriodicError(f'{len(t)} samples are too few for a Fourier series')
    searched = period is None
    if period is None:
        period = _find_period(t, x)
    follows = np.ones(len(t), dtype=bool)
    most = _most_harmonics(t, period) if harmonics is None else harmonics
    # What is far off has bent the first series, so that the choice begins strict.
    for far, selections in (
        (STRICT_DEVIATIONS, STRICT_SELECTIONS), (FAR_DEVIATIONS, LAST_SELECTIONS)
    ):
        for _ in range(selections):
            inside = np.flatnonzero(follows)
            kept = (
                _count_harmonics(t[inside], x[inside], period, most) if harmonics is None
                else most
            )
            if searched:
                settled = _settle_period(t[inside], x[inside], period, kept)
                period = settled[0] if settled is not None else period
            series = fit_fourier(t, x, inside, period, kept)
            before, follows = follows, _motion_about(series, t, x, inside, far).is_followed(t, x)
            if np.count_nonzero(follows) < LEAST_SHARE * len(t):
                raise NotPeriodicError(
                    f'{100.0 * np.mean(follows):.0f} % of the samples follow a period of '
                    f'{period:.4g} s'
                )
            if np.mean(follows != before) < SETTLED_SHARE:
                break
    inside = np.flatnonzero(follows)
    series = fit_fourier(t, x, inside, period, kept)
    found = _motion_about(series, t, x, inside, FAR_DEVIATIONS)
    off = np.sqrt(np.mean((found.deviation / _deviation(x[follows])) ** 2))
    if off > MOST_DEVIATION:
        raise NotPeriodicError(
            f'positions are off a period of {period:.4g} s by {100.0 * off:.0f} % of their '
            'standard deviation'
        )
    whole = np.zeros(len(stamps), dtype=bool)
    whole[chosen[follows]] = True
    return replace(found, follows=whole)


def find_repetition(stamps: FloatArray, q: FloatArray, rows: BoolArray) -> float | None:
    """
    Return the shortest time after which the positions (N, n) of some samples come back [s].

    To about a sample at the last repetition, unlike `find_periodic_motion`, and without a model of
    the motion. None where it does not repeat itself, or is seen less than twice.
    """
    chosen = thin_chosen(rows, 2 * COMPARED_SAMPLES)
    if len(chosen) < FEWEST_COMPARED:
        return None
    x = take_rows(q, chosen)
    return next(iter(_repetitions(take_rows(stamps, chosen), x / _deviation(x))), None)


def _motion_about(
    series: FourierSeries, t: FloatArray, x: FloatArray, inside: IntArray, far: float
) -> PeriodicMotion:
    """Return the series of some of the samples, and how far from it they are."""
    residual = x[inside] - series.evaluate(t[inside])
    freedom = max(len(inside) - len(series.coefficients), 1)
    travel = np.ptp(x[inside], axis=0)
    floor = LEAST_DEVIATION * np.maximum(travel, LEAST_MOTION * travel.max())
    # Of all samples, those too that do not follow: half of them do.
    middle = 1.4826 * np.median(np.abs(x - series.evaluate(t)), axis=0)
    return PeriodicMotion(
        series,
        np.maximum(np.sqrt(np.sum(residual**2, axis=0) / freedom), floor),
        np.maximum(far * middle, NEAR_SHARE * travel),
        np.ones(len(t), dtype=bool),
    )


def _find_period(t: FloatArray, x: FloatArray) -> float:
    """Return the shortest time after which positions repeat."""
    scaled = x / _deviation(x)
    candidates = _repetitions(t, scaled)
    tried: list[tuple[float, float]] = []
    for candidate in candidates:
        found = _refine_period(t, scaled, candidate)
        if found is not None:
            tried.append(found)
    if not tried:
        raise NotPeriodicError(
            f'within {np.ptp(t):.4g} s the motion does not come back to where it was, '
            f'{FEWEST_PERIODS:g} whole periods are needed'
        )
    least = min(squares for _, squares in tried)
    floor = 1.0e-16
    return next(period for period, squares in tried if MUCH_BETTER * squares <= least + floor)


def _deviation(x: FloatArray) -> FloatArray:
    """Return the standard deviation of each joint's positions, raised where one hardly moves."""
    deviation = np.std(x, axis=0)
    scale: FloatArray = np.maximum(
        deviation, LEAST_MOTION * max(float(deviation.max()), 1e-12)
    )
    return scale


def _repetitions(t: FloatArray, x: FloatArray) -> list[float]:
    """Return times after which positions are about the same, the shortest first."""
    step = max(float(np.median(np.diff(t))), float(np.ptp(t)) / COMPARED_SAMPLES)
    grid = np.arange(t[0], t[-1], step)
    values = np.column_stack([np.interp(grid, t, column) for column in x.T])
    # Where nothing was recorded nothing is compared.
    after = np.clip(np.searchsorted(t, grid), 1, len(t) - 1)
    known = (t[after] - t[after - 1]) <= 4.0 * max(step, float(np.median(np.diff(t))))
    longest = min(
        int((1.0 + MISSING_SHARE) * (len(grid) + 1) / FEWEST_PERIODS) + 1, len(grid) - 2
    )
    change = _mean_changes(values - values.mean(axis=0), known)[: longest + 1]
    finite = change[np.isfinite(change)]
    if not finite.size:
        return []
    limit = SAME_SHARE * float(finite.max())
    near = ALIKE_SHARE * float(finite.max())
    candidates: list[float] = []
    away = False
    for lag in range(2, longest):
        away = away or change[lag] > near
        if away and change[lag] <= min(near, change[lag - 1], change[lag + 1]):
            found = _settle_lag(values, known, lag, longest, max(lag // 64, 1))
            # At the end of what is searched the change may go on to fall.
            if found is not None and found[1] <= limit and round(found[0]) < longest:
                candidates.append(_over_repetitions(values, known, found[0]) * step)
            if len(candidates) == MOST_CANDIDATES:
                break
    return candidates


def _settle_lag(
    values: FloatArray, known: BoolArray, lag: int, longest: int, step: int
) -> tuple[float, float] | None:
    """
    Return the lag near one at which the median squared change is least, and that change.

    It is searched by steps of at most `step`. The way to the motion, which is not repeated, moves
    the lag of the least mean.
    """
    def change(lag: int) -> float:
        both = known[lag:] & known[:-lag]
        moved = np.sum((values[lag:] - values[:-lag])[both] ** 2, axis=1)
        return float(np.median(moved)) if moved.size else np.inf

    least = change(lag)
    while step:
        tried = [
            (change(other), other) for other in (lag - step, lag + step) if 1 < other <= longest
        ]
        better = min(tried, default=(np.inf, lag))
        if better[0] < least:
            least, lag = better
        else:
            step //= 2
    if not np.isfinite(least):
        return None
    left, right = np.sqrt([change(lag - 1), change(lag + 1) if lag < longest else np.inf])
    # The change is about in proportion to the distance from the period.
    both = left + right
    shift = (left - right) / both if np.isfinite(both) and both > 0.0 else 0.0
    return lag + shift, least


def _over_repetitions(values: FloatArray, known: BoolArray, lag: float) -> float:
    """Return a lag from the longest multiple of it, up to half of the recording."""
    multiple = 2
    while (reach := round(multiple * lag)) + 2 <= len(values) // 2:
        found = _settle_lag(values, known, reach, len(values) // 2, 1)
        if found is None or abs(found[0] - multiple * lag) > MOST_SHIFT:
            break
        lag = found[0] / multiple
        multiple *= 2
    return lag


def _mean_changes(values: FloatArray, known: BoolArray) -> FloatArray:
    """Return the mean squared change (N,) of values (N, n) after each lag, of known rows."""
    N = len(values)
    kept = np.where(known[:, None], values, 0.0)
    # Twice the length keeps the end apart from the start; a length of large primes takes long.
    length = scipy.fft.next_fast_len(2 * N, real=True)
    of_known, of_squares = np.fft.rfft(
        np.vstack([known, np.sum(kept**2, axis=1)]), length
    )
    of_values = np.fft.rfft(kept.T, length)
    # (a - b)^2 = a^2 + b^2 - 2 a b, each of the three a correlation.
    sums = np.fft.irfft(2.0 * (
        np.real(of_squares * of_known.conj()) - np.sum(np.abs(of_values) ** 2, axis=0)
    ), length)[:N]
    pairs = np.round(np.fft.irfft(np.abs(of_known) ** 2, length)[:N])
    changes: FloatArray = np.full(N, np.inf)
    np.divide(np.maximum(sums, 0.0), pairs, out=changes, where=pairs > 0.0)
    return changes


def _refine_period(t: FloatArray, x: FloatArray, period: float) -> tuple[float, float] | None:
    """
    Return a period to rounding, and the mean square that its Fourier series leaves.

    Gauss-Newton steps on the period, the coefficients being those of least squares for each; on
    more and more of the recording, for a period that is a little wrong is very wrong later.
    """
    duration = float(np.ptp(t))
    window = min(3.0 * period, duration)
    while True:
        inside = np.flatnonzero(t <= t[0] + window)
        inside = inside[:: max(len(inside) // SEARCHED_SAMPLES, 1)]
        harmonics = min(
            _most_harmonics(t[inside], period),
            max(round(SEARCHED_FREQUENCY * period), SEARCHED_HARMONICS),
        )
        if len(inside) < 2 * (2 * harmonics + 1):
            return None
        found = _settle_period(t[inside], x[inside], period, harmonics)
        if found is None:
            return None
        period, squares = found
        if window >= duration:
            break
        window = min(2.0 * window, duration)
    seen = duration + float(np.median(np.diff(t)))
    if seen < (1.0 - MISSING_SHARE) * FEWEST_PERIODS * period:
        return None
    return period, squares


def _settle_period(
    t: FloatArray, x: FloatArray, period: float, harmonics: int
) -> tuple[float, float] | None:
    """Return the period at which steps end, and the mean square left; None if they do not."""
    for _ in range(MOST_STEPS):
        step, squares = _period_step(t, x, period, harmonics)
        if not abs(step) < LONGEST_STEP * period:
            return None
        period += step
        # Steps are Newton's: after one this small nothing but rounding is left.
        if abs(step) <= SMALLEST_STEP * period:
            break
    return period, squares


def _period_step(
    t: FloatArray, x: FloatArray, period: float, harmonics: int
) -> tuple[float, float]:
    """Return the Gauss-Newton step of the period, and the mean square left before it."""
    everything: IntArray = np.arange(len(t))
    series = fit_fourier(t, x, everything, period, harmonics)
    residual = x - series.evaluate(t)
    # The phase is t / period: a longer period turns the motion back.
    slope = -series.evaluate(t, 1) * ((t - t[0]) / period)[:, None]
    slope -= fit_fourier(t, slope, everything, period, harmonics).evaluate(t)
    size = float(np.sum(slope**2))
    step = float(np.sum(slope * residual)) / size if size > 0.0 else 0.0
    return step, float(np.mean(residual**2))


def _most_harmonics(t: FloatArray, period: float) -> int:
    """Return how many harmonics samples can tell apart."""
    step = float(np.median(np.diff(t)))
    # The samples of all periods fall between each other, unless the period is a multiple of them.
    by_rate = int(HIGHEST_HARMONIC * period / (2.0 * step))
    return int(np.clip(min(by_rate, (len(t) // 2 - 1) // 2), 1, MOST_HARMONICS))


def _count_harmonics(t: FloatArray, x: FloatArray, period: float, most: int) -> int:
    """Return the number of harmonics with the least value of Schwarz's criterion."""
    columns = FourierSeries(period, np.eye(2 * most + 1)).evaluate(t)
    factor = np.asarray(np.linalg.qr(np.hstack([columns, x]), mode='r'))
    size = 2 * most + 1
    tail = np.sum(factor[size:, size:] ** 2, axis=0)
    rows = factor[:size, size:] ** 2
    # What is left with K harmonics is what the rows of all later ones explain, and the tail.
    after = np.cumsum(rows[::-1], axis=0)[::-1]
    left = np.array([
        tail + (after[2 * count + 1] if count < most else 0.0) for count in range(1, most + 1)
    ])
    rounding = (1e-14 * np.sum(x**2, axis=0)) * np.finfo(float).eps
    N = len(t)
    criterion = np.sum(
        N * np.log((left + rounding) / N) + (2 * np.arange(1, most + 1)[:, None] + 1) * np.log(N),
        axis=1,
    )
    return 1 + int(np.argmin(criterion))
