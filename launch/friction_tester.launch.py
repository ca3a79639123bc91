# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the friction tester beside a driver with an effort interface."""

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
            'ur_type',
            default_value='ur5',
            description='Known robot, such as youbot, or the path of a robot YAML.',
        ),
        DeclareLaunchArgument(
            'mounting',
            default_value='[0.0, 0.0, 0.0]',
            description='Roll, pitch, yaw of the root frame in the world, rad.',
        ),
        DeclareLaunchArgument(
            'joint',
            default_value='',
            description='The joint or wheel to test, as the driver names it.',
        ),
        DeclareLaunchArgument(
            'mode',
            default_value='break_away',
            choices=['pre_test', 'break_away'],
            description='pre_test: by hand, to find the torque cap; break_away: the test.',
        ),
        DeclareLaunchArgument(
            'pose',
            default_value='gravity_free',
            choices=['gravity_free', 'gravity_subtracted'],
            description='Whether gravity has no moment on the joint, or is subtracted.',
        ),
        DeclareLaunchArgument(
            'commands_topic',
            default_value='forward_effort_controller/commands',
            description='Torques, N m, that the effort controller takes.',
        ),
        DeclareLaunchArgument(
            'controller_joints',
            default_value='[""]',
            description='Joints of that controller in its order, as a YAML list; [""]: only the '
            'joint that is tested.',
        ),
        DeclareLaunchArgument(
            'dry_run',
            default_value='true',
            choices=['true', 'false'],
            description='Check everything, send nothing.',
        ),
        DeclareLaunchArgument(
            'torque_cap',
            default_value='0.0',
            description='Largest torque of a ramp, N m; 0.0: the pre-test sets it.',
        ),
        DeclareLaunchArgument(
            'torque_limit',
            default_value='0.0',
            description='Largest torque of all, N m; 0.0: 80 % of the limit in the robot YAML.',
        ),
        DeclareLaunchArgument(
            'inertia',
            default_value='0.0',
            description="Of link and rotor, kg m^2; 0.0: by the robot's description.",
        ),
        DeclareLaunchArgument(
            'ramp_rate',
            default_value='0.0',
            description='Of the torque, N m/s; 0.0: from zero to the cap in 20 s.',
        ),
        DeclareLaunchArgument(
            'repeats',
            default_value='25',
            description='Ramps in each direction.',
        ),
        DeclareLaunchArgument(
            'correction',
            default_value='onset',
            choices=['onset', 'inertia', 'none'],
            description='What is reported: torque at the onset of motion, at the threshold less '
            'inertia, or at the threshold; the last one is reported in any case.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='',
            description='Folder of the results, one for all joints of an arm.',
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Of the simulated robot that may be moved; empty: none.',
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
            executable='friction_tester',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'tf_prefix': value('tf_prefix'),
                'joint': value('joint'),
                'mode': value('mode'),
                'pose': value('pose'),
                'commands_topic': value('commands_topic'),
                'controller_joints': value('controller_joints', list[str]),
                'dry_run': value('dry_run', bool),
                'torque_cap': value('torque_cap', float),
                'torque_limit': value('torque_limit', float),
                'inertia': value('inertia', float),
                'ramp_rate': value('ramp_rate', float),
                'repeats': value('repeats', int),
                'correction': value('correction'),
                'output': value('output'),
                'simulation_token': value('simulation_token'),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
