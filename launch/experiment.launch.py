# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start everything an experiment needs.

With use_sim:=true (the default) a simulated robot is started too, the experiment runs by itself
and the launch ends with it. With use_sim:=false the nodes come up beside a running driver; nothing
moves before somebody has armed the runner, and the coordinator never does.
"""

import secrets

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, LogInfo, RegisterEventHandler,
    Shutdown,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import (
    AndSubstitution, Command, LaunchConfiguration, NotSubstitution, PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# What every node is told, and what all but the recorder and the predictor are.
EVERY = ('namespace', 'use_sim_time')
ARM = (*EVERY, 'ur_type', 'mounting', 'allowed_read_roots')
RUNNER = (
    'tf_prefix', 'trajectory_file', 'periods', 'speed', 'controller', 'interface',
    'watch_safety', 'serial', 'payload', 'effort_unit', 'drive_gains',
)


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


def value(name, kind=str):
    """Return an argument as a parameter of one type, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def nodes_of_rviz():
    """Return RViz with the shipped layout, and what moves the simulated arm in it."""
    launch_rviz, namespace = LaunchConfiguration('launch_rviz'), LaunchConfiguration('namespace')
    urdf = [
        FindPackageShare('robot_identification'), '/urdf/', LaunchConfiguration('ur_type'), '.urdf'
    ]
    return [
        Node(
            package='rviz2',
            executable='rviz2',
            namespace=namespace,
            arguments=['-d', PathJoinSubstitution([
                FindPackageShare('robot_identification'), 'config', 'rviz', 'preview.rviz'
            ])],
            # A layout holds absolute names; /tf is one for all namespaces.
            remappings=[
                (f'/{topic}', topic)
                for topic in ('robot_description', 'trajectory_generator/preview')
            ],
            parameters=[{'use_sim_time': value('use_sim_time', bool)}],
            condition=IfCondition(launch_rviz),
        ),
        # A driver brings one; the simulated robot has none.
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            namespace=namespace,
            parameters=[{
                'robot_description': ParameterValue(Command(['cat ', *urdf]), value_type=str),
                'use_sim_time': value('use_sim_time', bool),
            }],
            condition=IfCondition(AndSubstitution(launch_rviz, LaunchConfiguration('use_sim'))),
        ),
    ]


def coordinator(condition, simulation_token):
    """Return who calls the services in order; without a token it waits for a person to arm."""
    return Node(
        package='robot_identification',
        executable='experiment_coordinator',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        condition=IfCondition(condition),
        parameters=[{
            'robot': value('ur_type'),
            'mounting': value('mounting', list[float]),
            'output': value('output'),
            'experiment': value('experiment'),
            'trajectory_file': value('trajectory_file'),
            'program': value('program'),
            'maximum_runs': value('maximum_runs', int),
            'maximum_minutes': value('maximum_minutes', float),
            'effort_unit': value('effort_unit'),
            'serial': value('serial'),
            'simulation_token': simulation_token,
            'use_sim_time': value('use_sim_time', bool),
            'allowed_read_roots': value('allowed_read_roots', list[str]),
            'allowed_write_roots': value('allowed_write_roots', list[str]),
        }],
    )


