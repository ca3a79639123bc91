# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
From datasets to parameters and their errors.

The way of `identify`: what is read (inputs, bags), chosen (selection, choice, corrections), fitted
(fitted_recordings, fitting; rows and problem are what is solved), made into bodies (standard) and
judged (judgement, quality, band). Estimators and the uncertainty of estimates have folders.
"""

from robot_identification.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
