# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the bag recorder; it records between ~/start and ~/stop."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import (
    Argument, arguments, declare, start, UNIT_CHOICES,
)

ARGUMENTS = arguments(
    'namespace',
    Argument('output', 'bag', 'Folder of the bag; it must not exist.'),
    Argument('topics', '["joint_states"]', 'Required topics, as a YAML list.', list[str]),
    Argument('robot', '', 'Name of the robot, noted in the bag.'),
    Argument('effort_unit', '', 'Unit of the effort, noted in the bag; empty: not known.',
             choices=UNIT_CHOICES),
    Argument('serial', '', 'Serial number of the robot, noted in the bag.'),
    Argument('payload_note', '', 'Description of the payload, noted in the bag.'),
    Argument('until_runner_ends', 'false', 'Close the bag when the experiment runner has '
             'finished.', bool),
    'use_sim_time', 'params_file', 'allowed_write_roots',
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start(
        'bag_recorder', ARGUMENTS,
        payload_note='start.payload',
        **{name: f'start.{name}' for name in (
            'output', 'topics', 'robot', 'effort_unit', 'serial', 'until_runner_ends',
        )},
    )])
