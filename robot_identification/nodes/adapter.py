# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Message types that only a robot machine has, imported where they are installed."""

from __future__ import annotations

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    # Trajectories then go by topic only.
    FollowJointTrajectory = None

try:
    from controller_manager_msgs.srv import ListControllers
except ImportError:
    # Which controller is active is then known of the simulated robot only.
    ListControllers = None

try:
    from ur_dashboard_msgs.msg import RobotMode, SafetyMode
except ImportError:
    # So is the safety state.
    RobotMode = SafetyMode = None

__all__ = ['FollowJointTrajectory', 'ListControllers', 'RobotMode', 'SafetyMode']
