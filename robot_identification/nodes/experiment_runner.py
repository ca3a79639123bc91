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

"""
Executes a certified trajectory: checks, arms, approaches, executes, watches, stops.

A human arms it, for one file, by typing its hash back. Nothing is sent in a dry run, which is the
default. Whatever goes wrong in motion ends it: the arm is brought to rest, FAULT is latched, and
only who arms again goes on. It arms itself for nobody but the simulated robot that carries the
same `simulation_token`, which is the one the same process started.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
import json
from pathlib import Path
import sys
import time
import traceback

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import IdentificationError
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.executed import compare_execution
from robot_identification.excitation.execution import Approach
from robot_identification.excitation.execution import certified_limits
from robot_identification.excitation.execution import check_executable
from robot_identification.excitation.execution import plan_approach
from robot_identification.excitation.execution import trajectory_knots
from robot_identification.excitation.lab_safety import carry
from robot_identification.excitation.lab_safety import check_lab_margins
from robot_identification.excitation.lab_safety import check_same_arm
from robot_identification.excitation.lab_safety import effort_bounds
from robot_identification.excitation.lab_safety import kinematics_sha256
from robot_identification.excitation.lab_safety import prove_approach
from robot_identification.excitation.lab_safety import SLOW_TOOL_SPEED
from robot_identification.excitation.lab_safety import tool_speed
from robot_identification.excitation.ladder import check_rung
from robot_identification.excitation.ladder import note_rung
from robot_identification.excitation.ladder import record_path
from robot_identification.excitation.ladder import rung_of
from robot_identification.excitation.ladder import slow_speed
from robot_identification.excitation.ladder import Subject
from robot_identification.excitation.motion_watch import MotionWatch
from robot_identification.excitation.motion_watch import WatchLimits
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.robot_model import RobotModel
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import declare_robot
from robot_identification.nodes.common import INTERRUPTED
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import run_node
from robot_identification.nodes.common import SERVICE_QOS
from robot_identification.nodes.company import Company
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.motion_interface import MotionInterface
from robot_identification.nodes.motion_interface import STOP_SECONDS
from robot_identification.nodes.recorder_bond import RecorderBond
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.robot import RobotDescription
from robot_identification.nodes.robot_state import Measurement
from robot_identification.nodes.robot_state import REST_SPEED
from robot_identification.nodes.robot_state import RobotState
from robot_identification.nodes.robot_state import STATE_TIMEOUT
from robot_identification.nodes.roots import allowed_to_write
from robot_identification.nodes.roots import read_path
from robot_identification.nodes.runner_parameters import declare_runner
from robot_identification.nodes.runner_parameters import NOT_STATED
from robot_identification.simulation.controller import Knots
from std_msgs.msg import String
from std_srvs.srv import Trigger

IDLE, ARMED, APPROACHING, EXECUTING, STOPPING, DONE, FAULT = (
    'IDLE', 'ARMED', 'APPROACHING', 'EXECUTING', 'STOPPING', 'DONE', 'FAULT'
)
MOVING = (APPROACHING, EXECUTING, STOPPING)
WATCH_PERIOD = 0.02
# The controller manager is asked, and diagnostics are told, this often [s].
REFRESH_PERIOD = 0.5
# Asking the graph who is there costs milliseconds; who joins is noticed this soon [s].
GRAPH_PERIOD = 0.25
ARMED_SECONDS = 60.0
# Between two executions that one arming is good for.
AGAIN_SECONDS = 120.0
REST_TIMEOUT = 3.0
# A measurement that a stop may begin from [s], and how far the arm may be from a plan's start.
FRESH = 0.05
START_TOLERANCE = 0.01
# How far ahead of our watch a motion may be for the answer to its goal [s].
LONGEST_ANSWER = 0.3
ON_PATH, WHERE_IT_IS, BY_ITSELF = 'on the path', 'where it is', 'by itself'
# A watch that this machine keeps from looking does not go on for longer [s].
LONGEST_BLINDNESS = 1.0
# A robot that stopped by itself rests within this, and what it followed is then taken back.
GIVE_UP_TIME = 0.3


class ExperimentRunner(Node):
    """Holds the state of one execution; the numerics are in `excitation`."""

    def __init__(self) -> None:
        super().__init__('experiment_runner')
        self.finished: int | None = None
        declare_robot(self)
        declare_runner(self)
        prefix = declare(self, 'tf_prefix', '', "before the names of the driver's joints")
        self._token = declare(
            self, 'simulation_token', '', 'shared with the simulated robot that may be moved'
        )
        self._joint_states = declare(self, 'joint_states_topic', 'joint_states', 'measured state')
        self._description = RobotDescription(self, used=not self._token, prefix=prefix)
        self._robot = self._robot_and_payload = robot_from_parameters(self)
        self._trajectory: Trajectory | None = None
        self._file = Path()
        self._executions_left = 0
        self._good_until = -np.inf
        self._subject = Subject('', '', '', '', '')
        self._tool_speed = 0.0
        self._started_at = 0.0
        self._sent_stamp = 0.0
        self._watched_at = self._alive_at = -np.inf
        self._knots: Knots | None = None
        self._sent: Knots | None = None
        self._motion: MotionWatch | None = None
        self._worst_error = 0.0
        self._result: dict = {}
        self._reason = ''
        self._gives_up = self._unsent = False
        self._pending: tuple[Approach, Knots, float] | None = None
        self._driver = RobotState(
            self, self._robot, self._joint_states, prefix=prefix, simulated=bool(self._token),
            watch_safety=self._value('watch_safety'),
        )
        self._interface = MotionInterface(
            self, self._robot, prefix, controller=self._value('controller'),
            interface=self._value('interface'), simulated=bool(self._token),
        )
        self._company = Company(self, self._joint_states, self._token)
        self._recorder = RecorderBond(self, self._value('recorder'))
        self._state_publisher = self.create_publisher(String, '~/state', LATCHED)
        self._diagnostics = Diagnostics(self, 'execution')
        for verb in ('arm', 'execute', 'abort'):
            self.create_service(
                Trigger, f'~/{verb}', getattr(self, f'_on_{verb}'), qos_profile=SERVICE_QOS
            )
        # A wall clock of its own: a simulated or stopped /clock must not stop the watch.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(WATCH_PERIOD, self._watch, clock=steady)
        self.create_timer(REFRESH_PERIOD, self._refresh, clock=steady)
        self._state, self._said = '', ''
        self._set_state(IDLE, 'waiting for a trajectory')
        self.add_on_set_parameters_callback(self._on_set)

    def _value(self, name: str):
        return self.get_parameter(name).value

    def close(self) -> bool:
        """Bring the arm to rest; return True when that is done."""
        self._pending = None
        if self._state in (APPROACHING, EXECUTING):
            self.finished = INTERRUPTED
            self._stop('interrupted')
        return self._state not in MOVING

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Keep what was armed as it was armed."""
        if any(parameter.name == 'robot' for parameter in parameters):
            return SetParametersResult(
                successful=False, reason='robot is read once: start the runner with another one'
            )
        armed = self._executions_left > 0 and time.monotonic() < self._good_until
        if self._state in MOVING or armed:
            return SetParametersResult(
                successful=False, reason=f'{self._state}: call ~/abort first'
            )
        return SetParametersResult(successful=True)

    # What it says

    def _set_state(self, state: str, reason: str) -> None:
        self._state, self._said = state, reason
        content = {
            'state': state,
            'reason': reason,
            'trajectory': str(self._file) if self._trajectory else self._value('trajectory_file'),
            'sha256': self._subject.sha256,
            'dry_run': self._value('dry_run'),
            'payload': list(self._value('payload')),
            'executions_left': self._executions_left,
            'controller': self._interface.controller,
            'worst_tracking_error': round(self._worst_error, 6),
            **self._result,
        }
        self._state_publisher.publish(String(data=json.dumps(content)))
        # rclpy insists on one severity for each line that logs.
        if state == FAULT:
            self.get_logger().error(f'{state}: {reason}')
        else:
            self.get_logger().info(f'{state}: {reason}')

    def _refresh(self) -> None:
        self._interface.refresh(connect=self._state not in MOVING)
        if self._state == ARMED and time.monotonic() > self._good_until:
            self._disarm()
            self._set_state(IDLE, f'armed more than {ARMED_SECONDS:.0f} s ago: arm again')
        values = {
            'reason': self._said,
            'age of joint states [s]': f'{self._driver.age:.3f}',
            'speed scaling': f'{self._driver.scaling:.3f}',
            'controller': self._interface.controller or 'none',
            'worst tracking error [rad]': f'{self._worst_error:.4f}',
        }
        if self._motion is not None and self._state in (APPROACHING, EXECUTING):
            values['progress'] = f'{self._motion.progress / self._motion.duration:.1%}'
        level = {FAULT: DiagnosticStatus.ERROR, STOPPING: DiagnosticStatus.WARN}
        self._diagnostics.publish(
            level.get(self._state, DiagnosticStatus.OK), self._state, values
        )

    # Arming

    def _on_arm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state in MOVING or self._pending is not None:
            response.message = f'BUSY: {self._state}'
            return response
        try:
            self._arm()
        except (IdentificationError, OSError) as error:
            response.message = str(error)
            self._disarm()
            self._set_state(FAULT if self._state == FAULT else IDLE, f'not armed: {error}')
            return response
        what = 'a dry run' if self._value('dry_run') else f'{self._executions_left} execution(s)'
        response.success = True
        response.message = f'armed for {ARMED_SECONDS:.0f} s and {what} of {self._file}'
        self._set_state(ARMED, response.message)
        return response

    def _arm(self) -> None:
        path = read_path(self, 'trajectory_file')
        trajectory = load_trajectory(path)
        approved = self._value('arm.sha256')
        if approved != trajectory.sha256:
            raise UnsafeMotionError(
                f'arm.sha256 is {approved!r}, {path} has {trajectory.sha256}: look at the '
                'trajectory, then set arm.sha256 to its hash'
            )
        if self._gives_up and self._interface.by_action:
            raise UnsafeMotionError(
                'the controller has not acknowledged yet that the last motion is cancelled: '
                'stop the program on the pendant, or switch the controller off and on'
            )
        # Before the proofs, which keep this thread from reading joint states for a while.
        self._check_surroundings()
        robot, live = self._find_robot(trajectory)
        carrying = self._carrying(robot)
        check_executable(robot, trajectory)
        self._tool_speed = tool_speed(robot, trajectory)
        self._subject = Subject(
            trajectory.sha256, robot.name, robot.urdf_sha256, kinematics_sha256(live),
            self._serial(), tuple(self._value('payload')),
        )
        if not self._token:
            check_lab_margins(carrying, trajectory)
        self._check_ladder(path)
        if not self._token:
            # What was typed is good for this once; what is armed would refuse to be set.
            self._disarm()
            self.set_parameters([Parameter('arm.sha256', value='')])
        self._robot, self._trajectory, self._file = robot, trajectory, path
        self._robot_and_payload = carrying
        self._executions_left = self._value('arm.executions')
        self._good_until = time.monotonic() + ARMED_SECONDS
        self._worst_error, self._result = 0.0, {}

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

    def _serial(self) -> str:
        """Return the serial number, which of a real arm must be said."""
        serial = str(self._value('serial'))
        if not (serial or self._token):
            raise UnsafeMotionError(
                'serial is empty: set the serial number on the plate of the arm, as every arm '
                'climbs a ladder of its own'
            )
        return serial

    def _carrying(self, robot: RobotModel) -> RobotModel:
        """Return the arm with what it is said to carry; of a real arm that must be said."""
        payload = list(self._value('payload'))
        if self._token and payload == [NOT_STATED]:
            return robot
        if payload[0] < 0.0 or len(payload) not in (1, 4):
            raise UnsafeMotionError(
                f'payload is {payload}: state what the arm carries, [0.0] for nothing, or mass '
                '[kg] and x, y, z of its centre in the tool frame [m]'
            )
        center = np.array(payload[1:] or [0.0, 0.0, 0.0])
        return carry(robot, payload[0], center)

    def _bounds(self, knots: Knots) -> np.ndarray:
        """Return the efforts at which a motion is stopped, (n,); infinite: not watched."""
        if not self._value('watch_effort'):
            return np.full(self._robot.n, np.inf)
        unit = self._value('effort_unit') or self._robot_and_payload.effort_unit
        return effort_bounds(replace(self._robot_and_payload, effort_unit=unit), knots)

    def _unwatched(self, knots: Knots) -> str:
        """Return in words whose efforts are not watched, empty where all are."""
        joints = [
            joint for joint, bound in zip(
                self._robot.joint_names, self._bounds(knots), strict=True
            ) if np.isinf(bound)
        ]
        if not joints:
            return ''
        which = 'no joint' if len(joints) == self._robot.n else f'all but {", ".join(joints)}'
        return f'; the effort of {which} is watched: drive gains or effort unit are not known'

    def _check_ladder(self, path: Path) -> None:
        if not self._value('ladder'):
            if not self._token:
                raise UnsafeMotionError(
                    'ladder is false, and only a simulated robot may go without'
                )
            return
        allowed_to_write(self, 'trajectory_file', record_path(path))
        check_rung(path, self._subject, self._rung(), self._slow_speed())

    def _rung(self) -> str:
        return rung_of(
            dry_run=self._value('dry_run'), speed=self._value('speed'), slow=self._slow_speed(),
        )

    def _slow_speed(self) -> float:
        return slow_speed(self._tool_speed, self._value('slow_speed'))

    def _check_surroundings(self) -> None:
        """
        Refuse to move what does not rest, cannot move, or is commanded by others.

        Raises
        ------
        UnsafeMotionError
            With the reason.

        """
        self._company.check_identity()
        self._interface.check_ready()
        self._company.check(self._interface.commands_topic)
        speeds = np.abs(self._driver.measure().dq)
        if np.max(speeds) > REST_SPEED:
            joint = self._robot.joint_names[int(np.argmax(speeds))]
            raise UnsafeMotionError(
                f'{joint} moves at {np.max(speeds):.3f} rad/s, and the arm is to rest first'
            )
        self._driver.check_known()
        self._driver.check_able()

    # Executing

    def _on_execute(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if self._state in MOVING or self._pending is not None:
            response.message = f'BUSY: {self._state}'
            return response
        if self._state not in (ARMED, DONE) or not self._executions_left:
            response.message = f'not armed: the state is {self._state}, {self._said}'
            return response
        try:
            approach, knots = self._plan()
        except (IdentificationError, OSError) as error:
            self._disarm()
            self._set_state(IDLE, f'not executed: {error}')
            response.message = str(error)
            return response
        response.success = True
        if self._value('dry_run'):
            response.message = self._end_dry_run(approach, knots)
            return response
        self._pending = (approach, knots, time.monotonic())
        response.message = f'approaching the start{self._unwatched(knots)}'
        return response

    def _begin(self) -> None:
        """Send what was planned, from the first measurement after that on: proofs take seconds."""
        assert self._pending is not None
        approach, knots, planned_at = self._pending
        if self._driver.received_at <= planned_at:
            if time.monotonic() - planned_at > STATE_TIMEOUT:
                self._refuse('no joint state came after the motion was planned')
            return
        latest = self._driver.latest
        moved = float(np.max(np.abs(latest.q - approach.start)))
        if moved > START_TOLERANCE or np.max(np.abs(latest.dq)) > REST_SPEED:
            self._refuse(f'the arm moved by {moved:.3f} rad while its motion was planned')
            return
        self._pending = None
        self._executions_left -= 1
        self._knots = knots
        self._send(approach.knots, APPROACHING, f'{approach.duration:.1f} s to the start')

    def _refuse(self, reason: str) -> None:
        self._pending = None
        self._disarm()
        self._set_state(IDLE, f'not executed: {reason}')

    def _plan(self) -> tuple[Approach, Knots]:
        if time.monotonic() > self._good_until:
            raise UnsafeMotionError(
                f'armed more than {ARMED_SECONDS:.0f} s ago, or the last execution was too long '
                'ago: arm again'
            )
        assert self._trajectory is not None
        self._check_surroundings()
        if self._value('require_recorder') and not self._value('dry_run'):
            self._recorder.check()
        knots = trajectory_knots(
            self._trajectory, self._value('knot_rate'), periods=self._value('periods'),
            speed=self._value('speed'),
        )
        knots.check(self._robot.n)
        approach = plan_approach(
            self._robot, self._driver.measure().q, self._trajectory.sample(np.zeros(1)).q[0],
            self._value('approach_speed'), self._value('knot_rate'),
            tool_speed=np.inf if self._token else SLOW_TOOL_SPEED,
            extra=certified_limits(self._trajectory),
        )
        prove_approach(self._robot, self._trajectory, approach)
        return approach, knots

    def _end_dry_run(self, approach: Approach, knots: Knots) -> str:
        noted = ''
        if self._value('ladder'):
            try:
                self._note_rung()
            except (IdentificationError, OSError) as error:
                noted = f'; NOT noted: {error}'
        self._disarm()
        reason = (
            f'dry run: nothing was sent; {approach.duration:.1f} s to the start, then '
            f'{knots.times[-1]:.1f} s in {len(knots.times)} knots by {self._interface.way} of '
            f'{self._interface.controller}, tool at most '
            f'{self._value("speed") * self._tool_speed:.2f} m/s{self._unwatched(knots)}{noted}'
        )
        self._set_state(IDLE, reason)
        return reason

    def _note_rung(self) -> None:
        assert self._trajectory is not None
        note_rung(
            self._file, self._subject, self._rung(), speed=self._value('speed'),
            periods=self._value('periods') or self._trajectory.periods,
            worst_tracking_error=self._worst_error,
        )

    def _disarm(self) -> None:
        self._executions_left, self._trajectory = 0, None

    def _on_abort(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._pending = None
        if self._state in (APPROACHING, EXECUTING):
            self._stop('aborted by a call')
        elif self._state == STOPPING and self._gives_up:
            self._give_up()
        elif self._state in (ARMED, DONE):
            self._disarm()
            self._set_state(IDLE, 'disarmed')
        response.success, response.message = True, self._state
        return response

    def _send(self, knots: Knots, state: str, reason: str) -> None:
        self._interface.send(knots)
        self._sent_stamp = self._driver.latest.stamp
        self._sent, self._motion = knots, None
        self._started_at = self._alive_at = self._watched_at = time.monotonic()
        self._set_state(state, f'{reason} by {self._interface.way}')

    def _begin_watch(self, latest: Measurement) -> MotionWatch:
        """Return what follows the motion sent, from the first measurement after it on."""
        assert self._sent is not None
        limits = WatchLimits(
            self._value('tracking_tolerance'), self._value('scaling_timeout'),
            self._bounds(self._sent),
        )
        return MotionWatch(
            self._robot.joint_names, self._sent, latest.q, latest.stamp,
            self._driver.received_at, limits,
            # Between sending and hearing that it was accepted.
            begun=min(latest.stamp - self._sent_stamp, LONGEST_ANSWER),
        )

    def _stop(self, reason: str, how: str = ON_PATH) -> None:
        """
        Bring the arm to rest; FAULT is latched when it is.

        Parameters
        ----------
        reason : str
            Why.
        how : str
            ON_PATH: slowed down on the path that was proved. WHERE_IT_IS: from what was measured,
            as the arm is not on its path. BY_ITSELF: nothing is sent that moves it.

        """
        self._reason = reason
        self._disarm()
        self._pending = None
        self._gives_up = how == BY_ITSELF
        self._unsent = how != BY_ITSELF and not self._slow_down(how)
        self._started_at = time.monotonic()
        self._set_state(STOPPING, reason)

    def _slow_down(self, how: str) -> bool:
        """Send a stop; return whether there was one to send."""
        if how == ON_PATH and self._motion is not None:
            with suppress(UnsafeMotionError):
                # What came since the last look says better where the controller is.
                self._follow(self._motion)
            self._interface.send(self._motion.stop_on_path(time.monotonic(), STOP_SECONDS))
            return True
        if self._driver.age > FRESH:
            # From an old place the arm would be thrown back.
            return False
        latest = self._driver.latest
        self._interface.slow_down(latest.q, latest.dq)
        return True

    def _watch(self) -> None:
        """Look after a motion; whatever goes wrong in that ends the motion, not the watch."""
        try:
            self._look()
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            self._stop_in_need(f'internal error: {error!r}')

    def _stop_in_need(self, reason: str) -> None:
        """Stop as far as that is possible after an error that nobody expected."""
        try:
            if self._state in (APPROACHING, EXECUTING):
                self._stop(reason)
                return
        except Exception:
            self.get_logger().error(traceback.format_exc())
        self._gives_up = True
        self._set_state(FAULT, f'NOT verified at rest after: {reason}')

    def _look(self) -> None:
        if self._pending is not None:
            self._begin()
        if self._state not in MOVING:
            if self._state == FAULT and self._gives_up and self._interface.by_action:
                # Goals are cancelled until that is acknowledged; nothing is commanded any more.
                self._give_up()
            return
        if self._state == STOPPING:
            self._watch_stop()
            return
        # When this process itself was not run for a while, messages wait to be read: that is no
        # silence of a topic, unless it goes on.
        now = time.monotonic()
        pause = now - self._watched_at
        blind = now - self._alive_at > LONGEST_BLINDNESS
        self._watched_at = now
        if pause > LONGEST_BLINDNESS:
            self._stop(f'no joint state was looked at for {pause:.1f} s: this process did not run')
            return
        paused = pause > 0.5 * STATE_TIMEOUT
        for check, how in (
            (self._driver.check_able, BY_ITSELF),
            (self._interface.check_listed, ON_PATH),
            (self._interface.check_active, BY_ITSELF),
            (self._interface.check_goal, BY_ITSELF),
            (self._interface.check_answered, BY_ITSELF),
            (self._check_company, ON_PATH),
            *(() if paused and not blind else ((self._check_signs_of_life, ON_PATH),)),
            (self._check_motion, WHERE_IT_IS),
        ):
            try:
                check()
            except UnsafeMotionError as error:
                self._stop(str(error), how)
                return
        latest = self._driver.latest
        if self._motion is not None and self._motion.has_arrived(latest.q, latest.dq):
            self._arrive()

    def _check_company(self) -> None:
        if self._company.age > GRAPH_PERIOD:
            self._company.check(self._interface.commands_topic)

    def _check_signs_of_life(self) -> None:
        self._driver.measure()
        if self._value('require_recorder'):
            self._recorder.check()
        self._alive_at = time.monotonic()

    def _check_motion(self) -> None:
        latest = self._driver.latest
        if self._motion is None:
            if self._interface.accepted and self._driver.received_at > self._started_at:
                self._motion = self._begin_watch(latest)
            return
        self._follow(self._motion)
        self._worst_error = max(self._worst_error, self._motion.worst_error)

    def _follow(self, motion: MotionWatch) -> None:
        latest = self._driver.latest
        motion.update(
            latest.stamp, self._driver.received_at, latest.q, latest.effort, self._driver.scaling
        )

    def _arrive(self) -> None:
        if self._state == APPROACHING:
            assert self._knots is not None
            self._driver.keep()
            self._send(self._knots, EXECUTING, f'{self._knots.times[-1]:.1f} s')
            return
        reason = f'executed, worst tracking error {self._worst_error:.4f} rad'
        try:
            self._note_result()
            if self._value('ladder'):
                self._note_rung()
        except (IdentificationError, OSError, ValueError) as error:
            # The arm rests at the end of its motion: what is lost is a note.
            reason += f'; not noted: {error}'
        if not self._executions_left:
            self._disarm()
        self._good_until = time.monotonic() + AGAIN_SECONDS
        self._set_state(DONE, reason)

    def _note_result(self) -> None:
        """Compare what was planned with what was executed."""
        assert self._trajectory is not None
        kept = self._driver.take_kept()
        found = compare_execution(
            self._robot, self._trajectory, np.array([one.stamp for one in kept]),
            np.array([one.q for one in kept]), np.array([one.dq for one in kept]),
        )
        self._result = {} if found is None else {
            'planned': _finite(found.planned), 'executed': _finite(found.executed)
        }

    def _watch_stop(self) -> None:
        elapsed = time.monotonic() - self._started_at
        at_rest = (
            self._driver.age < STATE_TIMEOUT
            and np.max(np.abs(self._driver.latest.dq)) < REST_SPEED
        )
        if self._unsent:
            # As soon as it is known where the arm is.
            self._unsent = not self._slow_down(WHERE_IT_IS)
            self._gives_up = self._unsent and elapsed > GIVE_UP_TIME
        elif not self._gives_up:
            try:
                self._interface.check_goal()
                self._interface.check_answered()
            except UnsafeMotionError:
                # The stop itself was not taken.
                self._gives_up = True
        if self._gives_up and (at_rest or elapsed > GIVE_UP_TIME):
            self._give_up()
        if at_rest and elapsed > STOP_SECONDS and not (self._gives_up or self._unsent):
            self._set_state(FAULT, f'at rest after: {self._reason}')
        elif elapsed > REST_TIMEOUT:
            held = (
                '; the controller may still hold the motion: stop the program on the pendant '
                'before you release the arm' if self._gives_up else ''
            )
            self._set_state(FAULT, f'NOT verified at rest after: {self._reason}{held}')

    def _give_up(self) -> None:
        """Take the motion back, again and again until the controller says that it has none."""
        if self._interface.by_action or self._driver.age <= FRESH:
            # By topic the arm is held where it is, which must be known.
            self._interface.give_up(self._driver.latest.q)
            self._gives_up = not self._interface.is_released


def _finite(criteria: dict[str, float]) -> dict[str, float | None]:
    """Return criteria as JSON has them: null where not every parameter is seen."""
    return {
        name: float(f'{value:.6g}') if np.isfinite(value) else None
        for name, value in criteria.items()
    }


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ExperimentRunner))


if __name__ == '__main__':
    main()
