# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Executes a certified trajectory: checks, arms, approaches, executes, watches, stops.

The operator arms it, for one file, by typing its hash. Nothing is sent in a dry run, which is the
default. Every fault in motion ends it: the arm is brought to rest, FAULT is latched, and only
arming again resumes. Without an operator it moves only the simulated robot that
carries the same `simulation_token`, which the same process started.

The decisions are those of `execution.state_machine`; this node translates messages to its events
and its commands to messages. What is watched comes in a thread of its own, which also sends a
stop; the executor's thread has the calls, proofs, files and what is published.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
import gc
import sys
import threading
import time
import traceback

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.arrays import FloatArray
from robot_identification.errors import IdentificationError, UnsafeMotionError
from robot_identification.excitation import load_trajectory, Trajectory
from robot_identification.execution import (
    Approval, approve, Armed, ARMED_SECONDS, check_hash, check_same_arm, compare_execution,
    ExecutionOptions, ExecutionStateMachine, make_plan, Moving, record_path, REST_SPEED,
    START_TOLERANCE, State, Stopping,
)
from robot_identification.execution import events as ev
from robot_identification.model import RobotModel
from robot_identification.nodes.arm_claim import ArmClaim
from robot_identification.nodes.common import (
    declare, declare_robot, INTERRUPTED, run_node, SERVICE_QOS, set_own_parameter,
    value_of,
)
from robot_identification.nodes.controller import ControllerState
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.driver_notes import describe_driver
from robot_identification.nodes.graph import GraphGuard, JOINT_STATES
from robot_identification.nodes.motion_interface import MotionInterface
from robot_identification.nodes.robot import DriverArm, robot_from_parameters, RobotDescription
from robot_identification.nodes.robot_state import RobotState
from robot_identification.nodes.roots import allowed_to_write, read_path
from robot_identification.nodes.runner_parameters import declare_runner
from robot_identification.nodes.status import PublishedState, RecorderWatch
from robot_identification.nodes.topic_thread import TopicThread
from std_srvs.srv import Trigger

WATCH_PERIOD = 0.02  # [s]; chosen: ten looks within the shortest timeout of joint states, 0.2 s
# Period of requests to the controller manager and of diagnostics [s]; chosen: four requests fit in
# their timeout (LIST_TIMEOUT of motion_interface.py).
REFRESH_PERIOD = 0.5
# The same in a motion by topic, of which no goal is aborted, where the manager does not tell of
# switches [s] (docs/execution.md); chosen: a call of a millisecond.
SWITCH_PERIOD = 0.1
# A new participant is noticed this soon [s] (docs/execution.md); chosen: a query of the graph
# costs milliseconds.
GRAPH_PERIOD = 0.25
LEVELS = {'FAULT': DiagnosticStatus.ERROR, 'STOPPING': DiagnosticStatus.WARN}


