# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Remaining warm-up time of an arm, from temperatures or from friction while it moves.

A joint that is heated evenly approaches its end value exponentially (see `simulation.thermal`):
``value(t) = end + distance exp(-t / T)``. For every time constant T end and distance are linear;
those T that fit hardly worse than the best one give the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.studies.temperature import (
    judge_steady_state, RunFigures, SteadyStateOptions, TEMPERATURE,
)
import scipy

SETTLED, HEATING, NOT_YET = 'settled', 'still heating', 'not enough yet'
# More values are averaged down to so many.
MOST_VALUES = 240
FEWEST_VALUES = 12  # chosen: four for each of the three parameters of a curve
# Time constants that are tried, in the longest of them, and how many.
SHORTEST_SHARE, TIME_CONSTANTS = 0.03, 32
# How often the search is narrowed to those that fit.
ROUNDS = 4
# Two-sided probability of the interval.
CONFIDENCE = 0.95
# The curve does not tell yet where the interval is wider than this part of the wait, and than
# this [min].
WIDEST_SHARE, WIDEST = 1.0, 5.0
# Values of which no more than this part are different have been rounded.
REPEATED = 0.5
# Correlation of residuals from value to value, at most, that errors are widened for.
STRONGEST_CORRELATION = 0.95
# Its `rise` [K], or its `change` as a share of the friction, is how near to the end value every
# joint must be.
SETTLING = SteadyStateOptions()
# Time over which values are averaged for the rule of `judge_steady_state` [min].
CHUNK = 1.0
LONGEST = 90.0  # time constant of an arm [min]


@dataclass(frozen=True)
class WaitAdvice:
    """Recommendation to wait or to go on."""

    # Also 'still heating' where it cools down; {'settled', 'still heating', 'not enough yet'}.
    state: str
    # Until every joint is within the tolerance of its end value; zero where it is, NaN where the
    # curve does not tell yet.
    minutes: float
    interval: tuple[float, float]  # of the minutes, at 95 %; the end may be infinite
    text: str  # for a reader


@dataclass(frozen=True)
class _Wait:
    """Minutes of one joint."""

    joint: int
    minutes: float
    low: float
    high: float


def advise_wait(
    times: FloatArray, values: FloatArray, names: Sequence[str], by: str, level: FloatArray
) -> WaitAdvice:
    """
    Return the recommended time to wait until an arm that moves on as before is warm.

    `times` (N,) [s] ascend. `values` (N, n) are temperatures [deg C], or for `by` 'friction'
    viscous friction or a change of it [N m s/rad]; NaN where unknown. `level` (n,) [N m s/rad] is
    the friction that the tolerance is a share of.
    """
    tolerances = (
        np.full(len(names), SETTLING.rise) if by == TEMPERATURE
        else SETTLING.change * np.abs(level)
    )
    waits = []
    for joint in range(len(names)):
        wait = _wait_of(joint, times, values[:, joint], float(tolerances[joint]))
        if wait is not None:
            waits.append(wait)
    if not waits:
        return WaitAdvice(NOT_YET, math.nan, (0.0, math.inf), (
            f'{NOT_YET}: at least {FEWEST_VALUES} values over {2.0 * CHUNK:g} minutes are needed '
            'of a joint'
        ))
    # The joint that may take longest decides.
    last = max(waits, key=lambda wait: (wait.high, wait.minutes))
    state, text = _decide(waits, last, times, values, names, by)
    return WaitAdvice(
        state, math.nan if state == NOT_YET else max(wait.minutes for wait in waits),
        (max(wait.low for wait in waits), last.high), text,
    )


def _wait_of(
    joint: int, times: FloatArray, values: FloatArray, tolerance: float
) -> _Wait | None:
    """Return the minutes of one joint; None where it has too few values."""
    known = np.isfinite(values)
    t, x = _thinned(times[known] / 60.0, values[known])
    if len(t) < FEWEST_VALUES or t[-1] - t[0] < 2.0 * CHUNK or not tolerance > 0.0:
        return None
    # Rounded values are off by a part of their step, even with small residuals.
    least = _rounding(values[known], tolerance) ** 2 * len(t) / int(known.sum())
    freedom = len(t) - 3
    z = float(-scipy.special.stdtrit(freedom, 0.5 * (1.0 - CONFIDENCE)))
    shortest = SHORTEST_SHARE * (t[-1] - t[0])
    longest = max(LONGEST, 2.0 * shortest)
    ends = shortest, longest
    for _ in range(ROUNDS):
        constants = np.geomspace(*ends, TIME_CONSTANTS)
        fits = [_fit(t - t[-1], x, float(constant)) for constant in constants]
        distance, deviation, squares = np.array([fit[:3] for fit in fits]).T
        best = int(np.argmin(squares))
        variance = max(squares[best] / freedom, least) * _inflation(fits[best][3])
        accepted = squares <= squares[best] + z**2 * variance
        first, last = np.flatnonzero(accepted)[[0, -1]]
        ends = constants[max(first - 1, 0)], constants[min(last + 1, TIME_CONSTANTS - 1)]
    off = np.abs(distance)
    error = z * deviation * math.sqrt(variance)
    low = _minutes(constants, np.maximum(off - error, 0.0), tolerance)[accepted].min()
    high = _minutes(constants, off + error, tolerance)[accepted].max()
    minutes = _minutes(constants, off, tolerance)[best]
    if high > 0.0 and ends[1] >= longest:
        # A line fits as well: there is no end in sight.
        high = math.inf
    return _Wait(joint, float(minutes), float(low), float(high))


