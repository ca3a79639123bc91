# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the simulated robot: it stands where ur_robot_driver stands."""

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
            'real_time_factor',
            default_value='1.0',
            description='Simulated over wall-clock time; other than 1 publishes /clock.',
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Shared with the experiment_runner that may move it; empty: nobody may.',
        ),
        DeclareLaunchArgument(
            'truth_seed',
            default_value='0',
            description='Which hidden robot is simulated.',
        ),
        DeclareLaunchArgument(
            'static_friction',
            default_value='false',
            choices=['true', 'false'],
            description='Joints that stick: break-away, Stribeck and load-dependent friction.',
        ),
        DeclareLaunchArgument(
            'stiffness',
            default_value='0.0',
            description='Of elastic joints, N m/rad, with rotor_states; 0: rigid joints.',
        ),
        DeclareLaunchArgument(
            'warm_up',
            default_value='0.0',
            description='How many times faster than real joints these warm up and lose viscous '
            'friction; 0: as real ones, with constant friction.',
        ),
        DeclareLaunchArgument(
            'allowed_read_roots',
            default_value='[""]',
            description='Folders below which files may be read, as a YAML list; [""]: '
            '~/.ros/robot_identification and the working directory.',
        ),
        Node(
            package='robot_identification',
            executable='simulated_robot',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'tf_prefix': value('tf_prefix'),
                'real_time_factor': value('real_time_factor', float),
                'simulation_token': value('simulation_token'),
                'truth_seed': value('truth_seed', int),
                'static_friction': value('static_friction', bool),
                'stiffness': value('stiffness', float),
                'warm_up': value('warm_up', float),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
            }],
        ),
    ])
