# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A search: the interface of optimizers, the processes that do its jobs, its rounds and its options.

An optimizer works in rounds. It proposes jobs that do not depend on each other, and receives their
results in the order of the proposal, in which they count; the budget is checked between them. So
the number of processes makes no difference, and a search that was ended by its time limit is
repeated by the number of evaluations it used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
import math
import time
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.files import LARGEST_INTEGER
from robot_identification.options import check_options, option
from robot_identification.parallel import ending_signals_wait, LOCAL, open_executor

GENERIC = 'generic'  # name of the experiment that needs no file

ALIKE = 1.0e-2  # candidates nearer than this share of their length are one

_problem: TrajectoryProblem | None = None  # of a worker process


@dataclass(frozen=True)
class Budget:
    """Limits of a search."""

    # Most objective evaluations; the job that reaches them is still finished.
    evaluations: int = 2000
    seconds: float = float('inf')  # most wall-clock time [s]


@dataclass(frozen=True)
class Progress:
    """Progress of a long search."""

    best: float  # criterion of the best feasible candidate, infinite before there is one
    # Evaluations so far, and feasible candidates found.
    evaluations: int
    feasible: int
    share: float  # of the budget used, 0 to 1
    # Until the time limit, or by the pace so far until the evaluations are used up [s].
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """An evaluated motion."""

    x: FloatArray  # free coefficients, shape (size,)
    objective: float  # criterion
    violation: float  # sum of broken limits, see `TrajectoryProblem.violation`
    feasible: bool  # whether it keeps every limit and is clear of collisions
    start: FloatArray | None = None  # start of the local search that led to it, shape (size,)


def distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates without those that are nearly one before, of which nothing new is made."""
    kept: list[Candidate] = []
    for one in candidates:
        if not any(
            np.linalg.norm(one.x - other.x) < ALIKE * np.linalg.norm(other.x) for other in kept
        ):
            kept.append(one)
    return tuple(kept)


@dataclass(frozen=True, eq=False)
class Job:
    """A function of a module, for another process, with its picklable second argument."""

    function: Callable[[TrajectoryProblem, Any], Outcome]
    argument: Any


@dataclass(frozen=True, eq=False)
class Outcome:
    """Candidates that a job found, and the evaluations it took."""

    candidates: tuple[Candidate, ...]
    evaluations: int


@dataclass(frozen=True, eq=False)
class SearchState:
    """All that a search knows between two rounds."""

    rounds: int = 0  # finished
    evaluations: int = 0
    feasible: int = 0  # number of feasible candidates found
    best: Candidate | None = None  # best feasible candidate
    archive: tuple[Candidate, ...] = ()  # kept by the optimizer, in its own order
    memory: Mapping[str, float] = field(default_factory=dict)  # numbers kept by the optimizer


@dataclass(frozen=True)
class Optimizer(ABC):
    """
    An optimizer: options are dataclass fields, and all it remembers is in the search's state.

    Same state and same `rng`, same jobs.
    """

    @abstractmethod
    def propose(
        self, problem: TrajectoryProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return the jobs of the next round; none if there is nothing left to do."""

    def learn(
        self, problem: TrajectoryProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """
        Return archive and memory after a round, from the outcomes of its jobs in their order.

        `state` is that before the round, but with the best candidate after it. By default nothing
        is kept but that.
        """
        return (), {}


class Workers:
    """
    Worker processes of a search; a context manager, after which all processes are gone.

    Results come in the order of the jobs, so that they do not depend on the number of processes.
    With one, jobs are done here. `build` makes the problem in each process: a function of a
    module, or a partial of one.
    """

    def __init__(self, build: Callable[[], TrajectoryProblem], processes: int = 1) -> None:
        self.problem = build()
        self._any, self._stack = False, ExitStack()
        self._pool = self._stack.enter_context(open_executor(
            LOCAL if processes > 1 else None, processes if processes > 1 else None,
            partial(_start, build),
        ))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    def run(self, jobs: Sequence[Job], end: float) -> Iterator[Outcome]:
        """Yield the outcomes of jobs in order, none after `end` on the monotonic clock [s]."""
        if self._pool is None:
            for job in jobs:
                if time.monotonic() >= end:
                    return
                yield job.function(self.problem, job.argument)
            return
        futures: list[Future[Outcome]] = []
        try:
            with ending_signals_wait():
                futures += [self._pool.submit(_do, job) for job in jobs]
            for future in futures:
                left = end - time.monotonic()
                # However short the time, one job is finished, as it is without other processes.
                bounded = self._any and left != float('inf')
                outcome = future.result(max(left, 0.0) if bounded else None)
                self._any = True
                yield outcome
        except FutureTimeoutError:
            return
        except BrokenExecutor as error:
            raise IdentificationError(
                'a process of the search was killed, which the system does when memory is short: '
                'search with fewer processes (--processes 1)'
            ) from error


def _start(build: Callable[[], TrajectoryProblem]) -> None:
    global _problem
    _problem = build()


@one_blas_thread()
def _do(job: Job) -> Outcome:
    assert _problem is not None
    return job.function(_problem, job.argument)


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

    def run(self, budget: Budget) -> SearchState:
        """Search until the budget is used up or the optimizer proposes nothing."""
        state, problem = SearchState(), self.workers.problem
        pace = _Pace(budget)
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
    known = [*([] if state.best is None else [state.best]), *feasible]
    return replace(
        state, evaluations=state.evaluations + outcome.evaluations,
        feasible=state.feasible + len(feasible),
        # Of equals the first, so that the order of jobs decides and nothing else.
        best=min(known, key=lambda candidate: candidate.objective, default=None),
    )


class _Pace:
    """Rate of a search, for the time that is left."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._start = budget, time.monotonic()
        self.end = self._start + budget.seconds

    @property
    def time_left(self) -> float:
        return self.end - time.monotonic()

    def progress(self, state: SearchState) -> Progress:
        elapsed = time.monotonic() - self._start
        left = max(self._budget.evaluations - state.evaluations, 0) * elapsed / max(
            state.evaluations, 1
        )
        seconds_left = max(min(left, self.time_left), 0.0)
        return Progress(
            best=np.inf if state.best is None else state.best.objective,
            evaluations=state.evaluations,
            feasible=state.feasible,
            share=min(elapsed / max(elapsed + seconds_left, 1e-9), 1.0),
            seconds_left=seconds_left,
        )


@dataclass(frozen=True)
class DesignArguments:
    """
    Options of the search for a motion; None means that an option is not given.

    The fields say in their declaration what each is; 0 as a parameter, too.
    """

    experiment: str = option(
        str, "experiment file, or name of a shipped one; generic: from the limits of the arm's "
        'description', default=GENERIC, metavar='FILE',
    )
    seed: int = option(
        int, 'seed of the search; the same one gives the same trajectory',
        default=0, minimum=0, maximum=LARGEST_INTEGER, metavar='S',
    )
    max_evaluations: int | None = option(
        int, 'evaluations of the criterion', minimum=1, maximum=10_000_000, metavar='N',
        otherwise=f'{Budget().evaluations}, and no limit with --time-limit',
    )
    time_limit: float | None = option(
        float, 'longest search [s]; it ends with the best motion so far', otherwise='no limit',
        minimum=0.0,
        maximum=86_400.0, metavar='SECONDS',
    )
    processes: int | None = option(
        int, 'number of worker processes; the result does not depend on it', minimum=1,
        maximum=1024, metavar='N',
        otherwise='as many as there are processors, and 1, this process, for short searches',
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.time_limit == 0.0:
            raise UsageError('--time-limit is 0 s, it must be positive')

    @property
    def budget(self) -> Budget:
        """Limits of the search; evaluations are one by default where time is none."""
        seconds = math.inf if self.time_limit is None else self.time_limit
        if self.max_evaluations is not None:
            return Budget(self.max_evaluations, seconds)
        # Where time is the limit, more evaluations than ten days have milliseconds.
        return Budget(seconds=seconds) if seconds == math.inf else Budget(10**9, seconds)

    @property
    def is_short(self) -> bool:
        """Return whether one process is done before others would have started, in seconds."""
        budget = self.budget
        return budget.seconds < 10.0 or budget.evaluations < 300
