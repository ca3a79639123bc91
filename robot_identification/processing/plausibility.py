# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of positions and velocities.

Units, signs and names are wrong in a message without a trace in its numbers; but the velocity has
to be the derivative of the position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import Motion, rigid_torque, RobotModel
from robot_identification.processing.blocks import row_blocks
from robot_identification.processing.effort_hypotheses import orthonormal, without_friction
from robot_identification.processing.repairs import TURN

# A joint that turns by less is not identified [rad or m].
SMALLEST_MOTION = 0.05
# Slopes and correlations are taken from this many samples at least.
FEWEST_SAMPLES = 20
# Slow samples are noise: those below this share of the usual top speed.
SLOW_SHARE = 0.3
# What two signals must have in common before their slope means anything.
CLOSE_CORRELATION = 0.95
FAIR_CORRELATION = 0.9  # below it a joint is worth a warning [1]
# Slopes this close to one are filters and delays, up to the second bound they are worth a note.
FAIR_FACTOR = 1.15
DEFINITE_FACTOR = 1.5  # beyond it the data are refused
# Known factors are met to five per cent.
FACTOR_TOLERANCE = 0.05
# Factors of joints that differ by less, as a share, are one of the clock; chosen: rows that are
# missing at random make them differ by some per cent.
SAME_FACTOR = 0.1
KNOWN_FACTORS: Mapping[str, float] = {  # conversions of units
    'positions look like degrees, velocities like rad/s': 180.0 / np.pi,
    'velocities look like deg/s, positions like rad': np.pi / 180.0,
    'positions look like thousandths (mrad or mm)': 1000.0,
    'velocities look like thousandths (mrad/s or mm/s)': 0.001,
    'positions look like revolutions': 1.0 / (2.0 * np.pi),
    'velocities look like revolutions per second': 2.0 * np.pi,
    'velocities look like revolutions per minute': 2.0 * np.pi / 60.0,
}
# Slower than this, a velocity may well drown in its noise [rad/s].
CLEAR_SPEED = 0.05
# Beyond its limits by more than a turn, a joint is not where its position says [rad].
FAR_OUTSIDE = 2.0 * np.pi + 1.0
# Widths of integers that are looked for [bit], and how often one must have jumped; chosen.
FEWEST_BITS, MOST_BITS, FEWEST_JUMPS = 8, 32, 3
# Steps of an integer that jumps are this share of its range at least, all others that at most;
# chosen: a torque in per cent of the rated one jumps by 2^8 and changes by a quarter of it.
NEARLY_A_TURN, PART_OF_A_TURN = 0.8, 0.25
# Factors from degrees to radians of a joint that are tried for readings of motors before gears of
# 20 to 250, and near the best of them; chosen.
MOTOR_FACTORS = 180.0 / np.pi / np.geomspace(20.0, 250.0, 15)
NEAR_FACTORS = np.array([0.85, 0.92, 1.09, 1.18])
# They are those of motors where the logarithms of what is left fall by so much in all. Measured on
# simulated arms: 2.1 to 16 for motors, at most 0.6 for degrees with masses wrong by a half, a
# zero, mounting or order of joints. Flipped signs reach 3.7, and leave more than this share of
# the effort of the joints that are explained best, 0.14 and more.
MOTOR_GAIN, FAIRLY_EXPLAINED, BEST_EXPLAINED = 2.0, 0.1, 3
# Motors have gears at all joints. That of a single one, as of a wrist that hardly weighs anything,
# is found by chance: 2 of 120 random motions whose angles were degrees.
FEWEST_SHOWN = 2
SHOWN_GAIN = 0.5  # a joint shows its ratio where that of degrees costs so much more; chosen
ROUNDING = 1.0e-12  # share of a sum of squares that is rounding [1]
MOST_COMPARED = 400  # samples in which effort and motion are compared; chosen
# Some factor explains any effort of fewer samples; chosen: 3 s at 50 Hz.
FEWEST_COMPARED = 150
WHOLE = 1.0e-6  # a number this near to an integer, as a share of it, is one
OUTSIDE = 0.2  # beyond the limits by this, a position is worth a warning [rad]; chosen


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of positions and velocities."""

    # Both (n, n): of the derivative of position j (rows) against velocity k (columns); NaN where
    # there are too few samples
    slope: FloatArray
    correlation: FloatArray
    speed: FloatArray  # shape (n,); usual top speed of the positions [rad/s]


def compare_rates(position_rate: FloatArray, velocity: FloatArray) -> Agreement:
    """Compare derivatives of position with velocities, both (S, n), low-passed alike [rad/s]."""
    n = velocity.shape[1]
    slope, correlation = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for j in range(n):
        for k in range(n):
            slope[j, k], correlation[j, k] = _robust_slope(position_rate[:, j], velocity[:, k])
    return Agreement(slope, correlation, np.array([_top(values) for values in position_rate.T]))


def _top(values: FloatArray) -> float:
    """Return the size that few samples exceed."""
    return float(np.quantile(np.abs(values), 0.98)) if len(values) else 0.0


def _robust_slope(y: FloatArray, x: FloatArray) -> tuple[float, float]:
    """Return median ratio and correlation of the samples at which both are not small."""
    top_x, top_y = _top(x), _top(y)
    if not (top_x > 0.0 and top_y > 0.0):
        return np.nan, np.nan
    fast = (np.abs(x) > SLOW_SHARE * top_x) | (np.abs(y) > SLOW_SHARE * top_y)
    if np.count_nonzero(fast) < FEWEST_SAMPLES:
        return np.nan, np.nan
    # Clipped, so that one outlier does not decide.
    a, b = np.clip(x[fast] / top_x, -1.0, 1.0), np.clip(y[fast] / top_y, -1.0, 1.0)
    correlation = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    steady = np.abs(x) > SLOW_SHARE * top_x
    return float(np.median(y[steady] / x[steady])), correlation


def check_velocities(
    where: str, names: Sequence[str], agreement: Agreement, moved: BoolArray
) -> list[str]:
    """
    Return warnings where a velocity is not the derivative of its position, of joints that moved.

    Raise DataError if units, signs or names are certainly wrong.
    """
    slope, correlation = agreement.slope, agreement.correlation
    own, fit = np.diag(slope), np.diag(correlation)
    known = moved & np.isfinite(own)
    good = known & (fit > FAIR_CORRELATION) & _is_near_one(own)
    bad = [int(j) for j in np.flatnonzero(known & ~good)]
    swaps = _find_swaps(agreement, bad)
    if swaps:
        pairs = '; '.join(
            f'the velocity under {names[j]} is that of {names[k]} (correlation with its own '
            f'position {fit[j]:.2f}, with that of {names[k]} {correlation[k, j]:.2f}, expected 1 '
            'and less)'
            for j, k in swaps
        )
        raise DataError(
            f'{where}: joints are swapped: {pairs}; correct the names in the driver, or map them '
            'with --joint-names'
        )
    definite = [
        j for j in bad if abs(fit[j]) > CLOSE_CORRELATION
        and not 1.0 / DEFINITE_FACTOR < own[j] < DEFINITE_FACTOR
    ]
    if definite:
        raise DataError(_wrong_factor(where, [names[j] for j in definite], own[definite],
                                      len(definite) == np.count_nonzero(known)))
    scaled = [j for j in bad if abs(fit[j]) > CLOSE_CORRELATION]
    notes = _describe_factors(
        [names[j] for j in scaled], own[scaled], len(scaled) == np.count_nonzero(known)
    )
    notes += [
        f'{names[j]}: its velocity hardly follows its position (correlation {fit[j]:.2f}, '
        'expected 1): it is noisy, late, or of another joint'
        for j in bad if fit[j] < FAIR_CORRELATION and agreement.speed[j] > CLEAR_SPEED
        and j not in scaled
    ]
    return notes


def _describe_factors(names: Sequence[str], factors: FloatArray, is_all: bool) -> list[str]:
    """Return notes of factors between positions and velocities that are near to one."""
    if is_all and len(names) > 1 and np.ptp(factors) < SAME_FACTOR * np.median(factors):
        return [
            f'positions of all joints change {np.median(factors):.3g} times as fast as the '
            'recorded velocities say, expected 1: the stamps run too fast or too slow (as '
            'stamps do that were counted while rows are missing), or the driver filters its '
            'velocities'
        ]
    return [
        f'{name}: position changes {factor:.3g} times as fast as the recorded velocity says, '
        'expected 1: the driver filters its velocity, or scales it'
        for name, factor in zip(names, factors, strict=True)
    ]


def _is_near_one(factor: FloatArray) -> BoolArray:
    near: BoolArray = (factor > 1.0 / FAIR_FACTOR) & (factor < FAIR_FACTOR)
    return near


def _find_swaps(agreement: Agreement, bad: Sequence[int]) -> list[tuple[int, int]]:
    """Return which velocity is whose, among joints whose own does not fit."""
    return [
        (j, k) for k in bad for j in bad
        if j != k and agreement.correlation[k, j] > CLOSE_CORRELATION
        and _is_near_one(agreement.slope[k, j])
    ]


def _wrong_factor(where: str, names: Sequence[str], factors: FloatArray, is_all: bool) -> str:
    """Return what is wrong with the factors between positions and velocities."""
    listed = ', '.join(
        f'{name} {factor:.4g}' for name, factor in zip(names, factors, strict=True)
    )
    causes = sorted({_name_factor(float(factor)) for factor in factors})
    same = is_all and len(names) > 1 and np.ptp(factors) < FACTOR_TOLERANCE * abs(factors[0])
    if same and causes == [_UNKNOWN]:
        causes = ['all by the same factor: encoder ticks, or stamps too fast or too slow']
    return (
        f'{where}: positions change by other factors than the recorded velocities say ({listed}; '
        f'expected 1): {"; ".join(causes)}. Record positions in rad and velocities in rad/s (of '
        'joints that slide in m and m/s) with one sign, or correct the driver'
    )


_UNKNOWN = 'encoder ticks, or a gear ratio, in one of them'


def _name_factor(factor: float) -> str:
    for name, known in KNOWN_FACTORS.items():
        if abs(factor / known - 1.0) < FACTOR_TOLERANCE:
            return name
    if abs(factor + 1.0) < 1.0 - 1.0 / DEFINITE_FACTOR:
        return 'the sign of position or velocity is flipped'
    return _UNKNOWN


def check_signed(where: str, names: Sequence[str], quantity: str, values: FloatArray) -> None:
    """
    Raise DataError where signed integers were read as unsigned ones: they jump by a power of two.

    `values` (N, n) are whole numbers, or thousandths of them, then: never negative, and from row
    to row they change little or by nearly all that so many bits hold.
    """
    n = values.shape[1]
    lowest, highest, largest = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n)
    for block in _overlapping_blocks(values):
        lowest = np.fmin(lowest, np.fmin.reduce(block, axis=0))
        highest = np.fmax(highest, np.fmax.reduce(block, axis=0))
        if np.all(lowest < 0.0):
            return
        largest = np.fmax(largest, np.fmax.reduce(np.abs(np.diff(block, axis=0)), axis=0))
    for unit in (1.0, 1.0e-3):
        with np.errstate(divide='ignore'):
            bits = np.round(np.log2(largest / unit)).clip(0, 64)
        turn = unit * 2.0**bits
        counts = (
            (lowest >= 0.0) & (bits >= FEWEST_BITS) & (bits <= MOST_BITS)
            & (np.minimum(largest, highest) > NEARLY_A_TURN * turn) & (highest < turn)
        )
        jumps = np.zeros(n, dtype=int)
        for block in _overlapping_blocks(values) if counts.any() else ():
            steps = np.abs(np.diff(block, axis=0))
            is_jump = steps > NEARLY_A_TURN * turn
            jumps += is_jump.sum(axis=0)
            # What changes by a part of the turn, or has fractions, is another signal.
            counts &= ~np.any((steps > PART_OF_A_TURN * turn) & ~is_jump, axis=0)
            fraction = np.abs(block / unit - np.round(block / unit))
            counts &= ~np.any(fraction > WHOLE * np.maximum(block / unit, 1.0), axis=0)
        found = np.flatnonzero(counts & (jumps >= FEWEST_JUMPS)).tolist()
        if found:
            factor = '' if unit == 1.0 else f'{unit:g} * '
            listed = ', '.join(
                f'{names[j]} {jumps[j]} times by {turn[j]:.10g} = {factor}2^{bits[j]:.0f}'
                for j in found
            )
            raise DataError(
                f'{where}: {quantity} is never negative and jumps ({listed}): signed integers of '
                'so many bits were read as unsigned ones. Take the size of the jump from all '
                'values above half of it, and use the result'
            )


def _overlapping_blocks(values: FloatArray) -> Iterator[FloatArray]:
    """Yield blocks of rows, each with the first one of the next."""
    for rows in row_blocks(len(values), values):
        yield np.asarray(values[rows.start:rows.stop + 1])


def check_positions(
    where: str, robot: RobotModel, lowest: FloatArray, highest: FloatArray, counted: Sequence[int]
) -> list[str]:
    """
    Return warnings where positions (n,) are outside the limits of the joints [rad].

    Whole turns make no difference to the arm. Joints at the places `counted` had positions within
    one turn, which were made continuous: their turns are no error of the recording. Raise
    DataError if another joint was farther outside than it can be.
    """
    limits = robot.limits
    outside = np.maximum(highest - limits.upper, limits.lower - lowest)
    is_counted = np.isin(np.arange(robot.n), counted)
    far = np.flatnonzero((outside > FAR_OUTSIDE) & ~is_counted)
    if far.size:
        listed = ', '.join(
            f'{robot.joint_names[j]} {lowest[j]:.4g} to {highest[j]:.4g} (limits '
            f'{limits.lower[j]:.4g} to {limits.upper[j]:.4g})'
            for j in far
        )
        raise DataError(
            f'{where}: positions are far outside the limits: {listed}; they '
            f'{_guess_unit(robot, lowest, highest)}: record them in '
            f'{robot.units("rad", list(far))}'
        )
    turns = _whole_turns(robot, lowest, highest)
    outside = np.maximum(highest + turns - limits.upper, limits.lower - lowest - turns)
    return [
        f'{robot.joint_names[j]}: position goes from {lowest[j]:.4g} to {highest[j]:.4g}, its '
        f'limits are {limits.lower[j]:.4g} and {limits.upper[j]:.4g}'
        + (': is it a continuous joint?' if is_counted[j] else ': is its zero right?')
        for j in np.flatnonzero(outside > OUTSIDE)
    ]


def check_motor_side(where: str, robot: RobotModel, motion: Motion, effort: FloatArray) -> None:
    """
    Raise DataError where positions that were taken for degrees are those of motors before gears.

    `motion` is in radians, by that assumption. Of each joint the factor is looked for with which
    the bodies of the URDF explain the effort best, in any scale.
    """
    if len(effort) < FEWEST_COMPARED:
        return
    turning = [joint for joint in range(robot.n) if robot.position_units[joint] == 'rad']
    factors = np.ones(robot.n)
    assumed = best = _unexplained(robot, motion, effort, factors)
    for relative in (False, True):
        for joint in turning:
            start = factors[joint]
            for value in start * NEAR_FACTORS if relative else MOTOR_FACTORS:
                trial = factors.copy()
                trial[joint] = value
                unexplained = _unexplained(robot, motion, effort, trial)
                if unexplained.sum() < best.sum():
                    best, factors = unexplained, trial
    gain, explained = float((assumed - best).sum()), np.sort(best)[:BEST_EXPLAINED].mean()
    if gain < MOTOR_GAIN or explained > np.log(FAIRLY_EXPLAINED):
        return
    shown = []
    for joint in turning:
        as_assumed = np.where(np.arange(robot.n) == joint, 1.0, factors)
        if (_unexplained(robot, motion, effort, as_assumed) - best).sum() > SHOWN_GAIN:
            shown.append(joint)
    if len(shown) < FEWEST_SHOWN:
        return
    listed = ', '.join(
        f'{robot.joint_names[joint]} {180.0 / np.pi / factors[joint]:.0f}' for joint in shown
    )
    raise DataError(
        f'{where}: positions have no stated unit and look like degrees, but the effort fits '
        f'radians of the motors, before gears with ratios of about {listed}: divide positions and '
        'velocities by the gear ratios, or state in a mapping (docs/formats/mapping.md) that '
        'their unit is deg'
    )


def _unexplained(
    robot: RobotModel, motion: Motion, effort: FloatArray, factors: FloatArray
) -> FloatArray:
    """Return the logarithms (n,) of what a motion times factors (n,) leaves of the effort."""
    scaled = Motion(motion.q * factors, motion.dq * factors, motion.ddq * factors)
    zero = np.zeros_like(scaled.q)
    static = rigid_torque(robot, Motion(scaled.q, zero, zero))
    moving = rigid_torque(robot, scaled) - static
    unexplained = np.zeros(robot.n)
    for joint in range(robot.n):
        columns, _ = without_friction(
            scaled, joint, np.column_stack([static[:, joint], moving[:, joint], effort[:, joint]]),
            np.ones(len(motion)),
        )
        basis, signal = orthonormal(columns[:, :2]), columns[:, 2]
        left, size = signal - basis @ (basis.T @ signal), float(signal @ signal)
        if size:
            unexplained[joint] = np.log(max(float(left @ left) / size, ROUNDING))
    return unexplained


def _whole_turns(robot: RobotModel, lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Return the turns (n,) [rad] that bring positions nearest to the middle of their limits."""
    lower, upper = robot.limits.lower, robot.limits.upper
    turning = np.array([unit == 'rad' for unit in robot.position_units])
    bounded = np.flatnonzero(turning & np.isfinite(lower) & np.isfinite(upper))
    away = 0.5 * (lower[bounded] + upper[bounded] - lowest[bounded] - highest[bounded])
    turns = np.zeros(robot.n)
    turns[bounded] = TURN * np.round(away / TURN)
    return turns


def _guess_unit(robot: RobotModel, lowest: FloatArray, highest: FloatArray) -> str:
    for unit, factor in (('degrees', np.pi / 180.0), ('thousandths (mrad or mm)', 0.001)):
        inside = (factor * lowest > robot.limits.lower - OUTSIDE) & (
            factor * highest < robot.limits.upper + OUTSIDE
        )
        if inside.all():
            return (
                f'and their velocities look like {unit} or angles of the motors before their '
                'gears, if not their zero is another one'
            )
    return (
        'look like encoder ticks or angles of the motors before their gears, or their zero is '
        'another one'
    )