def _rounding(values: FloatArray, tolerance: float) -> float:
    """Return the standard deviation of rounding; zero where values do not repeat."""
    different = np.unique(values)
    if len(different) > REPEATED * len(values) or len(different) < 2:
        return 0.0
    return min(float(np.diff(different).min()), tolerance) / math.sqrt(12.0)


def _thinned(t: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means of neighbouring values, where there are many."""
    each = math.ceil(len(t) / MOST_VALUES)
    count = len(t) // each if each else 0
    # The newest values are the most important ones.
    rows = slice(len(t) - count * each, None)
    return (
        t[rows].reshape(count, -1).mean(axis=1) if count else t,
        x[rows].reshape(count, -1).mean(axis=1) if count else x,
    )


def _fit(
    ago: FloatArray, x: FloatArray, constant: float
) -> tuple[float, float, float, FloatArray]:
    """
    Return distance from the end value, its deviation for unit noise, squares, residuals.

    The basis is one at its largest, so that short time constants do not overflow.
    """
    basis = np.exp(-(ago - ago[0]) / constant)
    matrix = np.column_stack([np.ones_like(ago), basis])
    orthogonal, upper = np.linalg.qr(matrix)
    solution = scipy.linalg.solve_triangular(upper, orthogonal.T @ x)
    residual = x - matrix @ solution
    now = float(basis[-1])
    deviation = abs(now / float(upper[1, 1]))
    return float(solution[1]) * now, deviation, float(residual @ residual), residual


def _inflation(residual: FloatArray) -> float:
    """Return by how much correlation from value to value widens a variance."""
    squares = float(residual @ residual)
    if squares <= 0.0:
        return 1.0
    correlation = float(residual[1:] @ residual[:-1]) / squares
    correlation = min(max(correlation, 0.0), STRONGEST_CORRELATION)
    return (1.0 + correlation) / (1.0 - correlation)


def _minutes(constants: FloatArray, distance: FloatArray, tolerance: float) -> FloatArray:
    """Return when exponentials come within a tolerance."""
    return constants * np.log(np.maximum(distance / tolerance, 1.0))


def _decide(
    waits: Sequence[_Wait], last: _Wait, times: FloatArray, values: FloatArray,
    names: Sequence[str], by: str,
) -> tuple[str, str]:
    """Return state and words."""
    known = {wait.joint for wait in waits}
    silent = [name for joint, name in enumerate(names) if joint not in known]
    more = f'; not judged: {", ".join(silent)}' if silent else ''
    minutes, low = (max(getattr(wait, name) for wait in waits) for name in ('minutes', 'low'))
    joint = names[last.joint]
    if last.high == 0.0:
        steady = _is_steady(times, values[:, sorted(known)], [names[k] for k in sorted(known)], by)
        if steady:
            return SETTLED, f'settled by {by}: every joint is within the tolerance{more}'
        return HEATING, f'nearly settled by {by}, but not steady yet: wait about a minute{more}'
    if last.high - low > max(WIDEST_SHARE * minutes, WIDEST):
        long = f'to {last.high:.0f} minutes' if math.isfinite(last.high) else 'minutes or far more'
        return NOT_YET, f'{NOT_YET}: {joint} may take {low:.0f} {long} by {by}, go on{more}'
    unit = 'minute' if math.ceil(minutes) <= 1 else 'minutes'
    return HEATING, (
        f'still heating, wait about {max(math.ceil(minutes), 1)} {unit} ({low:.0f} to '
        f'{math.ceil(last.high)}, {joint}, by {by}){more}'
    )


def _is_steady(
    times: FloatArray, values: FloatArray, names: Sequence[str], by: str
) -> bool:
    """Return what `judge_steady_state` says of means over chunks of time, as of runs."""
    count = SETTLING.runs + 1
    ago = (times[-1] - times) / (60.0 * CHUNK)
    means = []
    for chunk in reversed(range(count)):
        rows = values[(ago >= chunk) & (ago < chunk + 1)]
        if not len(rows) or np.any(np.all(np.isnan(rows), axis=0)):
            return False
        means.append(np.nanmean(rows, axis=0))
    if by == TEMPERATURE:
        runs = [RunFigures(temperature=mean) for mean in means]
    else:
        runs = [RunFigures(viscous=mean, error=np.zeros(len(names))) for mean in means]
    return judge_steady_state(runs, names, SETTLING).reached
