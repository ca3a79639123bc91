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
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    # What a controller says of itself is then not read.
    JointTrajectoryControllerState = None

try:
    from control_msgs.msg import SpeedScalingFactor
except ImportError:
    # Humble: its joint_trajectory_controller hears no scaling either.
    SpeedScalingFactor = None

try:
    from controller_manager_msgs.srv import ListControllers
except ImportError:
    # Which controller is active is then known of the simulated robot only.
    ListControllers = None

try:
    from controller_manager_msgs.msg import ControllerManagerActivity
except ImportError:
    # Older managers do not tell of a switch; they are asked.
    ControllerManagerActivity = None

try:
    from ur_dashboard_msgs.msg import RobotMode, SafetyMode
except ImportError:
    # So is the safety state.
    RobotMode = SafetyMode = None

__all__ = [
    'ControllerManagerActivity', 'FollowJointTrajectory', 'JointTrajectoryControllerState',
    'ListControllers', 'RobotMode', 'SafetyMode', 'SpeedScalingFactor',
]
