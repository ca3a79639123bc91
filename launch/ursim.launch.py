# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start URSim in its container, then ur_robot_driver for it, and our nodes.

The container comes from start_ursim.sh of ur_client_library and needs docker. The simulated robot
is powered on by hand, in its own interface or by the dashboard's services.
"""

import shutil
import sys

from launch import LaunchDescription
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackagePrefix
from robot_identification.nodes.foreign_arguments import check_ursim_version
from robot_identification.nodes.launch_files import (
    after, Argument, arguments, BESIDE_DRIVER, declare, include, passed_on,
    require_package, values_of,
)

OF_ROBOT = (*BESIDE_DRIVER, 'initial_joint_controller', 'effort_unit')
ARGUMENTS = arguments(
    *OF_ROBOT,
    Argument('ursim_version', '3.15.8', 'Version of PolyScope, a tag of the image '
             'universalrobots/ursim_cb3 or ursim_e-series.'),
    Argument('robot_ip', '192.168.56.101', 'Address of URSim, which start_ursim.sh gives to its '
             'container.'),
    Argument('ursim_timeout', '900.0', 'Longest time for the download of the image and for the '
             'start of URSim [s].', float),
)


def check_installed(context):
    """Raise RuntimeError if client library, driver or docker is missing, or another version."""
    given = values_of(context, 'ur_type', 'ursim_version')
    check_ursim_version(given['ur_type'], given['ursim_version'])
    for package in ('ur_client_library', 'ur_robot_driver'):
        require_package(
            context, package,
            '`sudo apt install ros-$ROS_DISTRO-ur-robot-driver` or source the workspace that has '
            'it',
        )
    if shutil.which('docker') is None:
        raise RuntimeError(
            'docker is not installed, and URSim runs in a container: `sudo apt install docker.io`'
        )


def generate_launch_description():
    """Return URSim, driver, nodes and their arguments."""
    robot_ip = LaunchConfiguration('robot_ip')
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
    answering = ExecuteProcess(
        cmd=[
            sys.executable, '-m', 'robot_identification.rtde.dashboard', robot_ip,
            '--seconds', LaunchConfiguration('ursim_timeout'),
        ],
        name='wait_for_ursim',
        output='screen',
    )
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(function=check_installed),
        ursim,
        # It runs as long as its container.
        after(ursim, Shutdown(reason='URSim has ended')),
        answering,
        after(
            answering,
            LogInfo(msg=[
                'URSim answers: power on and release the brakes at http://', robot_ip,
                ':6080/vnc.html, or by /dashboard_client/power_on and brake_release.',
            ]),
            include(
                'ur_robot.launch.py',
                launch_driver='true',
                headless_mode='true',
                payload='[0.0]',
                serial='ursim',
                **passed_on((*OF_ROBOT, 'robot_ip')),
            ),
        ),
    ])
