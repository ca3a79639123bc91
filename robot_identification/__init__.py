# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Dynamic-parameter identification of serial robots.

Start reading at `robot_identification.pipeline`.
"""

import os

from robot_identification.lazy import lazy_names

# The matrices here are small: more BLAS threads make the same calls 3 to 100 times slower. This
# must happen before NumPy is imported, and gives way to what the user has set.
for _variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

__version__ = '1.0.0'
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
