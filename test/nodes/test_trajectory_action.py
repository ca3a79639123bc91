# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot's FollowJointTrajectory action, with control_msgs built as a fixture."""

import json
from pathlib import Path
import subprocess
import sys

from interfaces import overlay
import numpy as np
import pytest
from ros_helpers import own_graph, wait_until
from sensor_msgs.msg import JointState

ACTION = '/scaled_joint_trajectory_controller/follow_joint_trajectory'
CLIENT = Path(__file__).with_name('action_client.py')
CASES = 'refused,succeeded,canceled,replaced,interrupted,restarted'


def run_client(graph, variables, namespace, cases, joints):
    completed = subprocess.run(
        [sys.executable, str(CLIENT), namespace, cases, *joints],
        env={**graph.environment, **variables}, capture_output=True, text=True, timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout.splitlines()[-1])


@pytest.fixture(scope='module')
def happened(ur5, tmp_path_factory):
    variables = overlay()
    with own_graph(tmp_path_factory.mktemp('action')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 4.0, 'publish_truth': True, 'discovery_time': 0.0,
        }, variables)
        yield run_client(graph, variables, '/', CASES, ur5.joint_names)


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


def test_a_cancelled_goal_stops(happened):
    """The status is CANCELED; how the arm comes to rest is tested in test/simulation."""
    case = happened['canceled']
    assert case['canceling'] == 1
    assert case['status'] == 'CANCELED'
    assert case['speed'] < 1e-3
    assert case['distance_left'] > 0.1


def test_a_newer_goal_aborts_the_older(happened):
    """The older one says why; the newer one is executed."""
    case = happened['replaced']
    assert case['older']['status'] == 'ABORTED'
    assert case['older']['error_code'] != 0
    assert 'newer' in case['older']['error_string']
    assert case['newer']['status'] == 'SUCCEEDED'
    assert case['distance'] < 0.005


def test_a_goal_is_aborted_when_the_program_stops(happened):
    """In the words of ros2_controllers; none is accepted meanwhile, and nothing resumes."""
    case = happened['interrupted']
    assert (case['status'], case['error_code']) == ('ABORTED', -1)
    assert 'cancelled during deactivate transition' in case['error_string']
    assert case['accepted_while_inactive'] is False
    assert case['moved'] < 1e-3


def test_a_restarted_driver_has_lost_its_goal(happened):
    """Nothing is heard of it during two seconds of simulated time, and then that it is gone."""
    case = happened['restarted']
    assert (case['status'], case['error_code']) == ('ABORTED', -1)
    assert case['accepted_while_silent'] is False
    assert 1.5 < case['silent'] < 3.0


def test_namespace_and_prefix_are_those_of_the_robot(graph, ur5):
    """The action is in the robot's namespace, and its goals name prefixed joints only."""
    variables = overlay()
    parameters = {'tf_prefix': 'left_', 'publish_truth': True, 'discovery_time': 0.0}
    graph.start('simulated_robot', parameters, variables, '__ns:=/left')
    prefixed = [f'left_{joint}' for joint in ur5.joint_names]
    case = run_client(graph, variables, '/left', 'succeeded', prefixed)['succeeded']
    assert (case['status'], case['error_code']) == ('SUCCEEDED', 0)
    assert case['distance'] < 0.005
    assert {tuple(feedback['joints']) for feedback in case['feedback']} == {tuple(prefixed)}


def services(graph):
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
