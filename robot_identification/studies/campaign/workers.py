# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Runs of a campaign in other processes: on this machine, one for each run, or on a Dask cluster.

A run takes seconds to minutes, so that a process of its own costs little, and a run
that ends its process does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
import os
from pathlib import Path
import signal
import sys
import traceback

from robot_identification.errors import IdentificationError
from robot_identification.parallel import LocalProcesses, MOST_DEATHS, Scheduler
from robot_identification.studies.campaign.runs import do_run, read_state, RunJob, write_failure

LOG_FILE = 'log.txt'


def work_locally(jobs: Sequence[RunJob], processes: int) -> Iterator[str]:
    """
    Do runs in other processes, and yield the name of each when it is done.

    A run whose process is killed repeatedly has failed.
    """
    with LocalProcesses(processes, fresh=True) as local:
        for outcome in local.outcomes(_do_logged, jobs):
            job = jobs[outcome.number]
            if outcome.lost is not None:
                write_failure(job, _describe_end(outcome.lost, job), 1)
            yield job.name


def work_on(cluster: Scheduler, jobs: Sequence[RunJob]) -> Iterator[str]:
    """Yield the names of runs in their order; one that kills its workers has failed."""
    left = list(jobs)
    while left:
        try:
            for name in cluster.run(do_run, tuple(left)):
                left.pop(0)
                yield name
        except IdentificationError as error:
            job = left[0]
            # A cluster that is gone is no fault of this run.
            if not str(error).startswith(f'{job.name}: the Dask workers'):
                raise
            left.pop(0)
            write_failure(job, str(error), error.exit_code)
            yield job.name


def _do_logged(job: RunJob) -> None:
    """Do a run; what is printed goes into a file beside the results."""
    log = Path(job.folder) / LOG_FILE
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open('wb', buffering=0) as stream:
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
    try:
        do_run(job)
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if read_state(log.parent) is None:
        # As a process that was killed, it is started again.
        sys.exit(1)
    if not log.stat().st_size:
        log.unlink()


def _describe_end(code: int, job: RunJob) -> str:
    if code < 0:
        name = str(-code)
        with suppress(ValueError):
            name = signal.Signals(-code).name
        return (
            f'its process was ended by {name} {MOST_DEATHS} times, which the system does when '
            'memory is short: use fewer processes (--processes), or leave this run out'
        )
    return (
        f'its process ended with exit code {code} {MOST_DEATHS} times, see '
        f'{Path(job.folder) / LOG_FILE}'
    )
