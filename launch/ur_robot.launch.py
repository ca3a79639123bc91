# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start our nodes for a Universal Robots arm, beside its driver or together with it.

Nothing here arms the runner: a person does, for each execution, after looking at the trajectory.
"""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction,
)
from launch.conditions import IfCondition
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


def check_driver(context):
    """
    Refuse what ur_control.launch.py cannot do, before anything starts.

    Raises
    ------
    RuntimeError
        If the driver is not installed, its robot is not named, or it should run in a namespace.

    """
    if not LaunchConfiguration('robot_ip').perform(context):
        raise RuntimeError(
            'robot_ip is not set: give the address of the robot, or launch_driver:=false where '
            'its driver runs already'
        )
    namespace = LaunchConfiguration('namespace').perform(context)
    if namespace:
        raise RuntimeError(
            f'namespace:={namespace} with launch_driver:=true: ur_control.launch.py of '
            'ur_robot_driver does not start in a namespace; start the driver there yourself and '
            'give launch_driver:=false'
        )
    try:
        FindPackageShare('ur_robot_driver').perform(context)
    except LookupError as error:
        raise RuntimeError(
            'ur_robot_driver is not installed: `sudo apt install ros-$ROS_DISTRO-ur-robot-driver` '
            'or source the workspace that has it; launch_driver:=false needs none'
        ) from error


def driver():
    """Return the driver's own launch file; any argument of it can be given to this one."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([
                FindPackageShare('ur_robot_driver'), 'launch', 'ur_control.launch.py'
            ]),
            launch_arguments={
                **passed_on(
                    'ur_type', 'robot_ip', 'tf_prefix', 'headless_mode', 'use_mock_hardware',
                    'initial_joint_controller',
                ),
                # RViz comes with our layout.
                'launch_rviz': 'false',
            }.items(),
        )],
        scoped=True,
    )


def generate_launch_description():
    """Return the driver, our nodes and their arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'ur_type',
            default_value='ur5e',
            description='Type of the robot, as the driver names it; a known robot here, too.',
        ),
        DeclareLaunchArgument(
            'robot_ip',
            default_value='',
            description='Address of the robot; needed to start its driver, and to read by RTDE.',
        ),
        DeclareLaunchArgument(
            'launch_driver',
            default_value='false',
            choices=['true', 'false'],
            description='Start ur_robot_driver, too; false: it runs already.',
        ),
        DeclareLaunchArgument(
            'launch_rtde_reader',
            default_value='true',
            choices=['true', 'false'],
            description='Read joint temperatures, target currents and torques at robot_ip, '
            'beside the driver; without robot_ip nothing is read.',
        ),
        DeclareLaunchArgument(
            'headless_mode',
            default_value='false',
            choices=['true', 'false'],
            description='Of the driver: it sends the program itself; false: start External '
            'Control on the pendant.',
        ),
        DeclareLaunchArgument(
            'use_mock_hardware',
            default_value='false',
            choices=['true', 'false'],
            description='Of the driver: no robot, states mirror the commands; effort is zero.',
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
            'namespace',
            default_value='',
            description='Namespace of our nodes, that of a driver which runs already.',
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
        GroupAction(
            [OpaqueFunction(function=check_driver), driver()],
            condition=IfCondition(LaunchConfiguration('launch_driver')),
        ),
        include(
            'rtde_reader.launch.py',
            IfCondition(LaunchConfiguration('launch_rtde_reader')),
            **passed_on('namespace', 'robot_ip', 'use_sim_time'),
        ),
        include(
            'experiment.launch.py',
            use_sim='false',
            **passed_on(
                'ur_type', 'mounting', 'namespace', 'tf_prefix', 'experiment', 'output',
                'trajectory_file', 'program', 'launch_coordinator', 'dry_run', 'ladder',
                'periods', 'speed', 'controller', 'interface', 'watch_safety', 'serial',
                'payload', 'effort_unit', 'drive_gains', 'model_file', 'launch_rviz',
                'use_sim_time', 'allowed_read_roots', 'allowed_write_roots',
            ),
        ),
    ])
