# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The memetic algorithm of A. Tika, J. Ulmen and N. Bajcinca, 2020."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.optimizers.local_search import descend, Descent
from robot_identification.excitation.optimizers.search import (
    Candidate, distinct, Job, Optimizer, Outcome, SearchState,
)
from robot_identification.excitation.optimizers.spectral import draw_fitted
from robot_identification.excitation.parametrizations.parametrization import check_count
from robot_identification.excitation.problem import TrajectoryProblem

SAMPLES = 20  # random velocities (algorithm 2)
# Of breeding: exchanges, solutions to walk from, steps from a point, and points in a row.
EXCHANGES, WALKERS, LOOPS, DEPTH = 4, 8, 4, 2
# The share of joints that an exchange takes from others (the paper's gamma) and the steps of a
# walk (sigma) fall after a better motion and rise otherwise, by factors that it does not state.
BEGINNING = {'generation': 0.0, 'bred': 0.0, 'best': np.inf, 'exchanged': 0.3, 'spread': 0.3}
DOWN, UP, LEAST_SPREAD, LARGEST_SPREAD = 0.8, 1.25, 0.05, 2.0
VIOLATION_WEIGHT = 100.0  # of broken limits in the fitness
REMEMBERED = 10  # solutions that are kept, as multiples of the population


def fitness(candidate: Candidate) -> float:
    """Return the merit of a start or of a solution, which knows its start; smaller is better."""
    value = candidate.objective + VIOLATION_WEIGHT * candidate.violation
    if candidate.start is not None and not candidate.feasible:
        value += VIOLATION_WEIGHT
    return value if np.isfinite(value) else np.inf


def look(problem: TrajectoryProblem, xs: Sequence[FloatArray] | FloatArray) -> Outcome:
    """Return candidates, evaluated once each."""
    seen = (Candidate(x, problem.objective(x), problem.violation(x), False) for x in xs)
    return Outcome(tuple(seen), len(xs))


def walk(problem: TrajectoryProblem, job: tuple[Candidate, FloatArray, float, int]) -> Outcome:
    """Return the fittest point of a walk from a solution, scaled by its companion's distance."""
    solution, companion, step, seed = job
    rng = np.random.default_rng(seed)
    seen: list[Candidate] = []

    def walk_on(x: FloatArray, goal: float, depth: int) -> None:
        distance = step * np.abs(x - companion)
        for _ in range(LOOPS):
            [found] = look(problem, [x - distance * rng.standard_normal(len(x))]).candidates
            seen.append(found)
            if fitness(found) <= goal and depth > 1:
                walk_on(found.x, fitness(found), depth - 1)

    walk_on(solution.x, fitness(solution), DEPTH)
    return Outcome((min(seen, key=fitness),), len(seen))


@dataclass(frozen=True)
class Memetic(Optimizer):
    """
    Generations of local searches, from random starts first and then from bred ones.

    Bred are solutions with exchanged joints (algorithm 3), and points about solutions as far away
    as another one or as their own start: the fittest of each kind in turn.
    """

    population: int = 16  # local searches of a generation
    random_generations: int = 1  # at the beginning

    def __post_init__(self) -> None:
        check_count('population of memetic', self.population, 2, 10_000)
        check_count('random_generations of memetic', self.random_generations, 1, 10_000)

    def propose(
        self, problem: TrajectoryProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return local searches, or what makes starts for them."""
        if self._breeds(state):
            return _breed(problem, state, self.population, rng)
        xs = [one.x for one in state.archive if one.start is None]
        while len(xs) < self.population:
            xs.append(draw_fitted(problem, rng, SAMPLES))
        # Of the criterion itself, kinks and all.
        return [Job(descend, Descent(x, ((np.inf, 100),))) for x in xs]

    def _breeds(self, state: SearchState) -> bool:
        """Return whether the next round makes starts."""
        memory = BEGINNING | dict(state.memory)
        is_random = memory['generation'] < self.random_generations
        return not (is_random or memory['bred'] or len(_solutions(state)) < 2)

    def learn(
        self, problem: TrajectoryProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep the fittest solutions, and after breeding also starts."""
        solutions = _solutions(state)
        if self._breeds(state):
            starts = _choose(solutions, outcomes)[: self.population]
            return (*solutions, *starts), {**state.memory, 'bred': 1.0}
        found = (one for outcome in outcomes for one in outcome.candidates)
        kept = distinct(sorted((*solutions, *found), key=fitness))
        memory = BEGINNING | dict(state.memory)
        best = np.inf if state.best is None else state.best.objective
        factor = DOWN if best < memory['best'] else UP
        return kept[: REMEMBERED * self.population], {
            'generation': memory['generation'] + 1.0,
            'bred': 0.0,
            'best': min(best, memory['best']),
            'exchanged': min(max(factor * memory['exchanged'], 1.0 / len(problem.features)), 1.0),
            'spread': min(max(factor * memory['spread'], LEAST_SPREAD), LARGEST_SPREAD),
        }


def _solutions(state: SearchState) -> tuple[Candidate, ...]:
    """Return what local searches found: they know where they began, starts do not."""
    return tuple(one for one in state.archive if one.start is not None)


def _breed(
    problem: TrajectoryProblem, state: SearchState, parents: int, rng: np.random.Generator
) -> list[Job]:
    """Return exchanges of joints among the fittest, and walks toward others and own starts."""
    memory, solutions = BEGINNING | dict(state.memory), _solutions(state)
    xs = np.array([one.x for one in solutions[:parents]])
    joints, jobs = problem.features, []
    exchanged = max(round(memory['exchanged'] * len(joints)), 1)
    for _ in range(EXCHANGES):
        mixed = xs.copy()
        for k in rng.choice(len(joints), exchanged, replace=False):
            mixed[:, joints[k]] = xs[rng.permutation(len(xs))][:, joints[k]]
        jobs.append(Job(look, mixed))
    spread, count = memory['spread'], len(solutions)
    for index in rng.choice(count, min(WALKERS, count), replace=False):
        one = solutions[index]
        another = solutions[(index + rng.integers(1, count)) % count]
        for companion, step in ((another.x, spread), (one.start, 2.0 * spread)):
            jobs.append(Job(walk, (one, companion, step, int(rng.integers(2**63)))))
    return jobs


def _choose(solutions: Sequence[Candidate], outcomes: Sequence[Outcome]) -> tuple[Candidate, ...]:
    """Return new candidates: the fittest of each kind of breeding in turn."""
    kinds = [
        sorted((one for outcome in kind for one in outcome.candidates), key=fitness)
        for kind in (outcomes[:EXCHANGES], outcomes[EXCHANGES::2], outcomes[EXCHANGES + 1::2])
    ]
    in_turn = [one for turn in zip_longest(*kinds) for one in turn if one is not None]
    chosen = {one.x.tobytes(): one for one in in_turn}
    for known in solutions:
        chosen.pop(known.x.tobytes(), None)
    return tuple(chosen.values())
