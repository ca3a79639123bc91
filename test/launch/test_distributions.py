# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Every launch file by `ros2 launch` against driver and simulation of each distribution.

    ROBOT_IDENTIFICATION_UR_STACKS=~/stacks pytest test/launch/test_distributions.py

Executables are stand-ins that note what they were given: see ur_stacks.py.
"""

import re
import shlex

from launch_descriptions import ROOT
from launching import why_no_launch
import pytest
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
