# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The table of friction is the laws' own torque in steady sliding, its page the study's."""

from dataclasses import replace

from known_models import known_model
import numpy as np
import pytest
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.friction.law import sliding_torque
from robot_identification.prediction.friction_table import tabulate_friction
from study_pages import medians, page_table

SPEEDS = np.array([0.02, 0.1, 0.5, 1.0])


def at(table, speed, load=0.0):
    n = len(table.speeds)
    resistance, bias = table.at(np.full(n, speed), np.full(n, load))
    return resistance[0], bias[0]


@pytest.mark.parametrize('load', [0.0, 30.0])
@pytest.mark.parametrize('name', FRICTION_LAWS)
def test_every_law_in_steady_sliding(robots, name, load):
    """Against the law itself after a long way."""
    # Between its speeds the table is straight; their ratio is 1.03, so that the curvature of any
    # law is off by less than 1e-3 of its torque.
    law = FRICTION_LAWS[name]()
    signed = {symbol: -0.01 for symbol in law.signed}
    coefficients = {symbol: signed.get(symbol, 0.3) for symbol in law.symbols}
    model = known_model(robots['mixed'], name, **coefficients)
    table = tabulate_friction(model)
    expected = sliding_torque(law, np.array([*coefficients.values()]), SPEEDS, load)
    for speed, torque in zip(SPEEDS, np.maximum(expected, 0.0), strict=True):
        assert at(table, speed, load)[0] == pytest.approx(torque, rel=1e-3, abs=1e-9)


def test_an_offset_is_a_bias(robots):
    """It is no friction: both directions have it, and rest as well."""
    table = tabulate_friction(known_model(robots['mixed'], 'coulomb,offset', fc=2.0, f0=0.7))
    for speed in (0.0, 0.5):
        assert at(table, speed)[1] == pytest.approx(0.7, abs=1e-12)
    assert at(table, 0.5)[0] == pytest.approx(2.0, abs=1e-9)


def test_negative_friction_is_none(robots):
    """A fit may find it; a torque that pushes a joint along is not fed forward."""
    table = tabulate_friction(known_model(robots['mixed'], 'viscous', fv=-1.0))
    assert at(table, 1.0)[0] == 0.0


def test_beyond_the_velocity_limit_it_does_not_grow(robots):
    """A viscous law at a velocity that no joint reaches is that at the limit."""
    table = tabulate_friction(known_model(robots['ur5'], 'viscous', fv=2.0))
    limit = robots['ur5'].limits.velocity[0]
    assert at(table, 1e6)[0] == pytest.approx(2.0 * limit)


@pytest.mark.parametrize(('friction', 'values', 'rest'), [
    # fc tanh(dq / .01) + fv dq is monotone: at .05 rad/s it is 3 * 0.9999 + 0.05.
    ('coulomb,viscous', {'fc': 3.0, 'fv': 1.0}, 3.05),
    # (3 + 1 exp(-(dq / .1)^2)) tanh(dq / .01) has its largest value, 3.89, at .03 rad/s.
    ('stribeck', {'fk': 3.0, 'fs': 4.0}, 3.89),
])
def test_break_away_is_the_largest_slow_friction(robots, friction, values, rest):
    """It does not go to zero with the velocity, and is the law again where joints slide."""
    table = tabulate_friction(known_model(robots['mixed'], friction, **values))
    started = table.with_break_away(0.05)
    assert at(table, 0.0)[0] == pytest.approx(0.0, abs=1e-12)
    assert at(started, 0.0)[0] == pytest.approx(rest, rel=2e-3)
    # The table has no speed at 0.05 itself; the last one below may be 3 % less.
    speeds = np.linspace(0.0, 0.048, 50)
    slow = np.array([at(started, speed)[0] for speed in speeds])
    assert np.all(np.diff(slow) <= 1e-12), 'it falls from rest on'
    for speed in (0.06, 0.3, 1.0):
        assert at(started, speed) == pytest.approx(at(table, speed))


def test_a_law_of_temperature_takes_the_one_that_is_known(robots):
    """That which is given, else that of the training data, else the law's reference."""
    model = known_model(robots['mixed'], 'viscous,temperature_viscous', fv=2.0, fvT=-0.05)
    assert at(tabulate_friction(model), 1.0)[0] == pytest.approx(2.0, rel=1e-3)
    warm = replace(model, temperature=np.full(3, 35.0))
    assert at(tabulate_friction(warm), 1.0)[0] == pytest.approx(1.5, rel=1e-3)
    assert at(tabulate_friction(warm, np.full(3, 45.0)), 1.0)[0] == pytest.approx(1.0, rel=1e-3)


@pytest.fixture(scope='module')
def measured():
    return medians('tracking', repeats=5)


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, of the controllers and joints that the page shows."""
    header, *rows = page_table('feed_forward', 'controller')
    joints = [one for one in header[1:] if one.startswith('joint')]
    assert len(rows) >= 5 and len(joints) >= 3
    for name, *cells in rows:
        expected = [
            f'{measured[f"{name}: {one}, rms"]:.2f} / {measured[f"{name}: {one}, worst"]:.1f}'
            for one in joints
        ]
        slow = measured[f'{name}: slow moves, rms of all joints']
        assert cells == [*expected, f'{slow:.2f}'], name
