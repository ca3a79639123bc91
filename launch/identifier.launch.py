# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the identifier; ask it with its ~/identify service."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def value(name, kind=str):
    """Return an argument as a parameter of one type, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([
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
            description='Namespace of the node, so that several arms can stand side by side.',
        ),
        DeclareLaunchArgument(
            'tf_prefix',
            default_value='',
            description='Put before every joint name, as the driver does.',
        ),
        DeclareLaunchArgument(
            'bags',
            default_value='[""]',
            description='Bags to identify from, as a YAML list.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='result',
            description='Folder for model, report and results.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the bag or the robot YAML says.',
        ),
        DeclareLaunchArgument(
            'drive_gains',
            default_value='[0.0]',
            description='Joint torque per motor current [N m/A], as a YAML list in kinematic '
            'order; [0.0]: those of the robot YAML.',
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
        Node(
            package='robot_identification',
            executable='identifier',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'tf_prefix': value('tf_prefix'),
                'drive_gains': value('drive_gains', list[float]),
                'identify.bags': value('bags', list[str]),
                'identify.output': value('output'),
                'identify.effort_unit': value('effort_unit'),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
