# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction of identified arms over temperature and date, with alarms of a stated rate.

The friction torque of a joint at a speed, as found by repeated identifications, is laid over
temperature and date by weighted least squares. Weights are those of the identifications' errors
and of a scatter from run to run besides, which is found from the runs [1]_; the errors of the
slopes are those of Student's distribution with what the runs leave [2]_. Two tests are made of
each joint and speed: whether friction drifts with the date, and whether the latest run lies off
those before it; each must find it with the weights and without. All of them together are
corrected for their number [3]_, so that the chance of any alarm is the stated one, or less, where
friction depends on temperature alone.

References
----------
.. [1] R. C. Paule, J. Mandel, "Consensus values and weighting factors", Journal of Research of the
   National Bureau of Standards 87, 1982.
.. [2] G. Knapp, J. Hartung, "Improved tests for a random effects meta-regression with a single
   covariate", Statistics in Medicine 22, 2003.
.. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6, 1979.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import FrictionLaw, IdentifiedModel, sliding_columns
from robot_identification.studies.comparison import common_range, holm, sliding_friction
import scipy

# With fewer runs of an arm nothing is tested.
FEWEST_RUNS = 4
# Temperatures that differ by less [K] have no slope.
LEAST_SPREAD = 0.5
# Dates that differ by less have none [years]; half a day.
LEAST_TIME = 0.5 / 365.25
# Temperature and date that go together so nearly are not told apart; of columns of length 1.
NEARLY_ONE = 0.02
# Speeds beyond that of the motion by this share are not known.
BEYOND = 0.05
CONFIDENCE = 0.95
HOURS_PER_YEAR = 8766.0
TORQUE, COULOMB, VISCOUS = 'torque', 'coulomb', 'viscous'
DRIFT, LATEST = 'drift', 'latest run'


@dataclass(frozen=True, eq=False)
class FrictionSummary:
    """
    Friction of a model of n joints in steady sliding, the mean of both directions.

    Attributes
    ----------
    coulomb, coulomb_errors : ndarray, shape (n,)
        Of the nearest plain friction [N m]; NaN where the model has none.
    viscous, viscous_errors : ndarray, shape (n,)
        [N m s/rad].
    torque, torque_errors : ndarray, shape (n, k)
        Of all laws together at k speeds [N m]; NaN where the motion was not that fast.

    """

    coulomb: FloatArray
    coulomb_errors: FloatArray
    viscous: FloatArray
    viscous_errors: FloatArray
    torque: FloatArray
    torque_errors: FloatArray


def friction_summary(model: IdentifiedModel, speeds: Sequence[float]) -> FrictionSummary:
    """
    Return the friction of a model at some speeds.

    Parameters
    ----------
    model : IdentifiedModel
        Of n joints. Laws that depend on the load are taken at the mean load of its recordings,
        those that depend on temperature at the model's own.
    speeds : sequence of float
        Positive [rad/s].

    """
    n, where, at = model.robot.n, common_range([model]), np.asarray(speeds, dtype=float)
    plain = sliding_friction(model, where)
    coulomb_errors, viscous_errors = plain.standard_errors
    M = np.zeros((n, at.size, len(model.theta_base)))
    row_of = {int(column): row for row, column in enumerate(model.reduction.independent)}
    parameters = model.parameters
    for term, columns in zip(parameters.friction, parameters.friction_slices, strict=True):
        seen = _columns_at(term.law, at, float(where.loads[term.joint]), model, term.joint)
        for k, column in enumerate(range(columns.start, columns.stop)):
            if column in row_of:
                M[term.joint, :, row_of[column]] += seen[:, k]
    torque = M @ model.theta_base
    errors = np.sqrt(np.einsum('jkb,bc,jkc->jk', M, model.covariance, M))
    known = np.any(M != 0.0, axis=2) & (at <= (1.0 + BEYOND) * where.speeds[:, None])
    return FrictionSummary(
        plain.coulomb, np.where(np.isfinite(plain.coulomb), coulomb_errors, np.nan),
        plain.viscous, np.where(np.isfinite(plain.viscous), viscous_errors, np.nan),
        np.where(known, torque, np.nan), np.where(known, errors, np.nan),
    )


def _columns_at(
    law: FrictionLaw, speeds: FloatArray, load: float, model: IdentifiedModel, joint: int
) -> FloatArray:
    """Return what coefficients multiply at each speed, the mean of both directions, (m, k)."""
    temperature = law.temperature_at(
        None if model.temperature is None else model.temperature[joint]
    )
    order = np.argsort(speeds)
    columns = sliding_columns(law, speeds[order], load, temperature)
    mean = np.empty_like(columns)
    mean[order] = columns
    return mean


