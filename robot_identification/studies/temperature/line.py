# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A friction coefficient over temperature: a straight line, and an exponential to test it against.

The line is weighted by the standard errors of the identifications.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.studies.comparison import LEVEL, student_interval, two_sided
from robot_identification.validation import freedom_of_sums, MOST_FREEDOM
import scipy

# Smallest range of temperatures that a slope is fitted over [K]; chosen: viscous friction of a UR
# falls by some 1.5 % per kelvin (Raviola et al. 2021).
LEAST_RANGE = 2.0
# Bounds of the decay of an exponential [K]; chosen: beyond them it is a step, or a line.
DECAYS = (2.0, 200.0)
# An exponential has three coefficients.
FEWEST_FOR_EXPONENTIAL = 4


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


@dataclass(frozen=True, eq=False)
class TemperatureLine:
    """A friction coefficient as a straight line over temperature."""

    reference: float  # weighted mean temperature [deg C]: value and slope are uncorrelated there
    value: float  # at the reference
    slope: float  # [1/K]
    value_error: float  # standard errors; NaN with two runs that have none of their own
    slope_error: float
    freedom: float  # degrees of freedom of the errors
    r_squared: float  # share of the weighted scatter that the line explains; NaN without scatter
    lowest: float  # the line holds from here [deg C]
    highest: float  # to here [deg C]
    excess: float  # scatter about the line over the errors of the runs; above 1 it raises errors

    @property
    def p_value(self) -> float:
        """Probability of a steeper slope by chance where there is none."""
        return two_sided(self.slope, self.slope_error, self.freedom)

    @property
    def intercept(self) -> float:
        """Return the line at 0 deg C, which is outside its range: for comparison with papers."""
        return self.value - self.slope * self.reference

    @property
    def intercept_error(self) -> float:
        """Return the standard error of the intercept."""
        return float(np.hypot(self.value_error, self.slope_error * self.reference))

    @property
    def change(self) -> float:
        """Change from the lowest to the highest temperature, as a share of the first."""
        return relative_change(self.at(self.lowest), self.at(self.highest))

    def at(self, temperature: float) -> float:
        """Return the coefficient at a temperature [deg C]; beyond an end, that of the end."""
        return float(line_at(self.nearest(temperature), self.value, self.slope, self.reference))

    def nearest(self, temperature: float) -> float:
        """Return the temperature in the range of the line that is nearest to another [deg C]."""
        return float(np.clip(temperature, self.lowest, self.highest))

    def slope_interval(self, confidence: float = 1.0 - LEVEL) -> tuple[float, float]:
        """Return the ends of the confidence interval of the slope."""
        return student_interval(self.slope, self.slope_error, self.freedom, confidence)


@dataclass(frozen=True)
class TemperatureExponential:
    """Viscous friction ``base + falling exp(-(T - reference) / decay)``."""

    base: float  # [N m s/rad]
    falling: float  # [N m s/rad]
    decay: float  # [K]
    reference: float  # [deg C]
    p_value: float  # of the F-test against the straight line; small: the line is not enough


def relative_change(first: float, last: float) -> float:
    """Return the change from a first to a last value as a share of the first; NaN of zero."""
    return last / first - 1.0 if first else float('nan')


def fit_temperature_line(
    temperature: FloatArray,
    values: FloatArray,
    errors: FloatArray,
    freedom: FloatArray | float = MOST_FREEDOM,
) -> TemperatureLine:
    """
    Fit a line to friction coefficients of m repeated identifications [deg C, any unit].

    Weights are inverse standard errors, or equal where one is not positive. If the coefficients
    scatter more than these, the line's errors grow with the scatter, and their degrees of freedom
    are those of the runs. Raises `DataError` with fewer than two runs, or temperatures within
    LEAST_RANGE.
    """
    T, y, e = (np.asarray(column, dtype=float) for column in (temperature, values, errors))
    m, width = len(T), float(np.ptp(T)) if T.size else 0.0
    if m < 2 or not width >= LEAST_RANGE:
        raise DataError(
            f'{m} runs whose temperatures differ by {width:.1f} K: a line needs two, and '
            f'{LEAST_RANGE:g} K; repeat the motion on the warm arm'
        )
    weights, stated = _weights(e)
    reference = float(np.average(T, weights=weights**2))
    fit = fit_line(y, T - reference, weights)
    total = float(np.sum(((y - np.average(y, weights=weights**2)) * weights) ** 2))
    excess = float(np.sqrt(fit.squares / (m - 2))) if m > 2 else (1.0 if stated else float('nan'))
    scattered = not stated or excess > 1.0
    # The columns are orthogonal by the choice of the reference.
    value_error, slope_error = (excess if scattered else 1.0) / np.abs(np.diag(fit.factor))
    own = freedom_of_sums(
        ((T - reference) * weights**2)[None, :], 1.0 / weights**2,
        np.broadcast_to(np.asarray(freedom, dtype=float), T.shape),
    )
    return TemperatureLine(
        reference=reference,
        value=float(fit.coefficients[0]),
        slope=float(fit.coefficients[1]),
        value_error=float(value_error),
        slope_error=float(slope_error),
        freedom=float(max(m - 2, 1)) if scattered else float(own[0]),
        r_squared=1.0 - fit.squares / total if total > 0.0 else float('nan'),
        lowest=float(T.min()),
        highest=float(T.max()),
        excess=excess,
    )


def fit_temperature_exponential(
    temperature: FloatArray, values: FloatArray, errors: FloatArray
) -> TemperatureExponential:
    """
    Fit viscous friction that falls ever more slowly as the grease warms up.

    The decay is searched for, the two coefficients are least squares for each. Arguments are
    those of `fit_temperature_line`. Raises `DataError` with fewer than four runs.
    """
    T, y, e = (np.asarray(column, dtype=float) for column in (temperature, values, errors))
    m = len(T)
    if m < FEWEST_FOR_EXPONENTIAL:
        raise DataError(
            f'{m} runs: an exponential over temperature needs {FEWEST_FOR_EXPONENTIAL}; repeat '
            'the motion, or take the line'
        )
    weights, _ = _weights(e)
    reference = float(T.mean())

    def fit(decay: float) -> LineFit:
        return fit_line(y, np.exp(-(T - reference) / decay), weights)

    found = scipy.optimize.minimize_scalar(
        lambda log_decay: fit(float(np.exp(log_decay))).squares,
        bounds=tuple(np.log(DECAYS)), method='bounded',
    )
    decay = float(np.exp(found.x))
    best, line = fit(decay), fit_line(y, T - reference, weights)
    gain = max(line.squares - best.squares, 0.0) / max(
        best.squares / (m - 3), np.finfo(float).tiny
    )
    base, falling = best.coefficients
    return TemperatureExponential(
        float(base), float(falling), decay, reference, float(scipy.special.fdtrc(1, m - 3, gain))
    )


def _weights(errors: FloatArray) -> tuple[FloatArray, bool]:
    """Return inverse standard errors and true, or ones and false where one is not positive."""
    stated = bool(np.all(np.isfinite(errors) & (errors > 0.0)))
    return (1.0 / errors if stated else np.ones(len(errors))), stated
