# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Jobs for executors that other processes can import, and a Dask cluster on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import os
import signal

import numpy  # noqa: F401 - as jobs do
import pytest
from robot_identification.errors import DataError


@dataclass(frozen=True)
class Number:
    value: int

    @property
    def name(self):
        return f'number {self.value}'


def square(job):
    return job.value**2


def blas_threads(job):
    """Return the numbers of threads that the loaded BLAS libraries use."""
    import threadpoolctl

    return {
        pool['num_threads'] for pool in threadpoolctl.threadpool_info()
        if pool['user_api'] == 'blas'
    }


def refuse(job):
    """Fail as a bag that cannot be used does."""
    raise DataError(f'{job.name} is odd' if job.value % 2 else f'{job.name} is even')


def kill_always(job):
    os.kill(os.getpid(), signal.SIGKILL)


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
