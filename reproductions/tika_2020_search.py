# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The excitation of Tika et al.: memetic, random starts only and this package's default search.

All have the same limits and evaluations, and every comparison has ten seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from reproductions import tika_2020_printed as paper
from reproductions.pieces import Pieces
from reproductions.reproduction import Report
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.certificate import certify
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.evaluation import evaluate_motion
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.excitation.optimizers.memetic import Memetic
from robot_identification.excitation.optimizers.search import Budget, Search, SearchState, Workers
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.robot_model import RobotModel
from robot_identification.parallel import available_processors

ROBOT, EXPERIMENT = 'ur5_tika', 'tika_2020_ur5'
# A sixteenth of the paper's population in as many generations, so that ten seeds take minutes.
POPULATION, EVALUATIONS = 6, 4000
SEARCH_SEEDS = tuple(range(10))
# More generations than any budget here allows: evaluations alone end a search.
NEVER = 1000


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
        The last one is cut off by the end of the budget; none where a search has no generations.
    coefficients : ndarray
        Of the best motion.
    condition, dense : float
        Its condition number at the 20 samples it was searched with, and at 125 Hz.
    evaluations : int
        Of the criterion.

    """

    generations: tuple[Generation, ...]
    coefficients: FloatArray
    condition: float
    dense: float
    evaluations: int


@dataclass(frozen=True)
class Effort:
    """
    Effort of a search.

    Attributes
    ----------
    population : int
        Local searches of a generation.
    evaluations : int
        Of each search.
    processes : int
        That search; the result is the same with any number.

    """

    population: int = POPULATION
    evaluations: int = EVALUATIONS
    processes: int = 1


@dataclass(frozen=True, eq=False)
class Searches:
    """Searches with one seed: the paper's, its comparison, and the default of this package."""

    memetic: Found
    random: Found
    default: Found


def paper_experiment() -> Experiment:
    """Return the shipped experiment with the paper's 20 samples alone."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return replace(experiment, samples=(paper.OPTIMISED_SAMPLES,))


def search_seeds(
    robot: RobotModel, report: Report, pieces: Pieces, effort: Effort | None = None,
    seeds: Sequence[int] = SEARCH_SEEDS,
) -> tuple[Searches, ...]:
    """
    Return what the three searches find with every seed.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    report : callable
        Is told the share that is done.
    pieces : Pieces
        Where searches that were done before are found.
    effort : Effort, optional
        By default what minutes allow, on all processors.
    seeds : sequence of int
        Of the random motions.

    """
    effort = effort or Effort(processes=available_processors())
    found = []
    for number, seed in enumerate(seeds):
        report(number / len(seeds), f'searches with seed {seed}')
        name = f'searches_{effort.population}_{effort.evaluations}_{seed}'
        plain = pieces.get(f'{name}_paper', partial(_search_both, robot, effort, seed)) | (
            pieces.get(f'{name}_default', partial(_search_default, robot, effort, seed))
        )
        found.append(Searches(**{key: _from_plain(one) for key, one in plain.items()}))
    return tuple(found)


def motion_of(robot: RobotModel, found: Found) -> Trajectory:
    """
    Return the motion of a search, the paper's periods of it, without a certificate.

    Between the samples of a search a rule may be broken by rounding.
    """
    return Trajectory(
        robot.name, robot.joint_names, paper_experiment().form, found.coefficients,
        paper.PERIODS, {},
    )


def certified(robot: RobotModel, found: Found) -> Trajectory:
    """Return the motion of a search with its certificate."""
    return certify(robot, paper_experiment(), motion_of(robot, found), {})


def _search_both(robot: RobotModel, effort: Effort, seed: int) -> dict[str, Any]:
    """
    Return what the memetic algorithm finds, and random starts alone, as plain data.

    Both have the first random generations in common, for their seed is the same.
    """
    plain = Memetic(effort.population, NEVER)
    memetic = replace(plain, random_generations=paper.RANDOM_GENERATIONS)
    make = partial(TrajectoryProblem, robot, paper_experiment(), None)
    with Workers(make, effort.processes) as workers:
        run = partial(_run, workers, Budget(effort.evaluations), seed)
        states, last = run(plain)
        more, best = run(memetic)
        problem = workers.problem
        assert isinstance(problem, TrajectoryProblem)
        finish = partial(_finish, robot, problem)
        return {
            'memetic': finish(best, generations_of(more, best, memetic.random_generations)),
            'random': finish(last, generations_of(states, last, NEVER)),
        }


def _search_default(robot: RobotModel, effort: Effort, seed: int) -> dict[str, Any]:
    """Return what the default search of this package finds, as plain data."""
    experiment = replace(paper_experiment(), optimizer=DEFAULT_OPTIMIZER, optimizer_options={})
    found = design_excitation(robot, experiment, seed=seed, budget=Budget(effort.evaluations))
    search = found.certificate['search']
    return {'default': {
        'generations': (), 'coefficients': found.coefficients,
        'condition': optimised_condition(found),
        'dense': dense_condition(found), 'evaluations': int(search['evaluations']),
    }}


def _run(
    workers: Workers, budget: Budget, seed: int, optimizer: Memetic
) -> tuple[list[SearchState], SearchState]:
    """Return the states after every round, and the last."""
    states: list[SearchState] = []
    last = Search(optimizer, workers, seed, lambda _: None, states.append).run(budget)
    return states, last


def _finish(
    robot: RobotModel, problem: TrajectoryProblem, last: SearchState,
    generations: tuple[Generation, ...],
) -> dict[str, Any]:
    if last.best is None:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {last.evaluations} '
            'evaluations: allow more'
        )
    found = Found(
        generations, problem.coefficients(last.best.x), last.best.objective, np.nan,
        last.evaluations,
    )
    evaluation = evaluate_motion(robot, paper_experiment(), motion_of(robot, found))
    return asdict(replace(found, dense=float(evaluation.dense['condition_number'])))


def _from_plain(plain: Mapping[str, Any]) -> Found:
    generations = tuple(
        Generation(**one | {'solutions': tuple((x, kept) for x, kept in one['solutions'])})
        for one in plain['generations']
    )
    return Found(**dict(plain) | {
        'generations': generations,
        'coefficients': np.asarray(plain['coefficients'], dtype=np.float64),
    })


def generations_of(
    states: Sequence[SearchState], last: SearchState, random: int
) -> tuple[Generation, ...]:
    """Return what each generation found; of the last, which is cut off, the best alone."""
    found: list[Generation] = []
    known: set[bytes] = set()
    before = 0
    for state in states:
        # After a round that only made starts, the archive holds these as well.
        if state.memory.get('bred'):
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


def optimised_condition(trajectory: Trajectory) -> float:
    """Return the condition number of a certified motion at the samples it was searched with."""
    # The paper's samples, of which the period's end is none.
    value: float = next(
        one['criteria']['condition_number']
        for one in trajectory.certificate['criteria_optimised'] if not one['both_ends']
    )
    return value


def limit_uses(trajectory: Trajectory) -> dict[str, dict[str, Any]]:
    """Return the worst use of each kind of limit of a certified motion, by kind."""
    return dict(trajectory.certificate['limits'])
