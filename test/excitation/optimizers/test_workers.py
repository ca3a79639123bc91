# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Who does the jobs makes no difference, and whoever did them is gone afterwards."""

import multiprocessing
import os
import signal
import time

from excitation.optimizers.fake_problem import FakeProblem, state_bytes
import pytest
from robot_identification.errors import IdentificationError
from robot_identification.excitation.optimizers.search import Budget, Job, Search, Workers
from robot_identification.excitation.optimizers.spectral import Spectral

FOREVER = float('inf')
# A worker begins within a few seconds, also on a busy machine; it ends at once.
PATIENCE = 20.0


def children():
    """Return the processes that this one has started and that have not ended yet."""
    return {child.pid for child in multiprocessing.active_children()}


def wait_until_none_is_left():
    """Wait for processes that were told to end; fail if one does not, and end it."""
    end = time.monotonic() + PATIENCE
    while children() and time.monotonic() < end:
        for child in multiprocessing.active_children():
            child.join(0.1)
    left = multiprocessing.active_children()
    for child in left:
        child.kill()
        child.join()
    assert left == []


def test_two_processes_find_what_one_finds():
    """To the last bit, and with as many evaluations, whoever is done first."""
    states = []
    for processes in (1, 2):
        with Workers(FakeProblem, processes) as workers:
            states.append(
                Search(Spectral(starts=5), workers, 4, lambda progress: None).run(Budget(900))
            )
    wait_until_none_is_left()
    # The budget ends within a round: jobs that were begun beyond it count nothing.
    assert states[0].rounds > 1
    assert state_bytes(states[0]) == state_bytes(states[1])


def test_a_killed_process_is_an_error_that_says_what_to_do():
    """As the system does when memory is short; no other process is left behind."""
    # The problem is a process' own number, the job kills it.
    with pytest.raises(IdentificationError, match=r'killed.* memory .*\(--processes 1\)'), \
            Workers(os.getpid, 2) as workers:
        list(workers.run([Job(os.kill, signal.SIGKILL)] * 3, FOREVER))
    wait_until_none_is_left()


def test_processes_of_others_are_let_live():
    other = multiprocessing.get_context('spawn').Process(
        target=signal.sigtimedwait, args=((), 3600)
    )
    other.start()
    try:
        with Workers(set, 2) as workers:
            assert list(workers.run([Job(set.union, (1,))], FOREVER)) == [{1}]
        end = time.monotonic() + PATIENCE
        while children() - {other.pid} and time.monotonic() < end:
            other.join(0.1)
        # The search's own were told to end in the same moment.
        assert children() == {other.pid}
    finally:
        other.kill()
        other.join()
    wait_until_none_is_left()
