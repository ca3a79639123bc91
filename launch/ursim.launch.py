# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start URSim in its container, then ur_robot_driver for it, and our nodes.

The container comes from start_ursim.sh of ur_client_library and needs docker. The simulated robot
is powered on by hand, in its own interface or by the dashboard's services.
"""

import shutil

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, ExecuteProcess, GroupAction, IncludeLaunchDescription, LogInfo,
    OpaqueFunction, RegisterEventHandler, Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackagePrefix, FindPackageShare

# Where start_ursim.sh puts it.
ADDRESS = '192.168.56.101'


def include(name, condition=None, **arguments):
    """Return one of the launch files beside this one, with arguments that stay its own."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([FindPackageShare('robot_identification'), 'launch', name]),
            launch_arguments=arguments.items(),
        )],
        scoped=True,
        condition=condition,
    )


def passed_on(*names):
    """Return arguments for an included file that declares them by the same names."""
    return {name: LaunchConfiguration(name) for name in names}


def check_installed(context):
    """
    Refuse to start where the client library or docker is not installed.

    Raises
    ------
    RuntimeError
        With what is missing.

    """
    for package in ('ur_client_library', 'ur_robot_driver'):
        try:
            FindPackagePrefix(package).perform(context)
        except LookupError as error:
            raise RuntimeError(
                f'{package} is not installed: `sudo apt install ros-$ROS_DISTRO-ur-robot-driver` '
                'or source the workspace that has it'
            ) from error
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
            **passed_on(
                'initial_joint_controller', 'ur_type', 'mounting', 'tf_prefix', 'experiment',
                'output', 'trajectory_file', 'program', 'launch_coordinator', 'dry_run',
                'ladder', 'periods', 'speed', 'controller', 'interface', 'model_file',
                'launch_rviz', 'allowed_read_roots', 'allowed_write_roots', 'effort_unit',
            ),
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
        DeclareLaunchArgument(
            'ur_type',
            default_value='ur5',
            description='Type of the robot, as the driver names it; a known robot here, too.',
        ),
        DeclareLaunchArgument(
            'ursim_version',
            default_value='3.15.8',
            description='Version of PolyScope, a tag of the image universalrobots/ursim_cb3 or '
            'ursim_e-series.',
        ),
        DeclareLaunchArgument(
            'initial_joint_controller',
            default_value='scaled_joint_trajectory_controller',
            description='Of the driver: the controller that is active at the start.',
        ),
        DeclareLaunchArgument(
            'mounting',
            default_value='[0.0, 0.0, 0.0]',
            description='Roll, pitch, yaw of the base in the world [rad], as a YAML list.',
        ),
        DeclareLaunchArgument(
            'tf_prefix',
            default_value='',
            description='Put before every joint name, as the driver does.',
        ),
        DeclareLaunchArgument(
            'experiment',
            default_value='demo',
            description='Experiment file, or the name of a shipped one.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='experiment',
            description='Folder for trajectories, bags and the result.',
        ),
        DeclareLaunchArgument(
            'trajectory_file',
            default_value='',
            description='Certified trajectory; empty: the coordinator has one designed.',
        ),
        DeclareLaunchArgument(
            'program',
            default_value='record',
            choices=['excitation', 'record', 'static_poses', 'payload', 'temperature'],
            description='What the coordinator goes through.',
        ),
        DeclareLaunchArgument(
            'launch_coordinator',
            default_value='false',
            choices=['true', 'false'],
            description='Start the coordinator, which calls all services but ~/arm in order.',
        ),
        DeclareLaunchArgument(
            'dry_run',
            default_value='true',
            choices=['true', 'false'],
            description='Check and plan everything, send nothing.',
        ),
        DeclareLaunchArgument(
            'ladder',
            default_value='true',
            choices=['true', 'false'],
            description='Dry run, then slow, then full speed must be on record.',
        ),
        DeclareLaunchArgument(
            'periods',
            default_value='0',
            description='How many periods of the motion; 0: as many as the file has.',
        ),
        DeclareLaunchArgument(
            'speed',
            default_value='1.0',
            description='Share of the planned speed, 0.02 to 1.',
        ),
        DeclareLaunchArgument(
            'controller',
            default_value='',
            description='Name of the trajectory controller; empty: the active one is discovered.',
        ),
        DeclareLaunchArgument(
            'interface',
            default_value='auto',
            choices=['auto', 'action', 'topic'],
            description='How the motion is sent; auto: by action where there is one.',
        ),
        DeclareLaunchArgument(
            'model_file',
            default_value='',
            description='identified_model.yaml for the torque predictor; empty: none yet.',
        ),
        DeclareLaunchArgument(
            'launch_rviz',
            default_value='false',
            choices=['true', 'false'],
            description='Start RViz with the shipped layout.',
        ),
        DeclareLaunchArgument(
            'allowed_read_roots',
            default_value='[""]',
            description='Folders below which files may be read, as a YAML list; [""]: '
            '~/.ros/robot_identification and the working directory.',
        ),
        DeclareLaunchArgument(
            'allowed_write_roots',
            default_value='[""]',
            description='Folders below which files may be written, as a YAML list; [""]: as read.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the robot YAML says.',
        ),
        OpaqueFunction(function=check_installed),
        ursim,
        answering,
        RegisterEventHandler(OnProcessExit(target_action=answering, on_exit=start_nodes)),
    ])
