# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rounds of a search: what budgets mean, and that an interrupted one is as good as a whole one."""

from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from excitation.optimizers.fake_problem import run_search, state_bytes
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.excitation import Budget
from robot_identification.excitation.optimizers import search as search_module
from robot_identification.excitation.optimizers.search import Candidate, Job, Optimizer, Outcome

EACH, OF_A_ROUND = 7, 5


class Clock:
    """Time that passes when a job is done, and not otherwise."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@contextmanager
def own_clock():
    own = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, 'time', SimpleNamespace(monotonic=own.monotonic))
        yield own


@pytest.fixture
def clock():
    with own_clock() as own:
        yield own


def work(problem, number):
    """Take some time, and find a candidate; the best, with negative numbers, are infeasible."""
    problem.clock.now += problem.seconds(number)
    problem.done.append(number)
    candidate = Candidate(np.array([number]), number, 0.0, number >= 0.0)
    return Outcome((candidate,), problem.each)


class Task:
    """A problem whose jobs take a time of their own."""

    def __init__(self, clock, seconds=lambda number: 1.0, each=EACH):
        self.clock, self.seconds, self.each, self.done = clock, seconds, each, []


@dataclass(frozen=True)
class Scripted(Optimizer):
    """Proposes random numbers, and remembers the sum and all of what it was told."""

    def propose(self, problem, state, rng):
        # What is proposed depends on all that is remembered.
        numbers = rng.standard_normal(OF_A_ROUND) + 1e-3 * state.memory.get('sum', 0.0)
        return [Job(work, float(number)) for number in numbers]

    def learn(self, problem, state, outcomes):
        assert len(outcomes) == OF_A_ROUND
        found = tuple(candidate for outcome in outcomes for candidate in outcome.candidates)
        total = state.memory.get('sum', 0.0) + sum(candidate.x[0] for candidate in found)
        return (*state.archive, *found), {'sum': float(total)}


def searched(task, budget, *, seed=3, **more):
    """Return the state that a search with these jobs ends with."""
    return run_search(Scripted(), task, budget, seed=seed, **more)


@pytest.mark.parametrize(
    ('budget', 'jobs', 'rounds'),
    [(1, 1, 0), (7, 1, 0), (8, 2, 0), (20, 3, 0), (35, 5, 1), (36, 6, 1), (70, 10, 2)],
)
def test_the_job_that_reaches_the_budget_is_finished_and_no_other_begun(
    clock, budget, jobs, rounds
):
    """Seven evaluations a job, five jobs a round; only whole rounds are learnt from."""
    task, saved = Task(clock), []
    state = searched(task, Budget(budget), save=saved.append)
    assert len(task.done) == jobs
    assert state.evaluations == EACH * jobs
    assert state.rounds == rounds == len(saved)
    assert len(state.archive) == OF_A_ROUND * rounds
    feasible = [number for number in task.done if number >= 0.0]
    assert state.feasible == len(feasible)
    assert (None if state.best is None else state.best.x[0]) == min(feasible, default=None)


@given(seconds=st.floats(0.1, 60.0), pace=st.integers(0, 2**32 - 1))
def test_a_search_ended_by_its_time_is_repeated_by_its_count(seconds, pace):
    """Whenever it ends, within a round or at its end: the state is the same to the last bit."""
    with own_clock() as clock:
        durations = np.random.default_rng(pace).exponential(1.0, 1000)
        task = Task(clock)
        task.seconds = lambda number: durations[len(task.done)]
        state = searched(task, Budget(10**9, seconds))
        # The job that was begun in time counts, and is the last one.
        assert clock.now - 100.0 >= seconds
        assert clock.now - 100.0 - durations[len(task.done) - 1] < seconds
        again = searched(Task(clock), Budget(state.evaluations))
        assert state_bytes(again) == state_bytes(state)
