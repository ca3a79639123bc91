# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Resources of a process, and load on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys
import time

from robot_identification.errors import DataError


@contextmanager
def busy_cores() -> Iterator[None]:
    """Keep every core busy with a process of the same priority."""
    busy = [
        subprocess.Popen([sys.executable, '-c', 'while True: pass'])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@contextmanager
def cpu_share(process: int) -> Iterator[list[float]]:
    """Yield a list that holds the CPU time of a process over the block, in % of one core."""
    result: list[float] = []
    started, used = time.monotonic(), _cpu_seconds(process)
    yield result
    result.append(
        100.0 * (_cpu_seconds(process) - used) / (time.monotonic() - started)
    )


def _cpu_seconds(process: int) -> float:
    # After the name in parentheses, fields 14 and 15 are user and system time.
    fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident_memory(process: int, key: str) -> float:
    """Return the resident memory [MB]: VmRSS is that of now, VmHWM the highest."""
    for line in Path(f'/proc/{process}/status').read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1e3
    raise DataError(f'/proc/{process}/status has no {key}')
