# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Work in other processes: one worker, and schedulers of jobs for many.

A scheduler is this process, worker processes on this machine, or a Dask cluster. The same
function does a job in all three cases, and results come in the order of the jobs. A job whose
process was lost is done again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
import importlib
import importlib.metadata
import multiprocessing
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
import os
from pathlib import Path
import platform
import signal
import socket
import threading
import time
import traceback
from types import TracebackType
from typing import Any, Protocol, TypeVar

from robot_identification import __version__
from robot_identification.blas import one_blas_thread
from robot_identification.errors import IdentificationError, MissingDependencyError, UsageError

PACKAGE = 'robot_identification'
# The name of processes on this machine in `--scheduler`.
LOCAL = 'local'
# Of searches and identifications that nodes do: on a computer that drives a robot, everything
# else goes first; chosen.
BACKGROUND_NICENESS = 5
# Times that a job may end its process before it is given up; chosen: memory may be short once.
MOST_DEATHS = 3
# Results that wait for an earlier one, at most, over the number of processes; chosen: they lie in
# memory, and one slow job must not stop the others.
AHEAD = 4
# Time in which a Dask scheduler must answer, and have a worker [s]; chosen.
PATIENCE = 5.0
# Time that a cluster without workers is given to get some again [s]; chosen: a restart of one.
RECOVERY = 60.0
# Period in which a running cluster is looked at [s]; chosen.
GLANCE = 1.0
# Signals of the terminal.
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
# Signals that end the parent: a worker that is left half started would complain.
ENDING_SIGNALS = {*TERMINAL_SIGNALS, signal.SIGTERM}
# Kinds of messages from a worker.
DONE, FAILED, REPORT = 'done', 'failed', 'report'


def available_processors() -> int:
    """Return the number of CPUs available to this program."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_name() -> str:
    """Return the name of this process in messages."""
    return f'process {os.getpid()} on {platform.node()}'


def check_processes(processes: int | None) -> None:
    """Raise `UsageError` if a number of processes is given and not positive."""
    if processes is not None and processes < 1:
        raise UsageError(f'--processes is {processes}, it must be 1 or more')


@contextmanager
def ending_signals_wait() -> Iterator[None]:
    """Hold signals back while a process is started, and in it while it imports."""
    # Its start would unblock signals.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def follow_parent() -> None:
    """Leave the signals of the terminal to the parent of this worker, and end with it."""
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS - {*TERMINAL_SIGNALS})
    threading.Thread(target=_end_with_parent, daemon=True).start()


class Worker:
    """
    A process that does jobs one after the other; it is started with the first of them.

    It ignores the signals of the terminal, and ends with its parent. `method` is a start method
    of `multiprocessing` that does not fork: a fork would copy the locks of other threads.
    """

    def __init__(self, method: str = 'spawn') -> None:
        self._context: Any = multiprocessing.get_context(method)
        self._process: Any = None
        self._connection: Any = None

    @property
    def connection(self) -> Connection:
        """Return the connection that is ready when a message came or the process has ended."""
        found: Connection = self._connection
        return found

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return int(self._process.pid)

    def start(self, function: Callable[..., Any], job: Any, *, with_reports: bool = False) -> None:
        """
        Begin a job; the function must be one of a module.

        With reports it takes a second argument, a function that sends a message of kind REPORT.
        """
        if self._process is None:
            self._connection, other = self._context.Pipe()
            self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
            with ending_signals_wait():
                self._process.start()
            # The end of the process is then seen here as the end of the connection.
            other.close()
        # A process that was killed between two jobs is seen by `receive`.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send((function, job, with_reports))

    def receive(self) -> tuple[str, Any]:
        """Return kind and content of the next message; raises `EOFError` if the process ended."""
        try:
            kind, content = self.connection.recv()
        except (EOFError, OSError) as error:
            # It may still be about to exit with a code of its own.
            self._process.join(PATIENCE)
            raise EOFError('the process has ended') from error
        if kind == FAILED:
            content, trace = content
            content.__cause__ = RuntimeError(f'in the other process:\n{trace}')
        return kind, content

    def stop(self) -> int | None:
        """End the process at once and return its exit code; a job starts another."""
        if self._process is None:
            return None
        self._process.kill()
        self._process.join()
        self.connection.close()
        code: int | None = self._process.exitcode
        self._process = self._connection = None
        return code


def _serve(connection: Connection) -> None:
    """Do jobs until the parent has ended."""
    follow_parent()
    with suppress(EOFError, OSError):
        while True:
            function, job, with_reports = connection.recv()
            more = (partial(_report, connection),) if with_reports else ()
            connection.send(_do(function, job, *more))


def _do(function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Return the message of a result or of an error."""
    try:
        # A worker of Dask has NumPy before this package.
        with one_blas_thread():
            return DONE, function(*arguments)
    except Exception as error:
        return FAILED, (_sendable(error), traceback.format_exc())


