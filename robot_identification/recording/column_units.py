# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Units that no header states, from what is plausible for an arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.recording.column_words import UNITS

# What an arm that is identified does; beyond them a unit is unlikely, a decade as much as
# _WEIGHT says. Chosen: slow and fast loggers; the slowest motion worth a recording and the fastest
# joints; the least travel and two turns each way.
_PERIODS = (1e-4, 0.25)  # [s]
_SPEEDS = (0.02, 12.0)  # [rad/s], 95th percentile of the fastest joint
_POSITIONS = (0.2, 4.0 * np.pi)  # [rad], largest magnitude
_WEIGHT = 3.0  # a decade; chosen
# Velocity and the derivative of position differ by no more in the same unit: a decade costs this.
_RATIO_WEIGHT = 6.0  # chosen: degrees and radians are 1.76 decades apart
# Stamps of a calendar: 2000 to 2100 [s].
_CALENDAR = (9.5e8, 4.1e9)
_CALENDAR_BONUS = 2.0  # chosen: more than a period out of the usual by half a decade
_MIXED = 0.5  # chosen: few programs write degrees and radians in one table
# Rows over which positions are compared with integrated velocities: noise hardly counts then.
_SPAN = 20
# Share of the motion that velocities must explain to be compared; chosen.
_EXPLAINED = 0.7
# Decades between the ratio of a joint and that of the others at which one of its columns has
# another unit than theirs; chosen: degrees and radians are 1.76 apart.
_OTHER_UNIT = 1.3
# A joint that reaches so many times as far as all others may be in another unit; chosen: less than
# 57.3 from rad to deg, as joints differ in their travel.
_FAR = 15.0
# A position jumps where it changes by more times its usual largest step from row to row; chosen.
_JUMP = 10.0
# The 95th percentile of motor currents of arms stays below this [A], in mA it is above; chosen.
_LARGEST_CURRENT = 60.0
# Units that are tried where no header states one.
_CHOICES: Mapping[str, tuple[str, ...]] = {
    'time': ('s', 'ms', 'us', 'ns'), 'q': ('rad', 'deg'), 'dq': ('rad/s', 'deg/s'),
}
# A second choice that costs so little more is worth a warning; chosen.
_CLOSE = 0.35


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a table, in its units."""

    time: FloatArray  # shape (k,)
    q: FloatArray  # shape (k, n)
    dq: FloatArray | None  # shape (k, n)
    effort: FloatArray | None  # shape (k, n)


@dataclass(frozen=True)
class _Figures:
    """Figures of a sample of a table, in its units."""

    period: float  # Median step of the time
    stamp: float  # Median time
    speed: float  # 95th percentile of the derivative of q, of the fastest joint
    position: float  # Largest magnitude of q
    # The same of all joints but the one that reaches farthest; NaN of one joint
    others: float
    velocity: float  # 95th percentile of the magnitude of dq, of the fastest joint; NaN without
    ratio: float  # Derivative of q over dq, median of the joints; NaN where it cannot be known


def find_units(
    stated: Mapping[str, str], natural: str, windows: Sequence[Rows]
) -> tuple[dict[str, str], dict[str, str], str]:
    """
    Return the units of time, q, dq and effort, how they were found, and which others may be.

    `stated` has the unit of each quantity that there is, empty where no header states it;
    `natural` is the unit of effort that its name suggests. How it was found is said of those that
    no header states; the others are about as plausible, if there are any.
    """
    # What cannot be a number of an arm is named by its line when the table is read.
    with np.errstate(all='ignore'):
        figures = _measure(windows)
    names = [name for name in _CHOICES if name in stated]
    candidates = [dict(zip(names, choice, strict=True)) for choice in product(*(
        [stated[name]] if stated[name] else _CHOICES[name] for name in names
    ))]
    costs = [_cost(units, figures) for units in candidates]
    # Of equal ones the first, which are the usual ones.
    first, *others = np.argsort(costs, kind='stable').tolist()
    chosen, alternative = candidates[first], ''
    if others and costs[others[0]] - costs[first] < _CLOSE:
        differing = [f'{name} in {unit}' for name, unit in candidates[others[0]].items()
                     if unit != chosen[name]]
        alternative = f'{" and ".join(differing)} would be about as plausible: state units'
    checks = _explain([name for name in names if not stated[name]], chosen, figures)
    units = {**stated, **chosen}
    if units.get('effort') == '' and natural:
        units['effort'], checks['effort'] = _effort_unit(natural, windows)
    return units, checks, alternative


def _measure(windows: Sequence[Rows]) -> _Figures:
    """Return the figures of windows."""
    steps = np.concatenate([np.empty(0), *(np.diff(rows.time) for rows in windows)])
    steps = steps[steps > 0.0]
    stamps = np.concatenate([np.empty(0), *(rows.time for rows in windows)])
    n = windows[0].q.shape[1] if windows else 0
    speeds, heights, velocities = [], [np.zeros((1, n))], []
    sums = np.zeros((3, n))
    for rows in windows:
        heights.append(np.abs(rows.q))
        if rows.dq is not None:
            velocities.append(np.abs(rows.dq))
        span = min(_SPAN, len(rows.time) - 1)
        if span < 1:
            continue
        elapsed = rows.time[span:] - rows.time[:-span]
        jumps = _count_jumps(rows.q)
        moved = np.where(
            jumps[span:] == jumps[:-span], rows.q[span:] - rows.q[:-span], np.nan
        )
        going = elapsed > 0.0
        speeds.append(np.abs(moved[going] / elapsed[going, None]))
        if rows.dq is not None:
            area = np.zeros_like(rows.q)
            area[1:] = np.cumsum(
                0.5 * (rows.dq[1:] + rows.dq[:-1]) * np.diff(rows.time)[:, None], axis=0
            )
            swept = area[span:] - area[:-span]
            good = np.isfinite(moved) & np.isfinite(swept)
            moved, swept = np.where(good, moved, 0.0), np.where(good, swept, 0.0)
            sums += [
                np.sum(one * two, axis=0)
                for one, two in ((moved, swept), (swept, swept), (moved, moved))
            ]
    across, swept_twice, moved_twice = sums
    size = swept_twice * moved_twice
    known = (across > 0.0) & (across**2 > _EXPLAINED * size) & (size > 0.0)
    ratios = np.full(n, np.nan)
    ratios[known] = across[known] / swept_twice[known]
    ratio = float(np.median(ratios[known])) if known.any() else np.nan
    # One joint may be in another unit than the others, which is said where rows are compared.
    alike = ~(np.abs(np.log10(ratios / ratio)) > _OTHER_UNIT)
    whole = np.concatenate(heights)[:, alike]
    reached = np.sort([_percentile(of_joint, 100) for of_joint in whole.T])
    return _Figures(
        period=float(np.median(steps)) if steps.size else np.nan,
        stamp=_percentile(np.abs(stamps), 50),
        speed=_speed_of_fastest([of_joints[:, alike] for of_joints in speeds]),
        position=float(reached[-1]) if reached.size else np.nan,
        others=float(reached[-2]) if reached.size > 1 else np.nan,
        velocity=_speed_of_fastest([of_joints[:, alike] for of_joints in velocities]),
        ratio=ratio,
    )


def _count_jumps(q: FloatArray) -> FloatArray:
    """Return how often positions (k, n) jumped up to each row, as those kept within a turn do."""
    steps = np.abs(np.diff(q, axis=0))
    usual = np.array([_percentile(one[one > 0.0], 95) for one in steps.T])
    jumps = np.zeros(q.shape)
    # Comparisons with an unknown size are false.
    np.cumsum(steps > _JUMP * usual, axis=0, out=jumps[1:])
    return jumps


def _speed_of_fastest(speeds: Sequence[FloatArray]) -> float:
    """Return the 95th percentile of the joint that has the largest; the others may rest."""
    if not speeds:
        return np.nan
    of_joints = [_percentile(of_joint, 95) for of_joint in np.concatenate(speeds).T]
    return max((speed for speed in of_joints if np.isfinite(speed)), default=np.nan)


def _percentile(values: FloatArray, share: float) -> float:
    values = values[np.isfinite(values)]
    return float(np.percentile(values, share)) if values.size else np.nan


def _cost(units: Mapping[str, str], figures: _Figures) -> float:
    """Return how implausible units are."""
    second, radian = UNITS['time'][units['time']], UNITS['q'][units['q']]
    cost = _outside(figures.period * second, _PERIODS)
    cost += _outside(figures.speed * radian / second, _SPEEDS)
    cost += _outside(figures.position * radian, _POSITIONS)
    if 'dq' in units:
        speed = UNITS['dq'][units['dq']]
        cost += _outside(figures.velocity * speed, _SPEEDS)
        ratio = figures.ratio * radian / (second * speed)
        if np.isfinite(ratio):
            cost += _RATIO_WEIGHT * abs(float(np.log10(ratio)))
        cost += _MIXED * (units['dq'].startswith('rad') != (units['q'] == 'rad'))
    if _CALENDAR[0] < figures.stamp * second < _CALENDAR[1]:
        cost -= _CALENDAR_BONUS
    return cost


def _outside(value: float, limits: tuple[float, float]) -> float:
    """Return the cost of a value that is outside of its usual limits."""
    if not value > 0.0:
        return 0.0
    low, high = np.log10(limits)
    return _WEIGHT * float(max(low - np.log10(value), np.log10(value) - high, 0.0))


def _explain(
    quantities: Sequence[str], units: Mapping[str, str], figures: _Figures
) -> dict[str, str]:
    """Return how the units were found, by quantity."""
    checks = {}
    if 'time' in quantities:
        period = figures.period * UNITS['time'][units['time']]
        rate = 1.0 / period if period else np.inf
        checks['time'] = (
            f'median step {figures.period:.6g}, which is {1e3 * period:.4g} ms or {rate:.4g} Hz'
        )
    if 'q' in quantities:
        checks['q'] = f'reaches {figures.position:.4g}'
        if units['q'] == 'deg':
            checks['q'] += ', as may radians of the motors before their gears'
        if figures.position > _FAR * figures.others:
            checks['q'] += (
                f', the other joints at most {figures.others:.4g}: check the unit of the joint '
                'that reaches so far'
            )
    if 'dq' in quantities:
        checks['dq'] = f'95 % of each joint are below {figures.velocity:.4g}'
    if np.isfinite(figures.ratio):
        ratio = figures.ratio * UNITS['q'][units['q']] / (
            UNITS['time'][units['time']] * UNITS['dq'][units['dq']]
        )
        for quantity in ('q', 'dq'):
            if quantity in checks and (quantity == 'dq' or 'dq' not in checks):
                checks[quantity] += f', derivative of position over velocity {ratio:.3f}'
    return checks


def _effort_unit(natural: str, windows: Sequence[Rows]) -> tuple[str, str]:
    """Return the unit of effort by its name and magnitude, and how it was found."""
    efforts = [np.abs(rows.effort).ravel() for rows in windows if rows.effort is not None]
    height = _percentile(np.concatenate([np.empty(0), *efforts]), 95)
    unit = 'mA' if natural == 'A' and height > _LARGEST_CURRENT else natural
    kind = 'a current' if natural == 'A' else 'a torque'
    return unit, f'named as {kind}, 95 % are below {height:.4g}'