@dataclass(frozen=True, eq=False)
class FrictionHistory:
    """
    One figure of one joint in m runs, the earliest first.

    Attributes
    ----------
    arm, joint : str
        Whose.
    quantity : {'torque', 'coulomb', 'viscous'}
        Which figure.
    speed : float
        Of a torque [rad/s], else NaN.
    runs : tuple of str
        Names of the runs.
    years : ndarray, shape (m,)
        When they were [years]; NaN where it is not known.
    temperature : ndarray, shape (m,)
        Of the joint [deg C]; NaN where it is not known.
    values, errors : ndarray, shape (m,)
        The figure and its standard error, in SI units; NaN where a run has none.

    """

    arm: str
    joint: str
    quantity: str
    speed: float
    runs: tuple[str, ...]
    years: FloatArray
    temperature: FloatArray
    values: FloatArray
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class FrictionTrend:
    """
    Dependence of a quantity on temperature and date.

    Attributes
    ----------
    history : FrictionHistory
        Of what.
    used : ndarray of bool, shape (m,)
        Which of its runs.
    value : float
        At the mean temperature and date of the runs.
    reference_temperature, reference_years : float
        These; NaN where there is no slope.
    per_kelvin, per_kelvin_error : float
        Slope and its standard error; NaN where there is none.
    per_year, per_year_error : float
        The same over the date.
    scatter : float
        Standard deviation from run to run beyond the errors of the identifications.
    freedom : int
        Degrees of freedom of the errors.
    drift_p, latest_p : float
        Probability of a drift, or of a latest run, that is further off by chance; NaN where it is
        not tested, or is less than it is.
    latest_change : float
        By how much the latest run is off those before it.
    note : str
        Why something was not tested, or nothing.

    """

    history: FrictionHistory
    used: np.ndarray
    value: float = np.nan
    reference_temperature: float = np.nan
    reference_years: float = np.nan
    per_kelvin: float = np.nan
    per_kelvin_error: float = np.nan
    per_year: float = np.nan
    per_year_error: float = np.nan
    scatter: float = np.nan
    freedom: int = 0
    drift_p: float = np.nan
    latest_p: float = np.nan
    latest_change: float = np.nan
    note: str = ''

    @property
    def drift(self) -> float:
        """Change in a year as a share of the value."""
        return self.per_year / self.value if self.value else np.nan

    @property
    def drift_interval(self) -> tuple[float, float]:
        """Ends of the interval of `drift`, at `CONFIDENCE`."""
        if not self.freedom or not self.value:
            return np.nan, np.nan
        quantile = float(scipy.stats.t.ppf(0.5 + 0.5 * CONFIDENCE, self.freedom))
        half = quantile * self.per_year_error / abs(self.value)
        return self.drift - half, self.drift + half

    def at_reference_temperature(self) -> FloatArray:
        """Return the values of all runs without what temperature did to them, shape (m,)."""
        if not np.isfinite(self.per_kelvin):
            return self.history.values
        warmer = self.history.temperature - self.reference_temperature
        corrected: FloatArray = self.history.values - self.per_kelvin * warmer
        return corrected


@dataclass(frozen=True)
class FrictionAlarm:
    """
    A change of friction that chance hardly explains.

    Attributes
    ----------
    arm, joint : str
        Whose.
    kind : {'drift', 'latest run'}
        What was tested.
    speed : float
        At which the torque changed [rad/s].
    change : float
        In a year, or of the latest run; as a share of the friction.
    low, high : float
        Ends of its interval; NaN for a latest run.
    p_value : float
        Corrected for the number of all tests.

    """

    arm: str
    joint: str
    kind: str
    speed: float
    change: float
    low: float
    high: float
    p_value: float

    def describe(self) -> str:
        """Return it in words."""
        more = 'more' if self.change > 0.0 else 'less'
        size = f'{100.0 * abs(self.change):.1f} %'
        if self.kind == DRIFT:
            return (
                f'{self.arm}, {self.joint}: friction at {self.speed:g} rad/s drifts, {size} '
                f'{more} in a year ({100.0 * self.low:+.1f} to {100.0 * self.high:+.1f} %)'
            )
        return (
            f'{self.arm}, {self.joint}: friction at {self.speed:g} rad/s is {size} {more} in the '
            'latest run than those before it say'
        )


