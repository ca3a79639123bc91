# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Smoothed velocity and acceleration of a recording, block by block or by a Fourier series."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, IntegerArray, release
from robot_identification.errors import DataError
from robot_identification.model import KinematicFilter
from robot_identification.processing.blocks import BLOCK_ROWS, row_blocks, take_rows
from robot_identification.processing.dataset import Dataset, MOVING_SPEED
from robot_identification.processing.filters import (
    central_difference, local_polynomial, low_pass, low_pass_memory, rloess, rloess_memory,
    window_length,
)
from robot_identification.processing.fourier import (
    deviation_about_periods, fit_fourier, FourierSeries, HIGHEST_HARMONIC, whole_periods,
)
import scipy

# Kinematics to find first and last motion by are smoothed harder than those that are fitted.
TRIM_FILTER = KinematicFilter(cutoff=5.0)
# Position and velocity are compared below this frequency, where both are known best.
SURVEY_FILTER = KinematicFilter(cutoff=3.0)
SURVEY_RATE = 15.0  # samples a second that are compared [Hz]: five times the band above
# Samples that are compared, at most; chosen: above those of an hour.
MOST_SURVEYED = 60_000
# Differences reach this far, interpolation between samples too.
DIFFERENCE_REACH = 4
MINIMUM_SEGMENT_SAMPLES = 10  # chosen: differences and interpolation reach 4


def low_pass_twice(
    velocity: FloatArray, rate: float, kinematic_filter: KinematicFilter
) -> tuple[FloatArray, FloatArray]:
    """Return low-passed velocity and the low-passed difference of that."""
    smooth = low_pass(velocity, rate, kinematic_filter)
    return smooth, low_pass(central_difference(smooth, rate), rate, kinematic_filter)


def regress_locally(
    velocity: FloatArray, rate: float, kinematic_filter: KinematicFilter
) -> tuple[FloatArray, FloatArray]:
    """Return velocity by robust local regression and the difference of that (Tika et al.)."""
    smooth = rloess(velocity, rate, kinematic_filter.span)
    return smooth, central_difference(smooth, rate)


def fit_local_polynomials(
    velocity: FloatArray, rate: float, kinematic_filter: KinematicFilter
) -> tuple[FloatArray, FloatArray]:
    """Return values and slopes of the local polynomials of the velocity (Savitzky, Golay)."""
    span, degree = kinematic_filter.span, kinematic_filter.order
    return (
        local_polynomial(velocity, rate, span, degree),
        local_polynomial(velocity, rate, span, degree, derivative=1),
    )


def differentiate_only(
    velocity: FloatArray, rate: float, kinematic_filter: KinematicFilter
) -> tuple[FloatArray, FloatArray]:
    """Return the velocity as it is and its central difference."""
    return velocity, central_difference(velocity, rate)


Smooth = Callable[[FloatArray, float, KinematicFilter], tuple[FloatArray, FloatArray]]
Memory = Callable[[float, KinematicFilter], int]
# Of each filter of uniform samples, what makes smooth velocity and acceleration of velocity
# (N, n), rate and filter, and what says how many samples away a sample no longer counts. 'fourier'
# is none of these: a series is fitted to the whole recording at once.
SMOOTHERS: dict[str, tuple[Smooth, Memory]] = {
    'butterworth': (low_pass_twice, lambda rate, f: 2 * low_pass_memory(rate, f)),
    'rloess': (regress_locally, lambda rate, f: rloess_memory(rate, f.span)),
    'savitzky_golay': (
        fit_local_polynomials, lambda rate, f: window_length(f.span, rate, f.order + 2)
    ),
    'none': (differentiate_only, lambda rate, f: 0),
}


@dataclass(frozen=True, eq=False)
class Piece:
    """Part of a uniform grid over a segment, with enough around it to be filtered alone."""

    t: FloatArray  # shape (M,); its times [s]
    rate: float  # Of the grid [Hz]
    known: slice  # The samples of the segment that it is interpolated from
    inner: slice  # What it is for, of `t`
    end: float  # Time at which the next piece takes over [s]


