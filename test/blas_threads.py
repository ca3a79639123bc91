# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One BLAS thread, before any test imports NumPy.

The package sets the same where it is imported first. Tests import NumPy before it; with more
threads the same small matrices take 3 to 100 times as long.
"""

import os

VARIABLES = ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS')
for _variable in VARIABLES:
    os.environ.setdefault(_variable, '1')
BLAS_THREADS = os.environ[VARIABLES[0]]
