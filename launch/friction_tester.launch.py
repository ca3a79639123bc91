# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the friction tester next to a driver with an effort interface."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, ARM, declare, FILES, start

ARGUMENTS = arguments(
    'namespace', *ARM,
    Argument('joint', '', 'Name of the joint or wheel to test, as in the driver.'),
    Argument('mode', 'break_away', 'pre_test: find the torque cap by hand; break_away: the test.',
             choices=('pre_test', 'break_away')),
    Argument('pose', 'gravity_free', 'gravity_free: gravity has no moment on the joint; '
             'gravity_subtracted: its moment is subtracted.',
             choices=('gravity_free', 'gravity_subtracted')),
    Argument('commands_topic', 'forward_effort_controller/commands',
             'Topic of the effort controller [N m].'),
    Argument('controller_joints', '', 'Joints of that controller in its order, as a YAML '
             'list; empty: only the joint under test.', list[str]),
    'dry_run',
    Argument('torque_cap', '0.0', 'Largest torque of a ramp [N m]; 0.0: set by the pre-test.',
             float),
    Argument('torque_limit', '0.0', 'Largest torque in any case [N m]; 0.0: 80 % of the limit in '
             'the robot YAML.', float),
    Argument('inertia', '0.0', "Of link and rotor [kg m^2]; 0.0: from the robot's description.",
             float),
    Argument('ramp_rate', '0.0', 'Rate of the torque [N m/s]; 0.0: from zero to the cap in 20 s.',
             float),
    Argument('repeats', '25', 'Number of ramps in each direction.', int),
    Argument('correction', 'onset', 'Reported torque: at the onset of motion, at the threshold '
             'less inertia, or at the threshold; the last is always reported besides.',
             choices=('onset', 'inertia', 'none')),
    Argument('output', '', 'Folder of the results, one for all joints of an arm.'),
    'simulation_token', 'use_sim_time', *FILES,
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start('friction_tester', ARGUMENTS)])
