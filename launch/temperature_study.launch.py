# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Execute one certified trajectory repeatedly, one bag a run, until the joints are warm.

With use_sim:=true (the default) on a simulated robot whose joints warm up; with use_sim:=false
next to a running driver, where an operator arms the runner.
"""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import (
    arguments, ARM, declare, FILES, include, names_of, passed_on,
)

ARGUMENTS = arguments(
    'use_sim', *ARM, 'namespace', 'joint_states', 'experiment', 'output', 'trajectory_file',
    'maximum_runs', 'maximum_minutes', 'dry_run', 'commissioning', 'periods', 'speed',
    'controller', 'interface', 'watch_safety', 'serial', 'payload', 'effort_unit',
    'real_time_factor', 'warm_up', 'launch_rviz', 'use_sim_time', *FILES,
    output='temperature_study', warm_up='50.0',
)


def generate_launch_description():
    """Return the experiment with the program of a temperature study, and its arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        include('experiment.launch.py', program='temperature', **passed_on(names_of(ARGUMENTS))),
    ])
