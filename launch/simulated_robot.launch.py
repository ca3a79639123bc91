# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the simulated robot in place of ur_robot_driver."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import (
    Argument, arguments, ARM, declare, simulated_arm_arguments, start,
)

ARGUMENTS = arguments(
    'namespace', *ARM, 'real_time_factor', 'simulation_token',
    Argument('truth_seed', '0', 'Seed of the true parameters of the simulated robot.', int),
    *simulated_arm_arguments(), 'params_file', 'allowed_read_roots',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start('simulated_robot', ARGUMENTS)])
