# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
An identification in a process of its own.

The node that asked for it answers at once meanwhile, can end it at any instant, and survives it.
Results are written whole or not at all, so that nothing is half-written then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
import multiprocessing
from multiprocessing.connection import Connection
import os
from pathlib import Path
import signal
from typing import Any

from robot_identification import identify
from robot_identification.cli import CLOSED_TERMINAL
from robot_identification.errors import IdentificationError
from robot_identification.estimation import IdentifyOptions
from robot_identification.model import RobotModel
from robot_identification.report import RESULT_FILES, save_identification

# The report's figures take their time.
SAVING = 0.7
TERMINAL_SIGNALS = (signal.SIGINT, *CLOSED_TERMINAL)
POLL = 0.05
# A fork of the node would copy the locks of its other threads.
_CONTEXT: Any = multiprocessing.get_context(
    'forkserver' if 'forkserver' in multiprocessing.get_all_start_methods() else 'spawn'
)


class AbortedError(IdentificationError):
    """The end of the identification is requested."""


@dataclass(frozen=True, eq=False)
class IdentificationJob:
    """Job of the identifier, and the place of its results."""

    robot: RobotModel  # the arm
    bags: tuple[Path, ...]  # recordings, used together
    options: IdentifyOptions  # everything else
    output: Path  # folder of the results
    force: bool = False  # whether results that are there are overwritten
    with_tables: bool = False  # whether the tables of a paper are written, too


class JobProcess:
    """A process that does one job."""

    def __init__(self, job: IdentificationJob) -> None:
        self._output = job.output
        if hasattr(_CONTEXT, 'set_forkserver_preload'):
            # The second job need not wait for imports.
            _CONTEXT.set_forkserver_preload([__name__])
        self._receiver, sender = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_work, args=(job, sender), daemon=True)
        self._process.start()
        # Its end is then seen here as the end of the pipe.
        sender.close()

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
                while not self._receiver.poll(POLL):
                    if is_aborted():
                        raise AbortedError('the identification was aborted, nothing is written')
                kind, content = self._receiver.recv()
                if kind == 'done':
                    return dict(content)
                if kind == 'failed':
                    raise IdentificationError(content)
                report(*content)
        except EOFError as error:
            raise IdentificationError(
                'the process of the identification was killed, which the system does when memory '
                'is short: make room, or identify from fewer bags'
            ) from error
        finally:
            self._stop()

    def _stop(self) -> None:
        self._receiver.close()
        self._process.kill()
        self._process.join()
        for name in RESULT_FILES:
            for leftover in self._output.glob(f'.{name}.{self._process.pid}.*'):
                leftover.unlink(missing_ok=True)


def _work(job: IdentificationJob, sender: Connection) -> None:
    # What the terminal sends reaches the node, too, which ends this process.
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    # On a computer that drives a robot, everything else goes first.
    os.nice(5)

    def report(share: float, stage: str) -> None:
        sender.send(('progress', (share, stage)))

    try:
        found = identify(
            job.robot, job.bags, job.options,
            report=lambda share, stage: report(SAVING * share, stage),
        )
        report(SAVING, 'writing')
        save_identification(
            found, job.output, 'the identifier node', force=job.force,
            with_tables=job.with_tables,
        )
        sender.send(('done', {
            'model': str(job.output / RESULT_FILES[0]),
            'verdict': found.verdict.level,
            'reasons': list(found.verdict.reasons),
            'next_step': found.verdict.next_step,
            'lost': list(found.lost),
            'notes': list(found.notes),
        }))
    except (IdentificationError, OSError) as error:
        # Where the node has ended, there is no receiver.
        with suppress(OSError):
            sender.send(('failed', str(error)))