class ExperimentRunner(Node):
    """Stands between the state machine of an execution and the ROS graph."""

    def __init__(self) -> None:
        super().__init__('experiment_runner')
        self.finished: int | None = None
        declare_robot(self)
        declare_runner(self)
        prefix = declare(
            self, 'tf_prefix', '', "prefix of the driver's joint names", read_only=True
        )
        self._token = declare(
            self, 'simulation_token', '', 'shared with the simulated robot that may be moved',
            read_only=True,
        )
        self._description = RobotDescription(self, used=not self._token, prefix=prefix)
        robot = robot_from_parameters(self)
        arm = DriverArm(robot, prefix, simulated=bool(self._token))
        self._joints = arm.joints
        self._named, self._encoders = robot.joints, robot.encoders
        self._machine = ExecutionStateMachine(
            self._named, self.resolve_topic_name(JOINT_STATES),
            simulated=bool(self._token) or self._value('use_sim_time'),
        )
        # Held while the machine decides, and until its decision is on its way to the controller.
        self._lock = threading.RLock()
        # What the executor is to do, in order.
        self._later: deque[Callable[[], object]] = deque()
        self._is_draining = False
        self._wake = self.create_guard_condition(self._drain)
        self._thread = TopicThread(self, WATCH_PERIOD)
        self._driver = RobotState(
            self._thread, arm, self._handle, watch_safety=self._value('watch_safety'),
        )
        self._interface = MotionInterface(
            self, arm, self._handle, controller=self._value('controller'),
            interface=self._value('interface'), lock=self._lock,
        )
        self._interface.subscribe_to_activity(self._thread)
        self._controller = ControllerState(self, self._joints)
        self._graph_guard = GraphGuard(self, self._token, self._driver.topics)
        self._claim = ArmClaim(self, self._token)
        self._recorder = RecorderWatch(self, self._value('recorder'))
        # What is published of the last trajectory that was approved, and of its execution.
        self._approval: Approval | None = None
        self._worst_error = 0.0
        self._result: dict = {}
        self._shown: tuple = (False,)
        self._motions = 0  # begun since the start
        self._published = ''
        self._state_topic = PublishedState(self, self._read_state)
        self._diagnostics = Diagnostics(self, 'execution')
        self._serve()
        self._tell_state()
        self._drain()
        self.add_on_set_parameters_callback(self._on_set)
        self._thread.start(self._watch, self._on_error)

    def _serve(self) -> None:
        """Offer the services, and look at what comes by no message in periods."""
        # Of a group of its own, as it waits while others are served.
        self.create_service(
            Trigger, '~/arm', self._on_arm, qos_profile=SERVICE_QOS,
            callback_group=ReentrantCallbackGroup(),
        )
        for verb, event in ('execute', ev.ExecuteCalled()), ('abort', ev.AbortCalled()):
            self.create_service(
                Trigger, f'~/{verb}',
                lambda request, response, event=event: self._on_call(event, response),
                qos_profile=SERVICE_QOS,
            )
        # A wall clock of its own: a simulated or stopped /clock must not stop the watch.
        self.create_timer(
            REFRESH_PERIOD, self._refresh, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self.create_timer(
            SWITCH_PERIOD, self._poll_controllers, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    @property
    def failure(self) -> Exception | None:
        """Return the error that the watch could not cope with."""
        return self._thread.failure

    def destroy_node(self) -> None:
        """End the watch, and take the node off the graph."""
        self._thread.stop()
        super().destroy_node()

    def _value(self, name: str):
        return value_of(self, name)

    def _options(self) -> ExecutionOptions:
        values = {
            field.name: self._value(field.name) for field in fields(ExecutionOptions)
            if field.name != 'simulated'
        }
        return ExecutionOptions(
            **{**values, 'payload': tuple(values['payload'] or ())}, simulated=bool(self._token)
        )

    def close(self) -> bool:
        """Bring the arm to rest; return True when that is done."""
        if isinstance(self._machine.state, Moving):
            self.finished = INTERRUPTED
        self._handle(ev.StopRequested())
        return not self._machine.is_moving

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Keep what was armed as it was armed."""
        if any(parameter.name == 'robot' for parameter in parameters):
            return SetParametersResult(
                successful=False, reason='robot is read once: start the runner with another one'
            )
        state = self._machine.state
        armed = (
            isinstance(state, Armed) and state.executions > 0 and time.monotonic() < state.until
        )
        if self._machine.is_busy or armed:
            return SetParametersResult(
                successful=False, reason=f'{state.name}: call ~/abort first'
            )
        return SetParametersResult(successful=True)

    # Events and commands

    async def _on_arm(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Arm, as soon as the controllers and the parameters of the one to use are known."""
        await self._interface.discover()
        if not self._token:
            # Connects to what was found; a simulated controller has no parameters.
            self._refresh()
            await self._controller.discover()
        return self._on_call(ev.ArmCalled(), response)

    def _on_call(self, event: ev.Event, response: Trigger.Response) -> Trigger.Response:
        self._handle(event, response)
        return response

    def _handle(self, event: ev.Event, response: Trigger.Response | None = None) -> None:
        """
        Hand an event to the state machine, and carry out its commands.

        What goes to the controller is sent here and now, in either thread; the rest is the
        executor's.
        """
        with self._lock:
            for command in self._machine.handle(event, time.monotonic()):
                self._carry_out(command, response)
            self._tell_state()
        if not self._thread.is_current:
            self._drain()
        elif self._later:
            self._wake.trigger()

    def _carry_out(self, command: ev.Command, response: Trigger.Response | None) -> None:
        if isinstance(command, ev.Reply) and response is not None:
            response.success, response.message = command.success, command.message
        elif isinstance(command, ev.Send):
            if time.monotonic() > command.until:
                self._handle(ev.StopOutdated(command.number))
            else:
                self._interface.send(command.number, command.knots)
        elif isinstance(command, ev.CancelGoals):
            self._interface.cancel()
        elif isinstance(command, ev.Approve):
            self._later.append(lambda: self._handle(
                _or_refused(self._approve, ev.ApprovalRefused), response
            ))
        elif isinstance(command, ev.MakePlan):
            self._later.append(lambda: self._handle(
                _or_refused(lambda: self._plan(command.approval), ev.PlanRefused), response
            ))
        elif isinstance(command, ev.NoteExecution):
            self._later.append(lambda: self._note(command))

    def _drain(self) -> None:
        """Do what is to be done, in the executor's thread; what it leads to comes behind it."""
        if self._is_draining:
            return
        self._is_draining = True
        try:
            while self._later:
                self._later.popleft()()
        finally:
            self._is_draining = False

    def _watch(self) -> None:
        """Watch a motion."""
        self._recorder.poll()
        if self._machine.is_busy:
            self._handle(self._robot_state())
        self._handle(ev.Tick())

    def _on_error(self, error: Exception) -> None:
        """End the motion: an unexpected error does not end the watch."""
        text = ''.join(traceback.format_exception(error))
        self._later.append(lambda: self.get_logger().error(text))
        self._handle(ev.InternalError(repr(error)))

    def _robot_state(self) -> ev.RobotStateReceived:
        looked_at = time.monotonic()
        checks: dict[str, Callable[[], object]] = {
            'unable': self._driver.check_able,
            'inactive': self._interface.check_active,
            'unlisted': self._interface.check_listed,
            'contested': self._check_graph,
        }
        if self._value('require_recorder'):
            checks['unrecorded'] = lambda: self._recorder.check(self._machine.waited)
        return ev.RobotStateReceived(
            **{name: _problem(check) for name, check in checks.items()},
            hurried=self._controller.overspeed(),
            scaling=self._controller.scaling(self._driver.scaling),
            by_action=self._interface.by_action,
            looked_at=looked_at,
        )

    def _check_graph(self) -> None:
        self._claim.check()
        self._graph_guard.check_again(self._interface.commands_topic, GRAPH_PERIOD)

    # Arming and planning

    def _approve(self) -> ev.Approved:
        path = read_path(self, 'trajectory_file')
        trajectory, options = load_trajectory(path), self._options()
        check_hash(path, trajectory, self._value('arm.sha256'))
        # Before the proofs, which keep this thread from reading joint states for a while.
        self._check_surroundings()
        if options.commissioning:
            allowed_to_write(self, 'trajectory_file', record_path(path))
        robot, live = self._find_robot(trajectory)
        self._claim.acquire(self._joints)
        approval = approve(path, trajectory, robot, live, options)
        if not self._token:
            # What was typed is good for this once; what is armed would refuse to be set.
            set_own_parameter(self, 'arm.sha256', '')
        self._approval, self._worst_error, self._result = approval, 0.0, {}
        executions = self._value('arm.executions')
        what = 'a dry run' if options.dry_run else f'{executions} execution(s)'
        return ev.Approved(
            approval, executions,
            f'armed for {ARMED_SECONDS:.0f} s and {what} of {path}'
            + self._topic_remark(trajectory, options),
        )

    def _topic_remark(self, trajectory: Trajectory, options: ExecutionOptions) -> str:
        """Return in words how long a motion by topic may not be stopped; empty by action."""
        if self._interface.way == 'action':
            return ''
        periods = options.periods or trajectory.periods
        return (
            f'; {self._interface.controller} is sent the motion on a topic, which has no cancel: '
            'while joint states fail no stop is proved, and the arm goes on with the motion, for '
            f'up to {periods * trajectory.form.duration / options.speed:.0f} s'
        )

    def _find_robot(self, trajectory: Trajectory) -> tuple[RobotModel, RobotModel]:
        """Return the arm as the certificate has it, and the same as its driver describes it."""
        robot = robot_from_parameters(self)
        description = self._description.latest()
        if description is None:
            return robot, robot
        live = robot_from_parameters(self, description)
        if trajectory.certificate.get('urdf_sha256') == live.urdf_sha256:
            return live, live
        check_same_arm(robot, live)
        return robot, live

    def _check_surroundings(self) -> None:
        """Raise UnsafeMotionError if the arm moves, cannot move, or is commanded by others."""
        self._graph_guard.check_identity()
        self._interface.check_ready()
        self._controller.check_joints()
        self._graph_guard.check(self._interface.commands_topic)
        silence, latest = self._machine.silence(time.monotonic()), self._machine.latest
        if silence or latest is None:
            raise UnsafeMotionError(silence)
        speeds = np.abs(latest.dq)
        if np.max(speeds) > REST_SPEED:
            joint = int(np.argmax(speeds))
            raise UnsafeMotionError(
                f'{self._joints[joint]} moves at {speeds[joint]:.3f} '
                f'{self._named.unit("rad/s", joint)}, and the arm is to rest first'
            )
        self._driver.check_known()
        self._driver.check_able()
        self._controller.check_scaling(self._driver.scaling)

    def _plan(self, approval: Approval) -> ev.PlanMade | ev.DryRunMade:
        options, latest = self._options(), self._machine.latest
        assert latest is not None
        self._check_surroundings()
        self._claim.check()
        if self._value('require_recorder') and not options.dry_run:
            self._recorder.check_anew()
        plan = make_plan(approval, self._find_begin(latest.q), options)
        if not options.dry_run:
            self._interface.prepare(plan.approach, plan.motion)
            # What lives longer than the motion needs no look while the arm is watched.
            gc.collect()
            gc.freeze()
            return ev.PlanMade(plan)
        way = f'{self._interface.way} of {self._interface.controller}'
        message = approval.describe_dry_run(
            plan, options, way, self._joints, self._controller.constraints
        )
        if self._controller.problem:
            message = f'{message}: {self._controller.problem}'
        if not self._token:
            message = f'{message}; {describe_driver(self._description.text)}'
        try:
            approval.note(options, 0.0)
        except (IdentificationError, OSError) as error:
            message = f'{message}; NOT noted: {error}'
        return ev.DryRunMade(message)

    def _find_begin(self, measured: FloatArray) -> FloatArray:
        """Return where the way begins: where the controller holds the arm, if it states that."""
        readings = self._controller.commanded()
        if readings is None:
            return measured
        commanded = self._encoders.to_model(readings)
        off = np.abs(commanded - measured)
        joint = int(np.argmax(off))
        if off[joint] > START_TOLERANCE:
            unit = self._named.unit('rad', joint)
            raise UnsafeMotionError(
                f'{self._joints[joint]} is measured {off[joint]:.3f} {unit} from where '
                f'{self._interface.controller} holds it, at most {START_TOLERANCE:g} {unit} are '
                'accepted: is the arm held by something else, or its payload not the stated one?'
            )
        return commanded

    def _note(self, executed: ev.NoteExecution) -> None:
        """Compare what was planned with what was executed, and record the stage."""
        self._worst_error = executed.worst_error
        approval: Approval = executed.approval
        try:
            found = compare_execution(
                approval.robot, approval.trajectory,
                *(np.array([getattr(one, name) for one in executed.measurements])
                  for name in ('stamp', 'q', 'dq')),
            )
            self._result = {} if found is None else {
                name: {criterion: f'{value:.6g}' for criterion, value in values.items()}
                for name, values in (('planned', found.planned), ('executed', found.executed))
            }
            approval.note(self._options(), executed.worst_error)
        except (IdentificationError, OSError, ValueError) as error:
            self._handle(ev.NoteFailed(str(error)))

    # What it publishes

    def _tell_state(self) -> None:
        """Have the state published where it has changed."""
        state = self._machine.state
        moving = self._machine.is_moving
        shown = moving, state.name, state.reason, getattr(state, 'executions', 0)
        if shown != self._shown:
            self._motions += moving and not self._shown[0]
            self._shown = shown
            self._later.append(partial(self._publish_state, state))

    def _publish_state(self, state: State) -> None:
        """Publish a state; let others command an arm that is not armed any more."""
        was, self._published = self._published, state.name
        # By now it may be another one: what was armed meanwhile keeps its claim.
        now = self._machine.state
        if now.name in ('IDLE', 'FAULT') or (
            now.name == 'DONE' and not getattr(now, 'executions', 0)
        ):
            self._claim.release()
        self._state_topic.publish(state.name, self._content(state))
        # rclpy insists on one severity for each line that logs.
        if state.name == 'FAULT':
            self.get_logger().error(f'{state.name}: {state.reason}')
        elif was != state.name or state.name == 'IDLE':
            self.get_logger().info(f'{state.name}: {state.reason}')

    def _read_state(self) -> tuple[str, dict[str, object], bool]:
        state = self._machine.state
        return state.name, self._content(state), self._machine.is_moving

    def _content(self, state: State) -> dict[str, object]:
        """Return what is published of a state."""
        self._worst_error = self._machine.worst_error or self._worst_error
        approval = self._approval
        known = approval is not None and isinstance(state, (Armed, Moving, Stopping))
        return {
            'reason': state.reason,
            'trajectory': str(approval.file) if approval is not None and known
            else self._value('trajectory_file'),
            'sha256': '' if approval is None else approval.trajectory.sha256,
            'dry_run': self._value('dry_run'),
            'payload': list(self._value('payload') or ()),
            'executions_left': getattr(state, 'executions', 0),
            'motions': self._motions,
            'controller': self._interface.controller,
            'worst_tracking_error': round(self._worst_error, 6),
            **self._result,
        }

    def _poll_controllers(self) -> None:
        """Ask for the list of controllers where nothing else would tell of a switch in time."""
        interface = self._interface
        if self._machine.is_moving and not (interface.by_action or interface.receives_activity):
            interface.refresh()

    def _refresh(self) -> None:
        self._thread.report_events()
        self._interface.refresh(lambda: not self._machine.is_busy)
        self._controller.refresh(self._interface.controller)
        state, now = self._machine.state, time.monotonic()
        values = {
            'reason': state.reason,
            'age of joint states [s]': f'{self._machine.age(now):.3f}',
            'speed scaling': f'{self._controller.scaling(self._driver.scaling):.3f}',
            'controller': self._interface.controller or 'none',
            f'worst tracking error [{self._named.units("rad")}]':
                f'{self._machine.worst_error or self._worst_error:.4f}',
        }
        if isinstance(state, Moving) and state.watch is not None:
            values['progress'] = f'{state.watch.progress / state.path.duration:.1%}'
        self._diagnostics.publish(LEVELS.get(state.name, DiagnosticStatus.OK), state.name, values)
        with self._lock:
            state = self._machine.state
            if isinstance(state, (Moving, Stopping)):
                # A sign of life: the graph shows a killed process for much longer.
                self._later.append(partial(self._publish_state, state))
        self._drain()


def _problem(check: Callable[[], object]) -> str:
    """Return why a check fails, empty where it does not."""
    try:
        check()
    except UnsafeMotionError as error:
        return str(error)
    return ''


def _or_refused(
    make: Callable[[], ev.Event], refused: Callable[[str], ev.Event]
) -> ev.Event:
    """Return the event that something was made, or that it was refused."""
    try:
        return make()
    except (IdentificationError, OSError) as error:
        return refused(str(error))


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ExperimentRunner))


if __name__ == '__main__':
    main()
