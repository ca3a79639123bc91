# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Who does the jobs makes no difference, and a lost process costs time only."""

import multiprocessing
import os
import signal
import sys

from estimation.scheduled_jobs import dask_cluster
from estimation.scheduled_jobs import kill_always
from estimation.scheduled_jobs import Number
from estimation.scheduled_jobs import process_of
from estimation.scheduled_jobs import refuse
from estimation.scheduled_jobs import square
import pytest
from robot_identification.errors import DataError
from robot_identification.errors import IdentificationError
from robot_identification.errors import MissingDependencyError
from robot_identification.errors import UsageError
from robot_identification.estimation import schedulers
from robot_identification.estimation.schedulers import InThisProcess
from robot_identification.estimation.schedulers import LocalProcesses
from robot_identification.estimation.schedulers import open_scheduler

NUMBERS = [Number(value) for value in range(7)]


@pytest.fixture(scope='module')
def cluster():
    """Return a Dask scheduler with two workers."""
    with dask_cluster() as running:
        yield running


@pytest.fixture(scope='module')
def local():
    """Return two processes, which are started with their first jobs."""
    with open_scheduler('local', 2) as opened:
        yield opened


@pytest.fixture(scope='module')
def dask(cluster):
    """Return the workers of a Dask cluster."""
    with open_scheduler(cluster.scheduler_address) as opened:
        yield opened


@pytest.fixture(params=['this process', 'local', 'dask'])
def scheduler(request):
    """Return every scheduler in turn."""
    return (
        InThisProcess() if request.param == 'this process'
        else request.getfixturevalue(request.param)
    )


def test_results_come_in_the_order_of_the_jobs(scheduler):
    """Twice with the same processes, and of no jobs there are none."""
    for _ in range(2):
        assert list(scheduler.run(square, NUMBERS)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(scheduler.run(square, [])) == []


def test_an_error_of_a_job_arrives_as_it_is(scheduler):
    """The first one in the order of the jobs; the scheduler can be used afterwards."""
    with pytest.raises(DataError, match=r'^number 0 is even$'):
        list(scheduler.run(refuse, NUMBERS[:3]))
    assert list(scheduler.run(square, NUMBERS[:3])) == [0, 1, 4]


@pytest.mark.parametrize('scheduler', ['local', 'dask'], indirect=True)
def test_what_a_killed_process_did_is_done_again(scheduler, tmp_path):
    """A job kills its process the first time, as kill -9 does; all results are there."""
    jobs = [*NUMBERS[:3], Number(3, tmp_path / 'killed'), *NUMBERS[4:]]
    assert list(scheduler.run(square, jobs)) == [0, 1, 4, 9, 16, 25, 36]
    assert (tmp_path / 'killed').exists()


def test_a_job_that_always_kills_its_process_is_named(local, monkeypatch):
    """It ends, and the processes can be used afterwards."""
    monkeypatch.setattr(schedulers, 'MOST_DEATHS', 2)
    with pytest.raises(IdentificationError, match=r'number 1: .*killed 2 times.*--processes'):
        list(local.run(kill_always, [Number(1)]))
    assert list(local.run(square, NUMBERS[:3])) == [0, 1, 4]


def test_a_job_that_always_kills_its_worker_is_named(cluster, dask, monkeypatch):
    """The Dask scheduler gives up, and so do we."""
    monkeypatch.setattr(cluster.scheduler, 'allowed_failures', 0)
    with pytest.raises(IdentificationError, match=r'number 5: the Dask workers .*killed'):
        list(dask.run(kill_always, [Number(5)]))


def test_a_process_killed_between_two_passes_is_replaced(local):
    """Nobody waits for it."""
    (number,) = local.run(process_of, NUMBERS[:1])
    (child,) = (one for one in multiprocessing.active_children() if one.pid == number)
    os.kill(number, signal.SIGKILL)
    child.join()
    assert list(local.run(square, NUMBERS)) == [0, 1, 4, 9, 16, 25, 36]


def test_a_job_goes_where_it_was_done_before():
    """What was read there need not be read again; afterwards no process is left."""
    before = set(multiprocessing.active_children())
    with LocalProcesses(2) as scheduler:
        # Both are given out before either can be done.
        first = list(scheduler.run(process_of, NUMBERS[:2]))
        assert len(set(first)) == 2
        assert os.getpid() not in first
        assert list(scheduler.run(process_of, NUMBERS[1::-1])) == first[::-1]
        assert len(set(multiprocessing.active_children()) - before) == 2
    assert set(multiprocessing.active_children()) <= before


def test_nothing_is_begun_here_before_it_is_asked_for():
    """One by one, so that one bag is in memory at a time."""
    done = []
    results = InThisProcess().run(lambda job: done.append(job.value), NUMBERS)
    next(results)
    assert done == [0]


def test_an_address_that_does_not_answer_is_an_error_in_seconds(monkeypatch):
    """Nothing listens on port 1; a text that is no address is none either."""
    pytest.importorskip('distributed', reason='needs Dask: pip install distributed')
    monkeypatch.setattr(schedulers, 'PATIENCE', 0.3)
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


def test_a_worker_with_another_version_is_refused_by_name(cluster, monkeypatch):
    """It would compute something else."""
    monkeypatch.setattr(schedulers, '__version__', '99.0')
    with pytest.raises(UsageError, match=r'worker at tcp://127.0.0.1:\d+ has robot_id.* is 99.0'):
        open_scheduler(cluster.scheduler_address)


def test_a_worker_without_the_package_is_refused_by_name(cluster, monkeypatch):
    """With what to do about it."""
    monkeypatch.setattr(schedulers, 'PACKAGE', 'a_package_nobody_has')
    with pytest.raises(UsageError, match=r'worker at tcp://127.0.0.1:\d+ has no a_pack.*install'):
        open_scheduler(cluster.scheduler_address)


@pytest.mark.parametrize(('name', 'processes', 'message'), [
    (None, 2, '--processes is for --scheduler local'),
    ('tcp://127.0.0.1:8786', 2, '--processes is for --scheduler local'),
    ('local', 0, '--processes is 0, it must be 1 or more'),
])
def test_processes_are_for_this_machine(name, processes, message):
    """A number that would be ignored is refused."""
    with pytest.raises(UsageError, match=message):
        open_scheduler(name, processes)
