# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start a Universal Robots arm in Gazebo by ur_simulation_gz, and our nodes.

Time comes from /clock and effort is in N m: the torque on the links, without friction and rotors.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import LogInfo, OpaqueFunction
from launch.logging import launch_config
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from robot_identification.nodes.foreign_arguments import write_prefixed_controllers
from robot_identification.nodes.launch_files import (
    Argument, arguments, BESIDE_DRIVER, declare, declared_by, include,
    include_declared, passed_on, require_package, values_of,
)

SIMULATION = 'ur_simulation_gz'
ARGUMENTS = arguments(
    *BESIDE_DRIVER,
    Argument('gazebo_gui', 'false', 'Open the window of Gazebo.', bool),
    Argument('world_file', 'empty.sdf', 'World of Gazebo; one with another gravity is equal to '
             'another mounting.'),
    # Gazebo scales no speed, and the scaled controller is not in every distribution.
    'initial_joint_controller',
    Argument('controllers_file', '', "Controllers of the simulation; empty: the simulation's own. "
             'With tf_prefix the names of their joints get the prefix.'),
    ur_type='ur5e', initial_joint_controller='joint_trajectory_controller',
)


def start_simulation(context):
    """Return the simulation, with the arguments that the installed one declares."""
    require_package(
        context, SIMULATION,
        '`sudo apt install ros-$ROS_DISTRO-ur-simulation-gz` or source the workspace that has it; '
        'experiment.launch.py simulates a robot without it',
    )
    declared = declared_by(context, SIMULATION, 'ur_sim_control.launch.py')
    given = values_of(context, 'ur_type', 'tf_prefix', 'gazebo_gui', 'world_file',
                      'initial_joint_controller', 'controllers_file')
    notes = []
    if given['tf_prefix']:
        own = PathJoinSubstitution([FindPackageShare(SIMULATION), 'config', 'ur_controllers.yaml'])
        given['controllers_file'] = str(write_prefixed_controllers(
            Path(given['controllers_file'] or own.perform(context)), given['tf_prefix'],
            Path(launch_config.log_dir),
        ))
        notes = [LogInfo(msg=f'Controllers of the prefixed joints: {given["controllers_file"]}')]
    # Any argument of the simulation's own launch file can be given to this one. RViz is started
    # with our layout.
    return [*notes, include_declared(declared, {**given, 'launch_rviz': 'false'})]


def generate_launch_description():
    """Return simulation, nodes and their arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(function=start_simulation),
        include(
            'experiment.launch.py',
            use_sim='false',
            use_sim_time='true',
            effort_unit='Nm',
            # Gazebo has no modes, and carries nothing.
            watch_safety='false',
            payload='[0.0]',
            serial='gazebo',
            **passed_on(BESIDE_DRIVER),
        ),
    ])
