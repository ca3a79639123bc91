# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start a simulated controller of Universal Robots, then ur_robot_driver for it, and our nodes.

By default the controller is this package's own, whose arm has friction, noise and a known truth;
it stands with its brakes released. With `ursim:=true` it is URSim in its container, which comes
from start_ursim.sh of ur_client_library and needs docker, and is powered on by hand.
"""

import shutil
import sys

from launch import LaunchDescription
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackagePrefix
from robot_identification.nodes.foreign_arguments import check_ursim_version
from robot_identification.nodes.launch_files import (
    after, Argument, arguments, BESIDE_DRIVER, declare, include, passed_on,
    require_package, values_of,
)

OURS = '127.0.0.1'
OF_ROBOT = (*BESIDE_DRIVER, 'initial_joint_controller', 'effort_unit')
ARGUMENTS = arguments(
    *OF_ROBOT,
    Argument('ursim', 'false', 'URSim in its container, in the place of our simulated '
             'controller; its currents have neither friction nor inertia of the links.', bool),
    Argument('truth', 'simulated_truth.yaml', 'File for the hidden parameters of our simulated '
             'arm, by which results can be judged.'),
    Argument('ursim_version', '3.15.8', 'Version of PolyScope, a tag of the image '
             'universalrobots/ursim_cb3 or ursim_e-series.'),
    Argument('robot_ip', OURS, 'Address of the controller; URSim has 192.168.56.101, which '
             'start_ursim.sh gives to its container.'),
    Argument('ursim_timeout', '900.0', 'Longest time for the download of the image and for the '
             'start of the controller [s].', float),
)


def check_installed(context):
    """Raise RuntimeError if client library, driver or docker is missing, or another version."""
    given = values_of(context, 'ur_type', 'ursim', 'ursim_version', 'robot_ip')
    needed = ['ur_robot_driver']
    if given['ursim'] == 'true':
        check_ursim_version(given['ur_type'], given['ursim_version'])
        needed.insert(0, 'ur_client_library')
    for package in needed:
        require_package(
            context, package,
            '`sudo apt install ros-$ROS_DISTRO-ur-robot-driver` or source the workspace that has '
            'it',
        )
    if given['ursim'] == 'true' and shutil.which('docker') is None:
        raise RuntimeError(
            'docker is not installed, and URSim runs in a container: `sudo apt install docker.io`'
        )
    if (given['ursim'] == 'true') == (given['robot_ip'] == OURS):
        raise RuntimeError(
            f'robot_ip:={given["robot_ip"]} with ursim:={given["ursim"]}: our controller is at '
            f'{OURS}, URSim at 192.168.56.101'
        )


def make_controllers(robot_ip, ursim):
    """Return the processes of URSim and of our controller, of which one starts."""
    return [
        ExecuteProcess(
            cmd=[
                PathJoinSubstitution([
                    FindPackagePrefix('ur_client_library'), 'lib', 'ur_client_library',
                    'start_ursim.sh',
                ]),
                '-m', LaunchConfiguration('ur_type'), '-v', LaunchConfiguration('ursim_version'),
            ],
            name='ursim',
            output='screen',
            condition=IfCondition(ursim),
        ),
        ExecuteProcess(
            cmd=[
                sys.executable, '-m', 'robot_identification.cli.main', 'simulate-ur',
                '--robot', LaunchConfiguration('ur_type'), '--listen', robot_ip,
                '--truth', LaunchConfiguration('truth'),
            ],
            name='simulated_controller',
            output='screen',
            condition=UnlessCondition(ursim),
        ),
    ]


def generate_launch_description():
    """Return controller, driver, nodes and their arguments."""
    robot_ip, ursim = LaunchConfiguration('robot_ip'), LaunchConfiguration('ursim')
    controllers = make_controllers(robot_ip, ursim)
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
        *controllers,
        # Each runs as long as it is the controller.
        *(
            after(controller, Shutdown(reason='the controller has ended'))
            for controller in controllers
        ),
        answering,
        after(
            answering,
            LogInfo(
                msg=[
                    'URSim answers: power on and release the brakes at http://', robot_ip,
                    ':6080/vnc.html, or by /dashboard_client/power_on and brake_release.',
                ],
                condition=IfCondition(ursim),
            ),
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
