# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The memetic algorithm of Tika et al.: local searches, and what they found as material for starts.

References
----------
.. [1] A. Tika, J. Ulmen and N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", 2020.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.optimizers.local_search import descend, Descent
from robot_identification.excitation.optimizers.optimizer import (
    Candidate, ExcitationProblem, Job, Optimizer, Outcome, SearchState,
)
from robot_identification.excitation.optimizers.random_motion import draw_fitted
from robot_identification.excitation.parametrizations.parametrization import check_count

Candidates = tuple[Candidate, ...]

# The criterion itself, kinks and all.
PLAIN_STAGES = ((float('inf'), 100),)
# The paper's "decrease" and "increase" of its factors, which it gives no numbers for.
DOWN, UP = 0.8, 1.25
# Range of the steps over the distance that they are scaled by.
LEAST_SPREAD, LARGEST_SPREAD = 0.05, 2.0
# Steps of a walk, as multiples of |v - v'|: to another solution, or to where v began.
TO_ANOTHER, TO_START = 1.0, 2.0
# Solutions that are remembered, as multiples of the population.
REMEMBERED = 10
# What a solution that collides, or cannot be scaled into its limits, counts as broken.
REFUSED = 1.0
# Solutions nearer than this, as a share of their length, are one.
ALIKE = 1.0e-2
LARGEST_WEIGHT = 1.0e12  # of the fitness, so that its sums stay finite numbers
PIECES = ('joint', 'coefficient')


@dataclass(frozen=True)
class Fitness:
    """Merit of a start: a weighted sum of criterion and violated limits."""

    objective: float
    violation: float

    def __call__(self, candidate: Candidate) -> float:
        """Return the fitness of a start; smaller is better."""
        value = self.objective * candidate.objective + self.violation * candidate.violation
        return value if np.isfinite(value) else float('inf')

    def of_solution(self, candidate: Candidate) -> float:
        """Return the fitness of what a local search found."""
        return self(candidate) + (0.0 if candidate.feasible else self.violation * REFUSED)


@dataclass(frozen=True, eq=False)
class Walk:
    """Random steps away from a solution."""

    x: FloatArray  # solution v, shape (size,)
    companion: FloatArray  # point v' whose distance scales the steps, shape (size,)
    goal: float  # fitness of the solution
    step: float  # standard deviation of steps, as a share of the distance
    loops: int  # steps tried from a point
    depth: int  # points in a row, each no worse than the one before
    seed: int
    fitness: Fitness  # criterion that may not get worse


def look(problem: ExcitationProblem, xs: FloatArray) -> Outcome:
    """Return recombined candidates (m, size), evaluated once each."""
    return Outcome(tuple(_look(problem, x) for x in xs), len(xs))


def walk(problem: ExcitationProblem, job: Walk) -> Outcome:
    """Return the fittest point of a walk, algorithm 4; every point is an evaluation."""
    rng = np.random.default_rng(job.seed)
    seen: list[Candidate] = []

    def walk_on(x: FloatArray, goal: float, depth: int) -> None:
        distance = job.step * np.abs(x - job.companion)
        for _ in range(job.loops):
            candidate = _look(problem, x - distance * rng.standard_normal(len(x)))
            seen.append(candidate)
            fitness = job.fitness(candidate)
            if fitness <= goal and depth > 1:
                walk_on(candidate.x, fitness, depth - 1)

    walk_on(job.x, job.goal, job.depth)
    return Outcome((min(seen, key=job.fitness),), len(seen))


def _look(problem: ExcitationProblem, x: FloatArray) -> Candidate:
    return Candidate(x, problem.objective(x), problem.violation(x), False)


