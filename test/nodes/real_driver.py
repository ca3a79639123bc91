# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A driver of a real arm as the runner sees it, in a process that finds its message types."""

import json
from pathlib import Path
import sys
import time

from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from controller_manager_msgs.msg import (
    ControllerManagerActivity, ControllerState, NamedLifecycleState,
)
from controller_manager_msgs.srv import ListControllers
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.srv import SelfTest
from lifecycle_msgs.msg import State
import numpy as np
import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from robot_identification.model.robot_model import plain_encoders
from robot_identification.nodes.conversions import message_to_knots
from robot_identification.simulation.controller import TrajectoryController
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from ur_dashboard_msgs.msg import RobotMode, SafetyMode

CYCLE = 0.008
FIRST_STAMP = 1000.0
CONTROLLERS = 'joint_trajectory_controller', 'scaled_joint_trajectory_controller'
KIND = 'joint_trajectory_controller/JointTrajectoryController'
# In the words of ros2_controllers.
DEACTIVATED = 'Current goal cancelled during deactivate transition.'


def kept(depth):
    """Return the QoS of topics whose last messages are kept for who comes late."""
    return QoSProfile(
        depth=depth, reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


class RealDriver:
    """
    The driver; `settings` are its joints in kinematic order, where it stands, its URDF.

    And the active controller, with the parameters that this states. The controller manager is
    offered later where there is a controller with parameters.
    """

    def __init__(self, settings):
        self.joints = settings['joints']
        self.node = rclpy.create_node('real_driver')
        self.name, parameters = settings['controller'], settings['states']
        # A controller is a node of its own.
        self.own = rclpy.create_node(self.name) if parameters else None
        self.controller = TrajectoryController(np.array(settings['q']))
        self.factor, self.scaling, self.safety = 10.0, 1.0, SafetyMode.NORMAL
        # The speed at which a person moves every joint by hand [rad/s].
        self.drifts_at = self.drifted = 0.0
        self.types = {}
        # What the controller is told on its own topic.
        self.told_scaling = 1.0
        # How far its reference is from the measured place [rad].
        self.aside = 0.0
        self.now = self.progress = 0.0
        self.cycled_at = time.monotonic()
        self.goal, self.ended = None, None
        self.told, self.due = 0, []
        self.watched = None
        self.tick = Future()
        create = self.node.create_publisher
        self.states = create(JointState, 'joint_states', 10)
        self.speeds = create(Float64, 'speed_scaling_state_broadcaster/speed_scaling', 10)
        self.modes = {
            'program': create(Bool, 'io_and_status_controller/robot_program_running', kept(1)),
            'safety': create(SafetyMode, 'io_and_status_controller/safety_mode', kept(1)),
            'mode': create(RobotMode, 'io_and_status_controller/robot_mode', kept(1)),
        }
        self.activity = create(ControllerManagerActivity, 'controller_manager/activity', kept(1))
        # Published by another node than the controller, which is here one with it.
        self.scalings = create(SpeedScalingFactor, f'{self.name}/speed_scaling_input', kept(1))
        self.controller_states = create(
            JointTrajectoryControllerState, f'{self.name}/controller_state', 10
        )
        self.description = create(String, 'robot_description', kept(1))
        self.description.publish(String(data=settings['description']))
        self.events = create(String, '~/events', kept(1000))
        # What it follows is recorded, or so it says.
        self.node.create_service(SelfTest, 'bag_recorder/status', self.say_recording)
        self.controllers = {
            name: 'active' if name == self.name else 'inactive' for name in CONTROLLERS
        }
        if parameters:
            self.state_parameters(parameters)
        else:
            self.offer_manager()
        self.node.create_subscription(
            JointTrajectory, f'{self.name}/joint_trajectory', self.on_topic, 10
        )
        self.node.create_subscription(String, '~/do', self.on_order, kept(100))
        self.server = ActionServer(
            self.node, FollowJointTrajectory, f'{self.name}/follow_joint_trajectory',
            self.execute, goal_callback=self.on_goal, cancel_callback=self.on_cancel,
            callback_group=ReentrantCallbackGroup(),
        )
        self.canceller = self.node.create_client(
            CancelGoal, f'{self.name}/follow_joint_trajectory/_action/cancel_goal'
        )
        self.set_program(True)
        self.set_safety(SafetyMode.NORMAL)
        self.set_mode(RobotMode.RUNNING)
        self.node.create_timer(CYCLE, self.cycle)

    def say(self, what, **content):
        self.events.publish(String(data=json.dumps({'what': what, **content})))

    def say_recording(self, request, response):
        response.passed = b'\x01'
        response.status = [DiagnosticStatus(message='RECORDING')]
        return response

    # What a test orders

    def on_order(self, message):
        """Do something now, or when the n-th trajectory from now on has gone for some time."""
        order = json.loads(message.data)
        if 'trajectory' in order:
            self.told, self.due = 0, [order]
        else:
            getattr(self, order['verb'])(*order['values'])
        self.say('ordered', verb=order['verb'])

    def set_program(self, running):
        """Start or stop the program; without it no controller is active."""
        self.modes['program'].publish(Bool(data=running))
        self.list_controllers({self.name: 'active' if running else 'inactive'})
        if not running:
            self.end_goal(FollowJointTrajectory.Result.INVALID_GOAL, DEACTIVATED)

    def set_safety(self, mode):
        """Enter a safety mode; in a stop the goal is kept, and would go on afterwards."""
        self.safety = mode
        self.modes['safety'].publish(SafetyMode(mode=mode))

    def set_mode(self, mode):
        self.modes['mode'].publish(RobotMode(mode=mode))

    def list_controllers(self, states):
        """Change the states of controllers, and tell of the switch."""
        self.controllers.update(states)
        self.activity.publish(ControllerManagerActivity(controllers=[
            NamedLifecycleState(name=name, state=State(label=state))
            for name, state in self.controllers.items()
        ]))

    def list_types(self, types):
        """Let controllers be of other types than usual."""
        self.types = types

    def tell_scaling(self, factor):
        """Tell the controller how fast it is to follow."""
        self.told_scaling = factor
        self.scalings.publish(SpeedScalingFactor(factor=factor))

    def drift(self, speed):
        """Let a person move the arm by hand."""
        self.drifts_at, self.drifted = speed, 0.0

    def hold_aside(self, distance):
        """Hold the first joint so far from where it is measured."""
        self.aside = distance

    def offer_manager(self):
        self.node.create_service(
            ListControllers, 'controller_manager/list_controllers', self.on_list
        )

    def state_parameters(self, values):
        """Let the controller state other values of parameters, None: none."""
        for name, value in values.items():
            if self.own.has_parameter(name):
                self.own.undeclare_parameter(name)
            if value is not None:
                self.own.declare_parameter(name, value)

    def set_scaling(self, scaling):
        """Move the speed slider."""
        self.scaling = scaling

    def set_factor(self, factor):
        """Be so many times faster than real time."""
        self.factor = factor

    def place(self, q):
        """Stand elsewhere, at rest."""
        self.controller = TrajectoryController(np.array(q))

    def watch(self, duration):
        """Tell how far the arm came within a span of its own time, and where it is then."""
        self.watched = [self.now + duration, self.controller.sample(self.progress)[0], 0.0]

    def end_goal(self, code, text):
        """End the goal under way and hold."""
        if self.goal is not None:
            self.ended = code, text
        self.place(self.controller.sample(self.progress)[0])

    def cancel(self):
        """Let another client cancel all goals, as a pendant or a teleoperation program may."""
        if not self.canceller.service_is_ready():
            raise RuntimeError('the cancel service of the action is not there')
        self.canceller.call_async(CancelGoal.Request())

    # What it is told

    def on_list(self, request, response):
        broadcaster = ControllerState(
            name='joint_state_broadcaster', state='active',
            type='joint_state_broadcaster/JointStateBroadcaster',
        )
        response.controller = [broadcaster] + [
            ControllerState(name=name, state=state, type=self.types.get(name, KIND))
            for name, state in self.controllers.items()
        ]
        return response

    def note(self, what, trajectory):
        last = trajectory.points[-1]
        self.say(
            what, joints=list(trajectory.joint_names), knots=len(trajectory.points),
            q=list(last.positions), dq=list(last.velocities),
            peak=max(max(map(abs, point.velocities)) for point in trajectory.points),
            duration=last.time_from_start.sec + 1e-9 * last.time_from_start.nanosec,
        )

    def follow(self, trajectory):
        """Follow a trajectory from now on, and count it."""
        self.told += 1
        self.begun = self.progress
        knots = message_to_knots(trajectory, self.joints, plain_encoders(len(self.joints)))
        self.controller.follow(knots, self.progress)

    def on_topic(self, trajectory):
        self.note('topic', trajectory)
        self.follow(trajectory)

    def on_goal(self, request):
        """Accept a goal of the right joints."""
        self.note('goal', request.trajectory)
        known = sorted(request.trajectory.joint_names) == sorted(self.joints)
        active = self.controllers[self.name] == 'active'
        accepted = known and active
        return GoalResponse.ACCEPT if accepted else GoalResponse.REJECT

    def on_cancel(self, goal):
        self.say('cancel')
        return CancelResponse.ACCEPT

    async def execute(self, goal):
        """Follow a goal to its end, or to what ends it."""
        result = FollowJointTrajectory.Result()
        self.goal, self.ended = goal, None
        self.follow(goal.request.trajectory)
        while self.goal is goal and self.controller.active and not self.ended:
            if goal.is_cancel_requested:
                self.place(self.controller.sample(self.progress)[0])
                goal.canceled()
                self.say('ended', status='canceled')
                return result
            await self.tick
        if self.goal is not goal:
            self.ended_as(goal, result, -1, 'Goal is preempted by a new goal.')
        elif self.ended:
            self.ended_as(goal, result, *self.ended)
        else:
            goal.succeed()
            self.say('ended', status='succeeded')
        return result

    def ended_as(self, goal, result, code, text):
        result.error_code, result.error_string = code, text
        goal.abort()
        self.say('ended', status='aborted', code=code)

    # What it does

    def cycle(self):
        """Move on by one cycle; in real time by what a busy machine made of it."""
        scaling = self.scaling if self.safety in (1, 2) else 0.0
        before, self.cycled_at = self.cycled_at, time.monotonic()
        step = self.cycled_at - before if self.factor == 1.0 else self.factor * CYCLE
        self.now += step
        rate = scaling * self.told_scaling
        self.progress += step * rate
        for order in list(self.due):
            if self.told >= order['trajectory'] and self.progress - self.begun >= order['after']:
                self.due.remove(order)
                getattr(self, order['verb'])(*order['values'])
                self.say('done', verb=order['verb'])
        self.drifted += step * self.drifts_at
        q, dq, _ = self.controller.sample(self.progress)
        if self.watched:
            end, before, moved = self.watched
            self.watched[2] = max(moved, float(np.max(np.abs(q - before))))
            if self.now >= end:
                self.say('watched', moved=self.watched[2], q=q.tolist())
                self.watched = None
        tick, self.tick = self.tick, Future()
        tick.set_result(None)
        order = np.argsort(self.joints)
        message = JointState(
            name=[self.joints[i] for i in order], position=(q[order] + self.drifted).tolist(),
            velocity=(rate * dq[order] + self.drifts_at).tolist(), effort=[0.0] * len(self.joints),
        )
        nanoseconds = round((FIRST_STAMP + self.now) * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
        self.states.publish(message)
        self.speeds.publish(Float64(data=100.0 * scaling))
        # Whatever the slider says, as its base class does in the scaled controller.
        self.controller_states.publish(
            JointTrajectoryControllerState(
                speed_scaling_factor=self.told_scaling, joint_names=self.joints,
                reference=JointTrajectoryPoint(
                    positions=[q[0] + self.aside, *q[1:].tolist()]
                ),
            )
        )


def main():
    """Drive until the process is ended."""
    rclpy.init(args=[])
    driver = RealDriver(json.loads(Path(sys.argv[1]).read_text()))
    executor = SingleThreadedExecutor()
    for node in filter(None, (driver.node, driver.own)):
        executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        driver.node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
