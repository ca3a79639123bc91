# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What studies say of a joint that slides is in metres and newtons."""

from dataclasses import replace

from builders import turn_and_slide_urdf
import numpy as np
import pytest
from report import report_cases
from robot_identification.errors import UsageError
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.studies.campaign.report import _draw, _figure_name, trend_rows
from robot_identification.studies.campaign.study import friction_rows
from robot_identification.studies.campaign.trend import FrictionAlarm, FrictionTrend
from robot_identification.studies.comparison.torque_change import TorqueChange
from robot_identification.studies.drive_gains.estimate import (
    compare_with_known, DriveGains, DriveGainsOptions, fit_gain, fit_gains, GainPoint,
)
from robot_identification.studies.drive_gains.report import (
    drive_gains_text, DriveGainsResult, render_drive_gains_report,
)
from robot_identification.studies.friction_map.curves import choose_curve, CurvePoints
from robot_identification.studies.friction_map.estimate import FrictionMap, FrictionPoint
from robot_identification.studies.friction_map.plan import segment_speeds, SegmentPlan
from robot_identification.studies.friction_map.report import friction_map_text, friction_picture
from robot_identification.studies.temperature.report import (
    render_temperature_report, share_words, temperature_meaning,
)
from studies.test_friction_trend import history

ANGULAR = ('rad', 'N m')


@pytest.fixture(scope='module')
def both():
    """Return an arm of a joint that turns and one that slides."""
    robot = make_robot_model(parse_urdf(turn_and_slide_urdf(), 'both'))
    return robot.with_drive_gains(np.array([10.0, 50.0]))


def without(text):
    """Return whether a text has nothing of an angle or a moment."""
    return not any(word in text for word in ANGULAR)


def test_campaign_reports():
    """Rows, alarms, pictures and the record; a state of before has no unit, and turns."""
    sliding = history([4.0, 4.1, 4.2], [56.0, 56.1, 56.2], [20.0, 22.0, 24.0], position_unit='m')
    trend = FrictionTrend(sliding, np.ones(3, dtype=bool), 4.0)
    ((_, figure, _, _, unit, *_),) = trend_rows([trend])
    assert (figure, unit) == ('torque at 0.5 m/s', 'N')
    assert _figure_name(trend) == figure
    assert trend_rows([
        replace(trend, history=replace(sliding, quantity='viscous'))
    ])[0][4] == 'N s/m'
    drawn = _draw(trend)
    assert without(drawn.markup) and without(drawn.alternative) and '[N]' in drawn.markup
    for kind in ('drift', 'latest run'):
        alarm = FrictionAlarm(trend, kind, 0.01)
        assert 'friction at 0.5 m/s' in alarm.describe()
    joint_state = {
        'joint': 'lift', 'temperature': 20.0, 'coulomb': 1.0, 'coulomb_error': 0.1,
        'viscous': 2.0, 'viscous_error': 0.1, 'torque': [1.5], 'torque_error': [0.1],
    }
    for state, expected in (
        ({**joint_state, 'position_unit': 'm'}, ['N', 'N s/m', 'N']),
        (joint_state, ['N m', 'N m s/rad', 'N m']),
    ):
        rows = friction_rows({'relative_scale': False, 'speeds': [0.5], 'joints': [state]})
        assert [row[-1] for row in rows] == expected


def test_friction_maps():
    """Coefficients, shape constants and the axes of the picture."""
    speed = np.concatenate([-np.linspace(0.1, 1.0, 8)[::-1], np.linspace(0.1, 1.0, 8)])
    friction = np.sign(speed) * (4.0 + np.exp(-np.abs(speed) / 0.3)) + 2.0 * speed
    N = len(speed)
    curve = choose_curve(CurvePoints(
        speed, friction, np.full(N, 0.05), np.full(N, 12.0), np.full(N, np.nan), True, 0.02,
        N // 2,
    ), 'm')
    points = tuple(
        FrictionPoint(
            'bag', 'lift', v, f, 0.1, f, 0.1, 0.0, 0.1, 12.0, np.nan, np.nan, 20, 'model'
        )
        for v, f in zip(speed, friction, strict=True)
    )
    found = FrictionMap('arm', ('pan', 'lift'), points, {'lift': curve}, (), ('rad', 'm'))
    assert {term.unit for term in curve.terms} >= {'N', 'N s/m'}
    body = friction_map_text(found).split('lift', 1)[1]
    assert 'm/s' in body and 'rad/s' not in body
    drawn = friction_picture('lift', points, curve, ('N', 'm/s')).markup
    assert '[N]' in drawn and '[m/s]' in drawn and without(drawn)
    with pytest.raises(UsageError, match=r'within 0\.01 m and .* gets to \S+ m/s') as raised:
        segment_speeds(SegmentPlan(), 0.01, 1.0, 1.0, 'm')
    assert 'rad' not in str(raised.value)


def test_temperature_studies():
    study = report_cases.temperature_study()
    study = replace(
        study, joints=tuple(replace(one, viscous_unit='N s/m') for one in study.joints),
        torque=replace(study.torque, units=('N', 'N')),
    )
    assert 'of 150 N:' in f'{share_words(study).rstrip(".")}:'
    assert 'up to 3.10 N of torque' in temperature_meaning(study).sentences[0]
    assert '[N s/m]' in render_temperature_report(study, ('',) * 4)


def test_comparisons(both):
    """The unit is that of the joint that differs most."""
    change = TorqueChange(
        ('turn', 'slide'), 10, *([np.array([1.0, 3.0])] * 3), np.array([10.0, 10.0]),
        ('N m', 'N'),
    )
    assert [change.unit(index) for index in range(2)] == ['N m', 'N']
    assert replace(change, units=()).unit(1) == 'N m'


def test_drive_gains(both):
    """Reasons, and gains far from those known before."""
    few = fit_gain('slide', [GainPoint(0.01, 0.001, 0.0)] * 3, unit=both.unit('N m', 1))
    assert few.reason.endswith('at most 0.01 N')
    noisy = fit_gain('slide', [
        GainPoint(1.0, 0.1, 0.0), GainPoint(1.1, -0.2, 0.0), GainPoint(0.9, 0.3, 0.0),
    ], unit='N')
    assert noisy.reason.endswith('1.1 N')
    torque = np.array([-20.0, 10.0, 15.0])
    points = [[GainPoint(1000.0 * t, t / gain, 0.0) for t in torque] for gain in (10.0, 50.0)]
    joints, _ = fit_gains(both.joints, points, DriveGainsOptions(smallest_current=0.0))
    found = compare_with_known(
        both, DriveGains('poses', '', '', joints, points, ()), DriveGainsOptions()
    )
    (note,) = found.notes
    assert 'turn (1e+04 N m/A' in note and 'slide (5e+04 N per A' in note
    # N/A would be read as "not available".
    result = DriveGainsResult(both, (), DriveGainsOptions(), None, found)
    text, page = drive_gains_text(result), render_drive_gains_report(result)
    assert 'gain [N m/A or N per A]' in text and 'holding [N m or N]' in text
    assert 'Standard errors are in N m/A or N per A.' in page
    assert 'N/A' not in text + page
