# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The whole experiment by `ros2 launch`, on machines that have it.

It needs a workspace in which `colcon build` has installed this package.
"""

from pathlib import Path
import shutil
import signal
import subprocess

import pytest
from robot_identification.cli.processes import isolated_environment
from robot_identification.cli.processes import own_domain
from robot_identification.model.model_file import load_identified_model
from ros_helpers import wait_until


def why_not_launchable():
    """Return what is missing to launch our executables here, or an empty string."""
    if shutil.which('ros2') is None:
        return 'ros2 is not installed'
    listed = subprocess.run(['ros2', 'launch', '--help'], capture_output=True, text=True)
    if listed.returncode != 0:
        return '`ros2 launch` is not installed'
    try:
        from ament_index_python import get_package_prefix

        prefix = Path(get_package_prefix('robot_identification'))
    except (ImportError, LookupError, OSError):
        return 'no workspace with robot_identification is sourced'
    if not (prefix / 'lib' / 'robot_identification' / 'simulated_robot').exists():
        return f'{prefix} was not made by `colcon build`'
    return ''


@pytest.fixture(scope='module', autouse=True)
def _launchable():
    reason = why_not_launchable()
    if reason:
        pytest.skip(reason)


class Launch:
    """A launched experiment, faster than real time, on a graph of its own."""

    def __init__(self, folder, domain):
        self.output, self.log = folder / 'output', folder / 'log'
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                ['ros2', 'launch', 'robot_identification', 'experiment.launch.py',
                 'use_sim_time:=true', 'real_time_factor:=4.0', f'output:={self.output}'],
                env=isolated_environment(domain), stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self):
        """Return what was said so far."""
        return self.log.read_text(errors='replace')

    def exit_code(self, deadline):
        """Wait for the end."""
        wait_until(lambda: self.process.poll() is not None, 'the end of the launch', deadline)
        return self.process.returncode


@pytest.fixture
def launched(tmp_path):
    """Return a launched experiment; whatever is left of it is killed at the end."""
    with own_domain() as domain:
        launch = Launch(tmp_path, domain)
        yield launch
        print(launch.text())
        # SIGTERM would orphan the nodes; the group holds all of them.
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if launch.process.poll() is None:
                launch.process.send_signal(number)
                try:
                    launch.process.wait(10.0)
                except subprocess.TimeoutExpired:
                    continue


def test_arguments_are_shown():
    """`ros2 launch --show-args` lists every argument with its description."""
    shown = subprocess.run(
        ['ros2', 'launch', 'robot_identification', 'experiment.launch.py', '--show-args'],
        capture_output=True, text=True, timeout=60,
    )
    assert shown.returncode == 0, shown.stderr
    for argument in ('use_sim', 'ur_type', 'output', 'real_time_factor', 'use_sim_time'):
        assert f"'{argument}'" in shown.stdout
    assert 'no description given' not in shown.stdout


def test_runs_and_ends_by_itself(launched):
    """Two recordings, a model and a report; all processes have ended well."""
    assert launched.exit_code(240.0) == 0
    model = load_identified_model(launched.output / 'result' / 'identified_model.yaml')
    assert model.robot.name == 'ur5'
    assert (launched.output / 'result' / 'report.html').is_file()
    for number in (1, 2):
        assert (launched.output / f'bag_{number}' / 'metadata.yaml').is_file()
    assert 'Traceback' not in launched.text()
    assert 'process has died' not in launched.text()


def test_ctrl_c_ends_everything(launched):
    """The arm is brought to rest, and no node needs a second signal."""
    wait_until(lambda: 'EXECUTING' in launched.text(), 'the motion', 90.0)
    launched.process.send_signal(signal.SIGINT)
    launched.exit_code(30.0)
    text = launched.text()
    assert 'at rest after: interrupted' in text
    assert 'NOT verified' not in text
    assert 'failed to terminate' not in text
    assert 'Traceback' not in text
