# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A campaign from its file to its folder: ended at any moment, started again, done in the end."""

from concurrent.futures import Executor, Future
from contextlib import nullcontext
from dataclasses import replace
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
import pytest
from robot_identification.errors import IdentificationError
from robot_identification.files import ResultFolder
from robot_identification.model.model_file import load_model
from robot_identification.studies.campaign import study
from robot_identification.studies.campaign.campaign_file import Arm, IdentifyOptions, load_campaign
from robot_identification.studies.campaign.runs import (
    do_run, explain_change, read_state, restate, run_inputs, RunJob,
)
from robot_identification.studies.campaign.study import CampaignOptions, run_campaign
from studies.made_up_runs import (
    campaign_of, do_or_die, failed_state, SPEEDS, state, write_campaign,
)

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


class Cluster(Executor):
    """An executor that does no run, and is lost at one of them."""

    def __init__(self, deadly):
        self._deadly = deadly

    def submit(self, function, job):
        """Return the future of a run, as a Dask cluster does."""
        future = Future()
        if job.name == self._deadly:
            future.cancel()
            future.set_running_or_notify_cancel()
            return future
        do_or_die(job)
        future.set_result(None)
        return future


def use_cluster(monkeypatch, deadly=None):
    monkeypatch.setattr(study, 'open_executor', lambda *_: nullcontext(Cluster(deadly)))


@pytest.fixture
def made_up(tmp_path, monkeypatch, robots):
    """Return a campaign whose runs a cluster pretends to do; its arms are not looked at."""
    campaign = campaign_of([failed_state(name) for name in ('one', 'two', 'three')])
    monkeypatch.setattr(Arm, 'load', lambda arm: robots['ur5'])
    return campaign, ResultFolder(tmp_path / 'out')


def test_a_cluster_that_is_lost(made_up, monkeypatch):
    """All of it ends; started again, the campaign keeps what was done."""
    campaign, out = made_up
    options = CampaignOptions('tcp://x:1')
    use_cluster(monkeypatch, 'three')
    with pytest.raises(IdentificationError, match='not done are three:'):
        run_campaign(campaign, out, options)
    use_cluster(monkeypatch)
    said = []
    found = run_campaign(
        campaign, out, options, lambda done, total, text: said.append((done, total))
    )
    assert found.kept == ('one', 'two')
    assert [one['error'] for one in found.states] == ['made up'] * 3
    assert said == [(0, 1), (1, 1)]
    # Failed runs are kept, until they are to be tried again.
    assert run_campaign(campaign, out, options).kept == ('one', 'two', 'three')
    assert run_campaign(campaign, out, replace(options, retry=True)).kept == ()
