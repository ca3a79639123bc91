# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the online estimator next to a driver, or to a bag being played."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, declare, start

ARGUMENTS = arguments(
    'namespace', 'tf_prefix', 'model_file',
    Argument('payload_link', '', 'Link, fixed to the last one, in whose frame the payload is '
             'stated; empty: that of the tool.'),
    'use_sim_time', 'params_file', 'allowed_read_roots',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start('online_estimator', ARGUMENTS)])
