# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The FollowJointTrajectory action of the simulated robot, where control_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.adapter import FollowJointTrajectory
from robot_identification.nodes.conversions import message_to_knots
from robot_identification.nodes.robot import DriverArm
from robot_identification.simulation import ScaledController, TrajectoryPoints
from trajectory_msgs.msg import JointTrajectoryPoint

# Cycles of control; chosen: 50 Hz with 500 Hz, above the 20 Hz of ros2_controllers.
FEEDBACK_CYCLES = 10
# In the words of ros2_controllers.
DEACTIVATED = 'Current goal cancelled during deactivate transition.'


class TrajectoryAction:
    """Accepts, executes, cancels and reports goals for a `ScaledController`."""

    def __init__(
        self,
        node: Node,
        name: str,
        controller: ScaledController,
        arm: DriverArm,
        now: Callable[[], float],
    ) -> None:
        self._node, self._controller, self._now = node, controller, now
        self._joints, self._encoders = arm.joints, arm.robot.encoders
        self._q = np.zeros(len(self._joints))
        self._cycles = 0
        self._tick = Future()
        self._goal = None
        self._reason = ''
        self._server = ActionServer(
            node, FollowJointTrajectory, name, self._execute,
            goal_callback=self._on_goal, cancel_callback=self._on_cancel,
            callback_group=ReentrantCallbackGroup(),
        )

    def update(self, q: np.ndarray) -> None:
        """Report the measured position, shape (n,) [rad], once a cycle."""
        self._q = q
        self._cycles += 1
        tick, self._tick = self._tick, Future()
        tick.set_result(None)

    def abort(self) -> None:
        """Abort the goal under way, because the controller has been switched off."""
        self._goal, self._reason = None, DEACTIVATED

    def _on_goal(self, request) -> GoalResponse:
        try:
            if not self._controller.is_active(self._now()):
                raise UnsafeMotionError('the controller is not active')
            self._knots(request.trajectory).check(len(self._joints))
        except UnsafeMotionError as error:
            self._node.get_logger().error(f'goal rejected: {error}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _knots(self, trajectory) -> TrajectoryPoints:
        return message_to_knots(trajectory, self._joints, self._encoders)

    def _on_cancel(self, goal) -> CancelResponse:
        silent = self._controller.is_silent(self._now())
        return CancelResponse.REJECT if silent else CancelResponse.ACCEPT

    async def _execute(self, goal):
        result = FollowJointTrajectory.Result()
        self._goal, self._reason = goal, 'replaced by a newer goal'
        try:
            self._controller.follow(self._knots(goal.request.trajectory), self._now())
        except UnsafeMotionError as error:
            # The controller was switched off after it had accepted the goal.
            self._goal, self._reason = None, str(error)
        while self._goal is goal and self._controller.executing:
            if goal.is_cancel_requested:
                self._controller.stop(self._now())
                goal.canceled()
                return result
            await self._tick
            if self._goal is goal and self._cycles % FEEDBACK_CYCLES == 0:
                goal.publish_feedback(self._feedback())
        while self._controller.is_silent(self._now()):
            # A driver that is being restarted does not report what became of its goals.
            await self._tick
        if self._goal is not goal:
            result.error_code = FollowJointTrajectory.Result.INVALID_GOAL
            result.error_string = self._reason
            goal.abort()
        else:
            goal.succeed()
        return result

    def _feedback(self):
        q, dq, _ = self._controller.reference
        feedback = FollowJointTrajectory.Feedback(joint_names=list(self._joints))
        desired, actual = (self._encoders.to_reading(values) for values in (q, self._q))
        feedback.desired = JointTrajectoryPoint(
            positions=desired.tolist(), velocities=(self._encoders.sign * dq).tolist()
        )
        feedback.actual = JointTrajectoryPoint(positions=actual.tolist())
        feedback.error = JointTrajectoryPoint(positions=(desired - actual).tolist())
        return feedback
