# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction of identified arms over temperature and date, with alarms of a stated rate.

The friction torque of a joint at a speed, from repeated identifications, is fitted over
temperature and date by weighted least squares. Weights follow from the errors of the
identifications and from a scatter between runs, which is estimated [1]_; the errors of the
slopes are those of Student's distribution with the runs' degrees of freedom [2]_. Two tests are
made of each joint and speed: whether friction drifts with the date, and whether the latest run
differs from those before it; each must find it with the weights and without. The p-values are
corrected for the number of tests [3]_: the probability of any alarm is at most the stated one
where friction depends on temperature alone.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    IdentifiedModel, load_joint_drives, load_model, unit_of_joint,
)
from robot_identification.studies.campaign.campaign_file import Campaign
from robot_identification.studies.comparison import (
    common_range, compare_joints_of_size, holm, JointsOfSize, sliding_friction, sliding_torque_map,
    student_interval, two_sided,
)
from robot_identification.studies.temperature import fit_line, line_at, LineFit
import scipy

# Fewest runs that are tested; chosen: a line over temperature and date leaves one to test it by.
FEWEST_RUNS = 4
# A Julian year.
DAYS_PER_YEAR = 365.25
# Smallest ranges that a slope is fitted over [K, years]; chosen: below these runs are repetitions.
LEAST_TEMPERATURE_RANGE = 0.5
LEAST_TIME = 0.5 / DAYS_PER_YEAR
# Smallest singular value of temperature and date, of length 1 each, that separates them; chosen.
NEARLY_ONE = 0.02
# Share by which a speed may exceed those of the motion for friction to be stated at it; chosen.
BEYOND = 0.05
TORQUE, COULOMB, VISCOUS = 'torque', 'coulomb', 'viscous'
TEMPERATURE, DATE = 'temperature', 'date'
DRIFT, LATEST = 'drift', 'latest run'


def friction_summary(model: IdentifiedModel, speeds: Sequence[float]) -> dict[str, FloatArray]:
    """
    Return the friction of a model of n joints in steady sliding, the mean of both directions.

    Values and standard errors by name: `coulomb` [N m] and `viscous` [N m s/rad] of the nearest
    plain friction (n,), `torque` of all laws together [N m] at k positive speeds [rad/s] (n, k).
    Laws are taken at the mean load of the model's recordings, and at its own temperature. NaN
    stands for a friction that the model does not have, and for a torque at a speed that the motion
    did not reach.
    """
    where, at = common_range([model]), np.asarray(speeds, dtype=float)
    plain = sliding_friction(model, where)
    coulomb_errors, viscous_errors = plain.standard_errors
    M = sliding_torque_map(model, where, at)
    torque = M @ model.theta_base
    errors = np.sqrt(np.einsum('jkb,bc,jkc->jk', M, model.covariance, M))
    known = np.any(M != 0.0, axis=2) & (at <= (1.0 + BEYOND) * where.speeds[:, None])
    return {
        'coulomb': plain.coulomb,
        'coulomb_error': np.where(np.isfinite(plain.coulomb), coulomb_errors, np.nan),
        'viscous': plain.viscous,
        'viscous_error': np.where(np.isfinite(plain.viscous), viscous_errors, np.nan),
        'torque': np.where(known, torque, np.nan),
        'torque_error': np.where(known, errors, np.nan),
    }


@dataclass(frozen=True, eq=False)
class FrictionHistory:
    """One figure of one joint in m runs, the earliest first; NaN where a run has none."""

    arm: str
    joint: str
    quantity: str  # 'torque', 'coulomb' or 'viscous'
    speed: float  # of a torque [rad/s], else NaN
    years: FloatArray  # date of each run, shape (m,) [years]
    temperature: FloatArray  # of the joint, shape (m,) [deg C]
    values: FloatArray  # shape (m,), SI units
    errors: FloatArray  # standard errors, shape (m,)
    position_unit: str = 'rad'  # of the joint, or 'm'

    @property
    def speed_text(self) -> str:
        """Return the speed with its unit."""
        return f'{self.speed:g} {self.position_unit}/s'

    def unit(self, unit: str) -> str:
        """Return a unit, written as that of a joint that turns, as that of the joint."""
        return unit_of_joint(unit, self.position_unit)


