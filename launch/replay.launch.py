# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identify from a bag that is being replayed by `ros2 bag play`, then end.

The identifier listens, the bag is played, and what was heard is identified.
"""

from pathlib import Path
import sys

from launch import LaunchDescription
from launch.actions import ExecuteProcess, OpaqueFunction, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from robot_identification.nodes.launch_files import (
    after, Argument, arguments, ARM, declare, FILES, include, passed_on, require_package, start,
)

# The player does not wait for its listeners: they have this time to find it [s]; chosen: longer
# than the 3 s after which Fast DDS announces itself again.
DISCOVERY = '5'
# At the end, for what a listener has not acknowledged yet [ms]; chosen: far above what it takes.
ACKNOWLEDGED = '10000'
# Nothing of the joint states is dropped for a slow listener.
QOS = PathJoinSubstitution([
    FindPackageShare('robot_identification'), 'config', 'nodes', 'joint_states_qos.yaml',
])

IDENTIFIER = ('effort_unit', 'drive_gains', 'output')
ARGUMENTS = arguments(
    Argument('bag', '', 'Bag to replay; required.'),
    Argument('rate', '1.0', 'Replay speed over recorded speed.', float),
    Argument('clock', 'false', 'The player publishes /clock, and all nodes take the time from '
             'it.', bool),
    *ARM, 'namespace', *IDENTIFIER,
    Argument('launch_predictor', 'false', 'Predict the replayed torques with model_file.', bool),
    'model_file', *FILES,
    output='result',
)


def check_player(context):
    """Raise RuntimeError if no bag is given, or its player is not installed."""
    bag = LaunchConfiguration('bag').perform(context)
    if not bag:
        raise RuntimeError('bag is not set: give the folder of the bag to replay, bag:=...')
    require_package(
        context, 'ros2bag',
        '`sudo apt install ros-$ROS_DISTRO-ros2bag ros-$ROS_DISTRO-rosbag2-storage-mcap`; '
        '`robot-identification identify` reads the bag without it',
    )
    if not Path(bag).exists():
        raise RuntimeError(f'bag:={bag}: no such file or folder in {Path.cwd()}')


def name_of(*parts):
    """Return an absolute name in the namespace."""
    return PathJoinSubstitution(['/', LaunchConfiguration('namespace'), *parts])


def call(verb):
    """Return the call of a service of the identifier, which waits for the answer."""
    return ExecuteProcess(
        cmd=[
            sys.executable, '-m', 'robot_identification.nodes.call_trigger',
            name_of('identifier', verb),
        ],
        name=verb,
        output='screen',
    )


def player(condition, *options):
    """Return what plays the bag; other topics than joint states keep their names."""
    return ExecuteProcess(
        cmd=[
            'ros2', 'bag', 'play', LaunchConfiguration('bag'),
            '--rate', LaunchConfiguration('rate'), '--delay', DISCOVERY,
            '--wait-for-all-acked', ACKNOWLEDGED, '--qos-profile-overrides-path', QOS, *options,
            '--remap', ['/joint_states:=', name_of('joint_states')],
        ],
        name='player',
        output='screen',
        condition=condition,
    )


def generate_launch_description():
    """Return identifier, predictor, player and their arguments."""
    clock = LaunchConfiguration('clock')
    listen, identify = call('listen'), call('identify')
    players = [player(UnlessCondition(clock)), player(IfCondition(clock), '--clock', '100')]
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(function=check_player),
        start(
            'identifier', arguments(*ARM, 'namespace', *IDENTIFIER, *FILES),
            values={'use_sim_time': clock},
            effort_unit='identify.effort_unit', output='identify.output',
        ),
        include(
            'torque_predictor.launch.py',
            IfCondition(LaunchConfiguration('launch_predictor')),
            use_sim_time=clock,
            **passed_on(('namespace', 'tf_prefix', 'model_file', *FILES)),
        ),
        listen,
        after(listen, *players),
        *(after(playing, identify) for playing in players),
        after(identify, Shutdown(reason='the replayed bag is identified')),
    ])
