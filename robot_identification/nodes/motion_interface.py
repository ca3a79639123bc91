# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The way to a joint-trajectory controller: finding it, sending to it by action or by topic."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
import os
import time
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus
from action_msgs.srv import CancelGoal
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution import GoalAccepted, GoalFailed, GoalsReleased
from robot_identification.nodes.adapter import (
    ControllerManagerActivity, FollowJointTrajectory, ListControllers,
)
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.conversions import knots_to_message
from robot_identification.nodes.graph import LIST_SERVICE
from robot_identification.nodes.robot import DriverArm
from robot_identification.nodes.topic_thread import TopicThread
from robot_identification.simulation import TrajectoryPoints
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

INTERFACES = ('auto', 'action', 'topic')
ACTIVITY_TOPIC = 'controller_manager/activity'
KIND = 'JointTrajectoryController'
# An answer of the controller manager is valid for this long [s]; chosen: four requests of the
# runner (REFRESH_PERIOD).
LIST_TIMEOUT = 2.0
# An answer to a request to cancel is waited for so long [s]; chosen: a hundred times its time.
CANCEL_TIMEOUT = 5.0
# Longer pauses between looks are this process's own [s]; chosen: the period of requests.
OWN_PAUSE = 0.5
# From the start of this process until other nodes are known [s]; chosen: above discovery, 0.3 to
# 3 s (docs/security.md).
DISCOVERY_TIME = 5.0
# Answers to a request to cancel that state that there is nothing to be cancelled any more.
NOT_FOLLOWED = (
    CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID, CancelGoal.Response.ERROR_GOAL_TERMINATED
)


@dataclass(frozen=True)
class Controller:
    """A controller as the controller manager lists it."""

    # For example 'scaled_joint_trajectory_controller', its class, 'active'.
    name: str
    kind: str
    state: str

    @property
    def follows(self) -> bool:
        """Return whether it is an active one that follows joint trajectories."""
        return self.state == 'active' and KIND in self.kind


class _SharedActionClient(ActionClient):
    """
    Action client of which one thread asks and another one, the executor's, reads the answers.

    rclpy notes what was asked after it was sent, and forgets an answer that is read in between.
    """

    def __init__(self, lock: AbstractContextManager[Any], *given: Any) -> None:
        self._shared = lock
        super().__init__(*given)

    def send_goal_async(self, *given: Any, **named: Any) -> Any:
        """Send a goal, as rclpy does, and note it before an answer is read."""
        with self._shared:
            return super().send_goal_async(*given, **named)

    async def execute(self, taken_data: Any) -> None:
        """Hand over answers, as rclpy does."""
        with self._shared:
            await super().execute(taken_data)


