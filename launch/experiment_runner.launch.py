# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the experiment runner; nothing moves before ~/arm and ~/execute are called."""

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
            'trajectory_file',
            default_value='',
            description='Certified trajectory to execute.',
        ),
        DeclareLaunchArgument(
            'dry_run',
            default_value='true',
            choices=['true', 'false'],
            description='Check and plan everything, send nothing.',
        ),
        DeclareLaunchArgument(
            'ladder',
            default_value='true',
            choices=['true', 'false'],
            description='Dry run, then slow, then full speed must be on record for this file and '
            'robot; only a simulated robot may go without.',
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
            'knot_rate',
            default_value='50.0',
            description='Knots sent per second of the motion.',
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
            'approach_speed',
            default_value='0.3',
            description='Peak joint speed on the way to the start, rad/s.',
        ),
        DeclareLaunchArgument(
            'tracking_tolerance',
            default_value='0.1',
            description='Largest tracking error, rad; above it the arm is stopped.',
        ),
        DeclareLaunchArgument(
            'scaling_timeout',
            default_value='30.0',
            description='Longest time with the speed slider at zero, s.',
        ),
        DeclareLaunchArgument(
            'watch_effort',
            default_value='true',
            choices=['true', 'false'],
            description='Stop where efforts are far above what the description expects.',
        ),
        DeclareLaunchArgument(
            'watch_safety',
            default_value='true',
            choices=['true', 'false'],
            description='Need the safety mode, robot mode and program state of a UR driver; false '
            'only for an arm whose driver has none.',
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
            'require_recorder',
            default_value='true',
            choices=['true', 'false'],
            description='Move only while the recorder records.',
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Of the simulated robot that may be moved; empty: none.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the robot YAML says.',
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
            executable='experiment_runner',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[{
                'robot': value('ur_type'),
                'mounting': value('mounting', list[float]),
                'tf_prefix': value('tf_prefix'),
                'trajectory_file': value('trajectory_file'),
                'dry_run': value('dry_run', bool),
                'ladder': value('ladder', bool),
                'periods': value('periods', int),
                'speed': value('speed', float),
                'knot_rate': value('knot_rate', float),
                'controller': value('controller'),
                'interface': value('interface'),
                'approach_speed': value('approach_speed', float),
                'tracking_tolerance': value('tracking_tolerance', float),
                'scaling_timeout': value('scaling_timeout', float),
                'watch_effort': value('watch_effort', bool),
                'watch_safety': value('watch_safety', bool),
                'serial': value('serial'),
                'effort_unit': value('effort_unit'),
                'drive_gains': value('drive_gains', list[float]),
                'payload': value('payload', list[float]),
                'require_recorder': value('require_recorder', bool),
                'simulation_token': value('simulation_token'),
                'use_sim_time': value('use_sim_time', bool),
                'allowed_read_roots': value('allowed_read_roots', list[str]),
                'allowed_write_roots': value('allowed_write_roots', list[str]),
            }],
        ),
    ])
