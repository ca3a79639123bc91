# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A genetic algorithm, as the reference papers use it, of pymoo's operators.

References
----------
.. [1] K. Deb, "An efficient constraint handling method for genetic algorithms", Computer Methods
   in Applied Mechanics and Engineering 186, 2000.
.. [2] J. Blank and K. Deb, "pymoo: multi-objective optimization in Python", IEEE Access 8, 2020.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, MissingDependencyError
from robot_identification.excitation.optimizers.optimizer import (
    Candidate, ExcitationProblem, Job, Optimizer, Outcome, SearchState,
)
from robot_identification.excitation.parametrizations.parametrization import check_count

# Candidates of a job: enough that sending them to another process costs little.
OF_A_JOB = 25
# The first generation spans a part of what the limits allow; coefficients may reach as far again.
REACH = 0.5
# What a collision counts: as a limit broken by all of it.
COLLISION = 1.0


@dataclass(frozen=True, eq=False)
class Batch:
    """Candidates (m, size) of one job."""

    xs: FloatArray
    elite: int  # candidates that must be proved clear of collisions
    goal: float  # objective below which a candidate enters the elite


def score(problem: ExcitationProblem, batch: Batch) -> Outcome:
    """
    Scale candidates into the limits and evaluate them, one evaluation each, in their order.

    The proof of clearance costs more than everything else. Only candidates that may enter the
    elite are proved, best first, until as many are clear as the elite has members. Others that
    keep the limits are neither feasible nor in violation of anything.
    """
    candidates = [_evaluate(problem, x) for x in batch.xs]
    clear = 0
    for index in sorted(range(len(candidates)), key=lambda k: rank(candidates[k])):
        candidate = candidates[index]
        if candidate.violation > 0.0 or not candidate.objective < batch.goal:
            break
        if clear == batch.elite:
            break
        if problem.is_clear(candidate.x):
            candidates[index] = replace(candidate, feasible=True)
            clear += 1
        else:
            candidates[index] = replace(candidate, violation=COLLISION)
    return Outcome(tuple(candidates), len(candidates))


def rank(candidate: Candidate) -> tuple[float, float]:
    """Return what candidates are sorted by: first what they violate, then how good they are."""
    return candidate.violation, candidate.objective


def _evaluate(problem: ExcitationProblem, x: FloatArray) -> Candidate:
    repaired = problem.repair(x)
    if repaired is not None:
        return Candidate(repaired, problem.objective(repaired), 0.0, False)
    # What cannot be scaled into its limits breaks one, though perhaps between their instants.
    violation = max(problem.violation(x), np.finfo(float).tiny)
    return Candidate(x, problem.objective(x), violation, False)


@dataclass(frozen=True)
class Genetic(Optimizer):
    """
    A genetic algorithm: tournaments, simulated binary crossover, Gaussian mutation.

    A round is a generation. Parents and children compete together, so the best are always kept:
    candidates within the limits by their objective, others by their violation [1]_. The reference
    papers use 200 and 300 individuals and do not describe the operators.
    """

    population: int = 200  # individuals of a generation
    tournament: int = 3  # individuals of which the best becomes a parent
    crossover: float = 0.8  # probability that two parents are mixed, and not copied
    mutation: float = 0.1  # standard deviation, as a share of a coefficient's range
    elite: float = 0.05  # share of the population that is proved clear of collisions

    def __post_init__(self) -> None:
        check_count('population of genetic', self.population, 4, 100_000)
        check_count('tournament of genetic', self.tournament, 1, self.population)
        for name in ('crossover', 'mutation', 'elite'):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise DescriptionError(f'{name} of genetic is {value!r}, it must be from 0 to 1')

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return the evaluation of a generation; it needs pymoo."""
        pymoo = _pymoo()
        if state.archive:
            xs = self._breed(pymoo, state, rng)
        else:
            xs = np.array([problem.draw(rng) for _ in range(self.population)])
        last = state.archive[self._elite - 1] if len(state.archive) >= self._elite else None
        goal = last.objective if last is not None and last.feasible else float('inf')
        return [
            Job(score, Batch(xs[first: first + OF_A_JOB], self._elite, goal))
            for first in range(0, len(xs), OF_A_JOB)
        ]

    @property
    def _elite(self) -> int:
        return max(round(self.elite * self.population), 1)

    def _breed(
        self, pymoo: SimpleNamespace, state: SearchState, rng: np.random.Generator
    ) -> FloatArray:
        """Return children of the archive, fewer where no new ones are to be had."""
        parents = np.array([candidate.x for candidate in state.archive])
        numbers = range(parents.shape[1])
        bounds = pymoo.Problem(
            n_var=parents.shape[1],
            xl=np.array([state.memory[_lowest(k)] for k in numbers]),
            xu=np.array([state.memory[_highest(k)] for k in numbers]),
        )
        mating = pymoo.Mating(
            pymoo.TournamentSelection(func_comp=_first, pressure=self.tournament),
            pymoo.SBX(prob=self.crossover),
            pymoo.NoMutation(),
            eliminate_duplicates=pymoo.DefaultDuplicateElimination(),
        )
        children = mating.do(
            bounds, pymoo.Population.new('X', parents), self.population, random_state=rng
        )
        xs: FloatArray = np.asarray(children.get('X'), dtype=float)
        # pymoo's own Gaussian mutation puts what leaves the range anywhere, without our generator.
        mutated = rng.random(xs.shape) < 1.0 / xs.shape[1]
        steps = rng.normal(0.0, self.mutation, xs.shape) * (bounds.xu - bounds.xl)
        return np.asarray(np.clip(xs + mutated * steps, bounds.xl, bounds.xu), dtype=float)

    def learn(
        self, problem: ExcitationProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep the best of parents and children."""
        children = [candidate for outcome in outcomes for candidate in outcome.candidates]
        memory = state.memory if state.archive else _ranges(children)
        merged = sorted((*state.archive, *children), key=rank)
        return tuple(merged[: self.population]), memory


def _first(population: Any, groups: Any, **_: Any) -> Any:
    """Return the winner of each tournament: the first, as the archive has the best first."""
    return np.min(groups, axis=1)


def _ranges(first: Sequence[Candidate]) -> dict[str, float]:
    """Return the range of each coefficient: that of the first generation, and more."""
    xs = np.array([candidate.x for candidate in first])
    low, high = xs.min(axis=0), xs.max(axis=0)
    more = REACH * (high - low)
    memory = {_lowest(k): float(value) for k, value in enumerate(low - more)}
    return memory | {_highest(k): float(value) for k, value in enumerate(high + more)}


def _lowest(k: int) -> str:
    return f'lowest {k}'


def _highest(k: int) -> str:
    return f'highest {k}'


def _pymoo() -> SimpleNamespace:
    """Return what is used of pymoo."""
    try:
        from pymoo.core.duplicate import DefaultDuplicateElimination
        from pymoo.core.mating import Mating
        from pymoo.core.population import Population
        from pymoo.core.problem import Problem
        from pymoo.operators.crossover.sbx import SBX
        from pymoo.operators.mutation.nom import NoMutation
        from pymoo.operators.selection.tournament import TournamentSelection
    except ImportError:
        raise MissingDependencyError(
            'pymoo', 'the genetic optimizer', "pip install 'pymoo>=0.6.2'"
        ) from None
    return SimpleNamespace(
        DefaultDuplicateElimination=DefaultDuplicateElimination,
        NoMutation=NoMutation,
        Mating=Mating,
        Population=Population,
        Problem=Problem,
        SBX=SBX,
        TournamentSelection=TournamentSelection,
    )
