# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
An identification in a process of its own.

The node that asked for it answers at once meanwhile, can end it at any instant, and survives it.
Results are written whole or not at all, so that nothing is half-written then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import multiprocessing
from multiprocessing.connection import Connection
import os
from pathlib import Path
import traceback
from typing import Any

from robot_identification import identify
from robot_identification.errors import IdentificationError
from robot_identification.estimation import IdentifyOptions
from robot_identification.model import RobotModel
from robot_identification.nodes.long_work import AbortedError
from robot_identification.parallel import (
    BACKGROUND_NICENESS, ending_signals_wait, follow_parent,
)
from robot_identification.report import RESULT_FILES, save_identification

# Share of the progress at which writing begins; chosen: the report's figures take their time.
SAVING = 0.7
POLL = 0.05  # [s]; chosen: an abort is noticed at once for a person


@dataclass(frozen=True, eq=False)
class IdentificationJob:
    """Job of the identifier, and the place of its results."""

    robot: RobotModel  # the arm
    bags: tuple[Path, ...]  # recordings, used together
    options: IdentifyOptions  # everything else
    output: Path  # folder of the results
    force: bool = False  # whether results that are there are overwritten


class JobProcess:
    """A process that does one job."""

    def __init__(self, job: IdentificationJob) -> None:
        self._output = job.output
        # Not a fork, which would copy the locks of other threads; the second job need not wait for
        # imports.
        multiprocessing.set_forkserver_preload([__name__])
        context = multiprocessing.get_context('forkserver')
        self._connection, other = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(other, job), daemon=True)
        with ending_signals_wait():
            self._process.start()
        # The end of the process is then seen here as the end of the connection.
        other.close()

    def wait(
        self, report: Callable[[float, str], None], is_aborted: Callable[[], bool]
    ) -> dict[str, Any]:
        """
        Return the result of the process.

        `report` takes the share that is done, from 0 to 1, and the stage that begins. Raises
        AbortedError if `is_aborted` ended it, IdentificationError if it could not do its job.
        """
        try:
            while True:
                while not self._connection.poll(POLL):
                    if is_aborted():
                        raise AbortedError('the identification was aborted, nothing is written')
                content = self._receive()
                if isinstance(content, dict):
                    return content
                if isinstance(content, IdentificationError):
                    raise content
                report(*content)
        finally:
            self._stop()

    def _receive(self) -> Any:
        try:
            return self._connection.recv()
        except (EOFError, OSError) as error:
            raise IdentificationError(
                'the process of the identification was killed, which the system does when memory '
                'is short: make room, or identify from fewer bags'
            ) from error

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()
        for name in RESULT_FILES:
            for leftover in self._output.glob(f'.{name}.{self._process.pid}.*'):
                leftover.unlink(missing_ok=True)


def _serve(connection: Connection, job: IdentificationJob) -> None:
    """Send progress, then the result or the error of a job."""
    follow_parent()
    try:
        found: object = _work(job, connection.send)
    except (IdentificationError, OSError) as error:
        found = IdentificationError(str(error))
    except Exception as error:
        traceback.print_exc()
        found = IdentificationError(f'unexpected {error!r}')
    connection.send(found)


def _work(job: IdentificationJob, report: Callable[[tuple[float, str]], None]) -> dict[str, Any]:
    os.nice(BACKGROUND_NICENESS)
    found = identify(
        job.robot, job.bags, job.options,
        report=lambda share, stage: report((SAVING * share, stage)),
    )
    report((SAVING, 'writing'))
    save_identification(found, job.output, 'the identifier node', force=job.force)
    return {
        'model': str(job.output / RESULT_FILES[0]),
        'verdict': found.verdict.level,
        'reasons': list(found.verdict.reasons),
        'next_step': found.verdict.next_step,
        'lost': list(found.unidentifiable),
        'notes': list(found.notes),
    }
