# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start a Universal Robots arm in Gazebo by ur_simulation_gz, and our nodes.

Time comes from /clock and effort is in N m: the torque on the links, without friction and rotors.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from robot_identification.nodes.launch_files import (
    Argument, arguments, BESIDE_DRIVER, declare, include, passed_on, require_package,
)

ARGUMENTS = arguments(
    *BESIDE_DRIVER,
    Argument('gazebo_gui', 'false', 'Open the window of Gazebo.', bool),
    Argument('world_file', 'empty.sdf', 'World of Gazebo; one with another gravity is equal to '
             'another mounting.'),
    ur_type='ur5e',
)


def check_installed(context):
    """
    Check that the simulation is installed.

    Raises
    ------
    RuntimeError
        With the command that installs it.

    """
    require_package(
        context, 'ur_simulation_gz',
        '`sudo apt install ros-$ROS_DISTRO-ur-simulation-gz` or source the workspace that has it; '
        'experiment.launch.py simulates a robot without it',
    )


def generate_launch_description():
    """Return simulation, nodes and their arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        OpaqueFunction(function=check_installed),
        # Any argument of the simulation's own launch file can be given to this one.
        include(
            'ur_sim_control.launch.py',
            package='ur_simulation_gz',
            # It becomes part of a command line, where an empty text would be no value.
            tf_prefix=['"', LaunchConfiguration('tf_prefix'), '"'],
            # RViz is started with our layout.
            launch_rviz='false',
            **passed_on(('ur_type', 'gazebo_gui', 'world_file')),
        ),
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
