# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
    from ur_dashboard_msgs.msg import RobotMode
    from ur_dashboard_msgs.msg import SafetyMode
except ImportError:
    # So is the safety state.
    RobotMode = SafetyMode = None

__all__ = ['FollowJointTrajectory', 'ListControllers', 'RobotMode', 'SafetyMode']
