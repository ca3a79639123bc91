# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Measures the break-away torque of one joint or wheel through an effort interface.

It sends torques to a forward controller's command topic, for one joint, armed by the operator by
typing its name. Nothing is sent in a dry run, which is the default. Every fault makes the
torque zero and latches FAULT. The other joints must be held by something else: they get zero,
and the test ends when one of them moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import sys
import time
import traceback

from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile
from robot_identification.errors import IdentificationError, UnsafeMotionError, UsageError
from robot_identification.execution import REST_SPEED
from robot_identification.nodes.arm_claim import ArmClaim
from robot_identification.nodes.common import (
    declare, declare_robot, INTERRUPTED, run_node, serve, set_own_parameter,
    STEADY_CLOCK, value_of,
)
from robot_identification.nodes.conversions import to_seconds
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.direct_subscription import create_bounded_subscription
from robot_identification.nodes.graph import EFFORT_COMMANDS, GraphGuard, JOINT_STATES, subscribers
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.roots import write_path
from robot_identification.nodes.status import PublishedState
from robot_identification.nodes.tested_joint import JointUnderTest
from robot_identification.nodes.tester_parameters import (
    declare_tester, GRAVITY_FREE, PRE_TEST, settings_of,
)
from robot_identification.studies.break_away import (
    ARMED, BREAK_AWAY_FILES, BreakAwayRun, BreakAwaySession, BreakAwaySettings, BreakAwayTest,
    check_holds_no, DONE, estimate_break_away, FAULT, IDLE, JointReading, other_joints, Phase,
    save_break_away, TESTING,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

WATCH_PERIOD = 0.02  # [s]; chosen: as of the experiment runner
REFRESH_PERIOD = 0.5  # period of diagnostics [s]; chosen: as of the experiment runner
# A second commander is noticed this soon [s] (docs/break_away.md); chosen: as of the experiment
# runner.
GRAPH_PERIOD = 0.25
# The cap of the test over the largest torque of the pre-test (docs/break_away.md); chosen: room
# for the scatter of repeats.
CAP_FACTOR = 1.5
# Moment of gravity in a pose stated to be free of it, over the cap; chosen: it shifts a torque by
# at most this share of the cap.
FREE_SHARE = 0.05


class FrictionTester(Node):
    """Serves and sends what a `BreakAwaySession` decides, after it looked at arm and graph."""

    def __init__(self) -> None:
        super().__init__('friction_tester')
        self.finished: int | None = None
        declare_robot(self)
        declare_tester(self)
        self._prefix = declare(self, 'tf_prefix', '', "prefix of the driver's joint names")
        token = declare(
            self, 'simulation_token', '', 'shared with the simulated robot that may be moved'
        )
        declare(
            self, 'controller_joints', Parameter.Type.STRING_ARRAY,
            'joints of the controller in its order, as the driver names them; not set: only the '
            'joint that is tested', longest=64,
        )
        self._robot = robot_from_parameters(self)
        self._joint = JointUnderTest.find(self._robot, '', self._prefix)
        self._message: JointState | None = None
        self._session = BreakAwaySession()
        self._mode = ''
        self._result: dict[str, object] = {}
        # What was published last: state, reason and phase.
        self._shown = '', '', ''
        # What the last pre-test found: for which joint, and the cap.
        self._found = ('', 0.0)
        self._graph_guard = GraphGuard(self, token)
        self._claim = ArmClaim(self, token)
        self._publisher = self.create_publisher(
            Float64MultiArray, EFFORT_COMMANDS, QoSProfile(depth=1)
        )
        create_bounded_subscription(
            self, JointState, JOINT_STATES, self._on_state, qos_profile_sensor_data
        )
        self._state_topic = PublishedState(
            self, lambda: (self._session.state, self._content(), self._session.is_busy)
        )
        self._diagnostics = Diagnostics(self, 'test')
        for verb in ('arm', 'execute', 'step', 'abort'):
            serve(self, f'~/{verb}', getattr(self, f'_{verb}'))
        self.create_timer(WATCH_PERIOD, self._watch, clock=STEADY_CLOCK)
        self.create_timer(REFRESH_PERIOD, self._refresh, clock=STEADY_CLOCK)
        self._publish_change()
        self.add_on_set_parameters_callback(self._on_set)

    def _value(self, name: str):
        return value_of(self, name)

    def close(self) -> bool:
        """Zero the torque; return True when that has been published often enough."""
        if self._session.state == TESTING:
            self.finished = INTERRUPTED
            self._attempt(lambda now: self._session.fail('interrupted', now))
        return self._session.rests(time.monotonic())

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Keep what was armed as it was armed."""
        if self._session.is_busy or self._session.state == ARMED:
            return SetParametersResult(
                successful=False, reason=f'{self._session.state}: call ~/abort first'
            )
        if any(parameter.name in _READ_ONCE for parameter in parameters):
            return SetParametersResult(
                successful=False,
                reason=f'{", ".join(_READ_ONCE)} are read once: start the tester with others',
            )
        return SetParametersResult(successful=True)

    # What it publishes

    def _publish_change(self) -> None:
        """Publish and log the state where it has changed; give up the arm where it is free."""
        session, (state, reason, _) = self._session, self._shown
        shown = session.state, session.reason, '' if session.test is None else session.test.phase
        if shown == self._shown:
            return
        self._shown = shown
        if session.state in (IDLE, DONE, FAULT):
            self._claim.release()
        self._state_topic.publish(session.state, self._content())
        if (session.state, session.reason) == (state, reason):
            return
        # rclpy insists on one severity for each line that logs.
        if session.state == FAULT:
            self.get_logger().error(f'{session.state}: {session.reason}')
        else:
            self.get_logger().info(f'{session.state}: {session.reason}')

    def _content(self) -> dict[str, object]:
        """Return what is published of the state."""
        test = self._session.test
        return {
            'reason': self._session.reason,
            'joint': self._value('joint'),
            'mode': self._value('mode'),
            'dry_run': self._value('dry_run'),
            'torque_cap': self._value('torque_cap'),
            'phase': '' if test is None else test.phase.value,
            'direction': 0 if test is None else test.direction,
            'repeats': 0 if test is None else len(test.repeats),
            **self._result,
        }

    def _refresh(self) -> None:
        session = self._session
        silence = session.silence(time.monotonic())
        values = {'reason': session.reason, 'age of joint states [s]': f'{silence:.3f}'}
        if session.test is not None and session.state == TESTING:
            values |= {
                'phase': session.test.phase.value,
                'progress': f'{session.test.progress:.1%}',
                f'torque of the ramp [{self._joint.unit("N m")}]': f'{session.test.level:.3f}',
            }
        self._diagnostics.publish(
            DiagnosticStatus.ERROR if session.state == FAULT else DiagnosticStatus.OK,
            session.state, values,
        )

    # Arming

    def _arm(self) -> str:
        session = self._session
        session.check_not_busy()
        try:
            if session.state == ARMED:
                # What was typed is good for one arming.
                session.disarm('armed anew')
            self._joint = JointUnderTest.find(self._robot, self._value('joint'), self._prefix)
            session.unit_of = self._joint.unit_of
            text = self._confirmation(self._prepare().settings)
            typed = self._value('arm.confirmation')
            if typed != text:
                raise UnsafeMotionError(
                    f'arm.confirmation is {typed!r}: look at the joint, then set it to {text!r}'
                )
            # It has to be typed again for the next arming; what is armed would refuse to be set.
            set_own_parameter(self, 'arm.confirmation', '')
        except (IdentificationError, OSError) as error:
            session.disarm(f'not armed: {error}')
            self._publish_change()
            raise
        self._result = {}
        session.arm(text, time.monotonic())
        self._publish_change()
        return session.reason

    def _confirmation(self, settings: BreakAwaySettings) -> str:
        """Return what a person has to type back."""
        manual = self._value('mode') == PRE_TEST
        largest = settings.torque_limit if manual else settings.torque_cap
        return f'{self._value("mode")} {self._joint.name} {largest:.4g} {self._joint.unit("Nm")}'

    def _prepare(self) -> BreakAwayTest:
        """Return the test from where the joint stands, after everything was checked."""
        if not self._joint.name:
            raise UsageError('the parameter joint of friction_tester is not set')
        message, reading = self._measure()
        self._check_surroundings(reading)
        window = self._value('window')
        self._joint.check_range(reading.q, window)
        limit = self._joint.torque_limit(self._value('torque_limit'))
        unit = self._joint.unit('N m')
        gravity = self._joint.gravity(message)
        subtracted = self._value('pose') != GRAVITY_FREE
        if subtracted and gravity is None:
            raise UsageError(
                f'the robot {self._robot.name} has no joint {self._joint.name}, so that its '
                'gravity cannot be subtracted: set robot, or choose a gravity_free pose'
            )
        moment = 0.0 if gravity is None else gravity(reading.q)
        manual = self._value('mode') == PRE_TEST
        cap = limit - abs(moment) if manual else self._value('torque_cap')
        if cap <= 0.0:
            raise UnsafeMotionError(
                f'torque_cap of {self._joint.name} is {cap:.3g} {unit}: run the mode pre_test '
                'first, which sets it'
            )
        whose, found = self._found
        if not manual and cap == found and whose != self._joint.name:
            raise UnsafeMotionError(
                f'torque_cap {cap:g} {unit} is that of {whose}: run the mode pre_test of '
                f'{self._joint.name}, or set torque_cap'
            )
        inertia = self._value('inertia') or self._joint.inertia(message)
        if not inertia > 0.0:
            raise UsageError(
                f'the inertia of {self._joint.name} is not known: set inertia '
                f'[{self._joint.unit("kg m^2")}], of link and rotor'
            )
        settings = settings_of(
            self, cap, limit, inertia, slides=self._joint.unit('rad') == 'm'
        )
        if not subtracted and abs(moment) > FREE_SHARE * cap:
            raise UnsafeMotionError(
                f'gravity has a moment of {moment:.3g} {unit} on {self._joint.name} as it stands, '
                f'more than {FREE_SHARE:.0%} of the torque_cap {cap:.3g} {unit}: turn it out of '
                'gravity, or set pose to gravity_subtracted'
            )
        if not manual and not self._value('overwrite'):
            check_holds_no(write_path(self, 'output'), self._robot_name, self._joint.name)
        self._claim.acquire(self._claimed_joints())
        return BreakAwayTest(
            settings, reading.q, gravity if subtracted else None, manual=manual
        )

    def _claimed_joints(self) -> list[str]:
        """Return the joints that no other node may command: the tested one, and those held."""
        listed = [joint for joint in self._value('controller_joints') or () if joint]
        arm = [self._prefix + joint for joint in self._robot.joint_names]
        return sorted({self._joint.name, *listed, *arm})

    def _measure(self) -> tuple[JointState, JointReading]:
        """Return the last joint state, which must be new and name the joint."""
        timeout = self._value('state_timeout')
        silence = self._session.silence(time.monotonic())
        if self._message is None or silence > timeout:
            raise UnsafeMotionError(
                f'no joint state on {self.resolve_topic_name(JOINT_STATES)} for '
                f'{silence:.2f} s, at most {timeout:g} s are accepted'
            )
        reading = self._joint.read(self._message)
        if reading is None:
            raise UsageError(
                f'joint is {self._joint.name!r}, joint states name '
                f'{", ".join(self._message.name)}'
            )
        return self._message, reading

    def _check_surroundings(self, reading: JointReading) -> None:
        """Refuse to move what does not rest, or what others command."""
        self._graph_guard.check_identity()
        self._graph_guard.check(EFFORT_COMMANDS)
        if not subscribers(self, EFFORT_COMMANDS):
            raise UnsafeMotionError(
                f'{self.resolve_topic_name(EFFORT_COMMANDS)} has no subscriber: is the effort '
                'controller active? A UR driver without its forward_effort_controller has no '
                'effort interface'
            )
        listed = [joint for joint in self._value('controller_joints') or () if joint]
        if listed and self._joint.name not in listed:
            raise UsageError(
                f'controller_joints are {", ".join(listed)}, without {self._joint.name}'
            )
        if not (math.isfinite(reading.q) and abs(reading.dq) <= REST_SPEED):
            unit = self._joint.unit('rad')
            raise UnsafeMotionError(
                f'{self._joint.name} is at {reading.q:.3f} {unit} and moves at '
                f'{reading.dq:.3f} {unit}/s: it must rest, below {REST_SPEED:g} {unit}/s'
            )
        for name, (_, speed) in reading.others.items():
            if not abs(speed) <= REST_SPEED:
                unit = self._joint.unit_of(name, 'rad/s')
                raise UnsafeMotionError(
                    f'{name} moves at {speed:.3f} {unit}: the other joints must be held, below '
                    f'{REST_SPEED:g} {unit}'
                )

    # Results

    @property
    def _robot_name(self) -> str:
        """Name of the robot, empty where the joint is none of its own."""
        return self._robot.name if self._joint.robot is not None else ''

    def _write(self, test: BreakAwayTest) -> str:
        """Write what was found; return it in words."""
        run = BreakAwayRun(
            self._joint.name, 'free' if self._value('pose') == GRAVITY_FREE else 'subtracted',
            test.settings, test.repeats, test.reason if test.phase is Phase.ABORTED else '',
        )
        found = estimate_break_away(run, correction=self._value('correction'))
        folder = write_path(self, 'output')
        others = other_joints(folder, self._robot_name, self._joint.name)
        save_break_away(folder, self._robot_name, [*others, found], force=True)
        medians, uncorrected = (
            {'up' if direction > 0 else 'down': round(box.median, 6)
             for direction, box in boxes.items()}
            for boxes in (found.boxes, found.uncorrected)
        )
        self._result = {
            'medians': medians, 'uncorrected_medians': uncorrected,
            'correction': found.correction, 'file': str(folder / BREAK_AWAY_FILES[0]),
        }
        unit = self._joint.unit('N m')
        words = ', '.join(f'{value:.4g} {unit} {way}' for way, value in medians.items())
        return f'{self._joint.name} breaks away at {words}: {folder / BREAK_AWAY_FILES[0]}'

    # Executing

    def _execute(self) -> str:
        session = self._session
        session.check_not_busy()
        session.check_armed()
        try:
            test = self._prepare()
            session.check_confirmed(self._confirmation(test.settings), time.monotonic())
            _, reading = self._measure()
        except (IdentificationError, OSError) as error:
            session.disarm(f'not executed: {error}')
            self._publish_change()
            raise
        plan = self._plan(test)
        if self._value('dry_run'):
            session.disarm(f'dry run: nothing was sent; {plan}')
        else:
            self._mode = self._value('mode')
            session.begin(test, reading, plan)
        self._publish_change()
        return session.reason

    def _plan(self, test: BreakAwayTest) -> str:
        """Say what would be done, and what the joint does without torque."""
        settings, held = test.settings, test.gravity(test.start)
        unit = settings.unit
        inertia = f'inertia {settings.inertia:.3g} {unit("kg m^2")}'
        if not self._value('inertia') and not self._joint.knows_rotor:
            inertia += ' without the rotor, which is not known'
        what = (
            'one ramp in each direction, raised by ~/step' if self._value('mode') == PRE_TEST
            else f'{settings.repeats} ramps in each direction, {settings.duration / 60.0:.1f} '
            'minutes at most without the returns'
        )
        return (
            f'{self._joint.name} at {test.start:.3f} {unit("rad")}: {what}, {settings.rate:.3g} '
            f'{unit("N m/s")} up to {settings.torque_cap:.4g} {unit("N m")}, at most '
            f'{settings.torque_limit:.4g} {unit("N m")} with gravity; {inertia}'
        ) + (
            f'; however it ends, the torque is then zero, and gravity pulls with {abs(held):.3g} '
            f'{unit("N m")} on {self._joint.name}: keep clear of where it may fall' if held else ''
        )

    def _step(self) -> str:
        session, test = self._session, self._session.test
        if session.state != TESTING or self._mode != PRE_TEST or test is None:
            raise UsageError(f'no pre-test is running: {session.state}')
        if not test.raise_torque(self._value('pre_test.step')):
            raise UsageError(f'{test.phase.value}: wait for the next ramp')
        return f'{test.level:.4g} {self._joint.unit("N m")}, growing'

    def _abort(self) -> str:
        self._attempt(self._session.abort)
        return self._session.state

    def _attempt(self, act: Callable[[float], float | None]) -> None:
        """Send the torque that something returns at the present time, zero after an error."""
        try:
            torque = act(time.monotonic())
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            torque = self._session.fail(f'internal error: {error!r}', time.monotonic())
        if torque is not None:
            self._send(torque)
        self._publish_change()

    def _on_state(self, message: JointState) -> None:
        """Answer a joint state with a torque."""
        def answer(now: float) -> float | None:
            reading = self._joint.read(message)
            if reading is not None or self._session.state != TESTING:
                self._message = message
            return self._session.receive(reading, to_seconds(message.header.stamp), now)

        self._attempt(answer)

    def _watch(self) -> None:
        def watch(now: float) -> float | None:
            problem = self._problem() if self._session.state == TESTING else ''
            torque = self._session.watch(now, problem)
            if self._session.has_ended(now):
                self._finish()
            return torque

        self._attempt(watch)

    def _problem(self) -> str:
        """Return what is wrong on the graph, empty if nothing is."""
        try:
            self._graph_guard.check_again(EFFORT_COMMANDS, GRAPH_PERIOD)
            self._claim.check()
        except UnsafeMotionError as error:
            return str(error)
        return ''

    def _send(self, torque: float) -> None:
        """Send the torque of the joint, as the model counts, and zeros for the others."""
        value = self._joint.sign * torque
        listed = [joint for joint in self._value('controller_joints') or () if joint]
        self._publisher.publish(Float64MultiArray(data=[
            value if joint == self._joint.name else 0.0 for joint in listed or [self._joint.name]
        ]))

    def _finish(self) -> None:
        """Keep what was found, and publish how it ended."""
        session, test = self._session, self._session.leave()
        try:
            if self._mode != PRE_TEST:
                words = self._write(test)
                session.reason = (
                    words if session.state == DONE else f'{session.reason}; so far {words}'
                )
            elif session.state == DONE:
                session.reason = self._set_cap(test)
        except (IdentificationError, OSError) as error:
            session.reason += f'; nothing was written: {error}'
        self._publish_change()

    def _set_cap(self, test: BreakAwayTest) -> str:
        """Take the cap of the test from the pre-test; return it in words."""
        largest = max(repeat.torque for repeat in test.repeats)
        cap = float(f'{CAP_FACTOR * largest:.4g}')
        unit = self._joint.unit('N m')
        moved = f'{self._joint.name} moved at {largest:.4g} {unit}'
        try:
            set_own_parameter(self, 'torque_cap', cap)
        except UsageError as error:
            return f'{moved}, and {CAP_FACTOR:g} times that is no torque_cap: {error}'
        self._found = self._joint.name, cap
        return f'{moved}: torque_cap is {cap:.4g} {unit}, {CAP_FACTOR:g} times that'


_READ_ONCE = ('robot', 'tf_prefix', 'simulation_token')


def main() -> None:
    """Run the node."""
    sys.exit(run_node(FrictionTester))


if __name__ == '__main__':
    main()
