# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the simulated robot in place of ur_robot_driver."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, ARM, declare, start

ARGUMENTS = arguments(
    'namespace', *ARM, 'real_time_factor', 'simulation_token',
    Argument('truth_seed', '0', 'Seed of the true parameters of the simulated robot.', int),
    Argument('static_friction', 'false', 'Joints with break-away, Stribeck and load-dependent '
             'friction.', bool),
    Argument('stiffness', '0.0', 'Of elastic joints [N m/rad], with rotor_states; 0: rigid '
             'joints.', float),
    'warm_up', 'allowed_read_roots',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start('simulated_robot', ARGUMENTS)])
