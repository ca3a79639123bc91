# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the RTDE reader beside a driver: it asks the robot for outputs and sets nothing."""

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
            'robot_ip',
            default_value='',
            description='Address or name of the robot; empty: nothing is read.',
        ),
        DeclareLaunchArgument(
            'port',
            default_value='30004',
            description='TCP port of the RTDE interface.',
        ),
        DeclareLaunchArgument(
            'frequency',
            default_value='0.0',
            description='Samples a second [Hz]; 0.0: as many as the robot gives.',
        ),
        DeclareLaunchArgument(
            'keys',
            default_value='["joint_temperatures", "target_current", "target_moment", '
            '"actual_current"]',
            description='Fields to publish, as RTDE names them, as a YAML list.',
        ),
        DeclareLaunchArgument(
            'required_keys',
            default_value='[""]',
            description='Of the keys, those without which nothing is read, as a YAML list.',
        ),
        DeclareLaunchArgument(
            'reconnect_period',
            default_value='1.0',
            description='Pause before the first attempt to connect again [s].',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time of diagnostics from /clock.',
        ),
        Node(
            package='robot_identification',
            executable='rtde_reader',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot_ip': value('robot_ip'),
                'port': value('port', int),
                'frequency': value('frequency', float),
                'keys': value('keys', list[str]),
                'required_keys': value('required_keys', list[str]),
                'reconnect_period': value('reconnect_period', float),
                'use_sim_time': value('use_sim_time', bool),
            }],
        ),
    ])
