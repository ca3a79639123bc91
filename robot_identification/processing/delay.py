# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Delay of the effort against the position.

Both come through filters of the drive and of the bus that are not documented. The effort of each
joint is explained by the rigid body and a small friction model, shifted against each other; the
shift that leaves the least is the delay. Friction that follows displacement, as before sliding,
looks like a delay to a model of velocities alone: stop operators are part of the model therefore.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntegerArray, release
from robot_identification.model import (
    inertial_regressor, KinematicFilter, Motion, RobotModel, run_stops,
)
from robot_identification.processing.blocks import first_chosen
from robot_identification.processing.dataset import Delay
from robot_identification.processing.effort_hypotheses import orthonormal
from robot_identification.processing.filters import central_difference, low_pass
from robot_identification.processing.plausibility import SMALLEST_MOTION
from robot_identification.processing.smoothing import interpolate, Samples

# Shifts that are tried [s].
LARGEST_SHIFT = 0.040
SHIFTS = np.linspace(-LARGEST_SHIFT, LARGEST_SHIFT, 41)
# Little is learned from less motion than this, and nothing new from more samples [s], [1].
SHORTEST_MOTION = 3.0
MOST_SAMPLES = 5000  # at the rate of the regression
# The regression is made at about this rate, for any rate of the recording [Hz].
REGRESSION_RATE = 120.0
# Fast enough to keep the corners that friction has where a joint reverses.
KINEMATIC_FILTER = KinematicFilter(cutoff=25.0)
# Columns and effort are compared in this band, so that noise is no part of what a shift changes.
COMMON_FILTER = KinematicFilter(cutoff=8.0)
ANTI_ALIAS_ORDER = 4  # of the low-pass before rows are left out
# Noise adds to the size of an acceleration: by so much it has to be smaller from the velocity.
NOISE_ADVANTAGE = 1.5
# Widths of smoothed signs of the velocity [rad/s], and radii of stop operators [rad]: wide enough
# that any friction is near some of them.
SLIDING_WIDTHS = (0.003, 0.01, 0.03, 0.1, 0.3)
PRESLIDING_RADII = np.array([0.0002, 0.0006, 0.002, 0.006, 0.02, 0.06, 0.2])
# Edges of the filters, left out on both sides [s].
EDGE = 0.3
# Independent samples that must remain in addition to the columns, over their number [1]: with
# fewer, columns explain noise, and at one shift more of it than at another.
FEWEST_LEFT = 1.0


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Uniform signals of one stretch of motion without a gap, band-limited alike."""

    t: FloatArray  # (N,) [s]
    effort: FloatArray  # (N, n)
    # (m, c) of each joint: what its effort is explained by at the m times that are no edge of a
    # filter; c = 0 for one that does not move
    columns: tuple[FloatArray, ...]
    independent: float  # number of independent samples at these times

    def shifted(self, joint: int) -> FloatArray:
        """Return the effort of a joint at the m times and SHIFTS later, (m, s)."""
        edge = (len(self.t) - len(self.columns[joint])) // 2
        inner = self.t[edge: len(self.t) - edge]
        return np.column_stack([
            interpolate(inner + shift, self.t, self.effort[:, [joint]])[:, 0] for shift in SHIFTS
        ])


def find_delay(robot: RobotModel, samples: Samples, fitted: BoolArray) -> Delay | None:
    """
    Return by how much more than `samples.delay` effort lags behind position [s].

    It is the most likely shift of all joints together, which drive and bus have in common. None
    where no stretch is as long as SHORTEST_MOTION, or that shift is not within LARGEST_SHIFT.
    """
    stretches = _find_stretches(robot, samples, fitted)
    of_joints = [
        _profile([one for one in stretches if one.columns[joint].size], joint)
        for joint in range(robot.n)
    ]
    found = [profile for profile in of_joints if profile is not None]
    # A shift that one of several joints shows is not one that they have in common.
    if len(found) < min(robot.n, 2):
        return None
    profiles = np.array(found)
    lowest = _lowest(profiles.sum(axis=0))
    if lowest is None:
        return None
    # Where the joints differ by more than their noise explains, the model is what is wrong: the
    # jackknife over the joints says how much that matters.
    without = []
    for joint in range(len(profiles)):
        rest = np.delete(profiles, joint, axis=0).sum(axis=0)
        other = _lowest(rest)
        without.append(float(SHIFTS[np.argmin(rest)]) if other is None else other.value)
    scatter = float(np.sqrt((len(without) - 1) * np.var(without)))
    return Delay(
        lowest.value, max(lowest.standard_error, scatter),
        tuple(None if profile is None else _lowest(profile) for profile in of_joints),
    )


def _lowest(profile: FloatArray) -> Delay | None:
    """Return the shift at the lowest of a profile over SHIFTS; None at the end of the range."""
    at = int(np.argmin(profile))
    if at in (0, len(SHIFTS) - 1):
        return None
    near = slice(at - 1, at + 2)
    curvature, slope, _ = np.polyfit(SHIFTS[near] - SHIFTS[at], profile[near], 2)
    return Delay(
        float(SHIFTS[at] - 0.5 * slope / curvature), float((2.0 * curvature) ** -0.5)
    )


def _find_stretches(
    robot: RobotModel, samples: Samples, fitted: BoolArray
) -> list[_Stretch]:
    """Return the stretches of motion, the longest first, with MOST_SAMPLES in all."""
    rate = 1.0 / samples.period
    step = max(int(rate / REGRESSION_RATE), 1)
    left, found = MOST_SAMPLES * step, []
    for segment in sorted(
        samples.segments, key=lambda segment: -int(np.count_nonzero(fitted[segment]))
    ):
        known = samples.known_in(segment)
        rows = known[first_chosen(fitted[known], left)]
        release(samples.fresh)
        if len(rows) < 2 or samples.stamps[rows[-1]] - samples.stamps[rows[0]] < SHORTEST_MOTION:
            break
        found.append(_band_limited(robot, samples, rows, step))
        left -= len(rows)
    return found


def _band_limited(
    robot: RobotModel, samples: Samples, rows: IntegerArray, step: int
) -> _Stretch:
    """Return columns and effort of some rows without a gap, on a uniform grid."""
    rate = 1.0 / samples.period
    times = samples.stamps[rows]
    t = np.arange(times[0], times[-1], samples.period)
    q = interpolate(t, times, samples.q[rows])
    dq, ddq = _differentiate(central_difference(q, rate), rate)
    if samples.dq is not None:
        known = np.where(samples.derived, 0.0, samples.dq[rows])
        recorded = _differentiate(interpolate(t, times, known), rate)
        # A driver may delay its velocity, too; it is used where the position is too coarse.
        quieter = NOISE_ADVANTAGE * recorded[1].std(axis=0) < ddq.std(axis=0)
        quieter &= ~samples.derived
        dq, ddq = np.where(quieter, recorded[0], dq), np.where(quieter, recorded[1], ddq)
    tau = interpolate(t + samples.delay, times, samples.effort[rows])
    if step > 1:
        anti_alias = KinematicFilter(order=ANTI_ALIAS_ORDER, cutoff=0.35 * rate / step)
        tau = low_pass(tau, rate, anti_alias)[::step]
    columns = _columns(robot, q, dq, ddq, step)
    edge = int(np.ceil(EDGE * rate / step))
    t = t[::step]
    # Twice the bandwidth times the duration is how many numbers a band-limited signal has.
    independent = 2.0 * min(COMMON_FILTER.cutoff, 0.4 * rate) * (len(t) - 2 * edge) * step / rate
    return _Stretch(
        t,
        low_pass(tau, rate / step, COMMON_FILTER),
        tuple(low_pass(part, rate / step, COMMON_FILTER)[edge:-edge] for part in columns),
        independent,
    )


def _differentiate(velocity: FloatArray, rate: float) -> tuple[FloatArray, FloatArray]:
    dq = low_pass(velocity, rate, KINEMATIC_FILTER)
    return dq, low_pass(central_difference(dq, rate), rate, KINEMATIC_FILTER)


def _columns(
    robot: RobotModel, q: FloatArray, dq: FloatArray, ddq: FloatArray, step: int
) -> list[FloatArray]:
    """Return what each joint's effort is explained by; nothing for one that does not move."""
    some = slice(None, None, step)
    motion = Motion(q[some], dq[some], ddq[some])
    inertial = inertial_regressor(robot, motion).reshape(len(motion), robot.n, -1)
    columns = []
    for joint in range(robot.n):
        if np.ptp(q[:, joint]) <= SMALLEST_MOTION:
            columns.append(np.zeros((len(motion), 0)))
            continue
        speed = motion.dq[:, joint]
        at_rest = np.zeros(len(PRESLIDING_RADII))
        stops = run_stops(q[:, joint], PRESLIDING_RADII, at_rest, float(q[0, joint]))
        columns.append(np.column_stack([
            inertial[:, joint], np.ones(len(motion)), motion.ddq[:, joint], speed,
            *(np.tanh(speed / width) for width in SLIDING_WIDTHS),
            stops[some] / PRESLIDING_RADII,
        ]))
    return columns


def _profile(stretches: Sequence[_Stretch], joint: int) -> FloatArray | None:
    """
    Return minus the logarithm of the likelihood of one joint's effort at SHIFTS, (s,).

    None where it does not move, has a constant effort, or too few samples for its columns.
    """
    if not any(np.ptp(one.effort[:, joint]) > 0.0 for one in stretches):
        return None
    basis = orthonormal(np.concatenate([one.columns[joint] for one in stretches]))
    left = sum(one.independent for one in stretches) - basis.shape[1]
    if left < FEWEST_LEFT * basis.shape[1]:
        return None
    shifted = np.concatenate([one.shifted(joint) for one in stretches])
    squares = np.sum(shifted**2, axis=0) - np.sum((basis.T @ shifted) ** 2, axis=0)
    # Of normal residuals of unknown size.
    profile: FloatArray = 0.5 * left * np.log(np.maximum(squares, np.finfo(float).tiny))
    return profile
