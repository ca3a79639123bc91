# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The genetic algorithm of pymoo (J. Blank and K. Deb, IEEE Access 8, 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import MissingDependencyError
from robot_identification.excitation.optimizers.local_search import make_candidate
from robot_identification.excitation.optimizers.search import (
    Candidate, Job, Optimizer, Outcome, SearchState,
)
from robot_identification.excitation.parametrizations.parametrization import check_count
from robot_identification.excitation.problem import TrajectoryProblem

# Candidates of a job: enough that sending them to another process costs little.
OF_A_JOB = 25


def evaluate(problem: TrajectoryProblem, xs: FloatArray) -> Outcome:
    """Return candidates (m, size), scaled into the limits where that can be done."""
    return Outcome(tuple(make_candidate(problem, x) for x in xs), len(xs))


def rank(candidate: Candidate) -> tuple[bool, float, float]:
    """Return what candidates are sorted by: what keeps all limits first (Deb 2000)."""
    return not candidate.feasible, candidate.violation, candidate.objective


@dataclass(frozen=True)
class Genetic(Optimizer):
    """
    A genetic algorithm: tournaments, simulated binary crossover and polynomial mutation.

    A round is a generation. Parents and children compete together, so the best are always kept.
    The reference papers use 200 and 300 individuals and do not describe the operators.
    """

    population: int = 200  # individuals of a generation

    def __post_init__(self) -> None:
        check_count('population of genetic', self.population, 4, 100_000)

    def propose(
        self, problem: TrajectoryProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return the evaluation of a generation; it needs pymoo."""
        try:
            from pymoo.algorithms.soo.nonconvex.ga import GA
            from pymoo.core.population import Population
            from pymoo.core.problem import Problem
        except ImportError:
            raise MissingDependencyError(
                'pymoo', 'the genetic optimizer', "pip install 'pymoo>=0.6.2'"
            ) from None
        if state.archive:
            lowest, highest = problem.box()
            # The archive has the best first: an individual's place is its fitness.
            parents = Population.new(
                X=np.array([one.x for one in state.archive]),
                F=np.arange(float(len(state.archive)))[:, None],
            )
            children = GA(self.population).mating.do(
                Problem(n_var=problem.size, xl=lowest, xu=highest), parents, self.population,
                random_state=rng,
            )
            xs = np.asarray(children.get('X'), dtype=float)
        else:
            xs = np.array([problem.draw(rng) for _ in range(self.population)])
        return [
            Job(evaluate, xs[first: first + OF_A_JOB]) for first in range(0, len(xs), OF_A_JOB)
        ]

    def learn(
        self, problem: TrajectoryProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep the best of parents and children."""
        children = (candidate for outcome in outcomes for candidate in outcome.candidates)
        return tuple(sorted((*state.archive, *children), key=rank)[: self.population]), {}
