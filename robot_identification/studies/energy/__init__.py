# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Kinetic energy, power and friction loss of a recorded motion."""

from robot_identification.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
