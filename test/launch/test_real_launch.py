# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The launch files by the real `ros2 launch`, in a workspace with this package."""

import os
from pathlib import Path
import re
import signal
import subprocess

from diagnostic_msgs.msg import DiagnosticArray
from launching import launched, package_prefix, why_not_installed, why_not_launchable
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from robot_identification.cli.processes import isolated_environment, own_domain
from robot_identification.files import dump_yaml
from robot_identification.model.model_file import load_model
from ros_helpers import LATCHED, own_graph, state_in, wait_until
from sensor_msgs.msg import JointState

FIXTURES = Path(__file__).parents[1] / 'fixtures'
NODES = (
    'simulated_robot', 'trajectory_generator', 'experiment_runner', 'bag_recorder', 'identifier',
    'torque_predictor',
)
BESIDE = ('friction_tester', 'rtde_reader')
# For a whole experiment on a machine that does something else as well [s].
LONGEST = 600.0
# Who starts a driver, with an argument that it cannot do without, and what is missing here.
NEEDS = {
    'ur_robot': ({'launch_driver': 'true', 'robot_ip': '192.0.2.1'}, ['ur_robot_driver']),
    'mock_hardware': ({}, ['ur_robot_driver']),
    'gazebo': ({}, ['ur_simulation_gz']),
    'ursim': ({}, ['ur_client_library', 'ur_robot_driver']),
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
        'ursim', {'ur_type': 'ur5e'}, 'give a version 5.x.y, or latest',
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


@pytest.mark.parametrize('name', NODES + BESIDE)
def test_every_node_runs_with_its_parameter_file(name, tmp_path):
    """By `ros2 run`, in a namespace; one Ctrl-C ends it."""
    file = package_prefix('robot_identification') / (
        f'share/robot_identification/config/nodes/{name}.yaml'
    )
    with own_graph(tmp_path) as graph, (tmp_path / 'log').open('w+') as log:
        process = subprocess.Popen(
            ['ros2', 'run', 'robot_identification', name, '--ros-args', '--params-file', file,
             '-r', '__ns:=/left'],
            env=graph.environment, stdout=log, stderr=log, start_new_session=True,
        )
        try:
            wait_until(
                lambda: (name, '/left') in graph.node.get_node_names_and_namespaces(),
                f'the node {name}', 60.0,
            )
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60.0)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        log.seek(0)
        assert 'Traceback' not in log.read()


def test_what_is_typed_wins_over_the_file(tmp_path):
    """And the file over defaults; another topic of joint states is subscribed to."""
    file = tmp_path / 'parameters.yaml'
    file.write_text(dump_yaml({'/**/torque_predictor': {
        'ros__parameters': {'tf_prefix': 'filed_', 'feed_forward': 'gravity'},
    }}))
    arguments = {
        'params_file': file, 'tf_prefix': 'typed_', 'namespace': 'left',
        'joint_states': '/arm/joint_states',
    }
    with own_graph(tmp_path) as graph, launched(
        'torque_predictor', arguments, tmp_path, graph.environment
    ) as launch:
        answer = graph.answer(graph.request(
            GetParameters, '/left/torque_predictor/get_parameters',
            GetParameters.Request(names=['tf_prefix', 'feed_forward', 'payload']),
        ))
        assert [parameter_value_to_python(value) for value in answer.values] == [
            'typed_', 'gravity', False,
        ]
        wait_until(
            lambda: graph.node.get_subscriptions_info_by_topic('/arm/joint_states'),
            'the subscription', 60.0,
        )
        assert launch.interrupt() == 0
        assert 'Traceback' not in launch.text()


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
def test_the_experiment_runs_and_ends_by_itself(tmp_path, environment):
    """Two recordings, a model and a report; all processes have ended well."""
    arguments = {'use_sim_time': 'true', 'real_time_factor': '4.0', 'output': 'output'}
    with launched('experiment', arguments, tmp_path, environment) as launch:
        assert launch.exit_code(LONGEST) == 0
        output = tmp_path / 'output'
        model = load_model(output / 'result' / 'identified_model.yaml')
        assert model.robot.name == 'ur5'
        assert (output / 'result' / 'report.html').is_file()
        for number in (1, 2):
            assert (output / f'bag_{number}' / 'metadata.yaml').is_file()
        assert 'Traceback' not in launch.text()
        assert 'process has died' not in launch.text()


@pytest.mark.timeout(2.0 * LONGEST)
def test_ctrl_c_ends_the_experiment(tmp_path, environment):
    """The arm is brought to rest, and no node needs a second signal."""
    arguments = {'use_sim_time': 'true', 'real_time_factor': '4.0', 'output': 'output'}
    with launched('experiment', arguments, tmp_path, environment) as launch:
        launch.wait_for('EXECUTING', LONGEST)
        launch.interrupt()
        text = launch.text()
        # The coordinator hears of it, too, and calls ~/abort: either may be the first.
        assert re.search(r'at rest after: (interrupted|aborted by a call)', text)
        assert 'NOT verified' not in text
        assert 'failed to terminate' not in text
        assert 'Traceback' not in text


@pytest.mark.timeout(2.0 * LONGEST)
def test_the_temperature_study_makes_one_bag_a_run(tmp_path, environment):
    """On a simulated robot that warms up fast, ended by the number of runs."""
    arguments = {
        'use_sim_time': 'true', 'real_time_factor': '4.0', 'warm_up': '50.0',
        'maximum_runs': '2', 'output': 'study',
    }
    with launched('temperature_study', arguments, tmp_path, environment) as launch:
        assert launch.exit_code(LONGEST) == 0
        assert len(list((tmp_path / 'study').glob('*/metadata.yaml'))) == 2
        assert 'process has died' not in launch.text()


def test_beside_a_driver_nothing_arms_by_itself(tmp_path):
    """The nodes come up without a simulated robot; the runner is a dry run, and stays idle."""
    with own_graph(tmp_path) as graph:
        states = graph.hear(DiagnosticArray, 'experiment_runner/state', LATCHED)
        arguments = {'ur_type': 'ur5', 'launch_coordinator': 'false'}
        with launched('ur_robot', arguments, tmp_path, graph.environment) as launch:
            wait_until(lambda: states, 'the state of the runner', 60.0)
            content = state_in(states[-1])
            assert (content['state'], content['dry_run']) == ('IDLE', 'true')
            nodes = graph.node.get_node_names()
            assert 'simulated_robot' not in nodes and 'experiment_coordinator' not in nodes
            assert not graph.call('experiment_runner/arm').success
            assert launch.interrupt() == 0


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
