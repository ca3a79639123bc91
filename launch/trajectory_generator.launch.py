# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the trajectory generator; it designs when its ~/generate service is called."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, ARM, declare, FILES, start

ARGUMENTS = arguments(
    'namespace', *ARM,
    Argument('use_robot_description', 'true', 'Design for the live robot_description; false: for '
             "the robot YAML, as a UR driver's description has no collision shapes.", bool),
    'experiment',
    Argument('output', 'trajectory.yaml', 'Trajectory file to write; it must not exist.'),
    Argument('seed', '0', 'Seed of the search; the same seed gives the same trajectory.', int),
    'use_sim_time', *FILES,
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start(
        'trajectory_generator', ARGUMENTS,
        experiment='generate.experiment', output='generate.output', seed='generate.seed',
    )])
