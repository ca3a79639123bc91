# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the torque predictor next to a driver, or to a bag being played."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import Argument, arguments, declare, FILES, start

ARGUMENTS = arguments(
    'namespace', 'joint_states', 'tf_prefix', 'model_file',
    Argument('collision_file', '', 'Contact thresholds from `robot-identification collision`; '
             'empty: contacts are not detected.'),
    Argument('friction_reference', '', 'File that keeps the reference of friction health; empty: '
             'learned at every start.'),
    Argument('feed_forward', 'off', 'Content of ~/feed_forward: gravity, and friction in the '
             'direction of the velocity on ~/reference; friction: without gravity, for robots '
             'that add it themselves.',
             choices=('off', 'gravity', 'kinetic', 'break_away', 'friction')),
    # Not payload: in the experiment that is what the arm carries.
    Argument('estimate_payload', 'false', 'Estimate the payload, and publish ~/payload; the '
             'model must be that of the bare arm.', bool),
    Argument('payload_link', '', 'Link, fixed to the last one, in whose frame the payload is '
             'stated; empty: that of the tool.'),
    'use_sim_time', *FILES,
)


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([*declare(ARGUMENTS), start(
        'torque_predictor', ARGUMENTS, estimate_payload='payload',
    )])
