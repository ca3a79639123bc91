# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the torque predictor beside a driver, or beside a bag being played."""

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
            'tf_prefix',
            default_value='',
            description='Put before every joint name, as the driver does.',
        ),
        DeclareLaunchArgument(
            'model_file',
            default_value='',
            description='identified_model.yaml; may also be set as a parameter later.',
        ),
        DeclareLaunchArgument(
            'collision_file',
            default_value='',
            description='What `robot-identification collision` wrote for the model; empty: '
            'nothing counts as touched.',
        ),
        DeclareLaunchArgument(
            'friction_reference',
            default_value='',
            description='File that keeps what friction health compares with; empty: learned at '
            'every start.',
        ),
        DeclareLaunchArgument(
            'feed_forward',
            default_value='off',
            choices=['off', 'gravity', 'kinetic', 'break_away'],
            description='What ~/feed_forward holds: gravity, and friction in the direction of '
            'the velocity on ~/reference.',
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
            description='Folders below which friction_reference may be, as a YAML list; [""]: '
            'as read.',
        ),
        Node(
            package='robot_identification',
            executable='torque_predictor',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'tf_prefix': value('tf_prefix'),
                'model_file': value('model_file'),
                'collision_file': value('collision_file'),
                'friction_reference': value('friction_reference'),
                'feed_forward': value('feed_forward'),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
