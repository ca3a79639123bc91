# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Estimators: an IdentificationProblem in, an Estimate out.

To add one: write its file, add one line to ESTIMATORS; the contract tests run over every entry.
"""

from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators.consistent import (
    ConsistentLeastSquares, LogCholeskyLeastSquares,
)
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.estimators.huber import HuberRegression
from robot_identification.estimation.estimators.instrumental_variables import InstrumentalVariables
from robot_identification.estimation.estimators.least_squares import (
    ConstrainedLeastSquares, OrdinaryLeastSquares, WeightedLeastSquares,
)
from robot_identification.estimation.estimators.maximum_likelihood import MaximumLikelihood
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.estimation.estimators.total_least_squares import TotalLeastSquares

ESTIMATORS: dict[str, type[Estimator]] = {
    'ols': OrdinaryLeastSquares,
    'wls': WeightedLeastSquares,
    'ridge': RidgeRegression,
    'constrained': ConstrainedLeastSquares,
    'consistent': ConsistentLeastSquares,
    'log_cholesky': LogCholeskyLeastSquares,
    'huber': HuberRegression,
    'dictionary': SparseNonnegativeRegression,
    'tls': TotalLeastSquares,
    'iv': InstrumentalVariables,
    'maximum_likelihood': MaximumLikelihood,
}
