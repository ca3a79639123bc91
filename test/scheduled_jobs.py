# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Jobs for schedulers that other processes can import, and a Dask cluster on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import signal

import numpy  # noqa: F401 - as jobs do
import pytest
from robot_identification.errors import DataError, MissingDependencyError


@dataclass(frozen=True)
class Number:
    value: int

    @property
    def name(self):
        return f'number {self.value}'


def square(job):
    return job.value**2


def blocked_signals(job):
    return signal.pthread_sigmask(signal.SIG_BLOCK, ())


def blas_threads(job):
    """Return the numbers of threads that the loaded BLAS libraries use."""
    import threadpoolctl

    return {
        pool['num_threads'] for pool in threadpoolctl.threadpool_info()
        if pool['user_api'] == 'blas'
    }


def process_of(job):
    return os.getpid()


def refuse(job):
    """Fail as a bag that cannot be used does."""
    raise DataError(f'{job.name} is odd' if job.value % 2 else f'{job.name} is even')


class UnpicklableError(Exception):
    """An error that no other process can be sent."""

    def __reduce__(self):
        raise TypeError('no')


def fail_differently(job):
    """Fail with an error that cannot be pickled, or one of a missing library."""
    if job.value % 2:
        raise UnpicklableError(f'{job.name} is odd')
    raise MissingDependencyError('xacro', job.name, 'pip install xacro')


def kill_always(job):
    os.kill(os.getpid(), signal.SIGKILL)


def kill_once(mark):
    """Kill this process, unless the mark says that it was done before."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Deadly:
    """A function during the first call of which, after so many, the process is killed."""

    function: object
    name: str
    mark: Path

    def __call__(self, job):
        if job.name == self.name:
            kill_once(self.mark)
        return self.function(job)


class KillsAWorker:
    """A scheduler one of whose processes is killed in the middle of a certain pass."""

    def __init__(self, scheduler, mark, at_pass):
        self._scheduler, self._mark, self._left = scheduler, mark, at_pass

    def run(self, function, jobs):
        """Do the jobs; in the pass in question, the third job takes its process along."""
        self._left -= 1
        if self._left == 0:
            function = Deadly(function, jobs[2].name, self._mark)
        return self._scheduler.run(function, jobs)


@contextmanager
def dask_cluster() -> Iterator[object]:
    """Start a Dask scheduler and two workers, processes on this machine, for a while."""
    distributed = pytest.importorskip(
        'distributed', reason='needs Dask: pip install distributed'
    )
    # The scheduler answers HTTP in any case: on a free port, and without its dashboard.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host='127.0.0.1', scheduler_port=0,
        dashboard_address='127.0.0.1:0', worker_dashboard_address=None, silence_logs=50,
        scheduler_kwargs={'dashboard': False},
    ) as cluster:
        yield cluster