def generate_launch_description():
    """Return all nodes and their arguments."""
    use_sim = LaunchConfiguration('use_sim')
    output = LaunchConfiguration('output')
    # Drawn anew at every start: the runner moves the robot that was started with it, no other.
    token = f'token-{secrets.token_hex(16)}'
    coordinate = LaunchConfiguration('launch_coordinator')
    simulating = coordinator(AndSubstitution(coordinate, use_sim), token)
    return LaunchDescription([
        DeclareLaunchArgument(
            'use_sim',
            default_value='true',
            choices=['true', 'false'],
            description='Start a simulated robot and run the experiment on it.',
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
            default_value='excitation',
            choices=['excitation', 'record', 'static_poses', 'payload', 'temperature'],
            description='What the coordinator goes through.',
        ),
        DeclareLaunchArgument(
            'maximum_runs',
            default_value='30',
            description='Of a temperature study: runs at most.',
        ),
        DeclareLaunchArgument(
            'maximum_minutes',
            default_value='60.0',
            description='Of a temperature study: minutes at most.',
        ),
        DeclareLaunchArgument(
            'launch_coordinator',
            default_value='true',
            choices=['true', 'false'],
            description='Start the coordinator, which calls the services in order.',
        ),
        DeclareLaunchArgument(
            'dry_run',
            default_value='true',
            choices=['true', 'false'],
            description='Check and plan everything, send nothing; the simulated robot moves.',
        ),
        DeclareLaunchArgument(
            'ladder',
            default_value='true',
            choices=['true', 'false'],
            description='Dry run, then slow, then full speed must be on record; the simulated '
            'robot goes without.',
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
            'watch_safety',
            default_value='true',
            choices=['true', 'false'],
            description='Need the safety mode, robot mode and program state of a UR driver.',
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
            'model_file',
            default_value='',
            description='identified_model.yaml for the torque predictor; empty: none yet.',
        ),
        DeclareLaunchArgument(
            'real_time_factor',
            default_value='1.0',
            description='Of the simulation; other than 1 needs use_sim_time:=true.',
        ),
        DeclareLaunchArgument(
            'warm_up',
            default_value='0.0',
            description='Of the simulation: how many times faster than real joints these warm '
            'up and lose viscous friction.',
        ),
        DeclareLaunchArgument(
            'launch_rviz',
            default_value='false',
            choices=['true', 'false'],
            description='Start RViz with the shipped layout.',
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
        include(
            'simulated_robot.launch.py',
            IfCondition(use_sim),
            simulation_token=token,
            **passed_on(
                'namespace', 'tf_prefix', 'ur_type', 'mounting', 'real_time_factor', 'warm_up',
                'allowed_read_roots',
            ),
        ),
        include(
            'trajectory_generator.launch.py',
            output=PathJoinSubstitution([output, 'trajectory.yaml']),
            use_robot_description=use_sim,
            **passed_on(*ARM, 'tf_prefix', 'experiment', 'allowed_write_roots'),
        ),
        include(
            'experiment_runner.launch.py',
            IfCondition(use_sim),
            simulation_token=token,
            dry_run='false',
            ladder='false',
            **passed_on(*ARM, *RUNNER, 'allowed_write_roots'),
        ),
        include(
            'experiment_runner.launch.py',
            UnlessCondition(use_sim),
            **passed_on(*ARM, *RUNNER, 'dry_run', 'ladder', 'allowed_write_roots'),
        ),
        include(
            'bag_recorder.launch.py',
            robot=LaunchConfiguration('ur_type'),
            output=PathJoinSubstitution([output, 'bag']),
            **passed_on(*EVERY, 'effort_unit', 'serial', 'allowed_write_roots'),
        ),
        include(
            'identifier.launch.py',
            output=PathJoinSubstitution([output, 'result']),
            **passed_on(*ARM, 'tf_prefix', 'effort_unit', 'drive_gains', 'allowed_write_roots'),
        ),
        include(
            'torque_predictor.launch.py',
            **passed_on(
                *EVERY, 'tf_prefix', 'model_file', 'allowed_read_roots', 'allowed_write_roots',
            ),
        ),
        *nodes_of_rviz(),
        simulating,
        coordinator(AndSubstitution(coordinate, NotSubstitution(use_sim)), ''),
        LogInfo(
            msg='Beside a driver: somebody has to arm the runner (docs/launch.md); it is a dry '
            'run unless dry_run:=false.',
            condition=UnlessCondition(use_sim),
        ),
        RegisterEventHandler(
            OnProcessExit(
                target_action=simulating,
                on_exit=[Shutdown(reason='the experiment has ended')],
            ),
            condition=IfCondition(use_sim),
        ),
    ])
