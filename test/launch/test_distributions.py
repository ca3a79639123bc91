# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Every launch file by `ros2 launch` against driver and simulation of each distribution.

    ROBOT_IDENTIFICATION_UR_STACKS=~/stacks pytest test/launch/test_distributions.py

Executables are stand-ins that note what they were given: see ur_stacks.py.
"""

import os
import re
import shlex
import socket
import threading

from launch_descriptions import ROOT
from launching import why_no_launch
import pytest
from robot_identification.model.registry import load_robot
from robot_identification.rtde.dashboard import PORT
from ros_helpers import own_graph
from std_srvs.srv import Trigger
from ur_stacks import checkouts_of, DISTRIBUTIONS, Stack, why_no_stack
import yaml

# The heading of the table in docs/launch.md.
HEADING = '## Distributions'
WORKS = 'works'
# Our nodes beside a driver, and what each may be asked for by an operator.
OURS = ('bag_recorder', 'experiment_runner', 'identifier', 'trajectory_generator')
PREFIX = 'left_'
# By distribution, where it is not the same in all.
MOCK = {'humble': 'use_fake_hardware'}
REAL_CONTROL = {'humble': 'ur_ros2_control_node'}
ROBOT_IP = '192.0.2.1'
# What a launch file refuses, by what a user reads in the table.
REFUSED = {
    'ur_robot.launch.py effort_unit:=Nm': (
        'ur_robot', {'launch_driver': 'true', 'robot_ip': ROBOT_IP, 'effort_unit': 'Nm'},
        DISTRIBUTIONS, 'declares no use_currents_as_efforts',
    ),
    'gazebo.launch.py tf_prefix:=left_': (
        'gazebo', {'tf_prefix': PREFIX}, ('humble',), 'declares no argument tf_prefix',
    ),
}


@pytest.fixture(params=DISTRIBUTIONS)
def distribution(request):
    reason = why_no_launch() or why_no_stack(request.param)
    if reason:
        pytest.skip(reason)
    return request.param


@pytest.fixture
def stack(distribution, tmp_path):
    """Return the packages of the distribution, with stand-ins for their executables."""
    return Stack(tmp_path, checkouts_of(distribution))


def controllers_of(path):
    manager = yaml.safe_load(path.read_text())['controller_manager']['ros__parameters']
    return {name: given['type'] for name, given in manager.items() if isinstance(given, dict)}


def spawned(started):
    return {
        word for one in started['spawner'] if '--inactive' not in one.arguments
        for word in one.arguments if word.endswith('_controller')
    }


def check_motion_controller(started, stack):
    """One controller of trajectories is active at the start, of a class that exists there."""
    known = controllers_of(stack.prefix / 'share/ur_robot_driver/config/ur_controllers.yaml')
    active = [name for name in spawned(started) if name.endswith('trajectory_controller')]
    assert len(active) == 1
    assert known[active[0]].endswith('JointTrajectoryController')


def test_the_driver_is_started_for_the_robot(distribution, stack):
    """With the controller that it has by default, and with arguments of its own."""
    arguments = {
        'launch_driver': 'true', 'robot_ip': ROBOT_IP, 'ur_type': 'ur10e', 'tf_prefix': PREFIX,
        'headless_mode': 'true', 'reverse_port': '50011', 'serial': '2019300001',
    }
    control = REAL_CONTROL.get(distribution, 'ros2_control_node')
    with stack.launched('ur_robot', arguments) as launch:
        started = stack.wait_for(launch, control, 'spawner', 'xacro', 'rtde_reader', *OURS)
        assert 'effort is motor current [A]' in launch.text()
    description = started['xacro'][0]
    for name, value in (
        ('robot_ip', ROBOT_IP), ('ur_type', 'ur10e'), ('tf_prefix', PREFIX),
        ('headless_mode', 'true'), ('reverse_port', '50011'),
        (MOCK.get(distribution, 'use_mock_hardware'), 'false'),
    ):
        assert description.option(name) == value
    check_motion_controller(started, stack)
    assert 'rviz2' not in started
    runner = started['experiment_runner'][0]
    for name, value in (
        ('robot', 'ur10e'), ('tf_prefix', PREFIX), ('dry_run', True), ('commissioning', True),
        ('watch_safety', True), ('serial', '2019300001'), ('controller', ''),
    ):
        assert runner.parameter(name) == value
    assert started['rtde_reader'][0].parameter('robot_ip') == ROBOT_IP


def test_another_controller_may_be_the_first(distribution, stack):
    """One that every driver has; of others the choices are named."""
    arguments = {'launch_driver': 'true', 'robot_ip': ROBOT_IP}
    with stack.launched(
        'ur_robot', {**arguments, 'initial_joint_controller': 'joint_trajectory_controller'},
    ) as launch:
        started = stack.wait_for(launch, 'spawner', 'experiment_runner')
        check_motion_controller(started, stack)
        assert 'joint_trajectory_controller' in spawned(started)
    with stack.launched(
        'ur_robot', {**arguments, 'initial_joint_controller': 'no_controller'},
    ) as launch:
        assert launch.exit_code(60.0) == 1
        text = launch.text()
        assert 'initial_joint_controller:=no_controller: ur_control.launch.py of ' in text
        assert 'takes ' in text and 'forward_velocity_controller' in text


def test_mock_hardware_starts_no_real_driver(distribution, stack):
    """Whatever its argument is called: no process of the driver knows of a robot."""
    with stack.launched('mock_hardware', {'ur_type': 'ur5e'}) as launch:
        started = stack.wait_for(
            launch, 'ros2_control_node', 'spawner', 'xacro', 'robot_state_publisher', *OURS,
        )
    description = started['xacro'][0]
    assert description.option(MOCK.get(distribution, 'use_mock_hardware')) == 'true'
    assert started['ros2_control_node'][0].package == 'controller_manager'
    for name in ('ur_ros2_control_node', 'dashboard_client', 'robot_state_helper', 'rtde_reader',
                 'urscript_interface', 'controller_stopper_node'):
        assert name not in started
    check_motion_controller(started, stack)
    runner = started['experiment_runner'][0]
    assert runner.parameter('watch_safety') is False and runner.parameter('dry_run') is True


def test_gazebo_is_started_with_a_controller_that_exists(distribution, stack):
    """Of a class that the controllers of that distribution have."""
    with stack.launched('gazebo', {}) as launch:
        started = stack.wait_for(launch, 'gz', 'create', 'spawner', 'xacro', *OURS)
    controllers = started['xacro'][0].option('simulation_controllers')
    types = controllers_of(stack.prefix / controllers)
    chosen = next(name for name in spawned(started) if name.endswith('trajectory_controller'))
    package = types[chosen].partition('/')[0]
    plugins = (checkouts_of(distribution)['ur_controllers'] / 'controller_plugins.xml').read_text()
    assert package != 'ur_controllers' or types[chosen] in plugins
    # Without a window; Humble's file runs its own words together.
    world = started['gz'][0].arguments[-1]
    assert world.strip().startswith('-s') and world.endswith('empty.sdf')
    for name in OURS:
        assert started[name][0].parameter('use_sim_time') is True
    assert started['bag_recorder'][0].parameter('start.effort_unit') == 'Nm'


def test_gazebo_with_a_prefix_controls_the_prefixed_joints(distribution, stack):
    """The description and the controllers agree on the names of the joints."""
    if distribution in REFUSED['gazebo.launch.py tf_prefix:=left_'][2]:
        pytest.skip('refused: see the test of what is refused')
    with stack.launched('gazebo', {'tf_prefix': PREFIX}) as launch:
        started = stack.wait_for(launch, 'create', 'spawner', 'xacro', *OURS)
    description = started['xacro'][0]
    assert description.option('tf_prefix') == PREFIX
    joints = [f'{PREFIX}{name}' for name in load_robot('ur5e').joint_names]
    own = yaml.safe_load(
        (stack.prefix / 'share/ur_simulation_gz/config/ur_controllers.yaml').read_text()
    )
    written = yaml.safe_load(
        (stack.prefix / description.option('simulation_controllers')).read_text()
    )
    assert written.keys() == own.keys()
    assert written['controller_manager'] == own['controller_manager']
    for name in own.keys() - {'controller_manager'}:
        given = written[name]['ros__parameters']
        if 'joints' in given:
            assert given['joints'] == joints
        for key, limits in given.get('constraints', {}).items():
            assert not isinstance(limits, dict) or key in joints
    assert started['experiment_runner'][0].parameter('tf_prefix') == PREFIX


@pytest.fixture
def dashboard():
    """Yield the address of a dashboard server, and what lets its controller come up."""
    up = threading.Event()
    # One of the addresses of this machine, which no other test listens to.
    address = f'127.{os.getpid() >> 14 & 127}.{os.getpid() >> 7 & 127}.{1 + (os.getpid() & 127)}'
    with socket.create_server((address, PORT)) as server:
        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile('rw', newline='\n') as stream:
                    stream.write('Connected: Universal Robots Dashboard Server\n')
                    stream.flush()
                    assert stream.readline() == 'robotmode\n'
                    mode = 'POWER_OFF' if up.is_set() else 'NO_CONTROLLER'
                    stream.write(f'Robotmode: {mode}\n')
                    stream.flush()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield address, up
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10.0)


def test_ursim_is_waited_for(distribution, stack, dashboard):
    """The driver starts once the controller of URSim is up, whatever else is installed."""
    address, up = dashboard
    arguments = {'ur_type': 'ur5', 'robot_ip': address}
    control = REAL_CONTROL.get(distribution, 'ros2_control_node')
    with stack.launched('ursim', arguments) as launch:
        launch.wait_for('waiting for the dashboard server')
        assert set(stack.wait_for(launch, 'start_ursim.sh')) == {'start_ursim.sh'}
        up.set()
        launch.wait_for('URSim answers')
        started = stack.wait_for(launch, control, 'xacro', 'spawner', *OURS)
    assert started['start_ursim.sh'][0].arguments == ['-m', 'ur5', '-v', '3.15.8']
    assert started['xacro'][0].option('robot_ip') == address
    assert started['xacro'][0].option('headless_mode') == 'true'


@pytest.mark.parametrize('success', [True, False])
def test_the_replay_is_listened_to_played_and_identified(success, stack, tmp_path):
    """In this order; a service that refuses ends all, and the exit code says so."""
    order = []
    with own_graph(tmp_path) as graph:
        for verb in ('listen', 'identify'):
            def answer(request, response, verb=verb):
                order.append((verb, [one.executable for one in stack.started()].count('ros2')))
                response.success = success or verb == 'listen'
                return response

            graph.node.create_service(Trigger, f'/left/identifier/{verb}', answer)
        (stack.folder / 'a bag').mkdir()
        arguments = {'bag': 'a bag', 'clock': 'true', 'rate': '2.0', 'namespace': 'left'}
        with stack.launched('replay', arguments, graph.environment) as launch:
            assert launch.exit_code(60.0) == (0 if success else 1)
    assert order == [('listen', 0), ('identify', 1)]
    played, = (one.arguments for one in stack.started() if one.executable == 'ros2')
    profile = stack.prefix / 'share/robot_identification/config/nodes/joint_states_qos.yaml'
    assert played == [
        'bag', 'play', 'a bag', '--rate', '2.0', '--delay', '5', '--wait-for-all-acked', '10000',
        '--qos-profile-overrides-path', str(profile),
        '--clock', '100', '--remap', '/joint_states:=/left/joint_states',
    ]


def test_a_bag_that_is_not_there_is_refused(tmp_path):
    """With the folder in which it was looked for."""
    if why_no_launch():
        pytest.skip(why_no_launch())
    stack = Stack(tmp_path, {})
    with stack.launched('replay', {'bag': 'monday'}) as launch:
        assert launch.exit_code(60.0) == 1
        assert f'bag:=monday: no such file or folder in {stack.folder}' in launch.text()
        assert stack.started() == []


@pytest.mark.parametrize('case', REFUSED)
def test_a_refusal_names_what_to_do(case, distribution, stack):
    """Before anything is started."""
    name, arguments, distributions, reason = REFUSED[case]
    if distribution not in distributions:
        pytest.skip('not refused there')
    with stack.launched(name, arguments) as launch:
        assert launch.exit_code(60.0) == 1
        assert reason in launch.text()
        assert stack.started() == []


def test_the_page_says_the_same():
    """A row for every case and a column for every distribution."""
    page = (ROOT / 'docs' / 'launch.md').read_text()
    rows = [
        [cell.strip() for cell in line.strip('|').split('|')]
        for line in page.partition(HEADING)[2].partition('\n## ')[0].splitlines()
        if line.startswith('|')
    ]
    assert rows[0][1:] == list(DISTRIBUTIONS)
    cases = {row[0].strip('`'): row[1:] for row in rows[2:]}
    for case, (_, _, distributions, _) in REFUSED.items():
        said = dict(zip(DISTRIBUTIONS, cases[case], strict=True))
        assert {name for name, text in said.items() if text.startswith('refused')} == set(
            distributions
        )
    for name in ('ur_robot', 'mock_hardware', 'gazebo', 'ursim', 'replay'):
        row = next(cells for case, cells in cases.items()
                   if shlex.split(case) == [f'{name}.launch.py'])
        assert all(re.match(WORKS, text) for text in row)


# A driver that lets the quantity be chosen, as its newest releases do.
CHOOSING_DRIVER = """from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    names = ('ur_type', 'robot_ip', 'headless_mode', 'use_mock_hardware', 'launch_rviz')
    return LaunchDescription([
        *(DeclareLaunchArgument(name) for name in names),
        DeclareLaunchArgument('use_currents_as_efforts', default_value='false'),
        Node(
            package='controller_manager', executable='ros2_control_node',
            arguments=[['currents:=', LaunchConfiguration('use_currents_as_efforts')]],
        ),
    ])
