# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Campaign files, the record of a campaign, and the drift that it shows."""

from contextlib import closing
from dataclasses import fields
from pathlib import Path
import re
import sqlite3

from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml
from robot_identification.studies.campaign.campaign_file import (
    Arm, CarriedPayload, IdentifyOptions, load_campaign, Run,
)
from robot_identification.studies.campaign.report import health_content, health_text
from robot_identification.studies.campaign.study import add_to_record, begin_record, RECORD_FILE
from robot_identification.studies.campaign.trend import (
    find_trend, FrictionHistory, judge_fleet, judge_health,
)
from studies.made_up_runs import campaign_of, failed_state, JOINTS, state, year_of_runs
from test_formats_docs import documented, page


def content(**changes):
    return {
        'schema_version': 1, 'name': 'small',
        'arms': [{'name': 'left', 'robot': 'ur5'}],
        'runs': [{'name': 'one', 'arm': 'left', 'bags': 'bag_1'}],
        **changes,
    }


def load(folder, **changes):
    path = folder / 'fleet.yaml'
    path.write_text(dump_yaml(content(**changes)), encoding='utf-8')
    return load_campaign(path)


def test_the_page_on_the_format_has_every_key(tmp_path):
    """Keys of the page are those that are read; its example is accepted."""
    of_files = {'schema_version', 'name', 'description', 'speeds', 'false_alarm_rate'}
    nested = {
        'options': IdentifyOptions, 'arms[]': Arm, 'arms[].payload': CarriedPayload,
        'runs[]': Run,
    }
    known = of_files | {'arms', 'runs', 'options', 'runs[].separate'} | {
        f'{place}.{entry.name}' for place, kind in nested.items() for entry in fields(kind)
    } - {'options.kinematic_filter'}
    assert set(documented('campaign')) == known
    path = tmp_path / 'fleet.yaml'
    path.write_text(page('campaign').split('```yaml')[1].split('```')[0], encoding='utf-8')
    assert len(load_campaign(path).runs) == 2


def test_paths_are_those_beside_the_file(tmp_path, monkeypatch):
    """Patterns are one run in the order of names, or one run each; relative to the file."""
    for name in ('bag_2', 'bag_10', 'bag_1'):
        (tmp_path / name).mkdir()
    monkeypatch.chdir('/')
    together = load(tmp_path, runs=[{'name': 'all', 'arm': 'left', 'bags': 'bag_*'}])
    assert [Path(bag).name for bag in together.runs[0].bags] == ['bag_1', 'bag_10', 'bag_2']
    assert all(Path(bag).is_dir() for bag in together.runs[0].bags)
    each = load(
        tmp_path, runs=[{'name': 'm', 'arm': 'left', 'bags': ['bag_*'], 'separate': True}]
    )
    assert [run.name for run in each.runs] == ['m_bag_1', 'm_bag_10', 'm_bag_2']
    # What is not there is a run that will fail, not a file that cannot be read.
    lost = load(tmp_path, runs=[{'name': 'x', 'arm': 'left', 'bags': 'nothing_*'}])
    assert lost.runs[0].bags == ('nothing_*',)


@pytest.mark.parametrize(('changes', 'message'), [
    ({'speed': [1.0]}, r'unknown key speed; did you mean speeds\?'),
    ({'arms': [{'name': 'a/b', 'robot': 'ur5'}]}, r"arm 1: name is 'a/b'"),
    ({'arms': [{'name': 'left', 'robot': 'ur5'}] * 2}, r'name of an arm is given twice: left'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'mounting': [0.0]}]},
     r'mounting has 1 values, it must have 3'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'mounting': [90, 0, 0]}]},
     r'arm 1: .*write 90deg'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'payload': {'mas': 1.0}}]},
     r'payload: missing mass; unknown key mas; did you mean mass\?'),
    ({'runs': [{'name': 'x', 'arm': 'lef', 'bags': 'b'}]},
     r'run 1: there is no arm lef; did you mean left\?'),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': ['b', 'b']}]}, r'a bag is given twice'),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': 'b', 'date': 'spring'}]},
     r"date is 'spring', it must be like 2026-03-01"),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': 'b'},
               {'name': 'X', 'arm': 'left', 'bags': 'c'}]}, r'name of a run is given twice: x'),
    ({'speeds': [0.1, 0.1]}, r'speeds are \[0.1, 0.1\], they must differ'),
    ({'false_alarm_rate': 0.9}, r'false_alarm_rate is 0.9'),
    ({'options': {'relative_scale': 1}}, r'relative_scale is 1, it must be true or false'),
])
def test_what_is_wrong_is_named(tmp_path, changes, message):
    """Every key is checked; an unknown one is refused with the nearest one that is known."""
    with pytest.raises(DescriptionError, match=message):
        load(tmp_path, **changes)