def uniform_pieces(times: FloatArray, period: float, overlap: int) -> Iterator[Piece]:
    """Yield pieces of a uniform grid from the first to the last time, of about a period [s]."""
    count = max(round(float(times[-1] - times[0]) / period), 1) + 1
    step = float(times[-1] - times[0]) / (count - 1)
    size = max(BLOCK_ROWS, 4 * overlap)
    for first in range(0, count, size):
        last = min(first + size, count)
        low, high = max(first - overlap, 0), min(last + 1 + overlap, count)
        t = np.minimum(times[0] + step * np.arange(low, high), times[-1])
        known = slice(
            max(int(np.searchsorted(times, t[0])) - DIFFERENCE_REACH, 0),
            int(np.searchsorted(times, t[-1])) + 1 + DIFFERENCE_REACH,
        )
        end = np.inf if last == count else float(times[0] + step * last)
        yield Piece(t, 1.0 / step, known, slice(first - low, last - low), end)


def interpolate(t: FloatArray, times: FloatArray, values: FloatArray) -> FloatArray:
    """
    Return values (N, n) at increasing times (N,) interpolated at `t` by Akima's cubics.

    Ends are held. The cubics do not overshoot at outliers, and no sample farther than the third
    one counts (H. Akima, "A new method of interpolation and smooth curve fitting based on local
    procedures", Journal of the ACM 17(4), 1970).
    """
    within = np.clip(t, times[0], times[-1])
    if len(times) <= DIFFERENCE_REACH:
        return np.column_stack([np.interp(within, times, column) for column in values.T])
    found: FloatArray = scipy.interpolate.Akima1DInterpolator(times, values)(within)
    return found


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples to be smoothed."""

    stamps: FloatArray  # shape (N,); not decreasing [s]
    q: FloatArray  # shape (N, n); recorded position
    dq: FloatArray | None  # shape (N, n); recorded velocity; None where all of it is derived
    derived: BoolArray  # shape (n,); joints whose velocity is differentiated from their position
    fresh: IntegerArray  # shape (M,); rows that are no duplicates
    segments: tuple[slice, ...]  # Parts without a gap
    period: float  # Sampling period [s]
    effort: FloatArray  # shape (N, n); recorded, any unit
    # How much earlier than its stamp the kinematics of a sample are taken [s]
    delay: float = 0.0
    clock_was_set: bool = False  # Whether the clock was set back between them

    def known_in(self, segment: slice) -> IntegerArray:
        """Return the rows of a segment that are no duplicates."""
        return self.fresh[slice(*np.searchsorted(self.fresh, [segment.start, segment.stop]))]


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Smoothed motion of a recording."""

    q: FloatArray  # shape (N, n); raw position
    dq: FloatArray  # shape (N, n); smooth velocity, zero where no filter could reach
    ddq: FloatArray  # shape (N, n); smooth acceleration, likewise
    moving: slice  # from the first to the last row in which any joint moves
    kept: tuple[slice, ...]  # Segments that are long enough
    velocity: FloatArray  # shape (S, n); recorded, low-passed, some of the samples
    position_rate: FloatArray  # shape (S, n); derivative of the position, low-passed alike

    @property
    def usable(self) -> BoolArray:
        """Rows that a filter could reach, shape (N,)."""
        usable: BoolArray = allocate((len(self.q),), bool)
        for segment in self.kept:
            usable[segment] = True
            release(usable)
        return usable


def smooth_kinematics(samples: Samples, kinematic_filter: KinematicFilter) -> Kinematics:
    """Smooth velocity and acceleration of every segment on its own, in blocks."""
    (N, n), delay = samples.q.shape, samples.delay
    q = samples.q if delay == 0.0 else allocate((N, n))
    dq, ddq = allocate((N, n)), allocate((N, n))
    first_moving, last_moving = N, -1
    kept, velocity, position_rate = [], [np.zeros((0, n))], [np.zeros((0, n))]
    for segment in samples.segments:
        known = samples.known_in(segment)
        if len(known) < MINIMUM_SEGMENT_SAMPLES:
            if delay != 0.0:
                q[segment] = samples.q[segment]
            continue
        kept.append(segment)
        times = take_rows(samples.stamps, known)
        # Of a recording in a file this is no copy.
        at = samples.stamps[segment] if delay == 0.0 else samples.stamps[segment] - delay
        first = 0
        for piece in uniform_pieces(times, samples.period, _overlap(samples, kinematic_filter)):
            last = int(np.searchsorted(at, piece.end))
            rows = slice(segment.start + first, segment.start + last)
            now, near = at[first:last], times[piece.known]
            signals = _smooth_piece(samples, piece, near, known[piece.known], kinematic_filter)
            dq[rows] = interpolate(now, piece.t, signals.dq)
            ddq[rows] = interpolate(now, piece.t, signals.ddq)
            speed = interpolate(now, piece.t, np.abs(signals.speed).max(axis=1, keepdims=True))
            moving = rows.start + np.flatnonzero(speed[:, 0] > MOVING_SPEED)
            if len(moving):
                first_moving = min(first_moving, int(moving[0]))
                last_moving = int(moving[-1])
            if delay != 0.0:
                q[rows] = interpolate(now, near, samples.q[known[piece.known]])
            velocity.append(signals.velocity)
            position_rate.append(signals.position_rate)
            first = last
            # A long recording is in files; what was read and written need not stay in memory.
            for signal in (samples.q, samples.dq, samples.stamps, samples.fresh, q, dq, ddq):
                if signal is not None:
                    release(signal)
    return Kinematics(
        q, dq, ddq, slice(min(first_moving, last_moving + 1), last_moving + 1), tuple(kept),
        np.concatenate(velocity), np.concatenate(position_rate),
    )


