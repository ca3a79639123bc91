# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Optimizers, one a file.

To add one: write its file, add one line to OPTIMIZERS; the contract tests run over every entry.
"""

from robot_identification.excitation.optimizers.genetic import Genetic
from robot_identification.excitation.optimizers.memetic import Memetic
from robot_identification.excitation.optimizers.search import Optimizer
from robot_identification.excitation.optimizers.spectral import RandomMotion, Spectral

OPTIMIZERS: dict[str, type[Optimizer]] = {
    'spectral': Spectral,
    'memetic': Memetic,
    'genetic': Genetic,
    'random': RandomMotion,
}
DEFAULT_OPTIMIZER = 'spectral'
