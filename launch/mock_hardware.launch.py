# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start ur_robot_driver with mock hardware, and our nodes.

States mirror the commands and the effort is zero: it shows motion and recording, and nothing can
be identified from it.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def include(name, condition=None, **arguments):
    """Return one of the launch files beside this one, with arguments that stay its own."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([FindPackageShare('robot_identification'), 'launch', name]),
            launch_arguments=arguments.items(),
        )],
        scoped=True,
        condition=condition,
    )


def passed_on(*names):
    """Return arguments for an included file that declares them by the same names."""
    return {name: LaunchConfiguration(name) for name in names}


def generate_launch_description():
    """Return driver, nodes and their arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'ur_type',
            default_value='ur5e',
            description='Type of the robot, as the driver names it; a known robot here, too.',
        ),
        DeclareLaunchArgument(
            'initial_joint_controller',
            default_value='scaled_joint_trajectory_controller',
            description='Of the driver: the controller that is active at the start.',
        ),
        DeclareLaunchArgument(
            'mounting',
            default_value='[0.0, 0.0, 0.0]',
            description='Roll, pitch, yaw of the base in the world [rad], as a YAML list.',
        ),
        DeclareLaunchArgument(
            'tf_prefix',
            default_value='',
            description='Put before every joint name, as the driver does.',
        ),
        DeclareLaunchArgument(
            'experiment',
            default_value='demo',
            description='Experiment file, or the name of a shipped one.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='experiment',
            description='Folder for trajectories, bags and the result.',
        ),
        DeclareLaunchArgument(
            'trajectory_file',
            default_value='',
            description='Certified trajectory; empty: the coordinator has one designed.',
        ),
        DeclareLaunchArgument(
            'program',
            default_value='record',
            choices=['excitation', 'record', 'static_poses', 'payload', 'temperature'],
            description='What the coordinator goes through.',
        ),
        DeclareLaunchArgument(
            'launch_coordinator',
            default_value='false',
            choices=['true', 'false'],
            description='Start the coordinator, which calls all services but ~/arm in order.',
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
            description='Dry run, then slow, then full speed must be on record.',
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
            'model_file',
            default_value='',
            description='identified_model.yaml for the torque predictor; empty: none yet.',
        ),
        DeclareLaunchArgument(
            'launch_rviz',
            default_value='false',
            choices=['true', 'false'],
            description='Start RViz with the shipped layout.',
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
        include(
            'ur_robot.launch.py',
            # The driver asks for one and uses none.
            robot_ip='0.0.0.0',
            launch_driver='true',
            use_mock_hardware='true',
            launch_rtde_reader='false',
            # No robot: it has no modes, and carries nothing.
            watch_safety='false',
            payload='[0.0]',
            serial='mock_hardware',
            **passed_on(
                'initial_joint_controller', 'ur_type', 'mounting', 'tf_prefix', 'experiment',
                'output', 'trajectory_file', 'program', 'launch_coordinator', 'dry_run',
                'ladder', 'periods', 'speed', 'controller', 'interface', 'model_file',
                'launch_rviz', 'allowed_read_roots', 'allowed_write_roots',
            ),
        ),
    ])
