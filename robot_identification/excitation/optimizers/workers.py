# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Jobs of a search, done one after the other or by other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
import multiprocessing
import threading
import time
from typing import Any

from robot_identification.blas import one_blas_thread
from robot_identification.errors import IdentificationError
from robot_identification.excitation.optimizers.optimizer import ExcitationProblem, Job, Outcome
from robot_identification.parallel import ending_signals_wait, follow_parent

# Longest wait for a thread of a pool whose processes are gone [s]; chosen: it takes milliseconds.
THREAD_TIMEOUT = 2.0

_problem: ExcitationProblem | None = None


class Workers:
    """
    Worker processes of a search; a context manager, after which all processes are gone.

    Results come in the order of the jobs, so that they do not depend on the number of processes.
    With one, jobs are done here. `build` makes the problem in each process: a function of a
    module, or a partial of one.
    """

    def __init__(self, build: Callable[[], ExcitationProblem], processes: int = 1) -> None:
        self.problem = build()
        self._pool: ProcessPoolExecutor | None = None
        self._others = set(multiprocessing.active_children())
        self._threads: set[threading.Thread] = set()  # of the pool
        self._any = False
        if processes > 1:
            # A fork would copy the locks of other threads, of a ROS node for one.
            self._pool = ProcessPoolExecutor(
                processes, multiprocessing.get_context('spawn'), _start, (build,)
            )

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._pool is not None:
            # What runs is not waited for: its result came too late.
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - self._others:
                process.kill()
            # Python's exit would write into a pipe that these close meanwhile.
            for thread in self._threads:
                thread.join(THREAD_TIMEOUT)

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
                before = set(threading.enumerate())
                futures += [self._pool.submit(_do, job) for job in jobs]
                self._threads |= set(threading.enumerate()) - before
            for future in futures:
                left = end - time.monotonic()
                # However short the time, one job is finished, as it is without other processes.
                bounded = self._any and left != float('inf')
                outcome = future.result(max(left, 0.0) if bounded else None)
                self._any = True
                yield outcome
        except FutureTimeoutError:
            return
        except BrokenProcessPool as error:
            raise IdentificationError(
                'a process of the search was killed, which the system does when memory is short: '
                'search with fewer processes (--processes 1)'
            ) from error


def _start(build: Callable[[], ExcitationProblem]) -> None:
    global _problem
    follow_parent()
    _problem = build()


@one_blas_thread()
def _do(job: Job) -> Outcome:
    assert _problem is not None
    return job.function(_problem, job.argument)
