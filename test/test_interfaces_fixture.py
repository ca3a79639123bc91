# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The control_msgs fixture compiles and speaks as the distribution's package does."""

import importlib.util
import json
import os
import subprocess
import sys

from interfaces import (
    build_interfaces, default_cache_dir, interface_environment, why_not_buildable,
)
import pytest

# The interface of the jazzy branch (5.8.0), whose names and types decide its type hash.
GOAL_FIELDS = {
    'trajectory': 'trajectory_msgs/JointTrajectory',
    'multi_dof_trajectory': 'trajectory_msgs/MultiDOFJointTrajectory',
    'path_tolerance': 'sequence<control_msgs/JointTolerance>',
    'component_path_tolerance': 'sequence<control_msgs/JointComponentTolerance>',
    'goal_tolerance': 'sequence<control_msgs/JointTolerance>',
    'component_goal_tolerance': 'sequence<control_msgs/JointComponentTolerance>',
    'goal_time_tolerance': 'builtin_interfaces/Duration',
}

CHILD = """
import json

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message

goal = FollowJointTrajectory.Goal()
goal.trajectory.joint_names = ['a', 'b']
goal.path_tolerance = [JointTolerance(name='a', position=0.1)]
assert deserialize_message(serialize_message(goal), FollowJointTrajectory.Goal) == goal
print(json.dumps(FollowJointTrajectory.Goal.get_fields_and_field_types()))
"""


@pytest.mark.timeout(900)  # compiles for half a minute, several on a busy machine
def test_a_child_process_imports_the_action():
    """A goal goes to bytes and back, with the fields of the interface."""
    if importlib.util.find_spec('control_msgs'):
        environment = dict(os.environ)  # the distribution's own, never shadowed by ours
    else:
        prefix = build_interfaces(default_cache_dir())
        if prefix is None:
            pytest.skip(f'control_msgs cannot be compiled: {why_not_buildable()}')
        environment = interface_environment(prefix)
    completed = subprocess.run(
        [sys.executable, '-c', CHILD],
        env=environment, capture_output=True, text=True, timeout=60,
    )
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout) == GOAL_FIELDS
