# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The extrema of a motion, between its samples too, and what they use of the limits.

Samples a millisecond apart miss an extremum by a millionth. Here every extremum that could be the
largest is searched between its neighbours, so that a motion of which the samples keep a limit and
the extremum does not is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.constraints import (
    conservative_limit_uses, joint_limit_uses, LimitUse, motion_limits, MotionLimits,
)
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.path_constraints import PathConstraint, state_constraints
from robot_identification.model import Motion, rigid_torque, RobotModel
import scipy

Course = Callable[[FloatArray], FloatArray]

# Of a millisecond that leaves 1e-9 s; where the slope is zero a value is off by its square.
HALVINGS = 20
# What extrema between samples may add to a share without being looked for.
NEGLIGIBLE = 1.0e-10
# A millisecond's parabola is near the truth: it may be twice as high above the samples.
PARABOLA_RESERVE = 2.0
SEARCH_TOLERANCE = 1.0e-9


def refine_limit_uses(
    robot: RobotModel, limits: MotionLimits, form: Parametrization, coefficients: FloatArray,
    times: FloatArray, constraints: Sequence[PathConstraint] = (),
) -> list[LimitUse]:
    """
    Return how much of every limit a period of a motion uses, at the extrema themselves.

    Parameters
    ----------
    robot : RobotModel
        The arm, with the prior that torques are predicted from.
    limits : MotionLimits
        Margins taken off.
    form : Parametrization
        Family of the motion.
    coefficients : ndarray, shape (n, c)
        Coefficients of the form [rad].
    times : ndarray, shape (N,)
        Even, dense instants from the start to the end of a period [s]; between two of them no
        quantity turns twice.
    constraints : sequence of PathConstraint
        What is limited besides joint motion and torque.

    Returns
    -------
    list of LimitUse
        Of each joint its position, velocity, acceleration, torque, and its jerk where one is
        limited; of each path constraint its worst side.

    """
    motion = Motion(*form.sample(coefficients, times))

    def state(at: FloatArray) -> Motion:
        return Motion(*form.sample(coefficients, at))

    def jerk(at: FloatArray) -> FloatArray:
        return form.jerk(coefficients, at)

    slopes = jerk(times)
    uses = []
    for kind, values, derivatives, course, slope in (
        ('position', motion.q, motion.dq, lambda at: state(at).q, lambda at: state(at).dq),
        ('velocity', motion.dq, motion.ddq, lambda at: state(at).dq, lambda at: state(at).ddq),
        ('acceleration', motion.ddq, slopes, lambda at: state(at).ddq, jerk),
    ):
        seen = _turning_points(
            times, values, derivatives, limits.centre(kind), limits.reach(kind), course, slope
        )
        uses += joint_limit_uses(robot.joint_names, limits, kind, *seen)
    if limits.limits_jerk:
        seen = _jerk_peaks(form, times, slopes, motion.ddq, limits.jerk, jerk)
        uses += joint_limit_uses(robot.joint_names, limits, 'jerk', *seen)
    # The URDF's bodies alone: the margin has to cover friction and rotors.
    seen = _peaks(
        times, rigid_torque(robot, motion), limits.torque,
        lambda at: rigid_torque(robot, state(at)),
    )
    uses += joint_limit_uses(robot.joint_names, limits, 'torque', *seen)
    for constraint in constraints:
        uses += path_limit_uses(constraint, times, motion, state)
    return uses


def certified_limit_uses(
    robot: RobotModel, experiment: Experiment, form: Parametrization, coefficients: FloatArray,
    times: FloatArray,
) -> list[LimitUse]:
    """
    Return how much of every limit of an experiment a period of a motion uses.

    As `refine_limit_uses`; where the experiment asks for conservative bounds, those of the joints.
    """
    limits = motion_limits(robot, experiment)
    uses = refine_limit_uses(
        robot, limits, form, coefficients, times,
        state_constraints(robot, experiment.extra_limits),
    )
    if experiment.bounds == 'sampled':
        return uses
    bounds = conservative_limit_uses(robot.joint_names, form, coefficients, limits)
    bounded = {use.kind for use in bounds}
    return [*bounds, *(use for use in uses if use.kind not in bounded)]


def path_limit_uses(
    constraint: PathConstraint, times: FloatArray, motion: Motion,
    state: Callable[[FloatArray], Motion],
) -> list[LimitUse]:
    """
    Return how much of a path constraint a motion uses, at the extrema themselves.

    Parameters
    ----------
    constraint : PathConstraint
        What is limited.
    times : ndarray, shape (N,)
        Even, dense instants [s].
    motion : Motion
        N samples, at `times`.
    state : callable
        Motion at any instants.

    """
    shares, instants = _peaks(
        times, constraint.shares(motion), np.ones_like(constraint.scale),
        lambda at: constraint.shares(state(at)), two_sided=constraint.two_sided,
    )
    values = constraint.zero + shares * constraint.scale
    bounds = constraint.zero + constraint.scale
    return [
        LimitUse(constraint.kind, *use) for use in zip(
            constraint.labels(), (np.abs(shares) if constraint.two_sided else shares).tolist(),
            values.tolist(), bounds.tolist(), instants.tolist(), strict=True,
        )
    ]


