# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start the experiment runner; nothing moves before ~/arm and ~/execute are called."""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import (
    Argument, arguments, ARM, declare, FILES, if_killed, start,
)

ARGUMENTS = arguments(
    'namespace', *ARM,
    Argument('trajectory_file', '', 'Certified trajectory to execute.'),
    'dry_run', 'commissioning', 'periods', 'speed',
    Argument('knot_rate', '50.0', 'Points sent per second of the motion [Hz].', float),
    'controller', 'interface',
    Argument('approach_speed', '0.3', 'Peak joint speed of the approach to the start [rad/s].',
             float),
    Argument('tracking_tolerance', '0.1', 'Largest tracking error [rad]; above it the arm is '
             'stopped.', float),
    Argument('scaling_timeout', '30.0', 'Longest time with the speed slider at zero [s].', float),
    Argument('watch_effort', 'true', 'Stop if efforts are far above those that the description '
             'predicts.', bool),
    'watch_safety', 'serial', 'payload',
    Argument('require_recorder', 'true', 'Move only while the recorder records.', bool),
    'simulation_token', 'effort_unit', 'drive_gains', 'use_sim_time', *FILES,
)


def generate_launch_description():
    """Return the node and its arguments."""
    runner = start('experiment_runner', ARGUMENTS)
    return LaunchDescription([
        *declare(ARGUMENTS), runner,
        if_killed(
            runner, 'experiment_runner was killed and watches nothing: a motion that the '
            'controller holds goes on to its end; only the emergency stop ends it.',
        ),
    ])