"""


@pytest.fixture
def choosing_stack(tmp_path):
    """Return a stack whose driver declares use_currents_as_efforts."""
    reason = why_no_launch()
    if reason:
        pytest.skip(reason)
    folder = tmp_path / 'ur_robot_driver' / 'launch'
    folder.mkdir(parents=True)
    (folder / 'ur_control.launch.py').write_text(CHOOSING_DRIVER)
    return Stack(tmp_path / 'stack', {'ur_robot_driver': folder.parent})


@pytest.mark.parametrize('unit, currents, words', [
    ('', 'true', 'effort is motor current [A]'), ('A', 'true', 'effort is motor current [A]'),
    ('Nm', 'false', 'effort is joint torque [N m]'),
])
def test_the_quantity_of_the_effort_is_pinned(unit, currents, words, choosing_stack):
    """By the unit; the robot YAML of a UR arm states A."""
    arguments = {'launch_driver': 'true', 'robot_ip': ROBOT_IP}
    arguments |= {'effort_unit': unit} if unit else {}
    with choosing_stack.launched('ur_robot', arguments) as launch:
        started = choosing_stack.wait_for(launch, 'ros2_control_node', *OURS)
        assert words in launch.text()
        assert f'use_currents_as_efforts:={currents}' in launch.text()
    assert started['ros2_control_node'][0].option('currents') == currents
    assert started['bag_recorder'][0].parameter('start.effort_unit') == unit


def test_a_contradiction_is_refused(choosing_stack):
    """The argument of the driver, given against the unit."""
    arguments = {
        'launch_driver': 'true', 'robot_ip': ROBOT_IP, 'use_currents_as_efforts': 'false',
    }
    with choosing_stack.launched('ur_robot', arguments) as launch:
        assert launch.exit_code(60.0) == 1
        assert 'use_currents_as_efforts:=false contradicts effort_unit A' in launch.text()
        assert choosing_stack.started() == []
