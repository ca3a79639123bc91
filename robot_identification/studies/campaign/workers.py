# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Runs of a campaign in processes of their own, or on a Dask cluster.

A run takes seconds to minutes, so that a process of its own costs little, and a run that ends its
process does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Executor
from contextlib import suppress
import multiprocessing
from multiprocessing.connection import wait
import os
from pathlib import Path
import signal
import sys
import traceback
from typing import Any

from robot_identification.errors import IdentificationError
from robot_identification.parallel import ending_signals_wait, follow_parent
from robot_identification.studies.campaign.runs import do_run, read_state, RunJob, write_failure

LOG_FILE = 'log.txt'


def work_locally(jobs: Sequence[RunJob], processes: int) -> Iterator[str]:
    """
    Do runs in other processes, and yield the name of each when it is done.

    A run whose process is killed has failed.
    """
    context = multiprocessing.get_context('spawn')
    left = list(jobs)
    running: dict[Any, tuple[RunJob, Any]] = {}
    try:
        while left or running:
            while left and len(running) < processes:
                job = left.pop(0)
                process = context.Process(target=_do_logged, args=(job,), daemon=True)
                with ending_signals_wait():
                    process.start()
                running[process.sentinel] = job, process
            for sentinel in wait(list(running)):
                job, process = running.pop(sentinel)
                process.join()
                if process.exitcode:
                    write_failure(job, _describe_end(process.exitcode, job), 1)
                yield job.name
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def work_on(executor: Executor, jobs: Sequence[RunJob]) -> Iterator[str]:
    """Yield the names of runs of an executor in their order; one that raises has failed."""
    futures = [executor.submit(do_run, job) for job in jobs]
    for job, future in zip(jobs, futures, strict=True):
        try:
            future.result()
        except CancelledError as error:
            raise IdentificationError(
                'the scheduler was lost: start it again, then this command'
            ) from error
        except Exception as error:
            write_failure(
                job, f'its worker was lost, or could not begin ({error!r}): start fewer workers '
                'on a machine, or leave this run out', 1,
            )
        yield job.name


def _do_logged(job: RunJob) -> None:
    """Do a run; what is printed goes into a file beside the results."""
    follow_parent()
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
        sys.exit(1)
    if not log.stat().st_size:
        log.unlink()


def _describe_end(code: int, job: RunJob) -> str:
    if code < 0:
        name = str(-code)
        with suppress(ValueError):
            name = signal.Signals(-code).name
        return (
            f'its process was ended by {name}, which the system does when '
            'memory is short: use fewer processes (--processes), or leave this run out'
        )
    return f'its process ended with exit code {code}, see {Path(job.folder) / LOG_FILE}'
