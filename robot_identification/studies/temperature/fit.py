# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Fit and evaluation of a line over temperature.

Repeated identifications, the runs of a campaign and the windows of the live monitor use the same
two functions; weights and standard errors are their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
import scipy


@dataclass(frozen=True, eq=False)
class LineFit:
    """Weighted least squares of m values on a constant and k regressors."""

    coefficients: FloatArray  # of the constant, then of each regressor, shape (1 + k,)
    residuals: FloatArray  # not weighted, shape (m,)
    factor: FloatArray  # triangular factor of the weighted columns, shape (1 + k, 1 + k)
    squares: float  # weighted sum of the squared residuals

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the coefficients where the weights are inverse standard errors."""
        inverse = scipy.linalg.solve_triangular(self.factor, np.eye(len(self.factor)))
        covariance: FloatArray = inverse @ inverse.T
        return covariance


def fit_line(
    values: FloatArray, regressors: FloatArray, weights: FloatArray | float = 1.0
) -> LineFit:
    """
    Fit values (m,) to a constant and regressors, by QR of the weighted columns.

    Values are friction in any unit; regressors (m,) or (m, k) are temperatures [K] and dates, each
    from a reference. `weights`, (m,) or one number, are the inverse standard errors of the values.
    """
    columns = np.column_stack([np.ones_like(values), regressors])
    factors = np.broadcast_to(weights, values.shape)
    Q, R = np.linalg.qr(columns * factors[:, None])
    x: FloatArray = scipy.linalg.solve_triangular(R, Q.T @ (values * factors))
    residuals = values - columns @ x
    return LineFit(x, residuals, R, float(np.sum((residuals * factors) ** 2)))


def line_at(temperature: Any, value: Any, slope: float, reference: Any) -> Any:
    """
    Return ``value + slope * (temperature - reference)``, a line over temperature.

    Friction `value` is at the reference and `slope` per kelvin; temperatures are in deg C.
    Arguments are numbers or arrays.
    """
    return value + slope * (temperature - reference)
