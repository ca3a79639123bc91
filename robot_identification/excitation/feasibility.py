# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Limits that the motions of an experiment keep, and how much of them one uses, at its extrema.

Samples a millisecond apart miss an extremum by a millionth. Here every extremum that could be the
largest is searched between its neighbours, so that a motion of which the samples keep a limit and
the extremum does not is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.collision import CollisionModel
from robot_identification.excitation.constraints import (
    conservative_limit_uses, joint_limit_uses, LimitUse, motion_limits, MotionLimits, UNITS,
)
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.path_constraints import path_constraints, PathConstraint
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import Motion, rigid_torque, RobotModel
import scipy

# Of a millisecond that leaves 1e-9 s; where the slope is zero a value is off by its square.
HALVINGS = 20
# What extrema between samples may add to a share without being looked for.
NEGLIGIBLE = 1.0e-10


def certificate_times(form: Parametrization) -> FloatArray:
    """
    Return even instants [s] from start to end of a form, between which it hardly turns.

    Limits hold in a search on a coarse grid, and are proved on this one, of 1 kHz at least.
    """
    rate = max(1000.0, form.grid_samples / form.duration)
    return np.linspace(0.0, form.duration, int(np.ceil(form.duration * rate)) + 1)


class Feasibility:
    """
    All that a motion of an experiment has to keep, in a search and in its certificate.

    `robot` is mounted as in the experiment; `limits` are those of the joints with their margins
    taken off, `path` those of functions of the state, torques among them, and `collision` is of
    bodies that must not touch, None where that is not checked. Raises UsageError if the experiment
    names what the arm does not have.
    """

    def __init__(self, robot: RobotModel, experiment: Experiment) -> None:
        self.robot, self.experiment = robot.with_gravity(experiment.gravity), experiment
        self.limits = motion_limits(self.robot, experiment)
        self.path = path_constraints(self.robot, experiment)
        self.collision = (
            CollisionModel(self.robot, experiment.obstacles, may_overlap=None)
            if experiment.collision else None
        )

    def uses(self, trajectory: Trajectory, times: FloatArray) -> list[LimitUse]:
        """
        Return how much of every limit a period of a motion uses.

        As `refine_limit_uses`; where the experiment asks for conservative bounds, those of the
        joints.
        """
        uses = refine_limit_uses(
            self.robot, self.limits, trajectory, times,
            [one for one in self.path if one.kind != 'torque'],
        )
        if self.experiment.bounds == 'sampled':
            return uses
        bounds = conservative_limit_uses(
            self.robot, trajectory.form, trajectory.coefficients, self.limits
        )
        bounded = {use.kind for use in bounds}
        return [*bounds, *(use for use in uses if use.kind not in bounded)]

    def prove_clearance(self, trajectory: Trajectory) -> dict[str, Any] | str:
        """Prove that a period keeps the clearance; return the certificate's entry."""
        model, experiment = self.collision, self.experiment
        if model is None:
            return 'off'
        nearest = model.prove(
            lambda t: trajectory.sample(t).q, trajectory.form.duration,
            trajectory.sample(certificate_times(trajectory.form)).dq, experiment.clearance,
        )
        return {
            'clearance': experiment.clearance,
            # Nothing to touch: JSON and YAML have no common infinity.
            'nearest': round(nearest.distance, 6) if model.pairs else None,
            'pair': list(nearest.pair),
            'time': round(nearest.time, 3),
            'obstacles': {
                obstacle.name: {
                    'size': list(obstacle.size), 'xyz': list(obstacle.xyz),
                    'rpy': list(obstacle.rpy),
                    **({'link': obstacle.link} if obstacle.link else {}),
                }
                for obstacle in experiment.obstacles
            },
            'cannot_touch': [list(pair) for pair in model.cannot_touch],
            **({'overlapping': [list(pair) for pair in model.overlapping]}
               if model.overlapping else {}),
        }


@dataclass(frozen=True, eq=False)
class _Course:
    """A quantity (N, m) at the samples of a motion, and at any instants [s]."""

    samples: FloatArray
    at: Callable[[FloatArray], FloatArray]


def refine_limit_uses(
    robot: RobotModel, limits: MotionLimits, trajectory: Trajectory, times: FloatArray,
    constraints: Sequence[PathConstraint] = (),
) -> list[LimitUse]:
    """
    Return how much of every limit a period of a motion uses, at the extrema themselves.

    `limits` have their margins taken off; torques are those of the robot's prior. `times` (N,) are
    even, dense instants from the start to the end of a period [s]; between two of them no quantity
    turns twice. The result has position, velocity, acceleration and torque of each joint, its jerk
    where one is limited, and the worst side of each path constraint.
    """
    state = trajectory.sample
    motion = state(times)

    def jerk_at(at: FloatArray) -> FloatArray:
        return trajectory.form.jerk(trajectory.coefficients, at)

    position = _Course(motion.q, lambda at: state(at).q)
    velocity = _Course(motion.dq, lambda at: state(at).dq)
    acceleration = _Course(motion.ddq, lambda at: state(at).ddq)
    jerk = _Course(jerk_at(times), jerk_at)
    uses = []
    for kind, course, slope in (
        ('position', position, velocity), ('velocity', velocity, acceleration),
        ('acceleration', acceleration, jerk),
    ):
        seen = _turning_points(times, course, slope, limits.centre(kind), limits.reach(kind))
        uses += joint_limit_uses(robot, limits, kind, *seen)
    if limits.limits_jerk:
        seen = _jerk_peaks(trajectory.form, times, jerk, motion.ddq, limits.jerk)
        uses += joint_limit_uses(robot, limits, 'jerk', *seen)
    # The URDF's bodies alone: the margin has to cover friction and rotors.
    torque = _Course(rigid_torque(robot, motion), lambda at: rigid_torque(robot, state(at)))
    seen = _peaks(times, torque, limits.torque)
    uses += joint_limit_uses(robot, limits, 'torque', *seen)
    for constraint in constraints:
        uses += path_limit_uses(constraint, times, motion, state)
    return uses


