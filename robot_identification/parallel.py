# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Schedulers of jobs: this process, worker processes on this machine, or a Dask cluster.

The same function does a job in all three cases, and results come in the order of the jobs,
whoever is first. What is lost with a process is done again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
import importlib
import importlib.metadata
import multiprocessing
from multiprocessing.process import BaseProcess
import os
import platform
import signal
import socket
import time
from types import TracebackType
from typing import Any, Protocol, TypeVar

from robot_identification import __version__
from robot_identification.errors import IdentificationError, MissingDependencyError, UsageError

PACKAGE = 'robot_identification'
# What `--scheduler` calls processes on this machine.
LOCAL = 'local'
# A job that ended its process this often is not tried again.
MOST_DEATHS = 3
# Results that wait for an earlier one are no more than this many times the processes.
AHEAD = 4
# Time in which a scheduler must answer, and have a worker [s].
PATIENCE = 5.0
# Time that a cluster without workers is given to get some again [s].
RECOVERY = 60.0
# How often a running cluster is looked at [s].
GLANCE = 1.0


def available_processors() -> int:
    """Return the number of processors that this program may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Job(Protocol):
    """Job of a worker process; it must be picklable."""

    @property
    def name(self) -> str:
        """Return its subject, for messages; jobs of one name go to one process where they can."""


AnyJob = TypeVar('AnyJob', bound=Job)
Result = TypeVar('Result')


class Scheduler(Protocol):
    """Scheduler of jobs; a context manager, after which its processes are gone."""

    def run(
        self, function: Callable[[AnyJob], Result], jobs: Sequence[AnyJob]
    ) -> Iterator[Result]:
        """
        Yield the results of jobs in their order.

        Parameters
        ----------
        function : callable
            A function of a module; its result depends on the job alone.
        jobs : sequence of Job
            What to do.

        Raises
        ------
        IdentificationError
            If the function raises it, or the processes for a job were lost too often.

        """

    def __enter__(self) -> Scheduler:
        """Return it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End its processes."""


def open_scheduler(name: str | None, processes: int | None = None) -> Scheduler:
    """
    Return the scheduler of the jobs.

    Parameters
    ----------
    name : str, optional
        'local' for processes on this machine, or the address of a Dask scheduler, such as
        tcp://192.168.1.10:8786; by default this process.
    processes : int, optional
        Number of local processes; by default as many as there are processors.

    Raises
    ------
    UsageError
        If processes are asked for elsewhere, or the Dask scheduler does not answer.
    MissingDependencyError
        If a Dask scheduler is named and Dask's `distributed` is not installed.

    """
    if processes is not None and name != LOCAL:
        raise UsageError(f'--processes is for --scheduler {LOCAL}: name both, or neither')
    if name is None:
        return InThisProcess()
    if name == LOCAL:
        return LocalProcesses(available_processors() if processes is None else processes)
    return DaskCluster(name)


class InThisProcess:
    """Jobs are done here, one by one."""

    def run(
        self, function: Callable[[AnyJob], Result], jobs: Sequence[AnyJob]
    ) -> Iterator[Result]:
        """Yield the results; see `Scheduler.run`."""
        for job in jobs:
            yield function(job)

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to end."""


class _Lane:
    """A process and the job that it does, so that it is known which job was lost with it."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._processes: list[BaseProcess] = []
        self.job: int | None = None
        self.future: Future[Any] | None = None

    def start(self, number: int, function: Callable[[Any], Any], job: Any) -> None:
        """Begin a job; the process is started with the first one."""
        self.job = number
        if self._pool is None:
            # A fork would copy the locks of other threads, of a ROS node for one.
            self._pool = ProcessPoolExecutor(
                1, multiprocessing.get_context('spawn'), _leave_interrupts_to_the_parent
            )
            others = set(multiprocessing.active_children())
            # Blocked for the child from its first instruction: it is busy with imports for a while
            # before its initializer runs.
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self.future = self._pool.submit(_work, function, job)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            self._processes = list(set(multiprocessing.active_children()) - others)
        else:
            try:
                self.future = self._pool.submit(_work, function, job)
            except BrokenProcessPool as error:
                # It was killed between two jobs.
                self.future = Future()
                self.future.set_exception(error)

    def stop(self) -> None:
        """End the process, whatever it does; another is started with the next job."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in self._processes:
                process.kill()
                process.join()
        self._pool, self._processes, self.future, self.job = None, [], None, None


