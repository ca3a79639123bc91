# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the trajectory generator; ask it with its ~/generate service."""

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
            description="Before the names of the driver's joints and links.",
        ),
        DeclareLaunchArgument(
            'use_robot_description',
            default_value='true',
            choices=['true', 'false'],
            description='Design for the live robot_description; false: for the robot YAML, as '
            "a UR driver's description has no collision shapes.",
        ),
        DeclareLaunchArgument(
            'experiment',
            default_value='demo',
            description='Experiment file, or the name of a shipped one.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='trajectory.yaml',
            description='Trajectory file to write; it must not exist.',
        ),
        DeclareLaunchArgument(
            'seed',
            default_value='0',
            description='Same seed, same trajectory.',
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
            executable='trajectory_generator',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'tf_prefix': value('tf_prefix'),
                'use_robot_description': value('use_robot_description', bool),
                'generate.experiment': value('experiment'),
                'generate.output': value('output'),
                'generate.seed': value('seed', int),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
