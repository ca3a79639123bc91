# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start a Universal Robots arm in Gazebo by ur_simulation_gz, and our nodes.

Time comes from /clock and effort is in N m: the torque on the links, without friction and rotors.
"""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction,
)
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


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
    Refuse to start where the simulation is not installed.

    Raises
    ------
    RuntimeError
        With the command that installs it.

    """
    try:
        FindPackageShare('ur_simulation_gz').perform(context)
    except LookupError as error:
        raise RuntimeError(
            'ur_simulation_gz is not installed: `sudo apt install '
            'ros-$ROS_DISTRO-ur-simulation-gz` or source the workspace that has it; '
            'experiment.launch.py simulates a robot without it'
        ) from error


def gazebo():
    """Return the simulation's own launch file; any argument of it can be given to this one."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([
                FindPackageShare('ur_simulation_gz'), 'launch', 'ur_sim_control.launch.py'
            ]),
            launch_arguments={
                **passed_on('ur_type', 'gazebo_gui', 'world_file'),
                # It goes into a command line, where nothing at all would be no value.
                'tf_prefix': ['"', LaunchConfiguration('tf_prefix'), '"'],
                # RViz comes with our layout.
                'launch_rviz': 'false',
            }.items(),
        )],
        scoped=True,
    )


def generate_launch_description():
    """Return simulation, nodes and their arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'ur_type',
            default_value='ur5e',
            description='Type of the robot, as the driver names it; a known robot here, too.',
        ),
        DeclareLaunchArgument(
            'gazebo_gui',
            default_value='false',
            choices=['true', 'false'],
            description='Open the window of Gazebo.',
        ),
        DeclareLaunchArgument(
            'world_file',
            default_value='empty.sdf',
            description='World of Gazebo; one with another gravity stands for another mounting.',
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
        OpaqueFunction(function=check_installed),
        gazebo(),
        include(
            'experiment.launch.py',
            use_sim='false',
            use_sim_time='true',
            effort_unit='Nm',
            # It has no modes, and carries nothing.
            watch_safety='false',
            payload='[0.0]',
            serial='gazebo',
            **passed_on(
                'ur_type', 'mounting', 'tf_prefix', 'experiment', 'output', 'trajectory_file',
                'program', 'launch_coordinator', 'dry_run', 'ladder', 'periods', 'speed',
                'controller', 'interface', 'model_file', 'launch_rviz', 'allowed_read_roots',
                'allowed_write_roots',
            ),
        ),
    ])
