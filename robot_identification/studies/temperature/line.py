# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A friction coefficient over temperature: a straight line, and the exponential it is tried against.

The line is weighted by the errors of the identifications that it is laid through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.estimation import MOST_FREEDOM
from robot_identification.studies.comparison import freedom_of_sums, LEVEL
import scipy

# A joint whose temperature varies by less [K] shows no slope.
LEAST_SPREAD = 2.0
# Temperature over which the part of viscous friction that falls is divided by e [K].
DECAYS = (2.0, 200.0)
# An exponential has three coefficients.
FEWEST_FOR_EXPONENTIAL = 4


@dataclass(frozen=True, eq=False)
class TemperatureLine:
    """
    A friction coefficient as a straight line over temperature.

    Attributes
    ----------
    reference : float
        Weighted mean of the temperatures [deg C]; there value and slope are not correlated.
    value, slope : float
        Coefficient at the reference, and per kelvin.
    value_error, slope_error : float
        Standard errors; NaN with two runs that have none of their own.
    freedom : float
        Degrees of freedom of the errors.
    r_squared : float
        Share of the weighted scatter that the line explains; NaN without scatter.
    lowest, highest : float
        Temperatures between which the line holds [deg C].
    excess : float
        Scatter about the line over what the errors of the runs promise; above 1 the errors of
        the line are raised by it.

    """

    reference: float
    value: float
    slope: float
    value_error: float
    slope_error: float
    freedom: float
    r_squared: float
    lowest: float
    highest: float
    excess: float

    @property
    def p_value(self) -> float:
        """Probability of a steeper slope by chance where there is none."""
        if not self.slope_error > 0.0:
            return float('nan')
        return float(2.0 * scipy.stats.t.sf(abs(self.slope) / self.slope_error, self.freedom))

    @property
    def intercept(self) -> float:
        """The line at 0 deg C, which is outside its range: for comparison with papers."""
        return self.value - self.slope * self.reference

    @property
    def intercept_error(self) -> float:
        """Standard error of the intercept."""
        return float(np.hypot(self.value_error, self.slope_error * self.reference))

    @property
    def change(self) -> float:
        """Change from the lowest to the highest temperature, as a share of the first."""
        first, last = (self.at(end)[0] for end in (self.lowest, self.highest))
        return relative_change(first, last)

    def at(self, temperature: float) -> tuple[float, bool]:
        """
        Return the coefficient at a temperature, and whether that lies outside the line's range.

        Outside, the value is that of the nearest end.
        """
        inside = float(np.clip(temperature, self.lowest, self.highest))
        return self.value + self.slope * (inside - self.reference), inside != temperature

    def slope_interval(self, confidence: float = 1.0 - LEVEL) -> tuple[float, float]:
        """Return the ends of the slope's interval."""
        half = float(scipy.stats.t.ppf(0.5 + 0.5 * confidence, self.freedom)) * self.slope_error
        return self.slope - half, self.slope + half


