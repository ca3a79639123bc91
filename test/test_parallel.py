# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Work has one BLAS thread, wherever it is done."""

import inspect
import threading

import pytest
from robot_identification import design_excitation, identify, predict, validate
from robot_identification.blas import one_blas_thread
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
