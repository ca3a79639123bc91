# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start our nodes for a Universal Robots arm, next to its driver or together with it.

Nothing here arms the runner: an operator does, for each execution, after looking at the
trajectory.
"""

from launch import LaunchDescription
from launch.actions import LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from robot_identification.nodes.foreign_arguments import choose_effort, EFFORT_CHOICE
from robot_identification.nodes.launch_files import (
    Argument, arguments, BESIDE_DRIVER, declare, declared_by, include,
    include_declared, passed_on, require_package, start, unit_of_robot, values_of,
)

# Of mock hardware, where the driver requires an address and does not use it.
NO_ADDRESS = '0.0.0.0'

OF_EXPERIMENT = (
    *BESIDE_DRIVER, 'namespace', 'watch_safety', 'serial', 'payload', 'effort_unit',
    'drive_gains', 'use_sim_time',
)
RTDE = (
    Argument('robot_ip', '', 'Address of the robot; required to start its driver, and to read by '
             'RTDE.'),
    Argument('port', '30004', 'TCP port of the RTDE interface.', int),
    Argument('frequency', '0.0', 'Sampling rate of RTDE [Hz]; 0.0: that of the robot.', float),
    Argument('keys', '["joint_temperatures", "target_current", "target_moment", "actual_current"]',
             'Fields to publish, as RTDE names them, as a YAML list.', list[str]),
    Argument('required_keys', '', 'Those of the keys without which nothing is read, as a '
             'YAML list.', list[str]),
    Argument('reconnect_period', '1.0', 'Pause before the first attempt to reconnect by RTDE [s].',
             float),
)
ARGUMENTS = arguments(
    *OF_EXPERIMENT, *RTDE,
    Argument('launch_driver', 'false', 'Start ur_robot_driver, too; false: it runs already.',
             bool),
    Argument('launch_rtde_reader', 'true', 'Read joint temperatures, target currents and torques '
             'from robot_ip, next to the driver; without robot_ip nothing is read.', bool),
    Argument('headless_mode', 'false', 'Of the driver: it sends the program itself; false: start '
             'External Control on the pendant.', bool),
    Argument('use_mock_hardware', 'false', 'Of the driver (on Humble use_fake_hardware): no '
             'robot, states mirror the commands; effort is zero.', bool),
    'initial_joint_controller',
    ur_type='ur5e',
)


def check_driver(robot_ip, namespace, mock):
    """Raise RuntimeError if ur_control.launch.py has no robot, or is to run in a namespace."""
    if not robot_ip:
        raise RuntimeError(
            'robot_ip is not set: give the address of the robot, or launch_driver:=false where '
            'its driver runs already'
        )
    if robot_ip == NO_ADDRESS and not mock:
        raise RuntimeError(
            f'robot_ip:={NO_ADDRESS} is the address of no robot: give that of yours, or '
            'use_mock_hardware:=true'
        )
    if namespace:
        raise RuntimeError(
            f'namespace:={namespace} with launch_driver:=true: ur_control.launch.py of '
            'ur_robot_driver does not start in a namespace; start the driver there yourself and '
            'give launch_driver:=false'
        )


def start_driver(context):
    """Return the driver, with the arguments that the installed one declares."""
    given = values_of(context, 'ur_type', 'robot_ip', 'namespace', 'tf_prefix', 'headless_mode',
                      'use_mock_hardware', 'initial_joint_controller', 'effort_unit')
    mock = given['use_mock_hardware'] == 'true'
    check_driver(given['robot_ip'], given.pop('namespace'), mock)
    require_package(
        context, 'ur_robot_driver',
        '`sudo apt install ros-$ROS_DISTRO-ur-robot-driver` or source the workspace that has it; '
        'ur_robot.launch.py launch_driver:=false needs none',
    )
    declared = declared_by(context, 'ur_robot_driver', 'ur_control.launch.py')
    unit = given.pop('effort_unit')
    notes = []
    if not mock:
        chosen, note = choose_effort(
            declared, given['ur_type'], unit or unit_of_robot(given['ur_type']),
            context.launch_configurations.get(EFFORT_CHOICE),
        )
        given |= chosen
        notes = [LogInfo(msg=f'ur_robot_driver: {note}.')]
    # Any argument of the driver's own launch file can be given to this one. RViz is started with
    # our layout.
    return [*notes, include_declared(declared, {**given, 'launch_rviz': 'false'})]


def generate_launch_description():
    """Return the driver, our nodes and their arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(
            function=start_driver,
            condition=IfCondition(LaunchConfiguration('launch_driver')),
        ),
        start(
            'rtde_reader', arguments('namespace', 'use_sim_time', 'params_file', *RTDE),
            condition=IfCondition(LaunchConfiguration('launch_rtde_reader')),
        ),
        include('experiment.launch.py', use_sim='false', **passed_on(OF_EXPERIMENT)),
    ])