def _sendable(error: Exception) -> Exception:
    """Return an error, or one with its type and message if it cannot be pickled."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f'{type(error).__name__}: {error}')
    return error


def _report(connection: Connection, content: Any) -> None:
    connection.send((REPORT, content))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def beside(
    function: Callable[..., Result], *arguments: Any, apart: bool = True
) -> Iterator[Callable[[], Result]]:
    """
    Call a function in a copy of this process during the block; yield what returns its result.

    Without `apart`, without a second processor, and where a copy is not safe because there are
    other threads, the function is called here when its result is asked for.
    """
    if not apart or not _can_be_copied():
        yield partial(function, *arguments)
        return
    context: Any = multiprocessing.get_context('fork')
    connection, other = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(other, function, arguments), daemon=True)
    with ending_signals_wait():
        process.start()
    other.close()

    def result() -> Result:
        try:
            kind, content = connection.recv()
        except EOFError:
            # It was killed: memory may be short for both.
            return function(*arguments)
        if kind == FAILED:
            raise content[0]
        found: Result = content
        return found

    try:
        yield result
    finally:
        process.kill()
        process.join()
        connection.close()


def _can_be_copied() -> bool:
    """Return whether a copy could run, and would hold no lock of a thread that it lacks."""
    tasks = Path('/proc/self/task')
    return (
        available_processors() > 1
        and tasks.is_dir() and len(list(tasks.iterdir())) == 1
        and not multiprocessing.current_process().daemon
    )


def _answer(connection: Connection, function: Callable[..., Any], arguments: Any) -> None:
    """Send what a function returns or raises."""
    follow_parent()
    connection.send(_do(function, *arguments))


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

        The function is one of a module; its result depends on the job alone. Its errors are
        raised, and an `IdentificationError` if the processes for a job were lost too often.
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

    `name` is 'local' for processes on this machine, or the address of a Dask scheduler such as
    tcp://192.168.1.10:8786; None is this process. `processes` is the number of local processes, by
    default that of the available CPUs. Raises UsageError if `processes` is given without 'local'
    or the Dask scheduler does not answer, MissingDependencyError if a Dask scheduler is named and
    Dask's `distributed` is not installed.
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


@dataclass(frozen=True, eq=False)
class Outcome:
    """End of a job: its result, its error, or the exit code of the processes lost with it."""

    number: int  # index of the job
    result: Any = None
    error: BaseException | None = None
    lost: int | None = None


class LocalProcesses:
    """
    Jobs are done by worker processes on this machine, each with one BLAS thread.

    A process that is killed is started again with its job, MOST_DEATHS - 1 times at most. If
    `fresh`, every job has a process of its own.
    """

    def __init__(self, processes: int, *, fresh: bool = False) -> None:
        check_processes(processes)
        self._workers = [Worker() for _ in range(processes)]
        self._fresh = fresh
        # Where jobs of a name were done before: what was read there need not be read again.
        self._home: dict[str, Worker] = {}

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def run(
        self, function: Callable[[AnyJob], Result], jobs: Sequence[AnyJob]
    ) -> Iterator[Result]:
        """Yield the results; see `Scheduler.run`."""
        waiting: dict[int, Outcome] = {}
        next_number = 0
        for outcome in self.outcomes(function, jobs):
            waiting[outcome.number] = outcome
            # An error is that of the first bad job in their order, not in that of their ends.
            while next_number in waiting:
                ended = waiting.pop(next_number)
                if ended.error is not None:
                    raise ended.error
                if ended.lost is not None:
                    raise IdentificationError(
                        f'{jobs[next_number].name}: the process that worked on it was killed '
                        f'{MOST_DEATHS} times, which the system does when memory is short: use '
                        'fewer processes (--processes), or leave this bag out'
                    )
                yield ended.result
                next_number += 1

    def outcomes(
        self, function: Callable[[AnyJob], Any], jobs: Sequence[AnyJob]
    ) -> Iterator[Outcome]:
        """Yield how jobs ended, as they do; what still runs after the last use is killed."""
        left, ended = list(range(len(jobs))), set[int]()
        deaths: Counter[int] = Counter()
        busy: dict[Any, tuple[Worker, int]] = {}  # by connection
        first = 0  # of the jobs that have not ended
        try:
            while first < len(jobs):
                near = [number for number in left if number < first + AHEAD * len(self._workers)]
                at_work = [worker for worker, _ in busy.values()]
                for worker in (one for one in self._workers if one not in at_work):
                    if near:
                        number = self._choose(worker, near, jobs)
                        near.remove(number)
                        left.remove(number)
                        worker.start(function, jobs[number])
                        busy[worker.connection] = worker, number
                for ready in wait(list(busy)):
                    worker, number = busy.pop(ready)
                    outcome = self._collect(worker, number, deaths)
                    if outcome is None:
                        left.insert(0, number)
                        continue
                    ended.add(number)
                    while first in ended:
                        first += 1
                    yield outcome
        finally:
            for worker, _ in busy.values():
                worker.stop()

    def _choose(self, worker: Worker, near: Sequence[int], jobs: Sequence[AnyJob]) -> int:
        """Return the job that an idle process is to do: one it did before, or the next new one."""
        homes = {number: self._home.get(jobs[number].name) for number in near}
        own = [number for number in near if homes[number] is worker]
        new = [number for number in near if homes[number] is None]
        chosen = (own or new or near)[0]
        self._home[jobs[chosen].name] = worker
        return chosen

    def _collect(self, worker: Worker, number: int, deaths: Counter[int]) -> Outcome | None:
        """Return how a job ended; None if it is to be done again."""
        try:
            kind, content = worker.receive()
        except EOFError:
            code = worker.stop()
            deaths[number] += 1
            return Outcome(number, lost=code) if deaths[number] >= MOST_DEATHS else None
        if self._fresh:
            worker.stop()
        return Outcome(number, content) if kind == DONE else Outcome(number, error=content)


class DaskCluster:
    """Jobs are done by the workers of a Dask cluster; the job of a lost one by another."""

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
                # The same worker every time where it can be, so that it need not read again.
                preferred = [workers[number % len(workers)]] if workers else None
                futures.append(self._client.submit(
                    _do_there, function, job, pure=False, workers=preferred,
                    allow_other_workers=bool(preferred),
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


def _do_there(function: Callable[[Any], Any], job: Any) -> Any:
    """Do a job on a worker of Dask, which pickles its error."""
    kind, content = _do(function, job)
    if kind == FAILED:
        raise content[0]
    return content