def _leave_interrupts_to_the_parent() -> None:
    # Ctrl-C is for the parent, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(function: Callable[[Any], Any], job: Any) -> Any:
    try:
        return function(job)
    except MissingDependencyError as error:
        # It cannot be pickled: it is made of three texts.
        raise UsageError(str(error)) from None


class LocalProcesses:
    """
    Jobs are done by other processes on this machine, each with one BLAS thread.

    A process that is killed is started again with the job it did, at most twice a job.

    Parameters
    ----------
    processes : int
        Their number.

    Raises
    ------
    UsageError
        If it is not positive.

    """

    def __init__(self, processes: int) -> None:
        if processes < 1:
            raise UsageError(f'--processes is {processes}, it must be 1 or more')
        self._lanes = [_Lane() for _ in range(processes)]
        # Where jobs of a name were done before: what was read there need not be read again.
        self._home: dict[str, _Lane] = {}

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:
            lane.stop()

    def run(
        self, function: Callable[[AnyJob], Result], jobs: Sequence[AnyJob]
    ) -> Iterator[Result]:
        """Yield the results; see `Scheduler.run`."""
        left = list(range(len(jobs)))
        results: dict[int, Future[Result]] = {}
        deaths: Counter[int] = Counter()
        try:
            for number in range(len(jobs)):
                while number not in results:
                    self._hand_out(function, jobs, left, number + AHEAD * len(self._lanes))
                    running = [lane.future for lane in self._lanes if lane.future is not None]
                    wait(running, return_when=FIRST_COMPLETED)
                    self._collect(jobs, left, results, deaths)
                # An error is that of the first bad job in their order, whoever is first.
                yield results.pop(number).result()
        finally:
            for lane in self._lanes:
                if lane.future is not None:
                    lane.stop()

    def _hand_out(
        self,
        function: Callable[[AnyJob], Result],
        jobs: Sequence[AnyJob],
        left: list[int],
        end: int,
    ) -> None:
        """Give every idle process a job before the `end`: one it did before, or the next."""
        for lane in self._lanes:
            near = [number for number in left if number < end]
            if lane.future is not None or not near:
                continue
            homes = [self._home.get(jobs[number].name) for number in near]
            own = [number for number, home in zip(near, homes, strict=True) if home is lane]
            new = [number for number, home in zip(near, homes, strict=True) if home is None]
            number = (own or new or near)[0]
            left.remove(number)
            self._home[jobs[number].name] = lane
            lane.start(number, function, jobs[number])

    def _collect(
        self,
        jobs: Sequence[AnyJob],
        left: list[int],
        results: dict[int, Future[Result]],
        deaths: Counter[int],
    ) -> None:
        """Take the results that are there, and put back what was lost."""
        for lane in self._lanes:
            future, number = lane.future, lane.job
            if future is None or number is None or not future.done():
                continue
            lane.future = lane.job = None
            error = future.exception()
            if not isinstance(error, BrokenProcessPool):
                results[number] = future
                continue
            lane.stop()
            deaths[number] += 1
            if deaths[number] == MOST_DEATHS:
                raise IdentificationError(
                    f'{jobs[number].name}: the process that worked on it was killed '
                    f'{MOST_DEATHS} times, which the system does when memory is short: use '
                    'fewer processes (--processes), or leave this bag out'
                ) from error
            left.insert(0, number)


