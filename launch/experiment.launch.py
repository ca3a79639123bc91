# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start everything an experiment needs.

With use_sim:=true (the default) a simulated robot is started too, the experiment runs by itself
and the launch ends with it. With use_sim:=false the nodes join a running driver; nothing
moves before an operator has armed the runner, and the coordinator never does.
"""

import secrets

from launch import LaunchDescription
from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import (
    AndSubstitution, LaunchConfiguration, NotSubstitution, PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from robot_identification.nodes.launch_files import (
    after, arguments, ARM, declare, described, FILES, include, passed_on, start, value,
)

ARGUMENTS = arguments(
    'use_sim', *ARM, 'namespace', 'experiment', 'output', 'trajectory_file', 'program',
    'maximum_runs', 'maximum_minutes', 'launch_coordinator', 'dry_run', 'commissioning', 'periods',
    'speed', 'controller', 'interface', 'watch_safety', 'serial', 'payload', 'effort_unit',
    'drive_gains', 'model_file', 'real_time_factor', 'warm_up', 'launch_rviz', 'use_sim_time',
    *FILES,
    program='excitation', launch_coordinator='true',
)
COORDINATOR = arguments(
    'namespace', 'ur_type', 'mounting', 'output', 'experiment', 'trajectory_file', 'program',
    'maximum_runs', 'maximum_minutes', 'effort_unit', 'serial', 'use_sim_time', *FILES,
)
# For every node, for all but the recorder and the predictor, and for the runner.
EVERY = ('namespace', 'use_sim_time')
MODEL = (*EVERY, *ARM, *FILES)
RUNNER = (
    *MODEL, 'trajectory_file', 'periods', 'speed', 'controller', 'interface', 'watch_safety',
    'serial', 'payload', 'effort_unit', 'drive_gains',
)


def nodes_of_rviz(context):
    """Return RViz with the shipped layout, and the state publisher of the simulated arm."""
    description, root = described(context)
    simulated = context.launch_configurations['use_sim'] == 'true'
    # Shapes to be seen are not in the description that the simulated robot publishes.
    shown = 'robot_state_publisher/robot_description' if simulated else 'robot_description'
    rviz = Node(
        package='rviz2',
        executable='rviz2',
        arguments=['-f', root, '-d', PathJoinSubstitution([
            FindPackageShare('robot_identification'), 'config', 'rviz', 'preview.rviz'
        ])],
        # A layout holds absolute names; /tf is one for all namespaces.
        remappings=[
            ('/robot_description', shown),
            ('/trajectory_generator/preview', 'trajectory_generator/preview'),
        ],
        parameters=[{'use_sim_time': value('use_sim_time', bool)}],
        namespace=LaunchConfiguration('namespace'),
    )
    # A driver brings one; the simulated robot has none.
    state_publisher = Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        remappings=[('robot_description', shown)],
        parameters=[{
            'robot_description': ParameterValue(description, value_type=str),
            'use_sim_time': value('use_sim_time', bool),
        }],
        namespace=LaunchConfiguration('namespace'),
    )
    return [rviz, state_publisher] if simulated else [rviz]


def coordinator(condition, simulation_token):
    """Return the coordinator; without a token it waits for an operator to arm the runner."""
    return start(
        'experiment_coordinator', COORDINATOR, condition=IfCondition(condition),
        values={'simulation_token': simulation_token},
    )


def generate_launch_description():
    """Return all nodes and their arguments."""
    use_sim = LaunchConfiguration('use_sim')
    # Drawn anew at every start: the runner moves the robot that was started with it, no other.
    token = f'token-{secrets.token_hex(16)}'
    coordinate = LaunchConfiguration('launch_coordinator')
    simulating = coordinator(AndSubstitution(coordinate, use_sim), token)
    return LaunchDescription([
        *declare(ARGUMENTS),
        *motion_nodes(use_sim, token),
        *data_nodes(),
        OpaqueFunction(
            function=nodes_of_rviz, condition=IfCondition(LaunchConfiguration('launch_rviz')),
        ),
        simulating,
        coordinator(AndSubstitution(coordinate, NotSubstitution(use_sim)), ''),
        LogInfo(
            msg='With a driver: an operator arms the runner (docs/launch.md); it is a dry '
            'run unless dry_run:=false.',
            condition=UnlessCondition(use_sim),
        ),
        after(
            simulating, Shutdown(reason='the experiment has ended'),
            condition=IfCondition(use_sim),
        ),
    ])


def motion_nodes(use_sim, token):
    """Return the simulated robot, if any, the trajectory generator and the runner."""
    return [
        include(
            'simulated_robot.launch.py',
            IfCondition(use_sim),
            simulation_token=token,
            **passed_on((
                *ARM, 'namespace', 'real_time_factor', 'warm_up', 'params_file',
                'allowed_read_roots',
            )),
        ),
        include(
            'trajectory_generator.launch.py',
            output=PathJoinSubstitution([LaunchConfiguration('output'), 'trajectory.yaml']),
            use_robot_description=use_sim,
            **passed_on((*MODEL, 'experiment')),
        ),
        include(
            'experiment_runner.launch.py',
            IfCondition(use_sim),
            simulation_token=token,
            dry_run='false',
            commissioning='false',
            **passed_on(RUNNER),
        ),
        include(
            'experiment_runner.launch.py',
            UnlessCondition(use_sim),
            **passed_on((*RUNNER, 'dry_run', 'commissioning')),
        ),
    ]


def data_nodes():
    """Return the recorder, the identifier and the predictor."""
    output = LaunchConfiguration('output')
    return [
        include(
            'bag_recorder.launch.py',
            robot=LaunchConfiguration('ur_type'),
            output=PathJoinSubstitution([output, 'bag']),
            **passed_on((*EVERY, 'effort_unit', 'serial', 'params_file', 'allowed_write_roots')),
        ),
        include(
            'identifier.launch.py',
            output=PathJoinSubstitution([output, 'result']),
            **passed_on((*MODEL, 'effort_unit', 'drive_gains')),
        ),
        include(
            'torque_predictor.launch.py',
            **passed_on((*EVERY, *FILES, 'tf_prefix', 'model_file')),
        ),
    ]
