# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the online estimator beside a driver, or beside a bag being played."""

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
            description='identified_model.yaml of the bare arm; may also be set as a parameter '
            'later.',
        ),
        DeclareLaunchArgument(
            'payload_link',
            default_value='',
            description='Link, fixed to the last one, in whose frame the payload is stated; '
            'empty: that of the tool.',
        ),
        DeclareLaunchArgument(
            'trajectories',
            default_value='',
            description='Folder with the trajectory files that ~/rank_motions compares.',
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
        Node(
            package='robot_identification',
            executable='online_estimator',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'tf_prefix': value('tf_prefix'),
                'model_file': value('model_file'),
                'payload_link': value('payload_link'),
                'trajectories': value('trajectories'),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
            }],
        ),
    ])