class MotionInterface:
    """
    Sends trajectories to the active joint-trajectory controller.

    An empty `controller` is the only active one; `interface` 'auto' uses the action where it is
    offered. A `simulated` robot lists its controllers on a topic. `on_event` takes `GoalAccepted`,
    `GoalFailed` and `GoalsReleased`. `send` and `cancel` are called with the re-entrant `lock`
    held, from any thread; answers are read by the executor's, with it as well.
    """

    def __init__(
        self, node: Node, arm: DriverArm,
        on_event: Callable[[GoalAccepted | GoalFailed | GoalsReleased], object], *,
        controller: str, interface: str, lock: AbstractContextManager[Any],
    ) -> None:
        self._node, self._arm, self._on_event, self._lock = node, arm, on_event, lock
        # The motions to come and their messages.
        self._prepared: list[tuple[TrajectoryPoints, JointTrajectory]] = []
        self._wanted, self._interface, self._simulated = controller, interface, arm.simulated
        self._listed: list[Controller] | None = None
        self._listed_at = -np.inf
        self._awake_at = time.monotonic()
        self._asked: Any = None
        self._asked_at = -np.inf
        self._name = ''
        self._publisher: Any = None
        self._action: Any = None
        self._by_action = False
        # Goals of ours that may still be followed, by the identifiers that we gave them.
        self._goals: dict[bytes, UUID] = {}
        self._cancel_client: Any = None
        # When each was asked for that has not been answered.
        self._cancelling: deque[tuple[float, Future]] = deque()
        # Of the goal that is to be followed; None while all are to be cancelled.
        self._number: int | None = None
        self._list_client: Any = None
        # Whether the manager tells of switches, and when it did last.
        self._receives_activity, self._switched_at = False, -np.inf
        # Done with the first list, or when there is none although discovery has settled.
        self._discovered, self._began_at = Future(), time.monotonic()
        if arm.simulated:
            node.create_subscription(
                DiagnosticArray, 'simulated_robot/controllers', self._on_list, LATCHED
            )
        elif ListControllers is not None:
            self._list_client = node.create_client(ListControllers, LIST_SERVICE)
        else:
            # There will be no list.
            self._note_discovered()

    def subscribe_to_activity(self, watch: TopicThread) -> None:
        """Subscribe, before the start of the watch, to what tells of switched controllers."""
        if ControllerManagerActivity is not None and not self._simulated:
            watch.subscribe(ControllerManagerActivity, ACTIVITY_TOPIC, LATCHED, self._on_activity)

    @property
    def receives_activity(self) -> bool:
        """Return whether switches of controllers are published, or the list must be requested."""
        return self._receives_activity

    async def discover(self) -> None:
        """Return when controllers were listed, or when discovery has settled without a list."""
        await self._discovered

    @property
    def controller(self) -> str:
        """Name of the controller; empty before one was found."""
        return self._name

    @property
    def way(self) -> str:
        """Return 'action' or 'topic', as it is used now."""
        return 'action' if self._uses_action() else 'topic'

    @property
    def by_action(self) -> bool:
        """Return whether what was sent last was sent as a goal."""
        return self._by_action

    @property
    def commands_topic(self) -> str:
        """Topic of the controller for trajectories; empty before one was found."""
        return f'{self._name}/joint_trajectory' if self._name else ''

    def refresh(self, may_connect: Callable[[], bool] = lambda: False) -> None:
        """
        Ask the controller manager; to be called regularly.

        Where `may_connect` returns True, connect to the controller that it names. It is called
        with the lock held, in which no motion begins, and must return False while one is planned
        or followed; by default nothing is connected.
        """
        self._forgive_pause()
        if time.monotonic() - self._began_at > DISCOVERY_TIME:
            self._note_discovered()
        if self._list_client is not None and self._list_client.service_is_ready():
            late = time.monotonic() - self._asked_at > LIST_TIMEOUT
            if self._asked is None or self._asked.done() or late:
                self._asked_at = time.monotonic()
                self._asked = self._list_client.call_async(ListControllers.Request())
                self._asked.add_done_callback(partial(self._on_answer, self._asked_at))
        with self._lock, suppress(UnsafeMotionError):
            # What is wrong is reported when the runner is armed.
            if may_connect():
                self._connect(self._choose())

    def check_ready(self) -> None:
        """Raise UnsafeMotionError if no controller would follow what is sent."""
        with self._lock:
            self._connect(self._choose())
        if self._uses_action():
            return
        if self._interface == 'action':
            reason = (
                'control_msgs is not installed' if FollowJointTrajectory is None
                else f'{self._name} offers no follow_joint_trajectory action'
            )
            raise UnsafeMotionError(f'interface is action, and {reason}')
        if not self._publisher.get_subscription_count():
            raise UnsafeMotionError(
                f'{self._node.resolve_topic_name(self.commands_topic)} has no subscriber yet: is '
                'the controller running?'
            )

    def check_listed(self) -> None:
        """Raise UnsafeMotionError if the controller manager does not answer any more."""
        self._list()

    def check_active(self) -> None:
        """Raise UnsafeMotionError if the controller is not active any more."""
        states = {one.name: one for one in self._list()}
        if self._name not in states or not states[self._name].follows:
            state = states[self._name].state if self._name in states else 'gone'
            raise UnsafeMotionError(f'the controller {self._name} is {state}')

    def prepare(self, *motions: TrajectoryPoints) -> None:
        """Make the messages of motions to come: one of many minutes takes too long under watch."""
        self._prepared = [(knots, self._message(knots)) for knots in motions]

    def _message(self, knots: TrajectoryPoints) -> JointTrajectory:
        knots.check(self._arm.robot.n)
        message = knots_to_message(self._arm.robot, knots)
        message.joint_names = list(self._arm.joints)
        return message

    def send(self, number: int, knots: TrajectoryPoints) -> None:
        """Send a trajectory under a number; it replaces what the controller follows now."""
        prepared = [message for motion, message in self._prepared if motion is knots]
        message = prepared[0] if prepared else self._message(knots)
        self._number = number
        self._by_action = self._uses_action()
        if not self._by_action:
            self._publisher.publish(message)
            # A topic has no answer.
            self._on_event(GoalAccepted(number))
            return
        name = os.urandom(16)
        # An identifier of our own, so that a goal whose answer was lost can be cancelled.
        self._goals[name] = UUID(uuid=np.frombuffer(name, dtype=np.uint8))
        future = self._action.send_goal_async(
            FollowJointTrajectory.Goal(trajectory=message), goal_uuid=self._goals[name]
        )
        future.add_done_callback(
            lambda answer: self._on_goal_answer(number, name, answer.result())
        )

    def cancel(self) -> None:
        """
        Cancel every goal of ours, without a motion.

        A robot that was stopped by itself would go on with them when it is released. To be called
        again until `GoalsReleased` has come.
        """
        self._number = None
        self._forget_unanswered()
        for name, identifier in list(self._goals.items()):
            request = CancelGoal.Request(goal_info=GoalInfo(goal_id=identifier))
            asked = self._cancel_client.call_async(request)
            self._cancelling.append((time.monotonic(), asked))
            asked.add_done_callback(
                lambda answer, name=name: self._on_cancelled(name, answer.result())
            )
        self._tell_release()

    def _forget_unanswered(self) -> None:
        """Forget requests that a controller which is gone will not answer: rclpy keeps each."""
        while self._cancelling and (
            self._cancelling[0][1].done()
            or time.monotonic() - self._cancelling[0][0] > CANCEL_TIMEOUT
        ):
            self._cancel_client.remove_pending_request(self._cancelling.popleft()[1])

    def _tell_release(self) -> None:
        if self._number is None and not self._goals:
            self._on_event(GoalsReleased())

    def _on_cancelled(self, name: bytes, answer: Any) -> None:
        # Servers of rclpy reject with no error and an empty list.
        if answer is not None and (
            answer.return_code in NOT_FOLLOWED
            or name in {bytes(goal.goal_id.uuid) for goal in answer.goals_canceling}
        ):
            self._forget(name)

    def _forget(self, name: bytes) -> None:
        with self._lock:
            self._goals.pop(name, None)
            self._tell_release()

    def _uses_action(self) -> bool:
        return (
            self._interface != 'topic' and self._action is not None
            and self._action.server_is_ready()
        )

    def _forgive_pause(self) -> None:
        """Take the time in which this process read no answers for no silence of the manager."""
        now = time.monotonic()
        self._listed_at += max(now - self._awake_at - OWN_PAUSE, 0.0)
        self._awake_at = now

    @property
    def _silence(self) -> float:
        """Time without an answer in which answers were read [s]."""
        return min(time.monotonic(), self._awake_at + OWN_PAUSE) - self._listed_at

    def _list(self) -> list[Controller]:
        if self._listed is None or (not self._simulated and self._silence > LIST_TIMEOUT):
            if not self._simulated and ListControllers is None:
                raise UnsafeMotionError(
                    'controller_manager_msgs is not installed, without which the active '
                    'controller of a real arm is not known: install '
                    'ros-<distribution>-controller-manager-msgs'
                )
            raise UnsafeMotionError(
                'no list of controllers from '
                + ('the simulated robot' if self._simulated else LIST_SERVICE)
                + ': is the driver running?'
            )
        return self._listed

    def _choose(self) -> str:
        """Return the name of the controller to use."""
        listed = self._list()
        following = [one.name for one in listed if one.follows]
        names = ', '.join(f'{one.name} ({one.state})' for one in listed if KIND in one.kind)
        if self._wanted:
            if self._wanted not in following:
                raise UnsafeMotionError(
                    f'controller is {self._wanted}, which is no active joint-trajectory '
                    f'controller; there are {names or "none"}'
                )
            return self._wanted
        if len(following) != 1:
            raise UnsafeMotionError(
                f'{len(following)} joint-trajectory controllers are active, needed is one (there '
                f'are {names or "none"}): activate one, or set the parameter controller'
            )
        return following[0]

    def _connect(self, name: str) -> None:
        if name == self._name:
            return
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        if self._action is not None:
            self._action.destroy()
            self._node.destroy_client(self._cancel_client)
            self._cancelling.clear()
        self._name = name
        self._publisher = self._node.create_publisher(
            JointTrajectory, self.commands_topic, QoSProfile(depth=10)
        )
        self._action = None
        if FollowJointTrajectory is not None:
            self._action = _SharedActionClient(
                self._lock, self._node, FollowJointTrajectory, f'{name}/follow_joint_trajectory'
            )
            self._cancel_client = self._node.create_client(
                CancelGoal, f'{name}/follow_joint_trajectory/_action/cancel_goal'
            )

    def _on_list(self, message: DiagnosticArray) -> None:
        self._listed = [
            Controller(one.name, one.hardware_id, one.message) for one in message.status
        ]
        self._listed_at = time.monotonic()
        self._note_discovered()

    def _on_answer(self, asked_at: float, future: Future) -> None:
        answer = future.result()
        if answer is None:
            return
        with self._lock:
            self._listed_at = time.monotonic()
            # What was listed before a switch is not so any more.
            if asked_at > self._switched_at:
                self._listed = [
                    Controller(one.name, one.type, one.state) for one in answer.controller
                ]
        self._note_discovered()

    def _on_activity(self, message: Any) -> None:
        """Take the states of controllers after a switch, in the thread of the watch."""
        states = {one.name: one.state.label for one in message.controllers}
        with self._lock:
            self._receives_activity, self._switched_at = True, time.monotonic()
            if self._listed is not None:
                self._listed = [
                    replace(one, state=states[one.name]) for one in self._listed
                    if one.name in states
                ]

    def _note_discovered(self) -> None:
        if not self._discovered.done():
            self._discovered.set_result(None)

    def _on_goal_answer(self, number: int, name: bytes, goal: Any) -> None:
        if goal is None or not goal.accepted:
            self._forget(name)
            self._on_event(GoalFailed(
                number,
                f'{self._name} rejected the goal; its log says why (not active, other joints, '
                'or a trajectory that it does not take)',
            ))
            return
        goal.get_result_async().add_done_callback(
            lambda answer: self._on_result(number, name, answer.result())
        )
        with self._lock:
            if number == self._number:
                self._on_event(GoalAccepted(number))
            else:
                # It was replaced or given up meanwhile, and must not be followed.
                goal.cancel_goal_async()

    def _on_result(self, number: int, name: bytes, answer: Any) -> None:
        self._forget(name)
        if answer is None:
            return
        result = answer.result
        # A goal that was replaced has ended by itself all the same, if it broke a tolerance.
        if number != self._number and result.error_code not in (
            result.PATH_TOLERANCE_VIOLATED, result.GOAL_TOLERANCE_VIOLATED
        ):
            return
        if answer.status == GoalStatus.STATUS_CANCELED:
            self._on_event(GoalFailed(
                number, f'another client cancelled the motion of {self._name}'
            ))
        elif answer.status != GoalStatus.STATUS_SUCCEEDED or result.error_code != 0:
            self._on_event(GoalFailed(
                number,
                f'{self._name} ended the motion with code {result.error_code}: '
                f'{result.error_string or "no reason given"}',
            ))