def _turning_points(
    times: FloatArray, values: FloatArray, slopes: FloatArray, centre: FloatArray,
    reach: FloatArray, course: Course, slope: Course,
) -> tuple[FloatArray, FloatArray]:
    """
    Return the values that are farthest off their centre, and when.

    Where the slope changes its sign between two samples, the instant is found by halving.
    """
    size = np.abs(values - centre) / reach
    largest, instants = _largest_samples(times, values, np.abs(values - centre))
    # In between a value cannot grow by more than the larger slope.
    steep = np.maximum(np.abs(slopes[:-1]), np.abs(slopes[1:])) / reach
    possible = np.maximum(size[:-1], size[1:]) + steep * np.diff(times)[:, None]
    cells, joints = np.nonzero(
        (slopes[:-1] * slopes[1:] < 0.0) & (possible > size.max(axis=0) + NEGLIGIBLE)
    )
    if not cells.size:
        return largest, instants
    start, stop, rows = times[cells].copy(), times[cells + 1].copy(), np.arange(cells.size)
    rising = np.sign(slopes[cells, joints])
    for _ in range(HALVINGS):
        middle = 0.5 * (start + stop)
        before = slope(middle)[rows, joints] * rising > 0.0
        start, stop = np.where(before, middle, start), np.where(before, stop, middle)
    turning = 0.5 * (start + stop)
    for joint, value, instant in zip(
        joints, course(turning)[rows, joints], turning, strict=True
    ):
        if abs(value - centre[joint]) > abs(largest[joint] - centre[joint]):
            largest[joint], instants[joint] = value, instant
    return largest, instants


def _largest_samples(
    times: FloatArray, values: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    worst = np.argmax(size, axis=0)
    return values[worst, np.arange(values.shape[1])], times[worst]


def _peaks(
    times: FloatArray, values: FloatArray, reach: FloatArray, course: Course, *,
    two_sided: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """
    Return the largest values of each column, or those of largest magnitude, and when.

    Around every sample whose parabola could be the highest, the peak is searched between its
    neighbours.
    """
    magnitude = np.abs(values) if two_sided else values
    largest, instants = _largest_samples(times, values, magnitude)
    size = magnitude / reach
    last = len(times) - 1
    bend = np.pad(np.abs(np.diff(size, 2, axis=0)), ((1, 1), (0, 0)), mode='edge')
    around = np.pad(size, ((1, 1), (0, 0)), constant_values=-np.inf)
    # A parabola's peak is above the largest of three samples by an eighth of their bend at most.
    gain = PARABOLA_RESERVE * bend / 8.0
    candidates = (
        (size >= around[:-2]) & (size >= around[2:])
        & (gain > NEGLIGIBLE) & (size + gain > size.max(axis=0) + NEGLIGIBLE)
    )
    for k, column in zip(*np.nonzero(candidates), strict=True):
        sign = -1.0 if two_sided and values[k, column] < 0.0 else 1.0
        found = scipy.optimize.minimize_scalar(
            lambda t, sign=sign, column=column: -sign * course(np.array([t]))[0, column],
            bounds=(times[max(k - 1, 0)], times[min(k + 1, last)]), method='bounded',
            options={'xatol': SEARCH_TOLERANCE},
        )
        value = -sign * found.fun
        before = largest[column]
        if (abs(value) > abs(before)) if two_sided else (value > before):
            largest[column], instants[column] = value, found.x
    return largest, instants


def _jerk_peaks(
    form: Parametrization, times: FloatArray, values: FloatArray, accelerations: FloatArray,
    reach: FloatArray, jerk: Course,
) -> tuple[FloatArray, FloatArray]:
    """
    Return the jerks of largest magnitude, and when.

    The jerk may jump from piece to piece of a form: its pieces are looked at on both of their
    ends. Where the acceleration itself jumps there is no jerk, but its mean from sample to sample.
    """
    largest, instants = _peaks(times, values, reach, jerk)
    ends = np.nextafter(form.pieces[1:], -np.inf)
    starts = form.pieces[:-1]
    means = np.diff(accelerations, axis=0) / np.diff(times)[:, None]
    for others, at in (
        (jerk(starts), starts), (jerk(ends), ends), (means, times[:-1]),
    ):
        seen, when = _largest_samples(at, others, np.abs(others))
        larger = np.abs(seen) > np.abs(largest)
        largest, instants = np.where(larger, seen, largest), np.where(larger, when, instants)
    return largest, instants
