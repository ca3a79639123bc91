# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Measurements of this package, run by hand: `python -m benchmarks [NAME ...]`.

A benchmark is a file with `measure(repeats)` that returns its figures, and one line in BENCHMARKS
of __main__.py. Figures of speed are ratios taken in one run, because a time alone says more about
the machine than about the code.
"""

import os
import sys

# Before NumPy is imported: more BLAS threads make small matrices slower, and times scatter.
for _name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ[_name] = '1'
# Where nodes and interfaces of ROS are: those of this Python, unless a ROS is sourced.
os.environ.setdefault('AMENT_PREFIX_PATH', sys.prefix)
