# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A campaign from its file to its folder: ended at any moment, started again, done in the end."""

from contextlib import closing
from dataclasses import fields, replace
import json
from pathlib import Path
import re
import signal
import sqlite3
import subprocess
import sys
import time

from builders import contents, succeed
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, IdentificationError
from robot_identification.files import dump_yaml
from robot_identification.model.model_file import load_model
from robot_identification.studies.campaign import study
from robot_identification.studies.campaign.campaign_file import (
    Arm, CarriedPayload, IdentifyOptions, load_campaign, Run,
)
from robot_identification.studies.campaign.report import health_content, health_text
from robot_identification.studies.campaign.runs import (
    do_run, explain_change, read_state, restate, run_inputs, RunJob,
)
from robot_identification.studies.campaign.study import (
    add_to_record, begin_record, CampaignOptions, RECORD_FILE,
)
from robot_identification.studies.campaign.trend import FrictionHistory, judge_fleet, judge_health
from studies.made_up_runs import (
    campaign_of, do_or_die, failed_state, JOINTS, SPEEDS, state, write_campaign, year_of_runs,
)
from test_formats_docs import documented, page

# A run takes seconds; a machine at work on much else many times that.
PATIENCE = 300.0
FILES = {'identified_model.yaml', 'report.html', 'results.txt', 'run.json'}


def wait_until(condition, process=None):
    """Wait for a condition, and say what a process said that has ended before."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if process is not None and process.poll() is not None:
            raise AssertionError(f'it ended with {process.returncode}: {process.stderr.read()}')
        assert time.monotonic() < end, f'waited {PATIENCE:g} s in vain'
        time.sleep(0.02)


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return a campaign file with two runs of a simulated arm."""
    return write_campaign(tmp_path_factory.mktemp('campaign'), 2)


def job_of(file, run, folder):
    campaign = load_campaign(file)
    run = next(one for one in campaign.runs if one.name == run)
    arm = campaign.arm(run.arm)
    return RunJob(run, arm, str(folder), run_inputs(run, arm, arm.load()), campaign.speeds)


@pytest.fixture(scope='module')
def done(files, tmp_path_factory, without_pictures):
    """Return the job of a run that was done in this process."""
    job = job_of(files, 'run_1', tmp_path_factory.mktemp('done') / 'run_1')
    do_run(job)
    return job