def ask(folder, question):
    connection = sqlite3.connect(folder / RECORD_FILE)
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


def test_record_holds_what_the_states_say(tmp_path):
    """Parameters, friction by quantity and speed, quality; a failed run has its error alone."""
    with closing(begin_record(tmp_path)) as record:
        add_to_record(record, (state('a', torque=9.0), failed_state('b')))
    assert ask(tmp_path, 'SELECT run, status, exit_code, model FROM runs ORDER BY run') == [
        ('a', 'done', 0, 'runs/a/identified_model.yaml'), ('b', 'failed', 4, None),
    ]
    assert ask(tmp_path, 'SELECT run, name, value, standard_error, unit FROM parameters') == [
        ('a', 'Izz1', 1.5, 0.1, 'kg m^2'), ('a', 'fv1', 2.5, 0.2, 'N m s/rad'),
    ]
    assert ask(
        tmp_path,
        "SELECT quantity, speed, value, unit FROM friction WHERE joint = 'lift' ORDER BY rowid",
    ) == [
        ('coulomb', None, pytest.approx(7.2), 'N m'),
        ('viscous', None, pytest.approx(3.6), 'N m s/rad'),
        ('torque', 0.1, 9.0, 'N m'), ('torque', 0.5, 9.0, 'N m'),
    ]
    assert ask(tmp_path, 'SELECT * FROM quality') == [('a', 'good', 0.03, 30, 900)]


def test_the_page_on_the_format_has_every_column(tmp_path):
    """Tables and columns of the record, and keys of a run's state, are those of the page."""
    begin_record(tmp_path).close()
    text = page('campaign')
    columns = dict(re.findall(r'^\| `(\w+)` \| ((?:`\w+`.*?)) \|$', text, re.MULTILINE))
    for (name,) in ask(tmp_path, "SELECT name FROM sqlite_master WHERE type = 'table'"):
        found = [row[1] for row in ask(tmp_path, f'PRAGMA table_info({name})')]
        stated = re.findall(r'`(\w+)`', re.sub(r'\(.*?\)', '', columns[name]))
        assert stated == found
    folder = text.split('## The folder')[1].split('## campaign.sqlite')[0]
    rows = re.findall(r'^\| (`.*?) \|', folder, re.MULTILINE)
    keys = {key for row in rows for key in re.findall(r'`(\w+)`', row)}
    assert keys | {'schema_version'} == set(state('any'))


@pytest.mark.parametrize(('drift', 'level'), [(0.0, 'good'), (0.4, 'bad')])
def test_health_finds_a_drift_and_nothing_else(drift, level):
    """Monthly runs at all temperatures: an alarm of each joint, or none at all."""
    states = [*year_of_runs(drift), failed_state('lost')]
    health = judge_health(campaign_of(states), states)
    content = health_content(health)
    assert content['level'] == level
    # Two speeds and two kinds of each joint.
    assert content['tests'] == 2 * 2 * len(JOINTS)
    drifts = [alarm for alarm in content['alarms'] if alarm['kind'] == 'drift']
    assert [alarm['joint'] for alarm in drifts] == (list(JOINTS) if drift else [])
    for alarm in drifts:
        low, high = alarm['interval']
        # The year's mean friction is larger than that of its beginning, of which drift is a share.
        assert low < drift / (1.0 + 0.54 * drift) < high
        assert alarm['p_value'] < 0.01
    assert len(health_text(health).splitlines()) >= 2


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