@dataclass(frozen=True, eq=False)
class FrictionTrend:
    """Dependence of a figure on temperature and date; NaN where it was not fitted or tested."""

    history: FrictionHistory
    used: BoolArray  # runs that were fitted, shape (m,)
    value: float = np.nan  # at the references
    reference_temperature: float = np.nan  # mean of the runs [deg C]
    reference_years: float = np.nan  # mean of the runs [years]
    per_kelvin: float = np.nan
    per_kelvin_error: float = np.nan
    per_year: float = np.nan
    per_year_error: float = np.nan
    scatter: float = np.nan  # standard deviation between runs beyond their errors
    freedom: int = 0  # degrees of freedom of the errors
    drift_p: float = np.nan  # probability of a larger drift by chance, at most
    latest_p: float = np.nan  # of a latest run that is further off, at most
    latest_change: float = np.nan  # latest run less what those before it predict
    note: str = ''  # why something was not tested

    @property
    def drift(self) -> float:
        """Change in a year as a share of the value."""
        return self.per_year / self.value if self.value else np.nan

    @property
    def drift_interval(self) -> tuple[float, float]:
        """Return the ends of the interval of `drift`."""
        if not self.freedom or not self.value:
            return np.nan, np.nan
        return student_interval(self.drift, self.per_year_error / abs(self.value), self.freedom)

    def at_reference_temperature(self) -> FloatArray:
        """Return the values of all runs shifted to the reference temperature, shape (m,)."""
        if not np.isfinite(self.per_kelvin):
            return self.history.values
        shifted: FloatArray = line_at(
            self.reference_temperature, self.history.values, self.per_kelvin,
            self.history.temperature,
        )
        return shifted


@dataclass(frozen=True, eq=False)
class FrictionAlarm:
    """A change of friction that chance hardly explains."""

    trend: FrictionTrend  # of the torque that changed
    kind: str  # 'drift' or 'latest run'
    p_value: float  # corrected for the number of all tests

    @property
    def place(self) -> tuple[str, str]:
        """Return arm and joint."""
        return self.trend.history.arm, self.trend.history.joint

    @property
    def change(self) -> float:
        """Change in a year, or of the latest run, as a share of the friction."""
        if self.kind == DRIFT:
            return self.trend.drift
        return self.trend.latest_change / self.trend.value if self.trend.value else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval of the change; NaN for a latest run."""
        return self.trend.drift_interval if self.kind == DRIFT else (np.nan, np.nan)

    def describe(self) -> str:
        """Return it in words."""
        history = self.trend.history
        more = 'more' if self.change > 0.0 else 'less'
        size = f'{100.0 * abs(self.change):.1f} % {more}'
        if self.kind == DRIFT:
            low, high = self.interval
            found = f'drifts, {size} in a year ({100.0 * low:+.1f} to {100.0 * high:+.1f} %)'
        else:
            found = f'is {size} in the latest run than those before it say'
        return f'{history.arm}, {history.joint}: friction at {history.speed_text} {found}'


@dataclass(frozen=True, eq=False)
class FleetFriction:
    """Friction of all arms over temperature and date."""

    trends: tuple[FrictionTrend, ...]
    alarms: tuple[FrictionAlarm, ...]  # the most certain one of each joint and kind
    tests: int  # number of tests
    false_alarm_rate: float  # probability of any alarm where friction depends on temperature alone


State = Mapping[str, Any]  # of a run, docs/formats/campaign.md


def judge_health(campaign: Campaign, states: Sequence[State]) -> FleetFriction:
    """Return trends and alarms of the friction of the arms, from the states of the runs."""
    return judge_fleet(
        [
            history
            for arm in campaign.arms
            for history in _histories(arm.name, campaign.speeds, _of_arm(arm.name, states))
        ],
        campaign.false_alarm_rate,
    )


def _histories(
    arm: str, speeds: Sequence[float], states: Sequence[State]
) -> list[FrictionHistory]:
    """Return the histories of an arm, of the runs whose torques are in the latest one's unit."""
    of_joints: dict[str, list[tuple[State, State]]] = {}
    for state in states:
        if state['relative_scale'] == states[-1]['relative_scale']:
            for joint in state['joints']:
                of_joints.setdefault(joint['joint'], []).append((state, joint))
    found = []
    for name, runs in of_joints.items():
        years = np.array([years_of(state['date']) for state, _ in runs])
        temperature, torque, errors, *plain = (
            np.array([joint[key] for _, joint in runs], dtype=float) for key in (
                'temperature', 'torque', 'torque_error', COULOMB, f'{COULOMB}_error', VISCOUS,
                f'{VISCOUS}_error',
            )
        )
        figures: list[tuple[str, float, FloatArray, FloatArray]] = [
            *((TORQUE, speed, torque[:, k], errors[:, k]) for k, speed in enumerate(speeds)),
            (COULOMB, np.nan, plain[0], plain[1]), (VISCOUS, np.nan, plain[2], plain[3]),
        ]
        unit = runs[-1][1].get('position_unit', 'rad')
        found += [
            FrictionHistory(
                arm, name, quantity, speed, years, temperature, values, value_errors, unit
            )
            for quantity, speed, values, value_errors in figures
        ]
    return found