def _overlap(samples: Samples, kinematic_filter: KinematicFilter) -> int:
    """Return how many samples more a piece needs on both sides."""
    rate = 1.0 / samples.period
    _, memory = SMOOTHERS[kinematic_filter.kind]
    looked_at = max(low_pass_memory(rate, TRIM_FILTER), low_pass_memory(rate, SURVEY_FILTER))
    return max(memory(rate, kinematic_filter), looked_at) + 2 * DIFFERENCE_REACH


@dataclass(frozen=True, eq=False)
class _Signals:
    """Signals of a piece on its grid; `velocity` and `position_rate` some of its inner ones."""

    dq: FloatArray
    ddq: FloatArray
    speed: FloatArray
    velocity: FloatArray
    position_rate: FloatArray


def _smooth_piece(
    samples: Samples,
    piece: Piece,
    times: FloatArray,
    rows: IntegerArray,
    kinematic_filter: KinematicFilter,
) -> _Signals:
    rate = piece.rate
    q = interpolate(piece.t, times, samples.q[rows])
    velocity = slope = central_difference(q, rate)
    if samples.dq is not None:
        known = np.where(samples.derived, 0.0, samples.dq[rows])
        recorded = interpolate(piece.t, times, known)
        velocity = np.where(samples.derived, slope, recorded)
    smooth, _ = SMOOTHERS[kinematic_filter.kind]
    dq, ddq = smooth(velocity, rate, kinematic_filter)
    step = max(int(rate / SURVEY_RATE), len(samples.fresh) // MOST_SURVEYED, 1)
    some = slice(piece.inner.start, piece.inner.stop, step)
    return _Signals(
        dq=dq,
        ddq=ddq,
        speed=low_pass(velocity, rate, TRIM_FILTER),
        velocity=low_pass(_mean_over_difference(velocity), rate, SURVEY_FILTER)[some].copy(),
        position_rate=low_pass(slope, rate, SURVEY_FILTER)[some].copy(),
    )


def _mean_over_difference(velocity: FloatArray) -> FloatArray:
    """Return the mean velocity between both neighbours (Simpson): what a difference measures."""
    mean = velocity.copy()
    mean[1:-1] = (velocity[:-2] + 4.0 * velocity[1:-1] + velocity[2:]) / 6.0
    return mean


def smooth_effort(dataset: Dataset, kinematic_filter: KinematicFilter) -> FloatArray:
    """
    Return the effort (N, n) of a dataset smoothed, as some publications use it.

    Errors computed with it do not hold for the recorded effort.
    """
    effort = allocate(dataset.effort.shape)
    effort[:] = dataset.effort
    for segment in dataset.segments:
        known = np.all(np.isfinite(dataset.effort[segment]), axis=1)
        known[1:] &= np.diff(dataset.stamps[segment]) > 0.0
        rows = segment.start + np.flatnonzero(known)
        if len(rows) < 2:
            continue
        times = dataset.stamps[rows]
        if kinematic_filter.kind == 'fourier':
            period, harmonics = kinematic_filter.period, kinematic_filter.harmonics
            assert period is not None
            series = fit_fourier(dataset.stamps, dataset.effort, rows, period, harmonics)
            effort[rows] = series.evaluate(times)
            continue
        duration = float(np.ptp(times))
        count = max(round(duration * dataset.rate), 1) + 1
        grid = np.linspace(times[0], times[-1], count)
        uniform = interpolate(grid, times, dataset.effort[rows])
        smooth, _ = SMOOTHERS[kinematic_filter.kind]
        smoothed, _ = smooth(uniform, (count - 1) / duration, kinematic_filter)
        effort[rows] = interpolate(times, grid, smoothed)
    return effort


# What is farther from the series than this many standard deviations is not of the period, unless
# it is near on the scale of the motion.
FAR_DEVIATIONS = 5.0
NEAR_SHARE = 0.01  # of the travel [1]; chosen


def follow_period(
    samples: Samples,
    kinematics: Kinematics,
    candidates: BoolArray,
    kinematic_filter: KinematicFilter,
) -> tuple[dict[str, FloatArray], list[str]]:
    """
    Replace velocity and acceleration by the derivatives of a Fourier series.

    Return the standard deviations (n,) of one sample about the mean of all periods, by signal, and
    notes on the periods, and on what does not follow them.

    The series is fitted to the recorded positions of the last whole periods (Swevers et al.
    1997). What does not follow it, such as the way to the start, keeps the kinematics it has.
    The effort is used for its noise alone.

    Raise DataError if the motion lasts no whole period, or the harmonics are too fast for the
    sampling rate.
    """
    period, harmonics = kinematic_filter.period, kinematic_filter.harmonics
    assert period is not None
    rate = 1.0 / samples.period
    if harmonics / period > HIGHEST_HARMONIC * rate / 2.0:
        raise DataError(
            f'{harmonics} harmonics of {period:g} s reach {harmonics / period:.3g} Hz, at '
            f'{rate:.4g} Hz at most {HIGHEST_HARMONIC * rate / 2.0:.3g} Hz can be distinguished: '
            'keep fewer harmonics'
        )
    rows = whole_periods(samples.stamps, candidates, period)
    if len(rows) < 2 * (2 * harmonics + 1):
        moved = samples.stamps[candidates]
        raise DataError(
            f'the motion lasts {np.ptp(moved) if moved.size else 0.0:.3g} s, which is no whole '
            f'period of {period:g} s: record whole periods, or choose another filter'
        )
    series = fit_fourier(samples.stamps, samples.q, rows, period, harmonics)
    follows = _follows(samples, series, rows) & kinematics.usable
    for block in row_blocks(len(samples.stamps), kinematics.dq, kinematics.ddq):
        chosen = block.start + np.flatnonzero(follows[block])
        at = samples.stamps[chosen] - samples.delay
        kinematics.dq[chosen] = series.evaluate(at, 1)
        kinematics.ddq[chosen] = series.evaluate(at, 2)
    periods = round(float(np.ptp(samples.stamps[rows])) / period)
    notes = [f'kinematics are a Fourier series of {harmonics} harmonics over {periods} periods']
    others = int(np.count_nonzero(kinematics.usable & ~follows))
    if others:
        notes.append(
            f'{others} samples do not follow the period of {period:g} s; their kinematics are '
            'smoothed by the default filter'
        )
    signals = {'q': samples.q, 'effort': samples.effort}
    if samples.dq is not None:
        signals['dq'] = samples.dq
    noise = {
        name: deviation_about_periods(samples.stamps, values, rows, period, rate)
        for name, values in signals.items()
    }
    return noise, notes


def _follows(samples: Samples, series: FourierSeries, rows: IntegerArray) -> BoolArray:
    """Return which samples are near the series, all joints of them."""
    deviation = np.array([
        np.sqrt(np.mean((samples.q[part] - series.evaluate(samples.stamps[part])) ** 2, axis=0))
        for part in (rows[block] for block in row_blocks(len(rows)))
    ]).max(axis=0)
    travel = np.abs(series.coefficients[1:]).sum(axis=0)
    near = np.maximum(FAR_DEVIATIONS * deviation, NEAR_SHARE * travel)
    follows = np.zeros(len(samples.stamps), dtype=bool)
    for block in row_blocks(len(samples.stamps), samples.q):
        error = np.abs(samples.q[block] - series.evaluate(samples.stamps[block]))
        follows[block] = np.all(error <= near, axis=1)
    return follows
