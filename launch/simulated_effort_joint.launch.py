# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start a simulated joint or wheel with an effort interface, by itself or in an arm."""

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
            description='Namespace of the node, so that several can stand side by side.',
        ),
        DeclareLaunchArgument(
            'joint',
            default_value='wheel_3',
            description='Name of the joint that takes torques.',
        ),
        DeclareLaunchArgument(
            'in_arm',
            default_value='false',
            choices=['true', 'false'],
            description='Simulate all of the arm ur_type, its other joints held.',
        ),
        DeclareLaunchArgument(
            'ur_type',
            default_value='youbot',
            description='Known robot, or the path of a robot YAML.',
        ),
        DeclareLaunchArgument(
            'mounting',
            default_value='[0.0, 0.0, 0.0]',
            description='Roll, pitch, yaw of the root frame in the world, rad.',
        ),
        DeclareLaunchArgument(
            'initial_positions',
            default_value='[0.0]',
            description='Where the joints of the arm stand first, rad, as a YAML list.',
        ),
        DeclareLaunchArgument(
            'allowed_read_roots',
            default_value='[""]',
            description='Folders below which files may be read, as a YAML list; [""]: '
            '~/.ros/robot_identification and the working directory.',
        ),
        DeclareLaunchArgument(
            'inertia',
            default_value='0.009',
            description='Of link and rotor, kg m^2.',
        ),
        DeclareLaunchArgument(
            'static',
            default_value='0.126',
            description='Break-away friction, N m.',
        ),
        DeclareLaunchArgument(
            'coulomb',
            default_value='0.1',
            description='Kinetic friction, N m.',
        ),
        DeclareLaunchArgument(
            'viscous',
            default_value='0.01',
            description='Viscous friction, N m s/rad.',
        ),
        DeclareLaunchArgument(
            'gravity_moment',
            default_value='0.0',
            description='Largest moment of gravity, N m.',
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Shared with the friction tester that may move it.',
        ),
        Node(
            package='robot_identification',
            executable='simulated_effort_joint',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'joint': value('joint'),
                'in_arm': value('in_arm', bool),
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'initial_positions': value('initial_positions', list[float]),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'inertia': value('inertia', float),
                'static': value('static', float),
                'coulomb': value('coulomb', float),
                'viscous': value('viscous', float),
                'gravity_moment': value('gravity_moment', float),
                'simulation_token': value('simulation_token'),
            }],
        ),
    ])
