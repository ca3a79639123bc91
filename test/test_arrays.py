# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Arrays on the disk: the same numbers, no memory, and nothing left behind."""

import inspect
from pathlib import Path
import subprocess
import sys
import threading

import numpy as np
import pytest
from robot_identification import design_excitation, identify, predict, validate
from robot_identification.arrays import allocate, GrowingArray, release, select
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


@pytest.mark.parametrize('rows', [0, 1, 99, 100, 101, 1000])
def test_rows_come_out_as_they_went_in(disk, rng, rows):
    """Whether they fit into memory or not, in blocks of any size and layout."""
    expected = rng.normal(size=(rows, 3))
    growing, written = GrowingArray(3), 0
    while written < rows:
        size = int(rng.integers(1, 40))
        block = expected[written:written + size]
        growing.append(np.asfortranarray(block) if size % 2 else block)
        written += size
    found = growing.finish()
    assert found.shape == (rows, 3)
    np.testing.assert_array_equal(found, expected)
    assert isinstance(found, np.memmap) == (rows > 100)


@pytest.mark.parametrize('shape', [(5,), (100, 2), (101, 2), (3000, 2, 3), (101, 0)])
@pytest.mark.parametrize('dtype', [np.float64, np.int32])
def test_allocated_arrays_are_zeros_to_write_on(disk, shape, dtype):
    array = allocate(shape, dtype)
    assert (array.shape, array.dtype) == (shape, dtype)
    assert not array.any()
    array[-1] = 7
    assert (array[-1] == 7).all()
    assert isinstance(array, np.memmap) == (shape[0] > 100 and array.size > 0)
    # No file has a name while it is used, so none can stay, however the process ends.
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize('make', [
    lambda array: array, lambda array: array[5:], lambda array: np.asarray(array)[:, :1],
    lambda array: array.T,
])
def test_released_pages_are_read_again(disk, rng, make):
    """Dirty ones, too: nothing is lost. An array in memory is left alone."""
    array = allocate((5000, 3))
    array[:] = expected = rng.normal(size=(5000, 3))
    release(make(array))
    np.testing.assert_array_equal(array, expected)
    release(expected)


RESIDENT = """
import os, sys
import numpy as np
from robot_identification.arrays import allocate, release

def resident():
    return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6

array = allocate((5_000_000, 6))
before = resident()
array[:] = 1.0
written = resident() - before
release(array)
released = resident() - before
assert array.sum() == 30_000_000.0
print(written, released)
"""


@pytest.mark.skipif(not Path('/proc/self/statm').exists(), reason='no /proc to measure with')
def test_release_gives_memory_back():
    """240 MB are written; what stays is what the allocator keeps for other things."""
    completed = subprocess.run(
        [sys.executable, '-c', RESIDENT], capture_output=True, text=True, timeout=120
    )
    assert completed.returncode == 0, completed.stderr
    written, released = map(float, completed.stdout.split())
    assert written > 200.0
    assert released < 20.0


@pytest.mark.parametrize('rows', [50, 1000])
@pytest.mark.parametrize('kind', ['first part', 'none', 'all', 'scattered'])
def test_select_is_an_index(disk, rng, rows, kind):
    """A first part costs nothing; anything else is copied to where it fits."""
    array = allocate((rows, 3))
    array[:] = rng.normal(size=(rows, 3))
    keep = {
        'first part': np.arange(rows) < rows // 3, 'none': np.zeros(rows, dtype=bool),
        'all': np.ones(rows, dtype=bool), 'scattered': rng.random(rows) < 0.7,
    }[kind]
    found = select(array, keep)
    np.testing.assert_array_equal(found, np.asarray(array)[keep])
    assert np.shares_memory(found, array) == (kind in ('first part', 'all'))


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
