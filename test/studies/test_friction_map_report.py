# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The files of a friction map: the same numbers in all, and no text that is taken for markup."""

import csv
import io
import json

import numpy as np
import pytest
from robot_identification.files import parse_yaml
from robot_identification.report.formatting import json_text
from robot_identification.studies.friction_map.curves import choose_curve, CurvePoints
from robot_identification.studies.friction_map.estimate import (
    FrictionMap, FrictionPoint, HARMONIC, UNKNOWN,
)
from robot_identification.studies.friction_map.report import (
    friction_curves_yaml, friction_map_content, friction_map_csv, render_friction_map_report,
)

NAN = float('nan')
SPEEDS = np.geomspace(0.05, 1.0, 6)
BAG = 'a "cold" bag, <b>&.mcap'


def points(joint, gravity=HARMONIC, bag=BAG, temperature=25.0, payload=1.5):
    """Return points both ways of Coulomb and viscous friction; NaN where gravity is not known."""
    even = (NAN, NAN) if gravity == UNKNOWN else (0.1, 0.02)
    return tuple(
        FrictionPoint(
            bag, joint, float(v), float(np.sign(v) * 4.0 + 2.0 * v), 0.05,
            float(4.0 + 2.0 * abs(v)), 0.04, *even, 12.0, temperature, payload, 20, gravity,
        )
        for v in np.concatenate([-SPEEDS[::-1], SPEEDS])
    )


@pytest.fixture(scope='module')
def found():
    """Return a map of a joint with a curve, one without temperature, and one without points."""
    first = points('lift')
    speed, friction = np.array([(point.speed, point.friction) for point in first]).T
    N = len(first)
    curve = choose_curve(CurvePoints(
        speed, friction, np.full(N, 0.05), np.full(N, 12.0), np.full(N, NAN), True, 0.02, N // 2
    ))
    return FrictionMap(
        'arm', ('lift', '<reach>', 'pan'),
        (*first, *points('<reach>', UNKNOWN, 'other', NAN, NAN)), {'lift': curve},
        ('a note with <markup> & more',),
    )


def test_csv_and_json_hold_the_same_points(found):
    rows = list(csv.DictReader(io.StringIO(friction_map_csv(found))))
    content = json.loads(json_text(friction_map_content(found)))
    listed = [point for joint in content['joints'] for point in joint['points']]
    assert len(rows) == len(listed) == len(found.points)
    for row, point in zip(rows, listed, strict=True):
        assert list(row) == list(point)
        for key, value in point.items():
            if isinstance(value, str):
                assert row[key] == value
            elif value is None:
                assert row[key] == ''
            else:
                # Nine digits are written.
                assert float(row[key]) == pytest.approx(value, rel=1e-8)
    assert rows[-1]['temperature'] == ''
    assert rows[0]['bag'] == BAG


def test_curves_are_the_same_in_json_and_yaml(found):
    content = json.loads(json_text(friction_map_content(found)))
    curves = parse_yaml(friction_curves_yaml(found), 'curves')
    assert curves['schema_version'] == content['schema_version'] == 1
    lift = content['joints'][0]
    assert curves['joints'] == {'lift': {key: lift[key] for key in curves['joints']['lift']}}
    values = {
        one['symbol']: one['value'] for law in lift['laws'] for one in law['coefficients']
    }
    # The passage through zero is a fifth of the slowest speed wide: 1e-4 of it is left there.
    assert values['fc'] == pytest.approx(4.0, rel=1e-4)
    assert values['fv'] == pytest.approx(2.0, rel=1e-4)
    assert lift['temperature'] is None
    assert lift['trials'][0]['curve'] == lift['curve']
    assert 'curve' not in content['joints'][1]
    assert content['joints'][2]['points'] == []


def test_the_report_shows_every_joint_with_points_and_escapes_names(found):
    page = render_friction_map_report(found, [BAG], 'robot-identification friction-map <x>')
    assert page.count('class="plot"') == 2
    for text in ('<reach>', '<markup>', '<b>&.mcap', 'friction-map <x>'):
        assert text not in page
    assert '&lt;reach&gt;' in page
    assert 'gravity is not known' in page
    assert 'http' not in page.replace('http-equiv', ''), 'it needs no network'
