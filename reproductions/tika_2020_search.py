# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The excitation of Tika et al.: memetic against random only, with the same limits and budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from reproductions import tika_2020_printed as paper
from reproductions.reproduction import Report
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.design import certify
from robot_identification.excitation.experiment_file import (
    Experiment, find_experiment, load_experiment,
)
from robot_identification.excitation.optimizers.memetic import Memetic
from robot_identification.excitation.optimizers.optimizer import Budget, Progress, SearchState
from robot_identification.excitation.optimizers.search import Search
from robot_identification.excitation.optimizers.workers import Workers
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.robot_model import RobotModel
from robot_identification.parallel import available_processors

ROBOT, EXPERIMENT = 'ur5_tika', 'tika_2020_ur5'
# A third of the paper's population: 320 local searches instead of 1000, in minutes.
POPULATION, EVALUATIONS, SEED = 32, 22_000, 0


@dataclass(frozen=True)
class Generation:
    """
    Results of the local searches of one generation.

    Attributes
    ----------
    is_random : bool
        Whether they started from random motions.
    solutions : tuple of (float, bool)
        Condition number and whether all limits are kept; near copies of others are left out.
    feasible : int
        Searches that ended within all limits, copies included.
    best : float
        Least condition number so far.
    evaluations : int
        So far.

    """

    is_random: bool
    solutions: tuple[tuple[float, bool], ...]
    feasible: int
    best: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class Found:
    """
    A finished search.

    Attributes
    ----------
    generations : tuple of Generation
        The last one is cut off by the end of the budget.
    trajectory : Trajectory
        The best motion with its certificate, the paper's periods of it.
    condition, dense : float
        Its condition number at the 20 samples it was searched with, and at 125 Hz.
    evaluations : int
        Of the criterion.

    """

    generations: tuple[Generation, ...]
    trajectory: Trajectory
    condition: float
    dense: float
    evaluations: int


@dataclass(frozen=True)
class Effort:
    """
    Effort of the search.

    Attributes
    ----------
    population : int
        Local searches of a generation.
    evaluations : int
        Of each of the two searches.
    seed : int
        Of the random motions.
    processes : int
        That search; the result is the same with any number.

    """

    population: int = POPULATION
    evaluations: int = EVALUATIONS
    seed: int = SEED
    processes: int = 1


def paper_experiment() -> Experiment:
    """Return the shipped experiment with the paper's 20 samples alone."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return replace(experiment, samples=(paper.OPTIMISED_SAMPLES,))


def search_both(
    robot: RobotModel, experiment: Experiment, report: Report, effort: Effort | None = None
) -> tuple[Found, Found]:
    """
    Return what the memetic algorithm finds, and random starts alone.

    Both have the first random generations in common, as they would with the same seed.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    experiment : Experiment
        Limits, rules and samples.
    report : callable
        Is told the share that is done.
    effort : Effort, optional
        By default what a minute or two allow, on all processors.

    Raises
    ------
    UnsafeMotionError
        If one of them found no motion within the limits.

    """
    effort = effort or Effort(processes=available_processors())
    # Only what is asked for ends a search here, not a generation without a better motion.
    plain = Memetic(
        population=effort.population, generations=paper.GENERATIONS, fresh=0,
        random_generations=paper.GENERATIONS, patience=paper.GENERATIONS,
    )
    memetic = replace(plain, random_generations=paper.RANDOM_GENERATIONS)
    budget = Budget(effort.evaluations)
    with Workers(partial(TrajectoryProblem, robot, experiment, None), effort.processes) as workers:
        run = partial(_run, workers, budget, effort.seed)
        states, last = run(plain, _part(report, 0.0, 'random starts only'), ())
        begun = states[: paper.RANDOM_GENERATIONS]
        more, best = run(memetic, _part(report, 0.5, 'memetic algorithm'), begun)
        problem = workers.problem
        assert isinstance(problem, TrajectoryProblem)
        finish = partial(_finish, robot, experiment, problem)
        return finish(memetic, more, best), finish(plain, states, last)


def _part(report: Report, begin: float, stage: str) -> Callable[[Progress], None]:
    return lambda progress: report(begin + 0.5 * progress.share, stage)


def _run(
    workers: Workers, budget: Budget, seed: int, optimizer: Memetic,
    report: Callable[[Progress], None], begun: Sequence[SearchState],
) -> tuple[list[SearchState], SearchState]:
    """Return the states after every round, those of an earlier search first, and the last."""
    states = list(begun)
    last = Search(optimizer, workers, seed, report, states.append).run(
        budget, begun[-1] if begun else None
    )
    return states, last


def _finish(
    robot: RobotModel, experiment: Experiment, problem: TrajectoryProblem, optimizer: Memetic,
    states: Sequence[SearchState], last: SearchState,
) -> Found:
    if last.best is None:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {last.evaluations} '
            'evaluations: allow more'
        )
    trajectory = certify(robot, experiment, Trajectory(
        robot.name, robot.joint_names, experiment.form, problem.coefficients(last.best.x),
        paper.PERIODS, {},
    ), {})
    return Found(
        generations_of(states, last, optimizer.random_generations), trajectory,
        last.best.objective, dense_condition(trajectory), last.evaluations,
    )


def generations_of(
    states: Sequence[SearchState], last: SearchState, random: int
) -> tuple[Generation, ...]:
    """Return what each generation found; of the last, which is cut off, the best alone."""
    found: list[Generation] = []
    known: set[bytes] = set()
    before = 0
    for state in states:
        # After a round that only made starts, the archive holds these as well.
        if state.memory['bred']:
            continue
        new = [one for one in state.archive if one.x.tobytes() not in known]
        known |= {one.x.tobytes() for one in new}
        found.append(Generation(
            len(found) < random,
            tuple((one.objective, one.feasible) for one in new if one.start is not None),
            state.feasible - before,
            np.inf if state.best is None else state.best.objective,
            state.evaluations,
        ))
        before = state.feasible
    best = last.best
    if best is not None:
        solutions = () if best.x.tobytes() in known else ((best.objective, True),)
        found.append(Generation(
            len(found) < random, solutions, last.feasible - before, best.objective,
            last.evaluations,
        ))
    return tuple(found)


def dense_condition(trajectory: Trajectory) -> float:
    """Return the condition number of a certified motion at the driver's rate."""
    value: float = trajectory.certificate['criteria_dense']['condition_number']
    return value


def limit_uses(trajectory: Trajectory) -> dict[str, dict[str, Any]]:
    """Return the worst use of each kind of limit of a certified motion, by kind."""
    return dict(trajectory.certificate['limits'])
