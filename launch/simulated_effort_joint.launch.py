# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the simulated robot with an effort interface: a joint or wheel, alone or in an arm."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, declare, start

ARGUMENTS = arguments(
    'namespace',
    Argument('joint', 'wheel_3', 'Name of the joint that takes torques.'),
    Argument('in_arm', 'false', 'Simulate the whole arm ur_type, its other joints held.', bool),
    'ur_type', 'mounting',
    Argument('initial_positions', '[0.0]', 'Initial joint positions of the arm [rad], as a YAML '
             'list.', list[float]),
    Argument('inertia', '0.009', 'Of link and rotor [kg m^2].', float),
    Argument('static', '0.126', 'Break-away friction [N m].', float),
    Argument('coulomb', '0.1', 'Kinetic friction [N m].', float),
    Argument('viscous', '0.01', 'Viscous friction [N m s/rad].', float),
    Argument('gravity_moment', '0.0', 'Largest moment of gravity [N m].', float),
    'simulation_token', 'params_file', 'allowed_read_roots',
    ur_type='youbot',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start(
        'simulated_robot', ARGUMENTS, values={'command_interface': 'effort'},
    )])
