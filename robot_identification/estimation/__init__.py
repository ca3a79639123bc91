# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
From datasets to parameters and their errors.

The problem (problem, observations, linear), what is chosen from data (fitting, choice, recipe),
and in rooms of their own the estimators, the uncertainty of estimates, and comparisons of models.
"""

from robot_identification.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
