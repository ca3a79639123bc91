# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Who does the jobs makes no difference, and a lost process costs time only."""

import inspect
import subprocess
import sys
import threading

import pytest
from robot_identification import design_excitation, identify, parallel, predict, validate
from robot_identification.blas import one_blas_thread
from robot_identification.errors import MissingDependencyError, UsageError
from robot_identification.excitation import evaluate_motion, evaluate_recording
from robot_identification.parallel import open_executor, run_jobs
from robot_identification.studies.comparison import run_comparison
from robot_identification.studies.drive_gains import run_drive_gains
from robot_identification.studies.energy import run_energy
from robot_identification.studies.friction_map import run_friction_map, run_friction_plan
from robot_identification.studies.payload import run_payload
from robot_identification.studies.rollout import run_rollout
from robot_identification.studies.temperature import run_temperature
from scheduled_jobs import blas_threads, Number

NUMBERS = [Number(value) for value in range(7)]


def test_nothing_is_begun_here_before_it_is_asked_for():
    """One by one, so that one bag is in memory at a time."""
    done = []
    results = run_jobs(None, lambda job: done.append(job.value), NUMBERS)
    next(results)
    assert done == [0]


def test_an_address_that_does_not_answer_is_an_error_in_seconds(monkeypatch):
    """Nothing listens on port 1; a text that is no address is none either."""
    pytest.importorskip('distributed', reason='needs Dask: pip install distributed')
    monkeypatch.setattr(parallel, 'PATIENCE', 0.3)
    with pytest.raises(UsageError, match=r'no Dask scheduler answers at tcp://127.*:1 .*start'):
        with open_executor('tcp://127.0.0.1:1'):
            pass
    with pytest.raises(UsageError, match='no Dask scheduler answers at nowhere'):
        with open_executor('nowhere://at:all'):
            pass


def test_without_dask_the_command_that_installs_it_is_named(monkeypatch):
    """Only who names an address needs it."""
    monkeypatch.setitem(sys.modules, 'distributed', None)
    with pytest.raises(MissingDependencyError, match='`pip install distributed`'):
        with open_executor('tcp://127.0.0.1:8786'):
            pass
    with open_executor(None) as executor:
        assert executor is None


@pytest.mark.parametrize(('name', 'processes', 'message'), [
    (None, 2, '--processes is for --scheduler local'),
    ('tcp://127.0.0.1:8786', 2, '--processes is for --scheduler local'),
    ('local', 0, '--processes is 0, it must be 1 or more'),
])
def test_processes_are_for_this_machine(name, processes, message):
    """A number that would be ignored is refused."""
    with pytest.raises(UsageError, match=message):
        with open_executor(name, processes):
            pass


@pytest.fixture
def two_blas_threads():
    """Let BLAS have two threads, as where a user's script imports NumPy before the package."""
    threadpoolctl = pytest.importorskip('threadpoolctl')
    with threadpoolctl.threadpool_limits(2, user_api='blas'):
        if blas_threads(None) != {2}:
            pytest.skip('this BLAS has no threads')
        yield


class Probe:
    """An argument that any use of ends, with the numbers of BLAS threads at that time."""

    def __getattribute__(self, *_):
        raise Used(blas_threads(None))

    __call__ = __eq__ = __fspath__ = __iter__ = __len__ = __repr__ = __getattribute__
    __hash__ = None


class Used(BaseException):
    """The argument was used."""


@pytest.mark.parametrize('verb', [
    design_excitation, evaluate_motion, evaluate_recording, identify, predict, run_comparison,
    run_drive_gains, run_energy, run_friction_map, run_friction_plan, run_payload, run_rollout,
    run_temperature, validate,
])
def test_work_has_one_blas_thread_whatever_was_imported_before(verb, two_blas_threads):
    """With more, small matrices take several times as long; the user's number comes back."""
    required = {
        name: Probe() for name, parameter in inspect.signature(verb).parameters.items()
        if parameter.default is parameter.empty
    }
    with pytest.raises(Used) as used:
        verb(**required)
    assert used.value.args == ({1},)
    assert blas_threads(None) == {2}


def test_blocks_in_threads_share_the_limit(two_blas_threads):
    """The first that ends must not let the other one have more, nor the last leave one behind."""
    entered, ended = threading.Event(), threading.Event()

    def work():
        with one_blas_thread():
            entered.set()
            ended.wait(60)

    other = threading.Thread(target=work)
    other.start()
    assert entered.wait(60)
    with one_blas_thread():
        pass
    assert blas_threads(None) == {1}
    ended.set()
    other.join()
    assert blas_threads(None) == {2}


def test_a_worker_has_one_blas_thread(two_blas_threads, monkeypatch):
    """Whatever the user has set for all else."""
    monkeypatch.setenv('OPENBLAS_NUM_THREADS', '2')
    with open_executor('local', 1) as executor:
        assert list(run_jobs(executor, blas_threads, NUMBERS[:1])) == [{1}]


@pytest.mark.parametrize(('first', 'warnings'), [('numpy', 1), ('robot_identification', 0)])
def test_a_missing_threadpoolctl_is_said_once_where_it_matters(first, warnings, monkeypatch):
    """Where the package came first, BLAS has one thread without it."""
    monkeypatch.delenv('OPENBLAS_NUM_THREADS', raising=False)
    done = subprocess.run(
        [sys.executable, '-c', f"""
import {first}
import sys
import warnings
sys.modules['threadpoolctl'] = None
from robot_identification.blas import one_blas_thread
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter('default')
    for _ in range(3):
        with one_blas_thread():
            pass
print(len(found))
"""], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) == warnings, done.stderr
