# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Jobs in other processes: on executors of `concurrent.futures`, here or of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
import importlib
import importlib.metadata
import multiprocessing
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
import os
import signal
import threading
from typing import Any, TypeVar

from robot_identification import __version__
from robot_identification.blas import one_blas_thread
from robot_identification.errors import IdentificationError, needing, UsageError

PACKAGE = 'robot_identification'
# The name of processes on this machine in `--scheduler`.
LOCAL = 'local'
# Of searches and identifications that nodes do: on a computer that drives a robot, everything
# else goes first; chosen.
BACKGROUND_NICENESS = 5
# Time in which a Dask scheduler must answer, and have a worker [s]; chosen.
PATIENCE = 5.0
# Signals of the terminal.
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
# Signals that end the parent: a worker that is left half started would complain.
ENDING_SIGNALS = {*TERMINAL_SIGNALS, signal.SIGTERM}

Job = TypeVar('Job')
Result = TypeVar('Result')


def available_processors() -> int:
    """Return the number of CPUs available to this program."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


def _begin(then: Callable[[], object] | None) -> None:
    follow_parent()
    if then is not None:
        then()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def run_jobs(
    executor: Executor | None, function: Callable[[Job], Result], jobs: Sequence[Job]
) -> Iterator[Result]:
    """
    Yield the results of jobs in their order, each done with one BLAS thread.

    The function is one of a module, or a partial of one. Without an executor jobs are done here.
    Raises IdentificationError if a process was lost.
    """
    if executor is None:
        yield from map(function, jobs)
        return
    try:
        with ending_signals_wait():
            found = executor.map(partial(_call, function), jobs)
        yield from found
    except (BrokenExecutor, CancelledError) as error:
        raise IdentificationError(
            'a worker process was lost, which the system does when memory is short: use fewer '
            f'processes (--processes), or leave out the longest bag ({error!r})'
        ) from error


def _call(function: Callable[[Job], Result], job: Job) -> Result:
    # A worker of Dask has NumPy before this package.
    with one_blas_thread():
        return function(job)


@contextmanager
def open_executor(
    name: str | None, processes: int | None = None, begin: Callable[[], object] | None = None
) -> Iterator[Executor | None]:
    """
    Yield an executor of jobs, whose processes are gone after the block.

    `name` is 'local' for processes on this machine, or the address of a Dask scheduler such as
    tcp://192.168.1.10:8786; of None there is no executor. `processes` is the number of local
    processes, by default that of the available CPUs, and `begin` what each of them does first.
    Raises UsageError if `processes` is given without 'local' or the Dask scheduler does not
    answer, MissingDependencyError if Dask's `distributed` is needed and not installed.
    """
    if processes is not None and name != LOCAL:
        raise UsageError(f'--processes is for --scheduler {LOCAL}: name both, or neither')
    if processes is not None and processes < 1:
        raise UsageError(f'--processes is {processes}, it must be 1 or more')
    if name is None:
        yield None
        return
    if name != LOCAL:
        with _open_cluster(name) as client:
            yield client.get_executor()
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        available_processors() if processes is None else processes,
        multiprocessing.get_context('spawn'), partial(_begin, begin),
    )
    try:
        yield pool
    finally:
        # What still runs is not waited for.
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        pool.shutdown(cancel_futures=True)


@contextmanager
def _open_cluster(address: str) -> Iterator[Any]:
    """Yield the client of a Dask scheduler whose workers have this version of the package."""
    with needing('distributed', f'--scheduler {address}'):
        distributed: Any = importlib.import_module('distributed')
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, distributed.TimeoutError) as error:
        raise UsageError(
            f'no Dask scheduler answers at {address} within {PATIENCE:g} s: start one with '
            f'`dask scheduler` and name its address (tcp://HOST:8786), or use --scheduler '
            f'{LOCAL} ({error})'
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except distributed.TimeoutError as error:
            raise UsageError(
                f'the Dask scheduler at {address} has no workers: start some with '
                f'`dask worker {address} --nthreads 1`'
            ) from error
        # Nothing of this package, which they may not have.
        versions = client.run(importlib.metadata.version, PACKAGE, on_error='return')
        for worker, version in sorted(versions.items()):
            # One that has just been lost need not answer: Dask knows it soon.
            if version != __version__ and not isinstance(version, OSError):
                there = version if isinstance(version, str) else 'not installed'
                raise UsageError(
                    f'the Dask worker at {worker} has {PACKAGE} {there}, this is {__version__}: '
                    'install the same version in both places'
                )
        try:
            yield client
        except distributed.scheduler.KilledWorker as error:
            raise IdentificationError(
                f'the Dask workers at {address} were killed repeatedly, which the system '
                f'does when memory is short: start fewer on a machine ({error})'
            ) from error
