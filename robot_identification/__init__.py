# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Dynamic-parameter identification of serial robots.

Start reading at `robot_identification.pipeline`.
"""

from robot_identification.blas import set_default_threads
from robot_identification.lazy import lazy_names

set_default_threads()
__version__ = '1.0.0'
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