def years_of(date: str | None) -> float:
    """Return a date of a state in years since 1970; NaN where it is not known."""
    if date is None:
        return float('nan')
    return datetime.fromisoformat(date).timestamp() / (86400.0 * DAYS_PER_YEAR)


def _of_arm(arm: str, states: Sequence[State]) -> list[State]:
    """Return the runs of an arm that have a model, the earliest first, unknown dates before."""
    done = [state for state in states if state['arm'] == arm and state['files']]
    return sorted(done, key=lambda state: np.nan_to_num(years_of(state['date']), nan=-np.inf))


def judge_fleet(
    histories: Sequence[FrictionHistory], false_alarm_rate: float
) -> FleetFriction:
    """
    Fit friction of any arms over temperature and date, and find what chance hardly explains.

    Torques are tested; Coulomb and viscous friction, which are parts of them, are only stated.
    """
    trends = tuple(find_trend(history) for history in histories)
    tested = [
        (trend, kind, p_value)
        for trend in trends if trend.history.quantity == TORQUE
        for kind, p_value in ((DRIFT, trend.drift_p), (LATEST, trend.latest_p))
        if np.isfinite(p_value)
    ]
    corrected = holm([p_value for *_, p_value in tested])
    found: dict[tuple[tuple[str, str], str], FrictionAlarm] = {}
    for (trend, kind, _), p_value in zip(tested, corrected.tolist(), strict=True):
        alarm = FrictionAlarm(trend, kind, p_value)
        place = (alarm.place, kind)
        if p_value < false_alarm_rate and (
            place not in found or p_value < found[place].p_value
        ):
            found[place] = alarm
    return FleetFriction(trends, tuple(found.values()), len(tested), false_alarm_rate)


def find_trend(history: FrictionHistory) -> FrictionTrend:
    """
    Fit one figure over temperature and date.

    Temperature has a slope where it is known in FEWEST_RUNS runs or more and has the least range;
    runs without it are then left out. The same holds for the date.
    """
    known = np.isfinite(history.values) & np.isfinite(history.errors)
    if np.count_nonzero(known) < FEWEST_RUNS:
        return FrictionTrend(
            history, known,
            note=f'{np.count_nonzero(known)} runs: nothing is tested below {FEWEST_RUNS}',
        )
    used, slopes, notes = _choose_slopes(history, known)
    D, y, e = _regressors(history, used, slopes), history.values[used], history.errors[used]
    fit = _fit(D, y, e)
    if fit is None:
        return FrictionTrend(history, used, note='; '.join([*notes, 'too few runs for a line']))
    line, between, freedom = fit
    x, errors = line.coefficients, np.sqrt(np.diag(line.covariance))
    warm, dated = TEMPERATURE in slopes, DATE in slopes
    years = history.years[used]
    drift_p, latest_p, latest_change = np.nan, np.nan, np.nan
    if dated:
        # With weights a test is right where the errors are, without where runs scatter alike;
        # between the two neither is, and either alone would raise more alarms than stated.
        both, last = (e, np.zeros_like(e)), int(np.argmax(years))
        drift_p = float(np.max([_test_drift(D, y, each) for each in both]))
        latest = [_test_latest(D[:, : int(warm)], y, each, last) for each in both]
        latest_p, latest_change = float(np.max([p for p, _ in latest])), latest[0][1]
    return FrictionTrend(
        history, used,
        value=float(x[0]),
        reference_temperature=float(history.temperature[used].mean()) if warm else np.nan,
        reference_years=float(years.mean()) if dated else np.nan,
        per_kelvin=float(x[1]) if warm else np.nan,
        per_kelvin_error=float(errors[1]) if warm else np.nan,
        per_year=float(x[-1]) if dated else np.nan,
        per_year_error=float(errors[-1]) if dated else np.nan,
        scatter=float(np.sqrt(between)),
        freedom=freedom,
        drift_p=drift_p, latest_p=latest_p, latest_change=latest_change,
        note='; '.join(notes),
    )