@dataclass(frozen=True, eq=False)
class FleetFriction:
    """
    Friction of all arms over temperature and date.

    Attributes
    ----------
    trends : tuple of FrictionTrend
        Of torques, Coulomb and viscous friction.
    alarms : tuple of FrictionAlarm
        The most certain one of each joint and kind.
    tests : int
        How many tests there were.
    false_alarm_rate : float
        Chance that a report has any alarm where friction depends on temperature alone.

    """

    trends: tuple[FrictionTrend, ...]
    alarms: tuple[FrictionAlarm, ...]
    tests: int
    false_alarm_rate: float


def judge_fleet(
    histories: Sequence[FrictionHistory], false_alarm_rate: float
) -> FleetFriction:
    """
    Lay friction over temperature and date, and find what chance hardly explains.

    Parameters
    ----------
    histories : sequence of FrictionHistory
        Of any arms and joints. Torques are tested; Coulomb and viscous friction, which are parts
        of them, are only stated.
    false_alarm_rate : float
        Between 0 and 1.

    """
    trends = tuple(find_trend(history) for history in histories)
    tested = [
        (trend, kind, p_value)
        for trend in trends if trend.history.quantity == TORQUE
        for kind, p_value in ((DRIFT, trend.drift_p), (LATEST, trend.latest_p))
        if np.isfinite(p_value)
    ]
    found: dict[tuple[str, str, str], FrictionAlarm] = {}
    for (trend, kind, _), p_value in zip(
        tested, holm([p_value for *_, p_value in tested]), strict=True
    ):
        alarm = _alarm(trend, kind, float(p_value))
        place = (alarm.arm, alarm.joint, kind)
        if p_value < false_alarm_rate and (
            place not in found or alarm.p_value < found[place].p_value
        ):
            found[place] = alarm
    return FleetFriction(trends, tuple(found.values()), len(tested), false_alarm_rate)


def _alarm(trend: FrictionTrend, kind: str, p_value: float) -> FrictionAlarm:
    history = trend.history
    low, high = trend.drift_interval if kind == DRIFT else (np.nan, np.nan)
    change = trend.drift if kind == DRIFT else (
        trend.latest_change / trend.value if trend.value else np.nan
    )
    return FrictionAlarm(
        history.arm, history.joint, kind, history.speed, change, low, high, p_value
    )


