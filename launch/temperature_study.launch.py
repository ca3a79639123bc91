# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Execute one certified trajectory again and again, one bag a run, until the joints are warm.

With use_sim:=true (the default) on a simulated robot whose joints warm up; with use_sim:=false
beside a running driver, where somebody arms the runner.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
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


def generate_launch_description():
    """Return the experiment with the program of a temperature study, and its arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'use_sim',
            default_value='true',
            choices=['true', 'false'],
            description='Start a simulated robot and run the experiment on it.',
        ),
        DeclareLaunchArgument(
            'ur_type',
            default_value='ur5',
            description='Known robot, or path of a robot YAML.',
        ),
        DeclareLaunchArgument(
            'mounting',
            default_value='[0.0, 0.0, 0.0]',
            description='Roll, pitch, yaw of the base in the world [rad], as a YAML list.',
        ),
        DeclareLaunchArgument(
            'namespace',
            default_value='',
            description='Namespace of all nodes, so that several arms can stand side by side.',
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
            default_value='temperature_study',
            description='Folder for trajectories, bags and the result.',
        ),
        DeclareLaunchArgument(
            'trajectory_file',
            default_value='',
            description='Certified trajectory; empty: the coordinator has one designed.',
        ),
        DeclareLaunchArgument(
            'maximum_runs',
            default_value='30',
            description='Of a temperature study: runs at most.',
        ),
        DeclareLaunchArgument(
            'maximum_minutes',
            default_value='60.0',
            description='Of a temperature study: minutes at most.',
        ),
        DeclareLaunchArgument(
            'dry_run',
            default_value='true',
            choices=['true', 'false'],
            description='Check and plan everything, send nothing; the simulated robot moves.',
        ),
        DeclareLaunchArgument(
            'ladder',
            default_value='true',
            choices=['true', 'false'],
            description='Dry run, then slow, then full speed must be on record; the simulated '
            'robot goes without.',
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
            'watch_safety',
            default_value='true',
            choices=['true', 'false'],
            description='Need the safety mode, robot mode and program state of a UR driver.',
        ),
        DeclareLaunchArgument(
            'serial',
            default_value='',
            description='Serial number of the arm; the ladder is climbed for each.',
        ),
        DeclareLaunchArgument(
            'payload',
            default_value='[-1.0]',
            description='Mass [kg] and centre in the tool frame [m] of what the arm carries, '
            '[0.0] for nothing; it must be stated for a real arm.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the robot YAML says.',
        ),
        DeclareLaunchArgument(
            'real_time_factor',
            default_value='1.0',
            description='Of the simulation; other than 1 needs use_sim_time:=true.',
        ),
        DeclareLaunchArgument(
            'warm_up',
            default_value='50.0',
            description='Of the simulation: how many times faster than real joints these warm '
            'up and lose viscous friction.',
        ),
        DeclareLaunchArgument(
            'launch_rviz',
            default_value='false',
            choices=['true', 'false'],
            description='Start RViz with the shipped layout.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
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
        include(
            'experiment.launch.py',
            program='temperature',
            **passed_on(
                'use_sim', 'ur_type', 'mounting', 'namespace', 'tf_prefix', 'experiment',
                'output', 'trajectory_file', 'maximum_runs', 'maximum_minutes', 'dry_run',
                'ladder', 'periods', 'speed', 'controller', 'interface', 'watch_safety',
                'serial', 'payload', 'effort_unit', 'real_time_factor', 'warm_up',
                'launch_rviz', 'use_sim_time', 'allowed_read_roots', 'allowed_write_roots',
            ),
        ),
    ])