class DaskCluster:
    """
    Jobs are done by the workers of a Dask cluster; what a worker takes along is done by another.

    Parameters
    ----------
    address : str
        Of its scheduler.

    Raises
    ------
    MissingDependencyError
        If Dask's `distributed` is not installed here.
    UsageError
        If the scheduler does not answer within `PATIENCE`, has no workers, or a worker does not
        have this version of the package.

    """

    def __init__(self, address: str) -> None:
        try:
            distributed: Any = importlib.import_module('distributed')
        except ImportError as error:
            raise MissingDependencyError(
                'distributed', f'--scheduler {address}', 'pip install distributed'
            ) from error
        self._distributed = distributed
        self._address = address
        try:
            # A client without a connection would complain once more when it is collected.
            host, port = distributed.comm.get_address_host_port(address, strict=True)
            socket.create_connection((host, port), PATIENCE).close()
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, distributed.TimeoutError) as error:
            raise UsageError(
                f'no Dask scheduler answers at {address} within {PATIENCE:g} s: start one with '
                f'`dask scheduler` and name its address (tcp://HOST:8786), or use --scheduler '
                f'{LOCAL} ({error})'
            ) from error
        try:
            self._check_workers()
        except BaseException:
            self._client.close()
            raise

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _check_workers(self) -> None:
        """Refuse workers that would compute something else, by name."""
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except self._distributed.TimeoutError as error:
            raise UsageError(
                f'the Dask scheduler at {self._address} has no workers: start some with '
                f'`dask worker {self._address} --nthreads 1`'
            ) from error
        # Nothing of this package, which they may not have.
        found = self._client.run(importlib.metadata.version, PACKAGE, on_error='return')
        for worker, version in sorted(found.items()):
            if isinstance(version, importlib.metadata.PackageNotFoundError):
                raise UsageError(
                    f'the Dask worker at {worker} has no {PACKAGE}: install version '
                    f'{__version__} there, in the environment that `dask worker` runs in'
                )
            # One that has just been lost need not answer: Dask knows it soon.
            if version != __version__ and not isinstance(version, OSError):
                raise UsageError(
                    f'the Dask worker at {worker} has {PACKAGE} {version}, this is {__version__}: '
                    'install the same version in both places'
                )

    def run(
        self, function: Callable[[AnyJob], Result], jobs: Sequence[AnyJob]
    ) -> Iterator[Result]:
        """Yield the results; see `Scheduler.run`."""
        workers = sorted(self._client.nthreads())
        futures: list[Any] = []
        try:
            for number, job in enumerate(jobs):
                # The same worker every time, so that it need not read again: a wish, no order.
                wished = [workers[number % len(workers)]] if workers else None
                futures.append(self._client.submit(
                    _work, function, job, pure=False, workers=wished,
                    allow_other_workers=bool(wished),
                ))
            for number, job in enumerate(jobs):
                yield self._wait_for(job, futures[number])
                futures[number].release()
        finally:
            with suppress(Exception):
                self._client.cancel([future for future in futures if not future.done()])

    def _wait_for(self, job: Job, future: Any) -> Any:
        alone_since = None
        while True:
            try:
                return future.result(timeout=GLANCE)
            except self._distributed.TimeoutError:
                if self._has_workers():
                    alone_since = None
                    continue
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > RECOVERY:
                    raise IdentificationError(
                        f'{job.name}: the Dask scheduler at {self._address} has had no worker for '
                        f'{RECOVERY:g} s: start some with `dask worker {self._address}`'
                    ) from None
            except self._distributed.scheduler.KilledWorker as error:
                raise IdentificationError(
                    f'{job.name}: the Dask workers that worked on it were killed again and '
                    'again, which the system does when memory is short: start fewer workers on a '
                    f'machine, or leave this bag out ({error})'
                ) from error
            except self._distributed.CancelledError as error:
                raise self._lost() from error

    def _has_workers(self) -> bool:
        try:
            return bool(self._client.nthreads())
        except (OSError, ValueError) as error:
            raise self._lost() from error

    def _lost(self) -> IdentificationError:
        return IdentificationError(
            f'the Dask scheduler at {self._address} was lost: start it again, then this command'
        )


def worker_name() -> str:
    """Return what messages call the process that this is."""
    return f'process {os.getpid()} on {platform.node()}'
