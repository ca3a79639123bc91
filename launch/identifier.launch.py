# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the identifier; it identifies when its ~/identify service is called."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, ARM, declare, FILES, start

ARGUMENTS = arguments(
    'namespace', *ARM,
    Argument('bags', '', 'Bags to identify from, as a YAML list.', list[str]),
    'effort_unit', 'drive_gains', 'output', 'use_sim_time', *FILES,
    output='result',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start(
        'identifier', ARGUMENTS,
        bags='identify.bags', output='identify.output', effort_unit='identify.effort_unit',
    )])
