# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The segments of an experiment before and behind the motion that a search has found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.excitation.parametrizations.composite import CompositeParametrization
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.excitation.segments import Segment
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import RobotModel

# Shares of the amplitudes of random motions, of which the first that keeps all limits is taken,
# and how many are tried of each; chosen: among obstacles most poses are not free, and what is near
# the start is.
SHARES = (1.0, 0.6, 0.36, 0.22, 0.13, 0.08, 0.05)
TRIES = 10


def with_segments(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory, seed: int
) -> Trajectory:
    """
    Return a motion with the segments of its experiment; the same `seed`, the same ones.

    Raises UnsafeMotionError if a segment keeps the limits, or its clearance, with none of many
    random motions.
    """
    if not experiment.segments:
        return trajectory
    start = trajectory.sample(np.zeros(1)).q[0]
    forms = [segment.form for segment in experiment.segments]
    parts = []
    for number, segment in enumerate(experiment.segments):
        rng = np.random.default_rng([seed, 0, number])
        parts.append(_place(robot, experiment, segment, start, rng))
    searched = experiment.segments_before
    forms.insert(searched, trajectory.form)
    parts.insert(searched, trajectory.coefficients)
    form = CompositeParametrization(
        [{'form': one.name, **one.options()} for one in forms], searched
    )
    return replace(trajectory, form=form, coefficients=form.coefficients(parts))


def _place(
    robot: RobotModel, experiment: Experiment, segment: Segment, start: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the coefficients of a segment from `start` (n,) [rad] that keeps all limits."""
    problem = TrajectoryProblem(robot, replace(
        experiment, form=segment.form, bounds='sampled', optimizer=DEFAULT_OPTIMIZER,
        optimizer_options={},
        center=dict(zip(robot.joint_names, map(float, start), strict=True)),
    ))
    lower, upper = problem.limits.lower - start, problem.limits.upper - start
    for share in np.repeat(SHARES, TRIES):
        offsets = share * segment.offsets(lower, upper, rng)
        placed = problem.repair(problem.candidate(np.hstack([start[:, None], offsets])))
        if placed is not None and problem.is_clear(placed):
            return problem.coefficients(placed)
    raise UnsafeMotionError(
        f'no motion of {robot.name} for the segment {segment.name} keeps the limits in '
        f'{len(SHARES) * TRIES} tries: leave it out of segments, give it more move_time, or widen '
        'the window'
        f'{problem.describe_middle()}'
    )