def find_trend(history: FrictionHistory) -> FrictionTrend:
    """
    Lay one figure over temperature and date.

    Temperature has a slope where it is known in FEWEST_RUNS runs or more and differs by
    LEAST_SPREAD; runs without it are then left out. The same holds for the date.

    Parameters
    ----------
    history : FrictionHistory
        Of m runs.

    """
    known = np.isfinite(history.values) & np.isfinite(history.errors)
    if np.count_nonzero(known) < FEWEST_RUNS:
        return FrictionTrend(
            history, known,
            note=f'{np.count_nonzero(known)} runs: nothing is tested below {FEWEST_RUNS}',
        )
    notes = []
    used = known
    slopes = []
    for column, least, what in (
        (history.temperature, LEAST_SPREAD, 'temperature'), (history.years, LEAST_TIME, 'date'),
    ):
        both = used & np.isfinite(column)
        if np.count_nonzero(both) < FEWEST_RUNS:
            notes.append(f'{what} is known of {np.count_nonzero(both)} runs: taken as one')
        elif np.ptp(column[both]) < least:
            notes.append(f'{what} is about the same in all runs')
        else:
            used = both
            slopes.append(what)
    warm, dated = 'temperature' in slopes, 'date' in slopes
    T, t = history.temperature[used], history.years[used]
    y, e = history.values[used], history.errors[used]
    columns = [np.ones_like(y)]
    if warm:
        columns.append(T - T.mean())
    if dated:
        columns.append(t - t.mean())
    A = np.column_stack(columns)
    if warm and dated and not _told_apart(A[:, 1:]):
        notes.append('temperature and date go together: no drift can be told from warmth')
        dated, A = False, A[:, :2]
    fit = _fit(A, y, e)
    if fit is None:
        return FrictionTrend(history, used, note='; '.join([*notes, 'too few runs for a line']))
    x, errors = fit.x, np.sqrt(np.diag(fit.covariance))
    latest_p, latest_change = np.nan, np.nan
    if dated:
        latest_p, latest_change = _test_latest(A[:, : 1 + warm], y, e, t)
    per_year, per_year_error = (x[-1], errors[-1]) if dated else (np.nan, np.nan)
    return FrictionTrend(
        history, used,
        value=float(x[0]),
        reference_temperature=float(T.mean()) if warm else np.nan,
        reference_years=float(t.mean()) if dated else np.nan,
        per_kelvin=float(x[1]) if warm else np.nan,
        per_kelvin_error=float(errors[1]) if warm else np.nan,
        per_year=float(per_year), per_year_error=float(per_year_error),
        scatter=float(np.sqrt(fit.between)),
        freedom=fit.freedom,
        drift_p=_drift_p(A, y, e) if dated else np.nan,
        latest_p=latest_p, latest_change=latest_change,
        note='; '.join(notes),
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """Coefficients with their covariance, the variance between runs, degrees of freedom."""

    x: FloatArray
    covariance: FloatArray
    between: float
    freedom: int


def _fit(A: FloatArray, y: FloatArray, errors: FloatArray) -> _Fit | None:
    """
    Return weighted least squares with a variance between runs, or None with too few of them.

    The errors of the identifications are not made smaller where the runs scatter by less: with
    the quantiles of the runs' few degrees of freedom, tests are then rarer than they are stated.
    """
    m, p = A.shape
    if m <= p:
        return None

    def misfit(between: float) -> float:
        _, squares, _ = _weighted(A, y, errors, between)
        return float(squares - (m - p))

    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    # Errors of rounding, so that a perfect line has some.
    smallest = (1.0e-9 * float(np.max(np.abs(y), initial=1.0e-12))) ** 2
    errors = np.sqrt(errors**2 + smallest)
    highest = float(np.sum(residual**2)) / (m - p)
    between = 0.0
    if misfit(0.0) > 0.0 and misfit(highest) < 0.0:
        between = float(scipy.optimize.brentq(misfit, 0.0, highest, xtol=1e-12 * highest))
    elif misfit(0.0) > 0.0:
        between = highest
    x, _, R = _weighted(A, y, errors, between)
    inverse = scipy.linalg.solve_triangular(R, np.eye(p))
    return _Fit(x, inverse @ inverse.T, between, m - p)


def _weighted(
    A: FloatArray, y: FloatArray, errors: FloatArray, between: float
) -> tuple[FloatArray, float, FloatArray]:
    """Return the solution, its weighted sum of squares and the triangular factor."""
    weights = 1.0 / np.sqrt(errors**2 + between)
    Q, R = np.linalg.qr(A * weights[:, None])
    x: FloatArray = scipy.linalg.solve_triangular(R, Q.T @ (y * weights))
    return x, float(np.sum(((y - A @ x) * weights) ** 2)), R


def _drift_p(A: FloatArray, y: FloatArray, errors: FloatArray) -> float:
    """
    Return the p-value of the last coefficient: the larger of two.

    With weights a test is right where the errors are, without where runs scatter alike; between
    the two neither is, and either alone would raise more alarms than are stated.
    """
    found = []
    for each in (errors, np.zeros_like(errors)):
        fit = _fit(A, y, each)
        if fit is not None:
            found.append(
                _two_sided(fit.x[-1], float(np.sqrt(fit.covariance[-1, -1])), fit.freedom)
            )
    return float(np.max(found)) if found else np.nan


def _test_latest(
    A: FloatArray, y: FloatArray, errors: FloatArray, years: FloatArray
) -> tuple[float, float]:
    """
    Return the p-value of the latest run against those before it, and its difference.

    The p-value is the larger of two, as that of a drift is.
    """
    last = int(np.argmax(years))
    before = np.arange(len(y)) != last
    if np.linalg.matrix_rank(A[before]) < A.shape[1]:
        return np.nan, np.nan
    found = []
    for each in (errors, np.zeros_like(errors)):
        fit = _fit(A[before], y[before], each[before])
        if fit is None:
            return np.nan, np.nan
        change = float(y[last] - A[last] @ fit.x)
        variance = each[last] ** 2 + fit.between + A[last] @ fit.covariance @ A[last]
        found.append((_two_sided(change, float(np.sqrt(variance)), fit.freedom), change))
    return float(np.max([p_value for p_value, _ in found])), float(found[0][1])


def _two_sided(value: float, error: float, freedom: int) -> float:
    if not (np.isfinite(value) and error > 0.0):
        return np.nan
    return float(2.0 * scipy.stats.t.sf(abs(value) / error, freedom))


def _told_apart(columns: FloatArray) -> bool:
    lengths = np.linalg.norm(columns, axis=0)
    if not np.all(lengths > 0.0):
        return False
    smallest = np.linalg.svd(columns / lengths, compute_uv=False)[-1]
    return bool(smallest > NEARLY_ONE)
