# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start our nodes for a Universal Robots arm, next to its driver or together with it.

Nothing here arms the runner: an operator does, for each execution, after looking at the
trajectory.
"""

from launch import LaunchDescription
from launch.actions import GroupAction, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from robot_identification.nodes.launch_files import (
    Argument, arguments, BESIDE_DRIVER, declare, include, passed_on, require_package,
)

OF_EXPERIMENT = (
    *BESIDE_DRIVER, 'namespace', 'watch_safety', 'serial', 'payload', 'effort_unit',
    'drive_gains', 'use_sim_time',
)
ARGUMENTS = arguments(
    *OF_EXPERIMENT,
    Argument('robot_ip', '', 'Address of the robot; required to start its driver, and to read by '
             'RTDE.'),
    Argument('launch_driver', 'false', 'Start ur_robot_driver, too; false: it runs already.',
             bool),
    Argument('launch_rtde_reader', 'true', 'Read joint temperatures, target currents and torques '
             'from robot_ip, next to the driver; without robot_ip nothing is read.', bool),
    Argument('headless_mode', 'false', 'Of the driver: it sends the program itself; false: start '
             'External Control on the pendant.', bool),
    Argument('use_mock_hardware', 'false', 'Of the driver: no robot, states mirror the commands; '
             'effort is zero.', bool),
    'initial_joint_controller',
    ur_type='ur5e',
)


def check_driver(context):
    """
    Check what ur_control.launch.py requires, before anything starts.

    Raises
    ------
    RuntimeError
        If the driver is not installed, its robot is not named, or it should run in a namespace.

    """
    if not LaunchConfiguration('robot_ip').perform(context):
        raise RuntimeError(
            'robot_ip is not set: give the address of the robot, or launch_driver:=false where '
            'its driver runs already'
        )
    namespace = LaunchConfiguration('namespace').perform(context)
    if namespace:
        raise RuntimeError(
            f'namespace:={namespace} with launch_driver:=true: ur_control.launch.py of '
            'ur_robot_driver does not start in a namespace; start the driver there yourself and '
            'give launch_driver:=false'
        )
    require_package(
        context, 'ur_robot_driver',
        '`sudo apt install ros-$ROS_DISTRO-ur-robot-driver` or source the workspace that has it; '
        'launch_driver:=false needs none',
    )


def generate_launch_description():
    """Return the driver, our nodes and their arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        GroupAction(
            [
                OpaqueFunction(function=check_driver),
                # Any argument of the driver's own launch file can be given to this one.
                include(
                    'ur_control.launch.py',
                    package='ur_robot_driver',
                    # RViz is started with our layout.
                    launch_rviz='false',
                    **passed_on((
                        'ur_type', 'robot_ip', 'tf_prefix', 'headless_mode', 'use_mock_hardware',
                        'initial_joint_controller',
                    )),
                ),
            ],
            condition=IfCondition(LaunchConfiguration('launch_driver')),
        ),
        include(
            'rtde_reader.launch.py',
            IfCondition(LaunchConfiguration('launch_rtde_reader')),
            **passed_on(('namespace', 'robot_ip', 'use_sim_time')),
        ),
        include('experiment.launch.py', use_sim='false', **passed_on(OF_EXPERIMENT)),
    ])
