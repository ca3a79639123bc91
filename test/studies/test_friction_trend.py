# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction over temperature and date: lines that are found, alarms that are rare or raised."""

from long_tests import long_test
import numpy as np
import pytest
from robot_identification.studies.campaign.trend import find_trend, FrictionHistory, judge_fleet

SPEEDS = (0.1, 0.5)
# Of friction per kelvin, and its standard deviation from run to run.
WARMING, SCATTER = -0.015, 0.03


def history(values, years, temperature, errors=0.1, **changes):
    m = len(values)
    return FrictionHistory(**{
        'arm': 'left', 'joint': 'elbow', 'quantity': 'torque', 'speed': 0.5,
        'years': np.array(years, dtype=float),
        'temperature': np.array(temperature, dtype=float), 'values': np.array(values, dtype=float),
        'errors': np.broadcast_to(np.asarray(errors, dtype=float), m).copy(), **changes,
    })


def fleet(rng, m, *, drift=0.0, jump=0.0, scatter=SCATTER, error=0.01, unequal=False, joints=6):
    """Return the torques of an arm in m runs within a year; their truth is known."""
    # `drift` is that in a year and `jump` that of the latest run, both as shares. Errors of the
    # identifications are equal, or differ by up to ten times.
    years = 56.0 + np.sort(rng.uniform(size=m))
    temperature = 25.0 + 8.0 * rng.normal(size=m)
    found = []
    for joint in range(joints):
        errors = error * (rng.uniform(0.3, 3.0, m) if unequal else np.ones(m))
        truth = 10.0 * (1.0 + WARMING * (temperature - 25.0) + drift * (years - years.mean()))
        truth[-1] *= 1.0 + jump
        # A run that is off is so at all speeds.
        common = 1.0 + scatter * rng.normal(size=m)
        found += [
            history(
                truth * common + 10.0 * errors * rng.normal(size=m), years, temperature,
                10.0 * errors, joint=f'joint {joint}', speed=speed,
            )
            for speed in SPEEDS
        ]
    return found


def test_a_perfect_line_is_found(rng):
    """Without noise the slopes are exact, and values at one temperature lie on a line."""
    years, temperature = np.linspace(50.0, 52.0, 7), 25.0 + 5.0 * rng.normal(size=7)
    values = 8.0 - 0.1 * (temperature - 25.0) + 0.3 * (years - 51.0)
    trend = find_trend(history(values, years, temperature))
    assert trend.per_kelvin == pytest.approx(-0.1)
    assert trend.per_year == pytest.approx(0.3)
    assert trend.scatter == 0.0
    assert trend.freedom == 4
    low, high = trend.drift_interval
    assert low < trend.drift < high
    np.testing.assert_allclose(
        np.diff(trend.at_reference_temperature()) / np.diff(years), 0.3, rtol=1e-9
    )


def test_a_drift_and_a_jump_are_told_apart(rng):
    """Each is an alarm of its kind and joint, with its size; other joints are left in peace."""
    steady = fleet(rng, 24, joints=3)
    drifting = fleet(np.random.default_rng(1), 24, drift=0.3, joints=1)
    jumping = fleet(np.random.default_rng(2), 24, jump=0.4, joints=1)
    named = [
        FrictionHistory(**{**one.__dict__, 'arm': arm})
        for arm, group in (('a', steady), ('b', drifting), ('c', jumping)) for one in group
    ]
    judged = judge_fleet(named, 0.01)
    kinds = {(alarm.place[0], alarm.kind) for alarm in judged.alarms}
    assert ('b', 'drift') in kinds
    assert ('c', 'latest run') in kinds
    assert not any(arm == 'a' for arm, _ in kinds)
    drift = next(one for one in judged.alarms if one.place[0] == 'b' and one.kind == 'drift')
    low, high = drift.interval
    assert low < 0.3 < high
    assert 'drifts' in drift.describe()
    jump = next(alarm for alarm in judged.alarms if alarm.place[0] == 'c')
    assert jump.change == pytest.approx(0.4, abs=5.0 * SCATTER)


@long_test
@pytest.mark.parametrize('case', [
    {'m': 6}, {'m': 12}, {'m': 12, 'unequal': True}, {'m': 12, 'unequal': True, 'scatter': 0.0},
    {'m': 8, 'unequal': True, 'scatter': 0.01}, {'m': 30, 'unequal': True},
])
def test_the_stated_rate_of_false_alarms_holds(case):
    """Of 500 healthy fleets at 5 %, 42 or more alarms have a chance of 1 in 1000."""
    rng = np.random.default_rng(11)
    alarmed = sum(bool(judge_fleet(fleet(rng, **case), 0.05).alarms) for _ in range(500))
    assert alarmed < 42