def hear_interrupts():
    """Undo what a shell does to what it runs in the background: it hands down deafness."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(file, out):
    return subprocess.Popen(
        [sys.executable, '-m', 'robot_identification.cli.main', 'campaign', str(file), '-o',
         str(out), '--processes', '1'],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts,
    )


def is_alive(number):
    try:
        text = Path(f'/proc/{number}/stat').read_text()
    except FileNotFoundError:
        return False
    return text.rpartition(')')[2].split()[0] != 'Z'


@long_test
def test_interrupted_killed_and_done(files, tmp_path):
    """Ctrl-C after the first run, SIGKILL in the second, then the rest: nothing done is lost."""
    out = tmp_path / 'out'
    runs = out / 'runs'
    process = start(files, out)
    wait_until(lambda: read_state(runs / 'run_0') is not None, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert 'interrupted' in said
    first = contents(runs / 'run_0')
    assert set(first) == FILES

    # A process works on the second run as soon as it has a folder.
    process = start(files, out)
    wait_until(lambda: (runs / 'run_1').exists(), process)
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    # Nothing of it goes on.
    wait_until(lambda: not any(is_alive(child) for child in children))
    assert contents(runs / 'run_0') == first
    assert read_state(runs / 'run_1') is None

    found = succeed('campaign', files, '-o', out, '--processes', 2, '--json')
    assert '1 of 2 runs are there already' in found.err
    content = json.loads(found.out)
    assert [(run['name'], run['status'], run['kept']) for run in content['runs']] == [
        ('run_0', 'done', True), ('run_1', 'done', False),
    ]
    assert contents(runs / 'run_0') == first
    assert set(contents(runs / 'run_1')) == FILES
    assert content['health']['tests'] == 0
    connection = sqlite3.connect(out / 'campaign.sqlite')
    assert connection.execute('SELECT count(*) FROM runs').fetchone() == (2,)
    connection.close()
    assert 'runs/run_1/report.html' in (out / 'report.html').read_text(encoding='utf-8')
    # A month lies between the bags, by their own stamps.
    assert [run['date'][:10] for run in content['runs']] == ['2023-11-14', '2023-12-14']


def test_a_run_leaves_model_and_state(done):
    """The state is of the files beside it, and says what the record and the report need."""
    folder = Path(done.folder)
    found = read_state(folder)
    model = load_model(folder / 'identified_model.yaml')
    assert set(contents(folder)) == FILES
    assert found['status'] == 'done'
    assert found['temperature_from'] == 'campaign file'
    assert model.temperature.tolist() == [27.0] * 3
    assert [entry['name'] for entry in found['parameters']] == list(model.reduction.names)
    assert found['joints'][0]['torque'][0] > 0.0
    # Two models of one arm in the same state have the same keys.
    assert set(found) == set(state('any'))
    # At other speeds friction is stated anew, from the model that is there.
    other = restate(folder, found, (0.2,))
    joint = found['joints'][0]
    low, high = joint['torque']
    # Coulomb and viscous friction are a line over speed, beyond the passage through rest.
    assert other['joints'][0]['torque'][0] == pytest.approx(
        low + (0.2 - 0.1) / (0.5 - 0.1) * (high - low), rel=1e-6
    )
    restate(folder, found, SPEEDS)


def test_changed_files_are_no_result(done, tmp_path):
    folder = tmp_path / 'copy'
    folder.mkdir()
    for name, data in contents(Path(done.folder)).items():
        (folder / name).write_bytes(data)
    assert read_state(folder) is not None
    model = folder / 'identified_model.yaml'
    model.write_bytes(model.read_bytes() + b'\n')
    assert read_state(folder) is None
    (folder / 'run.json').write_text('{', encoding='utf-8')
    assert read_state(folder) is None


def test_what_has_changed_is_named(files, done):
    """Inputs differ in what was changed, and in nothing else."""
    inputs = done.inputs
    arm, run = done.arm, done.run
    robot = arm.load()
    assert explain_change(inputs, run_inputs(run, arm, robot)) == ''
    assert explain_change(inputs, run_inputs(
        replace(run, options=replace(run.options, cutoff=5.0)), arm, robot
    )) == 'cutoff of options'
    assert explain_change(inputs, run_inputs(replace(run, temperature=(30.0,)), arm, robot)) == (
        'temperature'
    )
    hung = replace(arm, mounting=(3.14, 0.0, 0.0))
    assert explain_change(inputs, run_inputs(run, hung, hung.load())) == 'description of arm'
    moved = replace(run, bags=(str(files.parent / 'bag_0'),))
    assert explain_change(inputs, run_inputs(moved, arm, robot)) == (
        'bag_0 of bags, bag_1 of bags'
    )


@pytest.mark.parametrize(('changes', 'code', 'message'), [
    ({'bags': ('nowhere',)}, 2, r'no such bag: nowhere'),
    ({'temperature': (20.0, 21.0)}, 4, r'has 2 numbers, the arm has 3 joints'),
    ({'options': IdentifyOptions(topic='/nothing')}, 4, r'/nothing'),
])
def test_a_run_that_fails_says_why(done, tmp_path, changes, code, message):
    """Its state has the error and the exit code; results of an earlier run are removed."""
    folder = tmp_path / 'run'
    folder.mkdir()
    (folder / 'results.txt').write_text('of another run')
    run = replace(done.run, **changes)
    job = replace(
        done, run=run, folder=str(folder), inputs=run_inputs(run, done.arm, done.arm.load())
    )
    do_run(job)
    found = read_state(folder)
    assert (found['status'], found['exit_code']) == ('failed', code)
    assert re.search(message, found['error'])
    assert set(contents(folder)) == {'run.json'}


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


SPEEDS_OF_FILES = (0.1, 0.5)
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
            for speed in SPEEDS_OF_FILES
        ]
    return found


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


def test_a_process_that_is_killed(done, tmp_path, monkeypatch):
    """It ends the campaign with an error that names what is not done; what is done stays."""
    jobs = [
        replace(done, run=replace(done.run, name=name), folder=str(tmp_path / name))
        for name in ('one', 'deadly')
    ]
    monkeypatch.setattr(study, 'do_run', do_or_die)
    names = []
    with pytest.raises(IdentificationError, match=r'process was lost.*not done are deadly:'):
        names += [job.name for job in study._work(jobs, CampaignOptions(processes=1))]
    assert read_state(tmp_path / 'one')['error'] == 'made up'


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
