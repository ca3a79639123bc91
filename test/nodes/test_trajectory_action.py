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

"""The simulated robot's FollowJointTrajectory action, with control_msgs built as a fixture."""

import importlib.util
import json
from pathlib import Path
import subprocess
import sys

from interfaces import build_control_msgs
from interfaces import default_cache_dir
from interfaces import interface_environment
from interfaces import why_not_buildable
import numpy as np
import pytest
from ros_helpers import own_graph
from ros_helpers import wait_until
from sensor_msgs.msg import JointState

ACTION = '/scaled_joint_trajectory_controller/follow_joint_trajectory'
CLIENT = Path(__file__).with_name('action_client.py')
LIBRARY_VARIABLES = ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH')


def overlay():
    """Return the environment variables in which control_msgs is found, or skip."""
    if importlib.util.find_spec('control_msgs'):
        return {}
    prefix = build_control_msgs(default_cache_dir())
    if prefix is None:
        pytest.skip(f'control_msgs cannot be compiled: {why_not_buildable()}')
    environment = interface_environment(prefix)
    return {name: environment[name] for name in LIBRARY_VARIABLES}


@pytest.fixture(scope='module')
def happened(ur5, tmp_path_factory):
    """Return what a client saw, case by case."""
    variables = overlay()
    with own_graph(tmp_path_factory.mktemp('action')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 3.0, 'publish_truth': True, 'discovery_time': 0.0,
        }, variables)
        completed = subprocess.run(
            [sys.executable, str(CLIENT), *ur5.joint_names],
            env={**graph.environment, **variables}, capture_output=True, text=True, timeout=120,
        )
        assert completed.returncode == 0, completed.stderr
        yield json.loads(completed.stdout.splitlines()[-1])


@pytest.mark.timeout(900)  # the first test here compiles control_msgs
def test_goals_for_other_joints_are_rejected(happened):
    """So is one that is not finite."""
    assert happened['refused']['accepted'] == {
        'wrong joints': False, 'a joint missing': False, 'NaN': False,
    }


def test_a_goal_succeeds_with_feedback(happened, ur5):
    """It ends within 5 mrad of its target; feedback is of the measured arm."""
    case = happened['succeeded']
    assert case['accepted']
    assert (case['status'], case['error_code']) == ('SUCCEEDED', 0)
    assert case['distance'] < 0.005
    assert len(case['feedback']) > 5
    for feedback in case['feedback']:
        assert feedback['joints'] == list(ur5.joint_names)
        desired, actual = np.array(feedback['desired']), np.array(feedback['actual'])
        np.testing.assert_allclose(feedback['error'], desired - actual, atol=1e-12)
        assert np.max(np.abs(desired - actual)) < 0.1
    travelled = [feedback['actual'][0] for feedback in case['feedback']]
    assert travelled[-1] - travelled[0] > 0.1


def test_a_cancelled_goal_stops_smoothly(happened, ur5):
    """The status is CANCELED, and the arm comes to rest within its acceleration limits."""
    case = happened['canceled']
    assert case['canceling'] == 1
    assert case['status'] == 'CANCELED'
    stamps, velocities = np.array(case['stamps']), np.array(case['velocities'])
    assert np.max(np.abs(velocities[0])) > 0.4
    accelerations = np.diff(velocities, axis=0) / np.diff(stamps)[:, None]
    assert np.max(np.abs(accelerations)) < np.min(ur5.limits.acceleration)
    resting = stamps > stamps[0] + 1.5
    assert np.max(np.abs(velocities[resting])) < 1e-3
    assert case['distance_left'] > 0.1


def test_a_newer_goal_aborts_the_older(happened):
    """The older one says why; the newer one is executed."""
    case = happened['replaced']
    assert case['older']['status'] == 'ABORTED'
    assert case['older']['error_code'] != 0
    assert 'newer' in case['older']['error_string']
    assert case['newer']['status'] == 'SUCCEEDED'
    assert case['distance'] < 0.005


def services(graph):
    """Return the names of all services."""
    return [name for name, _ in graph.node.get_service_names_and_types()]


def test_without_control_msgs_there_is_just_no_action(graph, tmp_path):
    """The node starts and speaks; nothing of the action is on the graph."""
    blocked = tmp_path / 'blocked'
    blocked.mkdir()
    (blocked / 'control_msgs.py').write_text("raise ImportError('not installed')\n")
    graph.start('simulated_robot', {'discovery_time': 0.0}, {'PYTHONPATH': str(blocked)})
    states = graph.hear(JointState, '/joint_states')
    wait_until(lambda: states, 'a joint state')
    wait_until(
        lambda: '/simulated_robot/list_parameters' in services(graph),
        'the services of the robot',
    )
    assert not [name for name in services(graph) if name.startswith(ACTION)]
