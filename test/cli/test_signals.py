# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""However a command is ended, the processes that work for it end as well."""

from pathlib import Path
import signal
import subprocess
import sys
import time

from long_tests import long_test
import pytest

DEADLINE = 30.0
COMMAND = (
    'excite', '--robot', 'ur5', '--experiment', 'demo', '--processes', '2', '--time-limit', '600',
)


def children_of(pid):
    return [int(child) for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


def is_running(pid):
    """Return whether a process is there and no zombie."""
    try:
        status = Path(f'/proc/{pid}/stat').read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(')')[2].split()[0] != 'Z'


def wait_until(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f'waited {DEADLINE:g} s for {what}'
        time.sleep(0.001)  # shorter than the start of a worker


@pytest.mark.skipif(sys.platform != 'linux', reason='looks at /proc')
@pytest.mark.parametrize('started', [1, 2])
# By night alone: with workers that are just starting an interrupt has ended with exit code 1,
# about once in thirty runs on a busy machine, which is not understood.
@pytest.mark.parametrize('number', [
    pytest.param(number, marks=long_test) for number in (
        signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL,
    )
])
def test_no_worker_is_left_behind(tmp_path, number, started):
    """A closed terminal interrupts, with the exit code of Ctrl-C and no results."""
    output = tmp_path / 'trajectory.yaml'
    process = subprocess.Popen(
        [sys.executable, '-m', 'robot_identification.cli.main', *COMMAND, '-o', str(output)],
        stderr=subprocess.PIPE, text=True, preexec_fn=_hear_signals,
    )
    try:
        # The workers, and the process that tracks what multiprocessing shares.
        wait_until(lambda: len(children_of(process.pid)) > started, 'the workers')
        children = children_of(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=DEADLINE)
        if number != signal.SIGKILL:
            assert process.returncode == 130, said
            assert 'Traceback' not in said
            assert 'interrupted' in said
        wait_until(lambda: not any(map(is_running, children)), 'the end of the workers')
    finally:
        process.kill()
        process.communicate()
    assert not output.exists()


def _hear_signals():
    # Also where these tests run under nohup.
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
