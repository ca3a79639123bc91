# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Find an excitation trajectory, and certify it by the problem that it was searched with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import check_argument, UnsafeMotionError, UsageError
from robot_identification.excitation.certificate import certificate_of
from robot_identification.excitation.constraints import broken_limits
from robot_identification.excitation.evaluation import criteria_content, criteria_of, DENSE_RATE
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.feasibility import certificate_times
from robot_identification.excitation.information import Knowledge
from robot_identification.excitation.margins import (
    FEW_HELD, find_experiment_holding, make_generic_experiment,
)
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.optimizers.search import (
    Budget, DesignArguments, Progress, Search, Workers,
)
from robot_identification.excitation.parametrizations.composite import (
    CompositeParametrization, Segment,
)
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import Motion, RobotModel

# Shares of the amplitudes of random motions, of which the first that keeps all limits is taken,
# and how many are tried of each; chosen: among obstacles most poses are not free, and what is near
# the start is.
SHARES = (1.0, 0.6, 0.36, 0.22, 0.13, 0.08, 0.05)
TRIES = 10


def ignore_progress(progress: Progress) -> None:
    """Report nothing."""


@one_blas_thread()
def design_excitation(
    robot: RobotModel,
    experiment: Experiment | None = None,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    budget: Budget | None = None,
    report: Callable[[Progress], None] = ignore_progress,
    processes: int = 1,
    knowledge: Knowledge | None = None,
) -> Trajectory:
    """
    Find a motion that shows the arm's parameters, within its limits.

    Parameters
    ----------
    robot : RobotModel
        The arm; gravity is taken from the experiment.
    experiment : Experiment, optional
        Form, margins, criterion, optimizer and segments; by default those that the limits of the
        description give (`make_generic_experiment`).
    seed : int
        The same seed and evaluations give the same bytes for any number of processes.
    time_limit : float, optional
        When to stop [s], after any number of evaluations.
    budget : Budget, optional
        When to stop, by evaluations and time; in the place of `time_limit`.
    report : callable
        Called after every job.
    processes : int
        Processes that search.
    knowledge : Knowledge, optional
        What earlier recordings say already.

    Raises
    ------
    UnsafeMotionError
        If no feasible motion was found; before the search, if no pose of the window can be held
        against gravity.
    UsageError
        If the time limit is not positive, or both limits are given.

    """
    check_argument('robot', robot, RobotModel)
    experiment = make_generic_experiment(robot).experiment if experiment is None else experiment
    if time_limit is not None:
        if budget is not None or not time_limit > 0.0:
            raise UsageError('time_limit is a positive number [s], in the place of a budget')
        budget = DesignArguments(time_limit=float(time_limit)).budget
    check_argument('experiment', experiment, Experiment)
    holding = find_experiment_holding(robot, experiment)
    if holding.held == 0.0:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits: {holding.describe()}'
        )
    optimizer = OPTIMIZERS[experiment.optimizer](**experiment.optimizer_options)
    build = partial(TrajectoryProblem, robot, experiment, knowledge)
    with Workers(build, processes) as workers:
        problem = workers.problem
        found = Search(optimizer, workers, seed, report).run(budget or Budget())
    if found.best is None:
        remedy = holding.describe() if holding.held < FEW_HELD else (
            'widen the window or the margins, or lower the torque (slower, longer period)'
            f'{problem.describe_middle()}'
        )
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {found.evaluations} '
            f'evaluations: {_first_breach(problem, seed)}{remedy}'
        )
    trajectory = with_segments(
        problem, _uncertified(problem, problem.coefficients(found.best.x)), seed
    )
    before = evaluate_start(problem, seed)
    return certificate_of(problem.feasible, problem.columns, trajectory, {
        'optimizer': experiment.optimizer,
        'seed': seed,
        'evaluations': found.evaluations,
        'feasible': found.feasible,
        'criterion': experiment.criterion,
        'samples': list(experiment.samples),
        'objective': found.best.objective,
        'criteria_before': None if before is None else criteria_content(before),
    })


def with_segments(
    problem: TrajectoryProblem, trajectory: Trajectory, seed: int
) -> Trajectory:
    """
    Return a motion with the segments of its experiment; the same `seed`, the same ones.

    Raises UnsafeMotionError if a segment keeps the limits, or its clearance, with none of many
    random motions.
    """
    experiment = problem.experiment
    if not experiment.segments:
        return trajectory
    start = trajectory.sample(np.zeros(1)).q[0]
    forms = [segment.form for segment in experiment.segments]
    parts = []
    for number, segment in enumerate(experiment.segments):
        rng = np.random.default_rng([seed, 0, number])
        parts.append(_place_segment(problem, segment, start, rng))
    searched = experiment.segments_before
    forms.insert(searched, trajectory.form)
    parts.insert(searched, trajectory.coefficients)
    form = CompositeParametrization(
        [{'form': one.name, **one.options()} for one in forms], searched
    )
    return replace(trajectory, form=form, coefficients=form.coefficients(parts))


def _place_segment(
    searched: TrajectoryProblem, segment: Segment, start: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return the coefficients of a segment from `start` (n,) [rad] that keeps all limits."""
    robot = searched.robot
    problem = searched.about(segment.form, start)
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


def _uncertified(problem: TrajectoryProblem, coefficients: FloatArray) -> Trajectory:
    robot = problem.robot
    return Trajectory(
        robot.name, robot.joint_names, problem.form, coefficients, problem.experiment.periods, {}
    )


def _first_breach(problem: TrajectoryProblem, seed: int) -> str:
    """Return what limit the first random motion of a seed breaks most; empty if it breaks none."""
    coefficients = problem.coefficients(problem.draw(np.random.default_rng([seed, 0])))
    uses = problem.feasible.uses(
        _uncertified(problem, coefficients), certificate_times(problem.form)
    )
    broken = broken_limits([max(uses, key=lambda use: use.share)])
    return f'in the first random motion {broken[0]}; ' if broken else ''


def evaluate_start(problem: TrajectoryProblem, seed: int) -> dict[str, float] | None:
    """Return the criteria of the first random motion of a seed; None if nowhere clear."""
    try:
        x = problem.draw(np.random.default_rng([seed, 0]))
    except UnsafeMotionError:
        return None
    duration = problem.form.duration
    times = np.linspace(0.0, duration, round(np.ceil(duration * DENSE_RATE)) + 1)
    motion = Motion(*problem.form.sample(problem.coefficients(x), times))
    return criteria_of(problem.columns.matrix(motion))
