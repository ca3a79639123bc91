# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Who does the jobs makes no difference, and a lost process costs time only."""

import subprocess
import sys

import pytest
from robot_identification import parallel
from robot_identification.errors import MissingDependencyError, UsageError
from robot_identification.parallel import InThisProcess, LocalProcesses, open_scheduler
from scheduled_jobs import fail_differently, Number

NUMBERS = [Number(value) for value in range(7)]


def test_nothing_is_begun_here_before_it_is_asked_for():
    """One by one, so that one bag is in memory at a time."""
    done = []
    results = InThisProcess().run(lambda job: done.append(job.value), NUMBERS)
    next(results)
    assert done == [0]


def test_an_address_that_does_not_answer_is_an_error_in_seconds(monkeypatch):
    """Nothing listens on port 1; a text that is no address is none either."""
    pytest.importorskip('distributed', reason='needs Dask: pip install distributed')
    monkeypatch.setattr(parallel, 'PATIENCE', 0.3)
    with pytest.raises(UsageError, match=r'no Dask scheduler answers at tcp://127.*:1 .*start'):
        open_scheduler('tcp://127.0.0.1:1')
    with pytest.raises(UsageError, match='no Dask scheduler answers at nowhere'):
        open_scheduler('nowhere://at:all')


def test_without_dask_the_command_that_installs_it_is_named(monkeypatch):
    """Only who names an address needs it."""
    monkeypatch.setitem(sys.modules, 'distributed', None)
    with pytest.raises(MissingDependencyError, match='`pip install distributed`'):
        open_scheduler('tcp://127.0.0.1:8786')
    open_scheduler(None)


def test_every_error_of_another_process_is_reported():
    """With its type where it can be pickled, else by name; not as a killed process."""
    with LocalProcesses(1) as scheduler:
        outcomes = list(scheduler.outcomes(fail_differently, NUMBERS[:2]))
    assert [outcome.lost for outcome in outcomes] == [None, None]
    missing, other = (outcome.error for outcome in outcomes)
    assert isinstance(missing, MissingDependencyError)
    assert str(missing) == 'number 0 needs xacro, which is not installed: run `pip install xacro`'
    assert str(other) == 'UnpicklableError: number 1 is odd'
    assert 'in fail_differently' in str(other.__cause__)


@pytest.mark.parametrize(('name', 'processes', 'message'), [
    (None, 2, '--processes is for --scheduler local'),
    ('tcp://127.0.0.1:8786', 2, '--processes is for --scheduler local'),
    ('local', 0, '--processes is 0, it must be 1 or more'),
])
def test_processes_are_for_this_machine(name, processes, message):
    """A number that would be ignored is refused."""
    with pytest.raises(UsageError, match=message):
        open_scheduler(name, processes)


# In an interpreter of its own: that of the tests may have threads.
BESIDE = """
import os
import threading
from robot_identification import parallel
from robot_identification.errors import UsageError
parallel.available_processors = lambda: 2


def refuse():
    raise UsageError('refused')


def vanish(parent):
    if os.getpid() != parent:
        os._exit(1)
    return 'here'


with parallel.beside(os.getpid) as first, parallel.beside(refuse) as second:
    assert first() != os.getpid(), 'in a process of its own'
    try:
        second()
    except UsageError as error:
        assert str(error) == 'refused'
    else:
        raise AssertionError
with parallel.beside(vanish, os.getpid()) as third:
    assert third() == 'here', 'what was lost is done here'
with parallel.beside(os.getpid, apart=False) as fourth:
    assert fourth() == os.getpid()
parallel.available_processors = lambda: 1
with parallel.beside(os.getpid) as alone:
    assert alone() == os.getpid()
parallel.available_processors = lambda: 2
waiting = threading.Event()
threading.Thread(target=waiting.wait, daemon=True).start()
with parallel.beside(os.getpid) as fifth:
    assert fifth() == os.getpid(), 'a copy would lack the other thread, not its locks'
with parallel.beside(waiting.wait):
    pass
print('ended')
"""


def test_a_function_runs_beside_where_that_is_safe():
    """Errors come back; a lost process costs time only; nothing is waited for that nobody asks."""
    done = subprocess.run(
        [sys.executable, '-c', BESIDE], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, 'ended\n'), done.stderr
