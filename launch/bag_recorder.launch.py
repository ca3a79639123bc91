# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the bag recorder; it records between ~/start and ~/stop."""

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
            'namespace',
            default_value='',
            description='Namespace of the node, so that several arms can stand side by side.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='bag',
            description='Folder of the bag; it must not exist.',
        ),
        DeclareLaunchArgument(
            'topics',
            default_value='["joint_states"]',
            description='Topics that must be there, as a YAML list.',
        ),
        DeclareLaunchArgument(
            'robot',
            default_value='',
            description='Name of the robot, noted in the bag.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort, noted in the bag; empty: not known.',
        ),
        DeclareLaunchArgument(
            'serial',
            default_value='',
            description='Serial number of the robot, noted in the bag.',
        ),
        DeclareLaunchArgument(
            'payload_note',
            default_value='',
            description='What the flange carries, in words, noted in the bag.',
        ),
        DeclareLaunchArgument(
            'until_runner_ends',
            default_value='false',
            choices=['true', 'false'],
            description='Close the bag by itself when the experiment runner has finished.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
        ),
        DeclareLaunchArgument(
            'allowed_write_roots',
            default_value='[""]',
            description='Folders below which files may be written, as a YAML list; [""]: as read.',
        ),
        Node(
            package='robot_identification',
            executable='bag_recorder',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'start.output': value('output'),
                'start.topics': value('topics', list[str]),
                'start.robot': value('robot'),
                'start.effort_unit': value('effort_unit'),
                'start.serial': value('serial'),
                'start.payload': value('payload_note'),
                'start.until_runner_ends': value('until_runner_ends', bool),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
