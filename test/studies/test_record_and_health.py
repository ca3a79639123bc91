# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Record, health and report of campaigns whose runs nobody did."""

from contextlib import closing
from dataclasses import replace
import re
import sqlite3

from known_models import known_model
import numpy as np
import pytest
from robot_identification.model.model_file import dump_model
from robot_identification.studies.campaign.campaign_file import Arm
from robot_identification.studies.campaign.report import (
    health_content, health_text, render_campaign_report,
)
from robot_identification.studies.campaign.study import add_to_record, begin_record, RECORD_FILE
from robot_identification.studies.campaign.trend import compare_sizes, judge_health
from studies.made_up_runs import campaign_of, failed_state, JOINTS, outcome_of, state, year_of_runs
from test_formats_docs import page


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


@pytest.mark.parametrize('damage', ['none', 'not sqlite'])
def test_the_record_is_made_anew(tmp_path, damage):
    """The folders of the runs are the truth."""
    with closing(begin_record(tmp_path)) as record:
        add_to_record(record, [state('old')])
    if damage == 'not sqlite':
        (tmp_path / RECORD_FILE).write_bytes(b'something else' * 100)
    with closing(begin_record(tmp_path)) as record:
        add_to_record(record, [state('new')])
    assert ask(tmp_path, 'SELECT run FROM runs') == [('new',)]


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


def test_report_begins_with_its_verdict():
    """Alarm, pictures, runs with links, what failed; names of the user's are escaped."""
    states = [*year_of_runs(0.4), failed_state('lost')]
    page = render_campaign_report(outcome_of(states))
    places = [page.index(text) for text in (
        'Alarm', 'left, pan: friction at', '1 of 15 runs failed', '<svg class="plot"',
        'runs/month_0/report.html',
    )]
    assert places == sorted(places)
    assert page.count('<svg class="plot"') == len(JOINTS)
    assert 'no effort in bag &lt;3&gt;' in page
    assert 'at most 1.0 %' in page
    # Well below 5 MB.
    assert len(page) < 400_000


def test_torques_of_another_unit_are_not_mixed_in():
    """Runs whose drive gains were unknown say nothing beside those in N m."""
    states = year_of_runs()
    for one in states[3:6]:
        one['relative_scale'] = True
        for joint in one['joints']:
            joint['torque'] = [0.5, 0.5]
    health = judge_health(campaign_of(states), states)
    assert health.alarms == ()
    assert len(health.trends[0].history.values) == len(states) - 3


def test_joints_of_one_size_are_compared(tmp_path, robots):
    """Big joints of two UR5 differ by a factor, by the latest run of each; wrists do not."""
    states = [
        state('old', 'left', days=1.0), state('new', 'left', days=2.0), state('other', 'right'),
    ]
    for one, factor in zip(states, (9.0, 1.0, 1.5), strict=True):
        coulomb = np.array([8.0, 8.0, 8.0, 2.0, 2.0, 2.0])
        coulomb[:3] *= factor
        model = replace(
            known_model(robots['ur5'], 'coulomb,viscous', fc=coulomb, fv=3.0),
            provenance={'bags': [], 'options': {}, 'versions': {}},
        )
        model = replace(model, covariance=1e-4 * model.covariance)
        folder = tmp_path / 'runs' / one['name']
        folder.mkdir(parents=True)
        (folder / 'identified_model.yaml').write_text(dump_model(model))
    campaign = replace(campaign_of(states), arms=tuple(
        Arm(name, robot='ur5') for name in ('left', 'right')
    ))
    sizes, note = compare_sizes(campaign, states, tmp_path)
    assert note == ''
    found = {size.size: size for size in sizes}
    assert found['ur_cb3_size_3'].coulomb_spread == pytest.approx(1.5)
    assert found['ur_cb3_size_3'].coulomb_p < 1e-6
    assert found['ur_cb3_size_1'].coulomb_p == pytest.approx(1.0)
    page = render_campaign_report(outcome_of(states, sizes))
    assert 'ur_cb3_size_3' in page
    assert 'wrist_1_joint of ur5' in page
    assert compare_sizes(campaign_of(states), states, tmp_path) == ((), '')
