# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One thread for BLAS.

The matrices here are small: more threads make the same calls 3 to 100 times slower.
"""

from contextlib import ContextDecorator
import os
import sys
import threading
from typing import Any
import warnings

# Whether BLAS was loaded before this package, and not with one thread.
_STARTED = 'numpy' in sys.modules and os.environ.get('OPENBLAS_NUM_THREADS') != '1'


def set_default_threads() -> None:
    """
    Give one thread to every BLAS that is loaded later, unless the user has set another number.

    This is all that commands, nodes and worker processes need, which load the package first.
    """
    for variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
        os.environ.setdefault(variable, '1')


class one_blas_thread(ContextDecorator):
    """
    Hold every loaded BLAS to one thread during a block, or a function that this decorates.

    Its number of threads is one for the process, so blocks in several threads share the limit,
    and the last one restores what was before. Where NumPy was imported before this package, that
    needs threadpoolctl; without it there is a warning, once.
    """

    _lock = threading.Lock()
    _entered = 0
    _limits: Any = None

    def __enter__(self) -> None:
        shared = one_blas_thread
        with shared._lock:
            shared._entered += 1
            if shared._entered == 1:
                shared._limits = _limit_threads()

    def __exit__(self, *_: object) -> None:
        shared = one_blas_thread
        with shared._lock:
            shared._entered -= 1
            if shared._entered == 0 and shared._limits is not None:
                _leave_control()
                shared._limits.restore_original_limits()
                _leave_control()


def _leave_control() -> None:
    """
    Permit any thread to set the number of threads of OpenBLAS next.

    From 3.8 on threadpoolctl lets only the thread do so that was the first: that which ends the
    last block may be another one, and so may that of a limit of the user.
    """
    import threadpoolctl

    leave = getattr(
        getattr(threadpoolctl, 'OpenBLASController', None), 'clear_controlling_thread', None
    )
    if leave is not None:
        leave(force=True)


def _limit_threads() -> Any:
    """Set one thread for every BLAS that is loaded; return what restores their numbers."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        if _STARTED:
            warnings.warn(
                'NumPy was imported before robot_identification, and BLAS may use many threads, '
                'which makes this several times slower: run `pip install threadpoolctl` (apt: '
                'python3-threadpoolctl), set OPENBLAS_NUM_THREADS=1, or import '
                'robot_identification first', RuntimeWarning, stacklevel=2,
            )
        return None
    _leave_control()
    return threadpool_limits(1, user_api='blas')
