# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identify from a bag that is being replayed by `ros2 bag play`, then end.

The identifier listens, the bag is played, and what was heard is identified.
"""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, ExecuteProcess, GroupAction, IncludeLaunchDescription, OpaqueFunction,
    RegisterEventHandler, Shutdown,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit
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


def check_player(context):
    """
    Refuse to start without a bag, or without what plays it.

    Raises
    ------
    RuntimeError
        If one of them is missing.

    """
    if not LaunchConfiguration('bag').perform(context):
        raise RuntimeError('bag is not set: give the folder of the bag to replay, bag:=...')
    try:
        FindPackageShare('ros2bag').perform(context)
    except LookupError as error:
        raise RuntimeError(
            'ros2bag is not installed: `sudo apt install ros-$ROS_DISTRO-ros2bag '
            'ros-$ROS_DISTRO-rosbag2-storage-mcap`; `robot-identification identify` reads the bag '
            'without it'
        ) from error


def name_of(*parts):
    """Return an absolute name in the namespace."""
    return PathJoinSubstitution(['/', LaunchConfiguration('namespace'), *parts])


def call(verb):
    """Return the call of a service of the identifier; it waits for the answer."""
    return ExecuteProcess(
        cmd=['ros2', 'service', 'call', name_of('identifier', verb), 'std_srvs/srv/Trigger'],
        output='screen',
    )


def player(condition, *options):
    """Return what plays the bag; other topics than joint states keep their names."""
    return ExecuteProcess(
        cmd=[
            'ros2', 'bag', 'play', LaunchConfiguration('bag'),
            '--rate', LaunchConfiguration('rate'), *options,
            '--remap', ['/joint_states:=', name_of('joint_states')],
        ],
        output='screen',
        condition=condition,
    )


def after(action, *following):
    """Return what starts others when a process has done its work, and ends all when not."""
    def go_on(event, context):
        if event.returncode != 0:
            return [Shutdown(reason=f'a process ended with exit code {event.returncode}')]
        return list(following)

    return RegisterEventHandler(OnProcessExit(target_action=action, on_exit=go_on))


def generate_launch_description():
    """Return identifier, predictor, player and their arguments."""
    clock = LaunchConfiguration('clock')
    listen, identify = call('listen'), call('identify')
    players = [player(UnlessCondition(clock)), player(IfCondition(clock), '--clock', '100')]
    return LaunchDescription([
        DeclareLaunchArgument(
            'bag',
            default_value='',
            description='Bag to replay; needed.',
        ),
        DeclareLaunchArgument(
            'rate',
            default_value='1.0',
            description='Replayed over recorded time.',
        ),
        DeclareLaunchArgument(
            'clock',
            default_value='false',
            choices=['true', 'false'],
            description='The player publishes /clock, and all nodes take the time from it.',
        ),
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
            description='Namespace of all nodes, so that several arms can stand side by side.',
        ),
        DeclareLaunchArgument(
            'tf_prefix',
            default_value='',
            description='Put before every joint name, as the driver does.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the robot YAML says.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='result',
            description='Folder for model, report and results.',
        ),
        DeclareLaunchArgument(
            'launch_predictor',
            default_value='false',
            choices=['true', 'false'],
            description='Predict the replayed torques with model_file.',
        ),
        DeclareLaunchArgument(
            'model_file',
            default_value='',
            description='identified_model.yaml for the torque predictor; empty: none yet.',
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
        OpaqueFunction(function=check_player),
        include(
            'identifier.launch.py',
            use_sim_time=clock,
            **passed_on(
                'ur_type', 'mounting', 'namespace', 'tf_prefix', 'effort_unit', 'output',
                'allowed_read_roots', 'allowed_write_roots',
            ),
        ),
        include(
            'torque_predictor.launch.py',
            IfCondition(LaunchConfiguration('launch_predictor')),
            use_sim_time=clock,
            **passed_on(
                'namespace', 'tf_prefix', 'model_file', 'allowed_read_roots',
                'allowed_write_roots',
            ),
        ),
        listen,
        after(listen, *players),
        *(after(playing, identify) for playing in players),
        after(identify, Shutdown(reason='the replayed bag is identified')),
    ])