def path_limit_uses(
    constraint: PathConstraint, times: FloatArray, motion: Motion,
    state: Callable[[FloatArray], Motion],
) -> list[LimitUse]:
    """
    Return how much of a path constraint a motion uses, at the extrema themselves.

    `motion` has its samples at `times` (N,), even, dense instants [s]; `state` returns the motion
    at any instants.
    """
    course = _Course(constraint.shares(motion), lambda at: constraint.shares(state(at)))
    shares, instants = _peaks(
        times, course, np.ones_like(constraint.scale), two_sided=constraint.two_sided
    )
    values = constraint.zero + shares * constraint.scale
    bounds = constraint.zero + constraint.scale
    return [
        LimitUse(constraint.kind, *use, unit=UNITS.get(constraint.kind, '')) for use in zip(
            constraint.labels(), constraint.use(shares).tolist(),
            values.tolist(), bounds.tolist(), instants.tolist(), strict=True,
        )
    ]


def _turning_points(
    times: FloatArray, course: _Course, slope: _Course, centre: FloatArray, reach: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Return the values that are farthest off their centre, and when.

    Where the slope changes its sign between two samples, the instant is found by halving.
    """
    values, slopes = course.samples, slope.samples
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
        before = slope.at(middle)[rows, joints] * rising > 0.0
        start, stop = np.where(before, middle, start), np.where(before, stop, middle)
    turning = 0.5 * (start + stop)
    for joint, value, instant in zip(
        joints, course.at(turning)[rows, joints], turning, strict=True
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
    times: FloatArray, course: _Course, reach: FloatArray, *, two_sided: bool = True
) -> tuple[FloatArray, FloatArray]:
    """
    Return the largest values of each column, or those of largest magnitude, and when.

    Around every sample whose parabola could be the highest, the peak is searched between its
    neighbours.
    """
    values = course.samples
    magnitude = np.abs(values) if two_sided else values
    largest, instants = _largest_samples(times, values, magnitude)
    size = magnitude / reach
    last = len(times) - 1
    bend = np.pad(np.abs(np.diff(size, 2, axis=0)), ((1, 1), (0, 0)), mode='edge')
    around = np.pad(size, ((1, 1), (0, 0)), constant_values=-np.inf)
    # A parabola's peak is above the largest of three samples by an eighth of their bend at most; a
    # millisecond's is near the truth, which may be twice as high above them.
    gain = 2.0 * bend / 8.0
    candidates = (
        (size >= around[:-2]) & (size >= around[2:])
        & (gain > NEGLIGIBLE) & (size + gain > size.max(axis=0) + NEGLIGIBLE)
    )
    for k, column in zip(*np.nonzero(candidates), strict=True):
        sign = -1.0 if two_sided and values[k, column] < 0.0 else 1.0
        found = scipy.optimize.minimize_scalar(
            lambda t, sign=sign, column=column: -sign * course.at(np.array([t]))[0, column],
            bounds=(times[max(k - 1, 0)], times[min(k + 1, last)]), method='bounded',
            options={'xatol': 1.0e-9},
        )
        value = -sign * found.fun
        before = largest[column]
        if (abs(value) > abs(before)) if two_sided else (value > before):
            largest[column], instants[column] = value, found.x
    return largest, instants


def _jerk_peaks(
    form: Parametrization, times: FloatArray, jerk: _Course, accelerations: FloatArray,
    reach: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """
    Return the jerks of largest magnitude, and when.

    The jerk may jump from piece to piece of a form: its pieces are evaluated at both of their
    ends. Where the acceleration itself jumps there is no jerk, but its mean from sample to sample.
    """
    largest, instants = _peaks(times, jerk, reach)
    ends = np.nextafter(form.pieces[1:], -np.inf)
    starts = form.pieces[:-1]
    means = np.diff(accelerations, axis=0) / np.diff(times)[:, None]
    for others, at in (
        (jerk.at(starts), starts), (jerk.at(ends), ends), (means, times[:-1]),
    ):
        seen, when = _largest_samples(at, others, np.abs(others))
        larger = np.abs(seen) > np.abs(largest)
        largest, instants = np.where(larger, seen, largest), np.where(larger, when, instants)
    return largest, instants
