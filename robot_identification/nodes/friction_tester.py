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

from collections.abc import Sequence
import math
from pathlib import Path
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
from robot_identification.nodes.graph import EFFORT_COMMANDS, JOINT_STATES, subscribers
from robot_identification.nodes.graph_guard import GraphGuard
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.roots import write_path
from robot_identification.nodes.status import PublishedState
from robot_identification.nodes.tested_joint import JointReading, JointUnderTest
from robot_identification.nodes.tester_parameters import (
    declare_tester, GRAVITY_FREE, PRE_TEST, settings_of,
)
from robot_identification.studies.break_away import (
    BREAK_AWAY_FILES, BreakAway, BreakAwayRun, BreakAwaySettings, BreakAwayTest,
    estimate_break_away, load_break_away, Phase, save_break_away,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

IDLE, ARMED, TESTING, ENDING, DONE, FAULT = (
    'IDLE', 'ARMED', 'TESTING', 'ENDING', 'DONE', 'FAULT'
)
WATCH_PERIOD = 0.02  # [s]; chosen: as of the experiment runner
REFRESH_PERIOD = 0.5  # period of diagnostics [s]; chosen: as of the experiment runner
# A second commander is noticed this soon [s] (docs/break_away.md); chosen: as of the experiment
# runner.
GRAPH_PERIOD = 0.25
ARMED_SECONDS = 60.0  # [s] (docs/break_away.md); chosen: as of the experiment runner
# Zero is sent repeatedly for so long [s]; chosen: 25 messages, as one may be lost.
ZERO_SECONDS = 0.5
# The cap of the test over the largest torque of the pre-test (docs/break_away.md); chosen: room
# for the scatter of repeats.
CAP_FACTOR = 1.5
# Of a joint that is held [rad] (docs/break_away.md); chosen: one that is held yields less.
OTHERS_TRAVEL = 0.05
# Moment of gravity in a pose stated to be free of it, over the cap; chosen: it shifts a torque by
# at most this share of the cap.
FREE_SHARE = 0.05


class FrictionTester(Node):
    """Holds the state of one test; the numerics are in `studies.break_away`."""

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
        self._stamp = math.nan
        self._new_at = self._armed_at = -math.inf
        self._test: BreakAwayTest | None = None
        self._mode = self._typed = ''
        self._others: dict[str, float] = {}
        # What the last pre-test found: for which joint, and the cap.
        self._found = ('', 0.0)
        self._zero_until = -math.inf
        self._graph_guard = GraphGuard(self, token)
        self._claim = ArmClaim(self, token)
        self._publisher = self.create_publisher(
            Float64MultiArray, EFFORT_COMMANDS, QoSProfile(depth=1)
        )
        create_bounded_subscription(
            self, JointState, JOINT_STATES, self._on_state, qos_profile_sensor_data
        )
        self._state_topic = PublishedState(
            self, lambda: (self._state, self._content(), self._state in (TESTING, ENDING))
        )
        self._diagnostics = Diagnostics(self, 'test')
        for verb in ('arm', 'execute', 'step', 'abort'):
            serve(self, f'~/{verb}', getattr(self, f'_{verb}'))
        self.create_timer(WATCH_PERIOD, self._watch, clock=STEADY_CLOCK)
        self.create_timer(REFRESH_PERIOD, self._refresh, clock=STEADY_CLOCK)
        self._state, self._reason, self._result = '', '', {}
        self._set_state(IDLE, 'waiting for a joint')
        self.add_on_set_parameters_callback(self._on_set)

    def _value(self, name: str):
        return value_of(self, name)

    def close(self) -> bool:
        """Zero the torque; return True when that has been published often enough."""
        if self._state == TESTING:
            self.finished = INTERRUPTED
            self._fail('interrupted')
        return self._state not in (TESTING, ENDING) and time.monotonic() > self._zero_until

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Keep what was armed as it was armed."""
        if self._state in (ARMED, TESTING, ENDING):
            return SetParametersResult(
                successful=False, reason=f'{self._state}: call ~/abort first'
            )
        if any(parameter.name in _READ_ONCE for parameter in parameters):
            return SetParametersResult(
                successful=False,
                reason=f'{", ".join(_READ_ONCE)} are read once: start the tester with others',
            )
        return SetParametersResult(successful=True)

    # What it publishes

    def _set_state(self, state: str, reason: str) -> None:
        self._state, self._reason = state, reason
        if state in (IDLE, DONE, FAULT):
            self._claim.release()
        self._state_topic.publish(state, self._content())
        # rclpy insists on one severity for each line that logs.
        if state == FAULT:
            self.get_logger().error(f'{state}: {reason}')
        else:
            self.get_logger().info(f'{state}: {reason}')

    def _content(self) -> dict[str, object]:
        """Return what is published of the state."""
        test = self._test
        return {
            'reason': self._reason,
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
        if self._state == ARMED and time.monotonic() > self._armed_at + ARMED_SECONDS:
            self._set_state(IDLE, f'armed more than {ARMED_SECONDS:.0f} s ago: arm again')
        values = {'reason': self._reason, 'age of joint states [s]': f'{self._age:.3f}'}
        if self._test is not None and self._state == TESTING:
            values |= {
                'phase': self._test.phase.value,
                'progress': f'{self._test.progress:.1%}',
                f'torque of the ramp [{self._joint.unit("N m")}]': f'{self._test.level:.3f}',
            }
        self._diagnostics.publish(
            DiagnosticStatus.ERROR if self._state == FAULT else DiagnosticStatus.OK,
            self._state, values,
        )

    # Arming

    def _arm(self) -> str:
        self._check_not_busy()
        try:
            if self._state == ARMED:
                # What was typed is good for one arming.
                self._state = IDLE
            self._joint = JointUnderTest.find(self._robot, self._value('joint'), self._prefix)
            test = self._prepare()
            text = self._confirmation(test.settings)
            typed = self._value('arm.confirmation')
            if typed != text:
                raise UnsafeMotionError(
                    f'arm.confirmation is {typed!r}: look at the joint, then set it to {text!r}'
                )
        except (IdentificationError, OSError) as error:
            self._set_state(FAULT if self._state == FAULT else IDLE, f'not armed: {error}')
            raise
        # It has to be typed again for the next arming; what is armed would refuse to be set.
        self._state = IDLE
        set_own_parameter(self, 'arm.confirmation', '')
        self._typed, self._armed_at, self._result = text, time.monotonic(), {}
        self._test = None
        self._set_state(ARMED, f'armed for {ARMED_SECONDS:.0f} s: {text}')
        return self._reason

    def _check_not_busy(self) -> None:
        if self._state in (TESTING, ENDING):
            raise UsageError(f'BUSY: {self._state}')

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
        if not manual:
            self._check_output()
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
        if self._message is None or self._age > timeout:
            raise UnsafeMotionError(
                f'no joint state on {self.resolve_topic_name(JOINT_STATES)} for '
                f'{self._age:.2f} s, at most {timeout:g} s are accepted'
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

    def _check_others(self, reading: JointReading) -> None:
        """Refuse to go on when another joint is not where it was, or its position is unknown."""
        for name, before in self._others.items():
            position, _ = reading.others.get(name, (math.nan, math.nan))
            if math.isnan(position):
                raise UnsafeMotionError(
                    f'joint states do not show any more where {name} is: the other joints must be '
                    'seen to be held'
                )
            moved = abs(position - before)
            if not moved <= OTHERS_TRAVEL:
                unit = self._joint.unit_of(name, 'rad')
                raise UnsafeMotionError(
                    f'{name} has moved by {moved:.3f} {unit}, the limit is {OTHERS_TRAVEL:g} '
                    f'{unit}: the other joints must be held'
                )

    # Results

    def _kept(self) -> tuple[Path, list[BreakAway]]:
        """Return folder and results of other joints that it holds."""
        folder = write_path(self, 'output')
        path = folder / BREAK_AWAY_FILES[0]
        if not path.exists():
            return folder, []
        robot, found = load_break_away(path)
        if robot != self._robot_name:
            raise UsageError(
                f'{path} is of the robot {robot!r}, this one is {self._robot_name!r}: name '
                'another output'
            )
        return folder, [joint for joint in found if joint.run.joint != self._joint.name]

    @property
    def _robot_name(self) -> str:
        """Name of the robot, empty where the joint is none of its own."""
        return self._robot.name if self._joint.robot is not None else ''

    def _check_output(self) -> None:
        folder, others = self._kept()
        path = folder / BREAK_AWAY_FILES[0]
        if self._value('overwrite') or not path.exists():
            return
        if len(load_break_away(path)[1]) > len(others):
            raise UsageError(
                f'{path} holds results of {self._joint.name} already: set overwrite, or name '
                'another output'
            )

    def _write(self, test: BreakAwayTest) -> str:
        """Write what was found; return it in words."""
        run = BreakAwayRun(
            self._joint.name, 'free' if self._value('pose') == GRAVITY_FREE else 'subtracted',
            test.settings, test.repeats, test.reason if test.phase is Phase.ABORTED else '',
        )
        found = estimate_break_away(run, correction=self._value('correction'))
        folder, others = self._kept()
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
        self._check_not_busy()
        if self._state != ARMED:
            raise UsageError(f'not armed: the state is {self._state}, {self._reason}')
        try:
            if time.monotonic() > self._armed_at + ARMED_SECONDS:
                raise UnsafeMotionError(f'armed more than {ARMED_SECONDS:.0f} s ago: arm again')
            test = self._prepare()
            if self._confirmation(test.settings) != self._typed:
                raise UnsafeMotionError(
                    f'{self._typed} was armed, and {self._confirmation(test.settings)} would be '
                    'executed: the joint was moved, arm again'
                )
        except (IdentificationError, OSError) as error:
            self._set_state(IDLE, f'not executed: {error}')
            raise
        if self._value('dry_run'):
            self._set_state(IDLE, f'dry run: nothing was sent; {self._plan(test)}')
            return self._reason
        _, reading = self._measure()
        self._others = {name: position for name, (position, _) in reading.others.items()}
        self._test, self._mode = test, self._value('mode')
        self._set_state(TESTING, self._plan(test))
        return self._reason

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
        test = self._test
        if self._state != TESTING or self._mode != PRE_TEST or test is None:
            raise UsageError(f'no pre-test is running: {self._state}')
        if not test.raise_torque(self._value('pre_test.step')):
            raise UsageError(f'{test.phase.value}: wait for the next ramp')
        return f'{test.level:.4g} {self._joint.unit("N m")}, growing'

    def _abort(self) -> str:
        if self._state == TESTING:
            self._fail('aborted by a call')
        elif self._state == ARMED:
            self._set_state(IDLE, 'disarmed')
        return self._state

    @property
    def _age(self) -> float:
        """Time since a joint state with a new stamp came [s]."""
        return time.monotonic() - self._new_at

    def _on_state(self, message: JointState) -> None:
        """Answer a joint state with a torque, zero after an error."""
        try:
            self._answer(message)
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            self._fail(f'internal error: {error!r}')

    def _answer(self, message: JointState) -> None:
        reading = self._joint.read(message)
        if self._state == TESTING and reading is None:
            # Of another broadcaster; if it is the only one, silence ends the test.
            return
        self._message = message
        stamp = to_seconds(message.header.stamp)
        if stamp != self._stamp:
            self._stamp, self._new_at = stamp, time.monotonic()
        test = self._test
        if self._state != TESTING or test is None or reading is None:
            return
        try:
            self._check_others(reading)
        except UnsafeMotionError as error:
            self._fail(str(error))
            return
        before = test.phase
        self._send(test.step(reading.stamp, reading.q, reading.dq, reading.effort))
        if test.phase is Phase.ABORTED:
            self._fail(test.reason)
        elif test.phase is Phase.DONE:
            self._end(test.reason)
        elif test.phase is not before:
            self._state_topic.publish(self._state, self._content())

    def _send(self, torque: float) -> None:
        """Send the torque of the joint, as the model counts, and zeros for the others."""
        value = self._joint.sign * torque
        listed = [joint for joint in self._value('controller_joints') or () if joint]
        self._publisher.publish(Float64MultiArray(data=[
            value if joint == self._joint.name else 0.0 for joint in listed or [self._joint.name]
        ]))

    def _fail(self, reason: str) -> None:
        """Zero the torque at once and latch FAULT after that was published often enough."""
        if self._state != TESTING or self._test is None:
            # Nothing was sent, and nothing is.
            self._set_state(FAULT, reason)
            return
        self._test.abort(reason)
        self._end(reason)

    def _end(self, reason: str) -> None:
        self._send(0.0)
        self._zero_until = time.monotonic() + ZERO_SECONDS
        self._set_state(ENDING, f'torque zero: {reason}')

    def _watch(self) -> None:
        try:
            self._look()
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            self._fail(f'internal error: {error!r}')

    def _look(self) -> None:
        if self._state == ENDING:
            self._send(0.0)
            if time.monotonic() > self._zero_until:
                self._finish()
            return
        if self._state != TESTING:
            return
        timeout = self._value('state_timeout')
        if self._age > timeout:
            self._fail(f'no new joint state for {self._age:.2f} s, at most {timeout:g} s')
            return
        try:
            self._graph_guard.check_again(EFFORT_COMMANDS, GRAPH_PERIOD)
            self._claim.check()
        except UnsafeMotionError as error:
            self._fail(str(error))

    def _finish(self) -> None:
        """Keep what was found, and publish how it ended."""
        assert self._test is not None
        test, reason = self._test, self._test.reason
        state = self._state = DONE if test.phase is Phase.DONE else FAULT
        try:
            if self._mode != PRE_TEST:
                words = self._write(test)
                reason = words if state == DONE else f'{reason}; so far {words}'
            elif state == DONE:
                reason = self._set_cap(test)
        except (IdentificationError, OSError) as error:
            reason += f'; nothing was written: {error}'
        self._set_state(state, reason)

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
