# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start URSim in its container, then ur_robot_driver for it, and our nodes.

The container comes from start_ursim.sh of ur_client_library and needs docker. The simulated robot
is powered on by hand, in its own interface or by the dashboard's services.
"""

import shutil

from launch import LaunchDescription
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackagePrefix
from robot_identification.nodes.launch_files import (
    Argument, arguments, BESIDE_DRIVER, declare, include, passed_on, require_package,
)

# Where start_ursim.sh puts it.
ADDRESS = '192.168.56.101'
OF_ROBOT = (*BESIDE_DRIVER, 'initial_joint_controller', 'effort_unit')
ARGUMENTS = arguments(
    *OF_ROBOT,
    Argument('ursim_version', '3.15.8', 'Version of PolyScope, a tag of the image '
             'universalrobots/ursim_cb3 or ursim_e-series.'),
)


def check_installed(context):
    """
    Check that client library, driver and docker are installed.

    Raises
    ------
    RuntimeError
        With what is missing.

    """
    for package in ('ur_client_library', 'ur_robot_driver'):
        require_package(
            context, package,
            '`sudo apt install ros-$ROS_DISTRO-ur-robot-driver` or source the workspace that has '
            'it',
        )
    if shutil.which('docker') is None:
        raise RuntimeError('docker is not installed: URSim runs in a container')


def start_nodes(event, context):
    """Return driver and nodes when URSim answers, else the end."""
    if event.returncode != 0:
        return [Shutdown(reason='URSim does not answer')]
    return [
        LogInfo(
            msg='URSim answers: power on and release the brakes at '
            f'http://{ADDRESS}:6080/vnc.html, or by /dashboard_client/power_on and brake_release.'
        ),
        include(
            'ur_robot.launch.py',
            robot_ip=ADDRESS,
            launch_driver='true',
            headless_mode='true',
            payload='[0.0]',
            serial='ursim',
            **passed_on(OF_ROBOT),
        ),
    ]


def generate_launch_description():
    """Return URSim, driver, nodes and their arguments."""
    ursim = ExecuteProcess(
        cmd=[
            PathJoinSubstitution([
                FindPackagePrefix('ur_client_library'), 'lib', 'ur_client_library',
                'start_ursim.sh',
            ]),
            '-m', LaunchConfiguration('ur_type'), '-v', LaunchConfiguration('ursim_version'),
        ],
        name='ursim',
        output='screen',
    )
    # The driver's own script: it returns as soon as the dashboard server answers.
    answering = ExecuteProcess(
        cmd=[PathJoinSubstitution([
            FindPackagePrefix('ur_robot_driver'), 'bin', 'wait_dashboard_server.sh'
        ])],
        name='wait_for_ursim',
        output='screen',
    )
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(function=check_installed),
        ursim,
        answering,
        RegisterEventHandler(OnProcessExit(target_action=answering, on_exit=start_nodes)),
    ])
