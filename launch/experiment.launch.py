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
    after, Argument, arguments, ARM, declare, described, FILES, if_killed, include, passed_on,
    SIMULATED, start,
)

# Of the nodes that know the arm.
MODEL = ('namespace', 'use_sim_time', 'joint_states', *ARM, *FILES)
GENERATOR = (
    'experiment', 'output',
    Argument('seed', '0', 'Seed of the search; the same seed gives the same trajectory.', int),
)
RUNNER = (
    'trajectory_file', 'dry_run', 'commissioning', 'periods', 'speed',
    Argument('knot_rate', '50.0', 'Points sent per second of the motion [Hz].', float),
    'controller', 'interface',
    Argument('approach_speed', '0.3', 'Peak joint speed of the approach to the start [rad/s].',
             float),
    Argument('tracking_tolerance', '0.1', 'Largest tracking error [rad]; above it the arm is '
             'stopped.', float),
    Argument('scaling_timeout', '30.0', 'Longest time with the speed slider at zero [s].', float),
    Argument('watch_effort', 'true', 'Stop if efforts are far above those that the description '
             'predicts.', bool),
    'watch_safety', 'serial', 'payload',
    Argument('require_recorder', 'true', 'Move only while the recorder records.', bool),
    'effort_unit', 'drive_gains',
)
RECORDER = (
    'output', 'effort_unit', 'serial',
    Argument('topics', '["joint_states"]', 'Required topics, as a YAML list.', list[str]),
    Argument('payload_note', '', 'Description of the payload, noted in the bag.'),
    Argument('until_runner_ends', 'false', 'Close the bag when the experiment runner has '
             'finished.', bool),
)
IDENTIFIER = (
    'output', 'effort_unit', 'drive_gains',
    Argument('bags', '', 'Bags to identify from, as a YAML list.', list[str]),
)
COORDINATOR = (
    'output', 'experiment', 'trajectory_file', 'program', 'maximum_runs', 'maximum_minutes',
    'effort_unit', 'serial',
)
ARGUMENTS = arguments(
    'use_sim', *MODEL, *COORDINATOR, 'launch_coordinator', *RUNNER, *SIMULATED, *GENERATOR,
    *RECORDER, *IDENTIFIER, 'model_file', 'launch_rviz',
    program='excitation', launch_coordinator='true',
)


def nodes_of_rviz(context):
    """Return RViz with the shipped layout, and the state publisher of the simulated arm."""
    description, root = described(context)
    simulated, use_sim_time = (
        context.launch_configurations[name] == 'true' for name in ('use_sim', 'use_sim_time')
    )
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
        parameters=[{'use_sim_time': use_sim_time}],
        namespace=LaunchConfiguration('namespace'),
    )
    # A driver brings one; the simulated robot has none.
    state_publisher = Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        remappings=[
            ('robot_description', shown), ('joint_states', LaunchConfiguration('joint_states')),
        ],
        parameters=[{
            'robot_description': ParameterValue(description, value_type=str),
            'use_sim_time': use_sim_time,
        }],
        namespace=LaunchConfiguration('namespace'),
    )
    return [rviz, state_publisher] if simulated else [rviz]


def coordinator(condition, simulation_token):
    """Return the coordinator; without a token it waits for an operator to arm the runner."""
    return start(
        'experiment_coordinator',
        arguments('namespace', 'use_sim_time', 'ur_type', 'mounting', *FILES, *COORDINATOR),
        condition=IfCondition(condition), values={'simulation_token': simulation_token},
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
        *data_nodes(LaunchConfiguration('output')),
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
    simulated = {'simulation_token': token, 'dry_run': 'false', 'commissioning': 'false'}
    runners = [
        start('experiment_runner', arguments(*MODEL, *RUNNER), condition=condition, values=values)
        for condition, values in (
            (IfCondition(use_sim), simulated), (UnlessCondition(use_sim), {}),
        )
    ]
    return [
        start(
            'simulated_robot',
            arguments('namespace', 'joint_states', *ARM, *SIMULATED, *FILES),
            condition=IfCondition(use_sim),
            values={'simulation_token': token},
        ),
        start(
            'trajectory_generator', arguments(*MODEL, *GENERATOR),
            # A UR driver's description has no collision shapes.
            values={
                'use_robot_description': use_sim,
                'output': PathJoinSubstitution([LaunchConfiguration('output'), 'trajectory.yaml']),
            },
            experiment='generate.experiment', output='generate.output', seed='generate.seed',
        ),
        *runners,
        *(
            if_killed(
                runner, 'experiment_runner was killed and watches nothing: a motion that the '
                'controller holds goes on to its end; only the emergency stop ends it.',
            )
            for runner in runners
        ),
    ]


def data_nodes(output):
    """Return the recorder, the identifier and the predictor."""
    return [
        start(
            'bag_recorder',
            arguments('namespace', 'use_sim_time', 'joint_states', 'ur_type', *FILES, *RECORDER),
            values={'output': PathJoinSubstitution([output, 'bag'])},
            ur_type='start.robot', payload_note='start.payload',
            **{name: f'start.{name}' for name in (
                'output', 'topics', 'effort_unit', 'serial', 'until_runner_ends',
            )},
        ),
        start(
            'identifier', arguments(*MODEL, *IDENTIFIER),
            values={'output': PathJoinSubstitution([output, 'result'])},
            bags='identify.bags', output='identify.output', effort_unit='identify.effort_unit',
        ),
        include(
            'torque_predictor.launch.py',
            **passed_on((
                'namespace', 'use_sim_time', 'joint_states', 'tf_prefix', 'model_file', *FILES,
            )),
        ),
    ]
