# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the RTDE reader next to a driver: it asks the robot for outputs and sets nothing."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, declare, start

ARGUMENTS = arguments(
    'namespace',
    Argument('robot_ip', '', 'Address or name of the robot; empty: nothing is read.'),
    Argument('port', '30004', 'TCP port of the RTDE interface.', int),
    Argument('frequency', '0.0', 'Sampling rate [Hz]; 0.0: that of the robot.', float),
    Argument('keys', '["joint_temperatures", "target_current", "target_moment", "actual_current"]',
             'Fields to publish, as RTDE names them, as a YAML list.', list[str]),
    Argument('required_keys', '', 'Those of the keys without which nothing is read, as a '
             'YAML list.', list[str]),
    Argument('reconnect_period', '1.0', 'Pause before the first attempt to reconnect [s].', float),
    'use_sim_time', 'params_file',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start('rtde_reader', ARGUMENTS)])
