# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The rounds of a search: budget, progress, and how it is taken up again.

Results count in the order in which their jobs were proposed, and the budget is looked at between
them. So the number of processes makes no difference, and a search that was ended by its time limit
is repeated by the number of evaluations it used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import time

import numpy as np
from robot_identification.excitation.optimizers.optimizer import (
    Budget, Candidate, Optimizer, Outcome, Progress, SearchState,
)
from robot_identification.excitation.optimizers.workers import Workers


@dataclass(frozen=True, eq=False)
class Search:
    """
    A search for a motion by an optimizer, whose jobs workers do.

    Same seed and same evaluations, same result.
    """

    optimizer: Optimizer
    workers: Workers
    seed: int
    report: Callable[[Progress], None]  # called after every job
    save: Callable[[SearchState], None] | None = None  # called after every round

    def run(self, budget: Budget, state: SearchState | None = None) -> SearchState:
        """
        Search until the budget is used up or the optimizer proposes nothing.

        `state` resumes an earlier search with the same optimizer, problem and seed.
        """
        state = state or SearchState()
        problem = self.workers.problem
        pace = _Pace(budget, state.evaluations)
        while state.evaluations < budget.evaluations and pace.time_left > 0.0:
            # Every round has its own generator: the state need not hold one.
            rng = np.random.default_rng([self.seed, state.rounds])
            jobs = self.optimizer.propose(problem, state, rng)
            outcomes: list[Outcome] = []
            for outcome in self.workers.run(jobs, pace.end):
                outcomes.append(outcome)
                state = _take(state, outcome)
                self.report(pace.progress(state))
                if state.evaluations >= budget.evaluations:
                    break
            if not jobs or len(outcomes) < len(jobs):
                break
            archive, memory = self.optimizer.learn(problem, state, outcomes)
            state = replace(state, rounds=state.rounds + 1, archive=archive, memory=memory)
            if self.save is not None:
                self.save(state)
        return state


def _take(state: SearchState, outcome: Outcome) -> SearchState:
    feasible = [candidate for candidate in outcome.candidates if candidate.feasible]
    best = state.best
    for candidate in feasible:
        best = better(best, candidate)
    return replace(
        state, evaluations=state.evaluations + outcome.evaluations,
        feasible=state.feasible + len(feasible), best=best,
    )


def better(first: Candidate | None, second: Candidate) -> Candidate:
    """Return the better of two feasible candidates, the first if they are equal."""
    return second if first is None or second.objective < first.objective else first


class _Pace:
    """Rate of a search, for the time that is left."""

    def __init__(self, budget: Budget, evaluations: int) -> None:
        self._budget, self._first = budget, evaluations
        self._start = time.monotonic()
        self.end = self._start + budget.seconds

    @property
    def time_left(self) -> float:
        return self.end - time.monotonic()

    def progress(self, state: SearchState) -> Progress:
        elapsed = time.monotonic() - self._start
        done = state.evaluations - self._first
        left = max(self._budget.evaluations - state.evaluations, 0) * elapsed / max(done, 1)
        seconds_left = max(min(left, self.time_left), 0.0)
        return Progress(
            best=np.inf if state.best is None else state.best.objective,
            evaluations=state.evaluations,
            feasible=state.feasible,
            share=min(elapsed / max(elapsed + seconds_left, 1e-9), 1.0),
            seconds_left=seconds_left,
        )
