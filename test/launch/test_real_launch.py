# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The launch files by the real `ros2 launch`, in a workspace with this package."""

from pathlib import Path
import subprocess

from diagnostic_msgs.msg import DiagnosticArray
from launching import launched, why_not_installed, why_not_launchable
import numpy as np
import pytest
from robot_identification.cli.processes import isolated_environment, own_domain
from robot_identification.model.model_file import load_model
from ros_helpers import LATCHED, own_graph, state_in, wait_until
from sensor_msgs.msg import JointState

FIXTURES = Path(__file__).parents[1] / 'fixtures'
NODES = (
    'simulated_robot', 'trajectory_generator', 'experiment_runner', 'bag_recorder', 'identifier',
    'torque_predictor',
)
# For a whole experiment on a machine that does something else as well [s].
LONGEST = 600.0
# Who starts a driver, with an argument that it cannot do without, and what is missing here.
NEEDS = {
    'ur_robot': ({'launch_driver': 'true', 'robot_ip': '192.0.2.1'}, ['ur_robot_driver']),
    'mock_hardware': ({}, ['ur_robot_driver']),
    'gazebo': ({}, ['ur_simulation_gz']),
    'ursim': ({}, ['ur_robot_driver']),
    'replay': ({'bag': 'no_such_bag'}, ['ros2bag']),
}
REFUSED = {
    'no address': ('ur_robot', {'launch_driver': 'true'}, 'robot_ip is not set'),
    'a driver in a namespace': (
        'ur_robot', {'launch_driver': 'true', 'robot_ip': '192.0.2.1', 'namespace': 'left'},
        'start the driver there yourself',
    ),
    'no bag': ('replay', {}, 'bag is not set'),
    'an unknown robot': ('experiment', {'ur_type': 'ur6'}, "unknown robot 'ur6'"),
    'no robot YAML': ('experiment', {'ur_type': 'my arm.yaml'}, 'no such file: my arm.yaml'),
    'a misspelt argument': (
        'mock_hardware', {'headles_mode': 'true'},
        'headles_mode:=... is no argument of mock_hardware.launch.py: did you mean headless_mode?',
    ),
    'no list': ('experiment', {'mounting': '0 0 0'}, 'mounting:=0 0 0: a YAML list'),
    'an old PolyScope': (
        'ursim', {'ur_type': 'ur5e', 'ursim': 'true'}, 'give a version 5.x.y, or latest',
    ),
    'no such interface': ('experiment', {'interface': 'service'}, "'auto', 'action', 'topic'"),
    'no such program': ('experiment', {'program': 'dance'}, "'static_poses'"),
}


@pytest.fixture(scope='module', autouse=True)
def _launchable():
    reason = why_not_launchable()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def environment(tmp_path):
    with own_domain() as domain:
        yield isolated_environment(domain)


@pytest.mark.parametrize('name', NEEDS)
def test_what_is_missing_is_named(name, tmp_path, environment):
    """Before anything is started, with the command that installs it."""
    arguments, packages = NEEDS[name]
    if not why_not_installed(*packages):
        pytest.skip(f'{", ".join(packages)} is installed: test/simulators tries it')
    with launched(name, arguments, tmp_path, environment) as launch:
        assert launch.exit_code(60.0) == 1
        assert 'is not installed' in launch.text()
        assert 'sudo apt install ros-$ROS_DISTRO-' in launch.text()
        assert 'process started' not in launch.text()


@pytest.mark.parametrize('name, arguments, reason', REFUSED.values(), ids=REFUSED)
def test_wrong_arguments_are_refused(name, arguments, reason, tmp_path, environment):
    """Before anything is started, with what would be right."""
    with launched(name, arguments, tmp_path, environment) as launch:
        assert launch.exit_code(60.0) == 1
        assert reason in launch.text()
        assert 'process started' not in launch.text()


def test_two_arms_stand_side_by_side(tmp_path):
    """Two simulated robots in two namespaces, one with a prefix; each runner knows its own."""
    heard = {}
    with own_graph(tmp_path) as graph:
        folders = {side: tmp_path / side for side in ('left', 'right')}
        for side, folder in folders.items():
            folder.mkdir()
            heard[side] = graph.hear(JointState, f'/{side}/joint_states')
            heard[f'{side} state'] = graph.hear(
                DiagnosticArray, f'/{side}/experiment_runner/state', LATCHED
            )
        arguments = {'launch_coordinator': 'false'}
        with launched(
            'experiment', {**arguments, 'namespace': 'left', 'tf_prefix': 'left_'},
            folders['left'], graph.environment,
        ) as left, launched(
            'experiment', {**arguments, 'namespace': 'right'}, folders['right'],
            graph.environment,
        ) as right:
            for name in heard:
                wait_until(lambda name=name: heard[name], f'a message of {name}', 60.0)
            assert all(joint.startswith('left_') for joint in heard['left'][0].name)
            assert not any(joint.startswith('left_') for joint in heard['right'][0].name)
            for side in folders:
                assert state_in(heard[f'{side} state'][-1])['state'] == 'IDLE'
            wanted = {(name, f'/{side}') for name in NODES for side in folders}
            wait_until(
                lambda: wanted <= set(graph.node.get_node_names_and_namespaces()),
                'the nodes of both arms', 60.0,
            )
            # Neither robot has taken the other for a foreign one, which would end it.
            for launch in (left, right):
                assert 'process has died' not in launch.text()
                assert launch.interrupt() == 0
                assert 'Traceback' not in launch.text()


@pytest.mark.timeout(2.0 * LONGEST)
@pytest.mark.parametrize('rate, clock', [('1.0', 'false'), ('10.0', 'true'), ('50.0', 'false')])
def test_a_replayed_bag_gives_the_model_of_the_bag(rate, clock, tmp_path, environment):
    """By `ros2 bag play`, to the last bit: no message is lost, at the beginning least of all."""
    reason = why_not_installed('ros2bag', 'rosbag2_storage_mcap')
    if reason:
        pytest.skip(reason)
    bag, expected = tmp_path / 'bag', tmp_path / 'expected'
    for command in (
        ['simulate', '--trajectory', FIXTURES / 'motions' / 'ur5_0.yaml', '-o', bag],
        ['identify', bag, '--effort-unit', 'A', '-o', expected],
    ):
        subprocess.run(
            ['robot-identification', *command, '--robot', 'ur5'], check=True, timeout=LONGEST
        )
    arguments = {
        'bag': bag, 'rate': rate, 'clock': clock, 'effort_unit': 'A',
        'launch_predictor': 'true', 'model_file': expected / 'identified_model.yaml',
    }
    with launched('replay', arguments, tmp_path, environment) as launch:
        assert launch.exit_code(LONGEST) == 0
        assert 'Traceback' not in launch.text()
        assert 'process has died' not in launch.text()
    models = [
        load_model(folder / 'identified_model.yaml') for folder in (tmp_path / 'result', expected)
    ]
    np.testing.assert_array_equal(*(model.theta_base for model in models))