@dataclass(frozen=True)
class Memetic(Optimizer):
    """
    Local searches from random starts first, then from starts made of what was found [1]_.

    Random starts are motions fitted to random samples within a band of the limits (algorithm 2).
    Other generations start from solutions that have exchanged pieces (algorithm 3), and from
    points about solutions, as far away as another solution or as where their own search began
    (algorithm 4): the fittest of each of the three kinds in turn, and some random ones. Such a
    generation is two rounds, of which the first only evaluates; these evaluations count, too.

    Differences from the paper:

    - Starts need not be fitter than the solutions they come from, which hardly any is where
      searches end in exact minima.
    - The paper ends with its last generation, or after one without a better motion. Here, after
      `patience` of those, it begins again with random generations as long as there is budget.
      Solutions are kept and are parents with the new ones; the factors are as at the beginning.
    - It has `population` 100, `generations` 10, `random_generations` 4, `patience` 1 and
      `fresh` 0: 1000 searches. The defaults are for 100 to 300. Order and band are the paper's
      (which states 0.2 and 0.9 rad/s, and also shares of the limits); others it leaves open.
    """

    population: int = 16  # local searches of a generation
    generations: int = 30  # until it begins again
    random_generations: int = 1  # of these, at the beginning
    patience: int = 2  # generations without a better motion after which it begins again
    fresh: int = 4  # random starts of the other generations
    order: int = 1  # random samples are of position (0), velocity (1) or acceleration (2)
    samples: int = 20  # of each joint, the first and the last are zero
    lowest: float = 0.2  # end of their band, as a share of the limits
    highest: float = 0.9  # likewise
    # exchanged between solutions: 'joint', all its coefficients, or single ones
    piece: str = 'joint'
    exchanged: float = 0.3  # share of the pieces at the beginning, the paper's gamma
    # standard deviation of steps over distance at the beginning, the paper's sigma; both factors
    # become smaller after a generation with a better motion, and larger after another
    spread: float = 0.3
    objective_weight: float = 1.0  # of the criterion in the fitness, the paper's xi
    violation_weight: float = 100.0  # of broken limits
    # of exchanges, each with as many candidates as parents, the population's fittest
    rounds: int = 4
    walkers: int = 8  # solutions from which walks start, of both kinds
    loops: int = 4  # steps tried from a point
    depth: int = 2  # points in a row of a walk

    def __post_init__(self) -> None:
        for name, least, most in (
            ('population', 2, 10_000), ('generations', 1, 10_000),
            ('random_generations', 1, 10_000), ('patience', 1, 10_000),
            ('fresh', 0, self.population), ('order', 0, 2), ('samples', 3, 10_000),
            ('rounds', 0, 10_000), ('walkers', 0, 10_000), ('loops', 1, 10_000), ('depth', 1, 10),
        ):
            check_count(f'{name} of memetic', getattr(self, name), least, most)
        if self.rounds + self.walkers == 0:
            raise DescriptionError('rounds and walkers of memetic are both 0, one must be above')
        if not 0.0 < self.lowest <= self.highest <= 1.0:
            raise DescriptionError(
                f'lowest and highest of memetic are {self.lowest} and {self.highest}, they must '
                'be shares of the limits in this order, above 0 and at most 1'
            )
        if self.piece not in PIECES:
            raise DescriptionError(
                f'piece of memetic is {self.piece!r}, it must be {" or ".join(PIECES)}'
            )
        for name, largest in (
            ('exchanged', 1.0), ('spread', LARGEST_SPREAD), ('objective_weight', LARGEST_WEIGHT),
            ('violation_weight', LARGEST_WEIGHT),
        ):
            value = getattr(self, name)
            if not 0.0 < value <= largest:
                raise DescriptionError(
                    f'{name} of memetic is {value!r}, it must be above 0 and at most {largest:g}'
                )

    @property
    def fitness(self) -> Fitness:
        """Return what starts are compared by."""
        return Fitness(self.objective_weight, self.violation_weight)

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return local searches, or what makes starts for them."""
        memory, (solutions, starts) = self._recall(state), _split(state)
        if self._breeds(state):
            return [
                *self._recombinations(problem, solutions, memory['exchanged'], rng),
                *self._walks(solutions, memory['spread'], rng),
            ]
        xs = [start.x for start in starts]
        xs += [
            draw_fitted(problem, rng, self.order, self.samples, (self.lowest, self.highest))
            for _ in range(self.population - len(starts))
        ]
        return [Job(descend, Descent(x, PLAIN_STAGES)) for x in xs]

    def _recall(self, state: SearchState) -> dict[str, float]:
        """Return the numbers between rounds: generations done, whether bred, and factors."""
        beginning = {
            'generation': 0.0, 'idle': 0.0, 'bred': 0.0,
            'exchanged': self.exchanged, 'spread': self.spread,
        }
        return beginning | dict(state.memory)

    def _breeds(self, state: SearchState) -> bool:
        """Return whether the next round makes starts."""
        memory, (solutions, _) = self._recall(state), _split(state)
        random = memory['generation'] < self.random_generations
        return not (random or memory['bred'] or len(solutions) < 2)

    def _pieces(self, problem: ExcitationProblem) -> tuple[NDArray[np.int64], ...]:
        if self.piece == 'joint':
            return tuple(feature for feature in problem.features if len(feature))
        return tuple(np.arange(problem.size)[:, None])

    def _recombinations(
        self, problem: ExcitationProblem, solutions: Candidates, exchanged: float,
        rng: np.random.Generator,
    ) -> list[Job]:
        xs = np.array([parent.x for parent in solutions[: self.population]])
        pieces, jobs = self._pieces(problem), []
        count = max(round(exchanged * len(pieces)), 1)
        for _ in range(self.rounds):
            mixed = xs.copy()
            for k in rng.choice(len(pieces), count, replace=False):
                mixed[:, pieces[k]] = xs[rng.permutation(len(xs))][:, pieces[k]]
            jobs.append(Job(look, mixed))
        return jobs

    def _walks(
        self, solutions: Candidates, spread: float, rng: np.random.Generator
    ) -> list[Job]:
        jobs, count = [], len(solutions)
        for index in rng.choice(count, min(self.walkers, count), replace=False):
            solution = solutions[index]
            another = solutions[(index + rng.integers(1, count)) % count]
            for companion, factor in ((another.x, TO_ANOTHER), (solution.start, TO_START)):
                assert companion is not None  # of a solution: see _split
                jobs.append(Job(walk, Walk(
                    solution.x, companion, self.fitness.of_solution(solution), factor * spread,
                    self.loops, self.depth, int(rng.integers(2**63)), self.fitness,
                )))
        return jobs

    def learn(
        self, problem: ExcitationProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep the fittest solutions, and after breeding also starts."""
        solutions, _ = _split(state)
        if self._breeds(state):
            return (
                (*solutions, *self._choose(solutions, outcomes)),
                self._recall(state) | {'bred': 1.0},
            )
        found = (candidate for outcome in outcomes for candidate in outcome.candidates)
        merged = sorted((*solutions, *found), key=self.fitness.of_solution)
        return _unlike(merged, REMEMBERED * self.population), self._adapt(problem, state)

    def _choose(self, solutions: Candidates, outcomes: Sequence[Outcome]) -> Candidates:
        """Return starts of the next generation: the fittest of each kind in turn."""
        walks = outcomes[self.rounds:]
        kinds = [
            sorted((one for outcome in kind for one in outcome.candidates), key=self.fitness)
            for kind in (outcomes[: self.rounds], walks[::2], walks[1::2])
        ]
        in_turn = [one for turn in zip_longest(*kinds) for one in turn if one is not None]
        known = {solution.x.tobytes() for solution in solutions}
        chosen = {one.x.tobytes(): one for one in in_turn if one.x.tobytes() not in known}
        return tuple(chosen.values())[: self.population - self.fresh]

    def _adapt(self, problem: ExcitationProblem, state: SearchState) -> dict[str, float]:
        """Return the memory after a generation's local searches."""
        memory = self._recall(state)
        best = np.inf if state.best is None else state.best.objective
        better = best < memory.get('best', np.inf)
        factor, least = DOWN if better else UP, 1.0 / len(self._pieces(problem))
        random = memory['generation'] < self.random_generations
        memory |= {
            'generation': memory['generation'] + 1.0,
            'idle': 0.0 if better or random else memory['idle'] + 1.0,
            'bred': 0.0,
            'exchanged': min(max(factor * memory['exchanged'], least), 1.0),
            'spread': min(max(factor * memory['spread'], LEAST_SPREAD), LARGEST_SPREAD),
        }
        if better:
            memory['best'] = best
        if memory['idle'] >= self.patience or memory['generation'] >= self.generations:
            return {'best': memory['best']} if 'best' in memory else {}
        return memory


def _split(state: SearchState) -> tuple[Candidates, Candidates]:
    """Return solutions and starts of the archive: solutions know where they began."""
    return (
        tuple(candidate for candidate in state.archive if candidate.start is not None),
        tuple(candidate for candidate in state.archive if candidate.start is None),
    )


def _unlike(candidates: Sequence[Candidate], most: int) -> Candidates:
    """Return the first candidates, without those that are nearly one before."""
    kept: list[Candidate] = []
    for candidate in candidates:
        if len(kept) == most:
            break
        near = ALIKE * np.linalg.norm(candidate.x)
        if not any(np.linalg.norm(candidate.x - other.x) < near for other in kept):
            kept.append(candidate)
    return tuple(kept)
