# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Processes that do the runs of a campaign on this machine, one process for each run.

A run takes seconds to minutes, so that a process of its own costs little, and whatever a run does
to its process, the others go on. Results are reported in the order in which they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
import multiprocessing
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
import os
from pathlib import Path
import signal
import sys
import threading

from robot_identification.parallel import MOST_DEATHS
from robot_identification.studies.campaign.runs import do_run, read_state, RunJob, write_failure

LOG_FILE = 'log.txt'


def work_locally(jobs: Sequence[RunJob], processes: int) -> Iterator[str]:
    """
    Do runs in other processes, and yield the name of each when it is done.

    A process that is killed is started again with its run, at most twice. When this process ends,
    in whatever way, so do the others.

    Parameters
    ----------
    jobs : sequence of RunJob
        The runs.
    processes : int
        How many at a time.

    """
    waiting = list(reversed(jobs))
    deaths: Counter[str] = Counter()
    running: dict[int, tuple[BaseProcess, RunJob]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                job = waiting.pop()
                process = _start(job)
                running[process.sentinel] = (process, job)
            for sentinel in wait(list(running)):
                assert isinstance(sentinel, int)
                process, job = running.pop(sentinel)
                process.join()
                if process.exitcode == 0 and read_state(Path(job.folder)) is not None:
                    yield job.name
                    continue
                deaths[job.name] += 1
                if deaths[job.name] < MOST_DEATHS:
                    waiting.append(job)
                    continue
                write_failure(job, _describe_end(process, job), 1)
                yield job.name
    finally:
        for process, _ in running.values():
            process.kill()
            process.join()


def _start(job: RunJob) -> BaseProcess:
    # A fork would copy the locks of other threads.
    process = multiprocessing.get_context('spawn').Process(target=_work, args=(job,))
    # Blocked for the child from its first instruction: Ctrl-C is for the parent, which ends it.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process


def _work(job: RunJob) -> None:
    """Do a run in a process of its own; what is printed goes into a file beside the results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG_FILE).open('wb', buffering=0) as log:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        do_run(job)
        sys.stdout.flush()
        sys.stderr.flush()
    if not (folder / LOG_FILE).stat().st_size:
        (folder / LOG_FILE).unlink()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _describe_end(process: BaseProcess, job: RunJob) -> str:
    code = process.exitcode
    if code is not None and code < 0:
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
