# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start ur_robot_driver with mock hardware, and our nodes.

States mirror the commands and the effort is zero: it shows motion and recording, and nothing can
be identified from it.
"""

from launch import LaunchDescription
from robot_identification.nodes.launch_files import (
    arguments, BESIDE_DRIVER, declare, include, names_of, passed_on,
)

ARGUMENTS = arguments(*BESIDE_DRIVER, 'initial_joint_controller', ur_type='ur5e')


def generate_launch_description():
    """Return driver, nodes and their arguments."""
    return LaunchDescription([
        *declare(ARGUMENTS),
        include(
            'ur_robot.launch.py',
            # The driver requires an address and does not use it.
            robot_ip='0.0.0.0',
            launch_driver='true',
            use_mock_hardware='true',
            launch_rtde_reader='false',
            # Mock hardware has no modes, and carries nothing.
            watch_safety='false',
            payload='[0.0]',
            serial='mock_hardware',
            **passed_on(names_of(ARGUMENTS)),
        ),
    ])
