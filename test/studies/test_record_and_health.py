# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Record, health and report of campaigns whose runs nobody did."""

from contextlib import closing
import re
import sqlite3

import pytest
from robot_identification.studies.campaign.report import health_content, health_text
from robot_identification.studies.campaign.study import add_to_record, begin_record, RECORD_FILE
from robot_identification.studies.campaign.trend import judge_health
from studies.made_up_runs import campaign_of, failed_state, JOINTS, state, year_of_runs
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