def _choose_slopes(
    history: FrictionHistory, known: BoolArray
) -> tuple[BoolArray, list[str], list[str]]:
    """Return the runs that are fitted, what has a slope, and why anything has none."""
    used, slopes, notes = known, [], []
    for column, least, what in (
        (history.temperature, LEAST_TEMPERATURE_RANGE, TEMPERATURE),
        (history.years, LEAST_TIME, DATE),
    ):
        both = used & np.isfinite(column)
        if np.count_nonzero(both) < FEWEST_RUNS:
            notes.append(f'{what} is known of {np.count_nonzero(both)} runs: taken as one')
        elif np.ptp(column[both]) < least:
            notes.append(f'{what} is about the same in all runs')
        else:
            used = both
            slopes.append(what)
    if len(slopes) == 2 and not _distinguishable(_regressors(history, used, slopes)):
        notes.append(
            'temperature and date go together: no drift can be distinguished from temperature'
        )
        slopes.remove(DATE)
    return used, slopes, notes


def _regressors(history: FrictionHistory, used: BoolArray, slopes: Sequence[str]) -> FloatArray:
    """Return temperature and date from their means, as far as they have slopes, shape (m, k)."""
    known = {TEMPERATURE: history.temperature[used], DATE: history.years[used]}
    columns = [known[what] - known[what].mean() for what in slopes]
    return np.reshape(columns, (len(columns), np.count_nonzero(used))).T


def _fit(
    D: FloatArray, y: FloatArray, errors: FloatArray
) -> tuple[LineFit, float, int] | None:
    """
    Return a weighted line, the variance between runs and the degrees of freedom; None of too few.

    The errors of the identifications are not made smaller where the runs scatter by less: with
    the quantiles of the runs' few degrees of freedom, tests are then rarer than stated.
    """
    freedom: int = len(y) - 1 - D.shape[1]
    if freedom <= 0:
        return None
    # Errors of rounding, so that a perfect line has some.
    variances = errors**2 + (1.0e-9 * float(np.max(np.abs(y), initial=1.0e-12))) ** 2

    def line(between: float) -> LineFit:
        return fit_line(y, D, 1.0 / np.sqrt(variances + between))

    def misfit(between: float) -> float:
        return line(between).squares - freedom

    highest = fit_line(y, D).squares / freedom
    between = 0.0
    if misfit(0.0) > 0.0 and misfit(highest) < 0.0:
        between = float(scipy.optimize.brentq(misfit, 0.0, highest, xtol=1e-12 * highest))
    elif misfit(0.0) > 0.0:
        between = highest
    return line(between), between, freedom


def _test_drift(D: FloatArray, y: FloatArray, errors: FloatArray) -> float:
    """Return the p-value of the last slope."""
    fit = _fit(D, y, errors)
    assert fit is not None
    line, _, freedom = fit
    return two_sided(
        float(line.coefficients[-1]), float(np.sqrt(line.covariance[-1, -1])), freedom
    )


def _test_latest(
    D: FloatArray, y: FloatArray, errors: FloatArray, last: int
) -> tuple[float, float]:
    """Return the p-value of one run against the others, and its difference; NaN with too few."""
    before = np.arange(len(y)) != last
    row = np.append(1.0, D[last])
    others = np.column_stack([np.ones(len(y) - 1), D[before]])
    if np.linalg.matrix_rank(others) < row.size:
        return np.nan, np.nan
    fit = _fit(D[before], y[before], errors[before])
    if fit is None:
        return np.nan, np.nan
    line, between, freedom = fit
    change = float(y[last] - row @ line.coefficients)
    variance = errors[last] ** 2 + between + row @ line.covariance @ row
    return two_sided(change, float(np.sqrt(variance)), freedom), change


def _distinguishable(columns: FloatArray) -> bool:
    lengths = np.linalg.norm(columns, axis=0)
    if not np.all(lengths > 0.0):
        return False
    smallest = np.linalg.svd(columns / lengths, compute_uv=False)[-1]
    return bool(smallest > NEARLY_ONE)


def compare_sizes(
    campaign: Campaign, states: Sequence[State], folder: Path
) -> tuple[tuple[JointsOfSize, ...], str]:
    """
    Compare joints of one size by the latest run of each arm in the folder of a campaign.

    The first value holds the sizes that two joints or more have; the second says why there are
    none.
    """
    models, drives, ratios = [], [], []
    for arm in campaign.arms:
        done = [state for state in _of_arm(arm.name, states) if not state['relative_scale']]
        if not done or arm.robot is None:
            continue
        model = load_model(folder / 'runs' / done[-1]['name'] / 'identified_model.yaml')
        models.append(model)
        drives.append(load_joint_drives(arm.robot))
        ratios.append(model.robot.drives.gear_ratio)
    if not models:
        return (), ''
    try:
        found = compare_joints_of_size(models, drives, ratios)
    except DataError as error:
        # Of one arm it is not expected.
        return (), f'joints of one size are not compared: {error}' if len(models) > 1 else ''
    return tuple(size for size in found if len(size.joints) > 1), ''