@dataclass(frozen=True)
class TemperatureExponential:
    """
    Viscous friction ``base + falling exp(-(T - reference) / decay)``.

    Attributes
    ----------
    base, falling : float
        [N m s/rad].
    decay : float
        [K].
    reference : float
        [deg C].
    p_value : float
        Of the F-test against the straight line; small: the line is not enough.

    """

    base: float
    falling: float
    decay: float
    reference: float
    p_value: float


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
    Lay a line through friction coefficients of repeated identifications.

    Weights are those of the standard errors. Where the coefficients scatter about the line by
    more than these, the line's errors grow with the scatter, and their degrees of freedom are
    those of the runs.

    Parameters
    ----------
    temperature, values, errors : ndarray, shape (m,)
        Temperature [deg C], coefficient and its standard error. Where an error is not positive,
        all runs count the same.
    freedom : ndarray, shape (m,), or float
        Degrees of freedom of the errors.

    Raises
    ------
    DataError
        If there are fewer than two runs, or their temperatures differ by less than LEAST_SPREAD.

    """
    T, y, e = (np.asarray(column, dtype=float) for column in (temperature, values, errors))
    spread = float(np.ptp(T)) if T.size else 0.0
    if T.size < 2 or not spread >= LEAST_SPREAD:
        raise DataError(
            f'{T.size} runs whose temperatures differ by {spread:.1f} K: a line needs two, and '
            f'{LEAST_SPREAD:g} K; repeat the motion on the warm arm'
        )
    stated = bool(np.all(np.isfinite(e) & (e > 0.0)))
    weights = 1.0 / e if stated else np.ones(len(T))
    reference = float(np.average(T, weights=weights**2))
    A = np.column_stack([np.ones_like(T), T - reference]) * weights[:, None]
    x, misfit = _least_squares(A, y * weights)
    # The columns are orthogonal by the choice of the reference.
    sizes = np.linalg.norm(A, axis=0)
    total = float(np.sum(((y - np.average(y, weights=weights**2)) * weights) ** 2))
    m = len(T)
    excess = float(np.sqrt(misfit / (m - 2))) if m > 2 else (1.0 if stated else float('nan'))
    scattered = not stated or excess > 1.0
    scale = excess if scattered else 1.0
    own = freedom_of_sums(
        ((T - reference) * weights**2)[None, :], np.diag(1.0 / weights**2),
        np.broadcast_to(np.asarray(freedom, dtype=float), T.shape),
    )
    return TemperatureLine(
        reference=reference,
        value=float(x[0]),
        slope=float(x[1]),
        value_error=float(scale / sizes[0]),
        slope_error=float(scale / sizes[1]),
        freedom=float(max(m - 2, 1)) if scattered else float(own[0]),
        r_squared=1.0 - misfit / total if total > 0.0 else float('nan'),
        lowest=float(T.min()),
        highest=float(T.max()),
        excess=excess,
    )


def fit_temperature_exponential(
    temperature: FloatArray, values: FloatArray, errors: FloatArray
) -> TemperatureExponential:
    """
    Fit viscous friction that falls less and less as the grease warms.

    The decay is searched for, the two coefficients are least squares for each.

    Parameters
    ----------
    temperature, values, errors : ndarray, shape (m,)
        As in `fit_temperature_line`, m at least 4.

    Raises
    ------
    DataError
        If there are fewer runs.

    """
    T, y, e = (np.asarray(column, dtype=float) for column in (temperature, values, errors))
    m = len(T)
    if m < FEWEST_FOR_EXPONENTIAL:
        raise DataError(
            f'{m} runs: an exponential over temperature needs {FEWEST_FOR_EXPONENTIAL}; repeat '
            'the motion, or take the line'
        )
    weights = 1.0 / e if np.all(np.isfinite(e) & (e > 0.0)) else np.ones(m)
    reference = float(T.mean())

    def fit(decay: float) -> tuple[FloatArray, float]:
        A = np.column_stack([np.ones(m), np.exp(-(T - reference) / decay)])
        return _least_squares(A * weights[:, None], y * weights)

    found = scipy.optimize.minimize_scalar(
        lambda log_decay: fit(float(np.exp(log_decay)))[1],
        bounds=tuple(np.log(DECAYS)), method='bounded',
    )
    decay = float(np.exp(found.x))
    (base, falling), misfit = fit(decay)
    _, of_line = _least_squares(
        np.column_stack([np.ones(m), T - reference]) * weights[:, None], y * weights
    )
    gain = max(of_line - misfit, 0.0) / max(misfit / (m - 3), np.finfo(float).tiny)
    return TemperatureExponential(
        float(base), float(falling), decay, reference, float(scipy.stats.f.sf(gain, 1, m - 3))
    )


def _least_squares(A: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """Return the least-squares solution, and the sum of squares that it leaves."""
    x = np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], dtype=float)
    return x, float(np.sum((y - A @ x) ** 2))
