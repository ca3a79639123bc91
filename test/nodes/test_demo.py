# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The demo through the command line: from nothing to a judged model, and nothing left behind."""

import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from long_tests import long_test
import pytest
from robot_identification.cli import demo as demo_command
from robot_identification.errors import DataError
from robot_identification.recording.bag import read_recording
from ros_helpers import wait_until

# As typed, but for the length of the searches, which would be half of the time.
SHORT_DEMO = """
from robot_identification.cli import demo
from robot_identification.cli.main import main


class Node(demo.NodeProcess):
    def __init__(self, name, parameters, *rest):
        short = {'max_evaluations': 20} if name == 'experiment_coordinator' else {}
        super().__init__(name, {**parameters, **short}, *rest)


demo.NodeProcess = Node
raise SystemExit(main())
"""


def processes_naming(text):
    """Return the ids of the running processes whose command line has a text in it."""
    found = []
    for entry in Path('/proc').glob('[0-9]*'):
        try:
            command = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode()
        except OSError:
            continue  # it has just ended
        if text in command and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


class Demo:
    """A demo in its own process; whatever it leaves running is killed at the end."""

    def __init__(self, folder, factor):
        self.output = folder / 'output'
        with (folder / 'stdout').open('w') as out, (folder / 'stderr').open('w') as err:
            self.process = subprocess.Popen(
                [sys.executable, '-c', SHORT_DEMO, 'demo', '--real-time-factor', factor, '--json',
                 '--output', str(self.output)],
                cwd=folder, stdout=out, stderr=err, start_new_session=True,
            )
        self.stdout, self.stderr = folder / 'stdout', folder / 'stderr'

    def said(self, node):
        log = self.output / 'logs' / f'{node}.log'
        return log.read_text() if log.exists() else ''

    def wait_for(self, node, text, deadline=60.0):
        wait_until(
            lambda: text in self.said(node) or self.process.poll() is not None,
            f'{node} to say {text!r}', deadline,
        )
        assert self.process.poll() is None, self.stderr.read_text()

    def exit_code(self, deadline):
        wait_until(lambda: self.process.poll() is not None, 'the end of the demo', deadline)
        return self.process.returncode

    def nodes(self):
        return processes_naming(f'{self.output}/logs')


@pytest.fixture
def demo(tmp_path, request):
    """Return a running demo; whose arm is stopped in motion, it runs in real time."""
    # Twice as fast, a pause of the machine is twice as long, and a stop is not proved so soon.
    running = Demo(tmp_path, '1' if request.node.name == 'test_ctrl_c_in_motion' else '2')
    yield running
    for process in [running.process.pid, *running.nodes()]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    running.process.wait()


def test_ends_well(demo, ur5):
    """Exit code 0, one JSON object, every joint within 5 % of the noise-free truth, a report."""
    assert demo.exit_code(240.0) == 0, demo.stderr.read_text()
    content = json.loads(demo.stdout.read_text())
    assert content['joints'] == list(ur5.joint_names)
    assert len(content['noise_free_nrmse']) == ur5.n
    assert max(content['noise_free_nrmse']) < 0.05
    report = Path(content['report'])
    assert report.parent == demo.output
    assert '<html' in report.read_text()
    assert content['validation']['bags'][0]['unit'] == 'A'
    # The whole motion of ten seconds is in the bags.
    for bag in ('bag_1', 'bag_2'):
        recording = read_recording(demo.output / bag, ur5.joint_names)
        assert recording.duration > 9.5
        assert recording.metadata['robot'] == 'ur5'
        assert len(recording.metadata['trajectory_sha256']) == 64
    for name in ('trajectory_1.yaml', 'trajectory_2.yaml', 'result/identified_model.yaml',
                 'result/report.html', 'validation.json', 'results.txt'):
        assert (demo.output / name).is_file(), name
    for log in sorted((demo.output / 'logs').glob('*.log')):
        said = log.read_text()
        assert 'Traceback' not in said, f'{log.name}:\n{said}'
        assert '[ERROR]' not in said, f'{log.name}:\n{said}'
    assert not demo.nodes()


@long_test
def test_ctrl_c_in_motion(demo, ur5):
    """Exit code 130; the arm is stopped at once, the bag closed, and no process is left."""
    demo.wait_for('experiment_runner', 'EXECUTING')
    demo.wait_for('experiment_coordinator', 'recording')
    assert len(demo.nodes()) == 7
    signalled = time.time()
    demo.process.send_signal(signal.SIGINT)
    assert demo.exit_code(30.0) == 130
    assert not demo.nodes()
    # The arm comes first: nobody else's ending is waited for before it is stopped.
    said = demo.said('experiment_runner')
    stopping = re.search(r'\[(\d+\.\d+)\] \[experiment_runner\]: STOPPING: interrupted', said)
    assert stopping, said
    assert float(stopping.group(1)) - signalled < 1.0
    assert 'at rest after: interrupted' in said
    assert 'NOT verified' not in said
    assert len(read_recording(demo.output / 'bag_1', ur5.joint_names)) > 0
    assert 'Traceback' not in demo.stderr.read_text()
    assert not demo.stdout.read_text()


@pytest.mark.parametrize('signals', [
    [signal.SIGINT, signal.SIGINT],
    pytest.param([signal.SIGTERM], marks=long_test),
    pytest.param([signal.SIGHUP], marks=long_test),
    pytest.param([signal.SIGQUIT], marks=long_test),
], ids=['Ctrl-C twice', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])
def test_however_it_is_ended_no_process_is_left(demo, signals):
    """An impatient user, a service manager and a closed terminal must not leave a robot behind."""
    demo.wait_for('experiment_coordinator', 'designing')
    assert len(demo.nodes()) == 7
    for number in signals:
        count = len(demo.nodes())
        demo.process.send_signal(number)
        # The second one comes while the first one is being served.
        wait_until(
            lambda before=count: len(demo.nodes()) < before or demo.process.poll() is not None,
            'the signal to be heard',
        )
    assert demo.exit_code(30.0) != 0
    wait_until(lambda: not demo.nodes(), f'the end of {len(demo.nodes())} nodes', 5.0)


@pytest.mark.parametrize('failures', [0, 1, 2])
def test_a_try_that_fails_is_repeated_slower(tmp_path, monkeypatch, failures):
    """Once, from the start and at half the pace; what the first one left is kept beside."""
    paces = []

    def run_nodes(robot, folder, factor):
        (folder / 'logs').mkdir()
        (folder / 'logs' / 'experiment_runner.log').write_text(f'try {len(paces)}')
        paces.append(factor)
        if len(paces) <= failures:
            raise DataError('experiment_runner is FAULT: this process did not run for 1.1 s')

    monkeypatch.setattr(demo_command, '_run_nodes', run_nodes)
    if failures < 2:
        demo_command._run_twice('ur5', tmp_path, 2.0)
    else:
        with pytest.raises(DataError, match=r'programs wanted to run .* did not run for 1\.1 s'):
            demo_command._run_twice('ur5', tmp_path, 2.0)
    assert paces == [2.0, 1.0][:failures + 1]
    last = f'try {min(failures, 1)}'
    assert (tmp_path / 'logs' / 'experiment_runner.log').read_text() == last
    first = tmp_path / 'first_try' / 'logs' / 'experiment_runner.log'
    assert first.exists() == (failures > 0)
