# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Runs a whole experiment by calling the other nodes' services, as a person would.

What it goes through is one of `nodes.programs`. On a real robot it never arms: it says on ~/state
and in the log what a person has to call, and waits.
"""

from __future__ import annotations

from pathlib import Path
import sys
import threading
import time

from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import (
    DataError, IdentificationError, UnsafeMotionError, UsageError,
)
from robot_identification.excitation import load_trajectory
from robot_identification.execution import NOT_EXECUTED
from robot_identification.model import (
    configuration_sha256, gravity_of_mounting, load_robot, RobotModel, STATED_UNITS,
)
from robot_identification.nodes.bag_recorder import OPTIONAL_TOPICS
from robot_identification.nodes.common import (
    declare, declare_robot, in_parameters, INTERRUPTED, run_node, serve, value_of,
)
from robot_identification.nodes.programs import declare_programs, NO_PAYLOAD, PROGRAMS
from robot_identification.nodes.roots import allowed_to_read, read_path, readable_robot, write_path
from robot_identification.nodes.service_clients import (
    LONG_SERVICE_TIMEOUT, SERVICE_TIMEOUT, ServiceClients,
)
from robot_identification.nodes.status import PublishedState

ARM_TIMEOUT = 10.0  # [s]; chosen: above discovery, up to 3 s (docs/security.md), and a proof
# A runner that moves the arm and does not answer for so long is no more [s]; chosen: five times
# the pause of a computer at which the runner itself stops the arm. It is asked twice, as this
# process may have stood still itself. The graph shows a killed process for some 20 s.
RUNNER_TIMEOUT = 2.5
QUESTION_PERIOD = 0.1  # [s]; chosen: soon for a person, and no load for the runner
# For the free space: what approach and closing of a bag take in addition to the motion [s];
# chosen: as the default of start.expected_duration.
BESIDES = 60.0
# How long the runner may take to answer [s]; chosen: launch sends SIGTERM 5 s after Ctrl-C.
ABORT_TIMEOUT = 2.0
MOVING = ('APPROACHING', 'EXECUTING', 'STOPPING')
RUNNER, RECORDER = 'experiment_runner', 'bag_recorder'


class ExperimentCoordinator(Node):
    """Goes through a program in a thread of its own; finishes with the process's exit code."""

    def __init__(self) -> None:
        super().__init__('experiment_coordinator')
        self.finished: int | None = None
        declare_robot(self)
        self._declare_experiment()
        declare_programs(self)
        self._token = declare(
            self, 'simulation_token', '',
            'shared with the simulated robot, which this node arms itself; empty: the operator '
            'arms',
            longest=200,
        )
        self._service_clients = ServiceClients(self)
        self._service_clients.create_clients(
            *(f'{RUNNER}/{verb}' for verb in ('arm', 'execute', 'abort', 'status')),
            *(f'{RECORDER}/{verb}' for verb in ('start_with', 'stop', 'status')),
        )
        self._state_before: dict[str, str] = {}
        self._has_begun = False  # whether a motion may be left to end
        self._step = 'starting'
        self._may_continue = threading.Event()
        self._waits_to_continue = False
        self._content: dict[str, str] = {'message': ''}
        self._state_topic = PublishedState(
            self, lambda: (self._step, self._content, self.finished is None)
        )
        serve(self, '~/continue', self._continue, callback_group=self._service_clients.group)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _declare_experiment(self) -> None:
        declare(self, 'program', 'excitation', 'sequence of steps', choices=tuple(PROGRAMS))
        declare(self, 'output', '', 'folder for trajectories, bags and results')
        declare(self, 'trajectory_file', '',
                'certified trajectory to execute; empty: one is designed from the experiment')
        declare(self, 'experiment', 'demo', 'experiment file, or name of a shipped one')
        declare(self, 'seeds', [1, 2],
                'seeds of the designs; excitation: one trajectory each, identified from the '
                'first one',
                minimum=0, maximum=2**31 - 1, longest=1000)
        declare(self, 'max_evaluations', 100, 'evaluations of each design',
                minimum=1, maximum=10_000_000)
        declare(self, 'effort_unit', '', "unit noted in the bags; empty: the robot's",
                choices=('', *STATED_UNITS))
        declare(self, 'serial', '', 'serial number of the robot, noted in the bags', longest=200)
        declare(self, 'topics', ['joint_states'], 'topics to record', longest=100)
        declare(self, 'optional_topics', Parameter.Type.STRING_ARRAY,
                'topics recorded where published, besides those of the recorder', longest=100)
        declare(self, 'patience', 3600.0, 'longest wait for the operator [s]',
                minimum=1.0, maximum=1e6)

    def close(self) -> bool:
        """Stop waiting for others; return True when the thread has ended."""
        self._service_clients.stopping = True
        self._thread.join(timeout=0.05)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.output.mkdir(parents=True, exist_ok=True)
            PROGRAMS[self.value('program')](self)
            self.announce(f'the program has ended; its files are in {self.output}', step='done')
            self.finished = 0
        except IdentificationError as error:
            self._fail(str(error), error.exit_code)
        except OSError as error:
            self._fail(f'{error.strerror}: {error.filename}', UsageError.exit_code)
        except Exception as error:
            # A thread that dies in silence would leave the process waiting for ever.
            self._fail(f'internal error: {error!r}', IdentificationError.exit_code)
        finally:
            # One arming may be good for more executions than were needed.
            self._end_motion()

    def _fail(self, reason: str, exit_code: int) -> None:
        reason = in_parameters(reason)
        self.get_logger().error(reason)
        self._publish_state(reason, step='failed')
        self.finished = INTERRUPTED if self._service_clients.stopping else exit_code

    # What programs use

    @property
    def output(self) -> Path:
        """Folder for everything that is written."""
        return write_path(self, 'output')

    @property
    def simulated(self) -> bool:
        """Return whether the robot is the simulated one, which this node may arm."""
        return bool(self._token)

    def value(self, name: str):
        """Return a parameter."""
        return value_of(self, name)

    def allowed_to_read(self, name: str, path: str) -> Path:
        """Return a path that a parameter led to, if it may be read; else raise UsageError."""
        return allowed_to_read(self, name, path)

    def robot_named(self) -> str:
        """Return how a command names the arm: a known one, or its YAML."""
        return readable_robot(self)

    def robot(self) -> RobotModel:
        """Return the arm in its mounting."""
        return load_robot(
            self.robot_named(), gravity=list(gravity_of_mounting(*self.value('mounting')))
        )

    def effort_unit(self) -> str:
        """Return the unit of the effort, empty where neither user nor robot's YAML says it."""
        return str(self.value('effort_unit')) or load_robot(self.robot_named()).effort_unit or ''

    def announce(self, text: str, *, step: str | None = None) -> None:
        """Report in the log and on ~/state how things go; `step` is what is done from now on."""
        self.get_logger().info(text)
        self._publish_state(text, step=step)

    def trajectory(self) -> Path:
        """Return the certified trajectory that the parameters name, or one designed now."""
        if self.value('trajectory_file'):
            return read_path(self, 'trajectory_file')
        self.announce('a motion is designed first', step='designing')
        return self.design(self.output / 'trajectory.yaml', self.value('seeds')[0])

    def design(self, path: Path, seed: int) -> Path:
        """Make the generator design a motion and write it to `path`, beside any other step."""
        self.announce(f'designing {path.name}')
        self._service_clients.call_with('trajectory_generator/generate', {
            'generate.experiment': self.value('experiment'),
            'generate.output': str(path),
            'generate.seed': seed,
            'generate.max_evaluations': self.value('max_evaluations'),
        }, LONG_SERVICE_TIMEOUT)
        return path

    def identify(self, bag: Path, output: Path) -> Path:
        """Make the identifier identify a model from a bag; return its file."""
        self.announce(f'identifying from {bag.name}', step='identifying')
        self._service_clients.call_with('identifier/identify', {
            'identify.bags': [str(bag)], 'identify.output': str(output),
        }, LONG_SERVICE_TIMEOUT)
        return output / 'identified_model.yaml'

    def execute(
        self, path: Path, bag: Path, *, executions: int = 1, payload: str = '',
        topics: tuple[str, ...] = (),
    ) -> None:
        """
        Execute a trajectory file while it is recorded to `bag`.

        One arming is good for `executions`. The bag notes the payload stated to the runner unless
        one is given, and `topics` beyond the others where they are published. Raises
        UnsafeMotionError if the runner stopped the motion, whose recording stays; DataError if a
        service refuses or a node is gone.
        """
        trajectory = load_trajectory(path)
        sha256 = trajectory.sha256
        if not self._is_armed_for_more(sha256):
            self._arm(path, sha256, executions)
        self.announce(f'recording {bag.name}', step='recording')
        self._service_clients.call_with(f'{RECORDER}/start', {
            'start.output': str(bag),
            'start.topics': self.value('topics'),
            'start.optional_topics': [
                *OPTIONAL_TOPICS, *topics, *filter(None, self.value('optional_topics') or ())
            ],
            'start.robot': load_robot(self.robot_named()).name,
            'start.effort_unit': self.effort_unit(),
            **({'start.serial': self.value('serial')} if self.value('serial') else {}),
            'start.configuration_hash': configuration_sha256(self.robot_named()),
            'start.mounting': ' '.join(repr(angle) for angle in self.value('mounting')),
            'start.payload': payload or self._stated_payload(),
            'start.trajectory_sha256': sha256,
            'start.expected_duration': trajectory.duration + BESIDES,
            # If this node has ended, the recorder closes the bag.
            'start.until_runner_ends': True,
        })
        try:
            self._start_motion(path, sha256, executions)
            self.announce(f'executing {path.name}, recording {bag.name}', step='executing')
            refused = self._refusal()
            if refused and self.simulated:
                # A computer that was busy for a moment; nothing has moved.
                self.announce(refused)
                self._arm(path, sha256, executions)
                self._start_motion(path, sha256, executions)
                refused = self._refusal()
            if refused:
                raise DataError(f'{RUNNER}: {refused}: arm it again, then repeat')
            self._wait_until_done()
        except IdentificationError:
            self._end_motion()
            self._try_to_stop_recording()
            raise
        self.announce(self._stop_recording(), step='recorded')

    def wait_for_person(self, what: str) -> None:
        """Wait for a call of ~/continue; raise DataError if there is none in time."""
        self._may_continue.clear()
        self._waits_to_continue = True
        message = (
            f'{what}; then: ros2 service call {self.get_fully_qualified_name()}/continue '
            'std_srvs/srv/Trigger'
        )
        self._ask(message, 'continue')
        try:
            self._service_clients.wait(
                self._may_continue.is_set, self.value('patience'), 'a call of ~/continue'
            )
        finally:
            self._waits_to_continue = False

    def set_parameters_of(self, node: str, values: dict) -> None:
        """Set parameters of another node; see `ServiceClients.set_parameters`."""
        self._service_clients.set_parameters(node, values)

    # Arming and moving

    def _is_armed_for_more(self, sha256: str) -> bool:
        state = self._service_clients.status(RUNNER)
        return (
            state.get('state') == 'DONE' and state.get('sha256') == sha256
            and int(state.get('executions_left', 0)) > 0
        )

    def _arm(self, path: Path, sha256: str, executions: int) -> None:
        """Arm a simulated robot; wait until a person has armed a real one."""
        self._has_begun = True
        wanted = {'trajectory_file': str(path), 'arm.executions': executions}
        if not self.simulated:
            self._service_clients.set_parameters(RUNNER, wanted)
            self._wait_for_arming(path, sha256, executions)
            return
        self._service_clients.set_parameters(
            RUNNER, {**wanted, 'arm.sha256': sha256, 'dry_run': False, 'commissioning': False}
        )
        # For a while again: nodes that were just started do not see each other.
        deadline = time.monotonic() + ARM_TIMEOUT
        while True:
            try:
                self._service_clients.call(f'{RUNNER}/arm')
                return
            except DataError:
                if self._service_clients.stopping or time.monotonic() > deadline:
                    raise
                self._service_clients.pause()

    def _wait_for_arming(self, path: Path, sha256: str, executions: int) -> None:
        runner = f'{self.get_namespace().rstrip("/")}/{RUNNER}'
        many = f', which is good for {executions} executions' if executions > 1 else ''
        how = (
            f'look at {path}, then arm{many}: ros2 param set {runner} arm.sha256 {sha256}; '
            f'ros2 service call {runner}/arm std_srvs/srv/Trigger'
        )
        self._ask(how, 'arm')

        state: dict[str, str] = {}

        def armed() -> bool:
            nonlocal state
            time.sleep(QUESTION_PERIOD)
            try:
                state = self._service_clients.status(RUNNER)
            except DataError:
                # A person may be starting it anew.
                return False
            return state.get('state') == 'ARMED' and state.get('sha256') == sha256

        while True:
            self._service_clients.wait(armed, self.value('patience'), 'the runner to be armed')
            if state.get('dry_run') != 'true':
                return
            answer = self._service_clients.call(f'{RUNNER}/execute')
            self._ask(
                f'{answer}. For the motion itself: ros2 param set {runner} dry_run false; the '
                f'first one is slow (speed), then {how}', 'arm',
            )

    def _stated_payload(self) -> str:
        """Return the payload parameter of the runner, empty where it is not stated."""
        stated = self._service_clients.status(RUNNER).get('payload', '')
        return NO_PAYLOAD if stated and not float(stated.split()[0]) else stated

    def _start_motion(self, path: Path, sha256: str, executions: int) -> None:
        """Execute; where an earlier arming is not good any more, arm and try once more."""
        self._state_before = self._service_clients.status(RUNNER)
        try:
            self._service_clients.call(f'{RUNNER}/execute')
        except DataError as error:
            if self._state_before.get('state') != 'DONE':
                raise
            self.announce(str(error))
            self._arm(path, sha256, executions)
            self._state_before = self._service_clients.status(RUNNER)
            self._service_clients.call(f'{RUNNER}/execute')

    def _refusal(self) -> str:
        """Wait for the motion; return why the runner gave it up, empty where it has begun."""
        before, refusal = self._state_before, ''

        def decided() -> bool:
            nonlocal refusal
            state = self._service_clients.status(RUNNER)
            if state.get('motions') != before.get('motions'):
                # It may have ended by now.
                return True
            reason = str(state.get('reason'))
            refusal = reason if state != before and reason.startswith(NOT_EXECUTED) else ''
            return bool(refusal) or (state != before and state.get('state') == 'FAULT')

        self._service_clients.wait(decided, SERVICE_TIMEOUT, 'the runner to move')
        return refusal

    def _wait_until_done(self) -> None:
        state = {'state': MOVING[0]}
        while state.get('state') in MOVING:
            time.sleep(QUESTION_PERIOD)
            self._service_clients.check_stopping()
            try:
                state = self._state_in_motion()
            except DataError as error:
                self._service_clients.check_stopping()
                raise DataError(
                    f'{RUNNER} has gone while it was {state.get("state")}: no answer of '
                    f'{RUNNER}/status for {2 * RUNNER_TIMEOUT:g} s. Look at its log, and start it '
                    'again; until then nothing of this package watches the arm'
                ) from error
        if state.get('state') != 'DONE':
            raise UnsafeMotionError(
                f'{RUNNER} is {state.get("state")}: {state.get("reason")}; what was recorded stays'
            )

    def _state_in_motion(self) -> dict[str, str]:
        try:
            return self._service_clients.status(RUNNER, RUNNER_TIMEOUT)
        except DataError:
            self._service_clients.check_stopping()
            return self._service_clients.status(RUNNER, RUNNER_TIMEOUT)

    def _end_motion(self) -> None:
        """
        Have a motion ended that this node began and does not follow any more.

        Ctrl-C where a motion was started stops the arm, and nothing stays armed.
        """
        if not self._has_begun:
            return
        self._has_begun = False
        try:
            state = self._service_clients.status(RUNNER, ABORT_TIMEOUT, although_stopping=True)
        except DataError:
            state = {'state': MOVING[0]}  # it may
        armed = state.get('state') in ('ARMED', 'DONE') and state.get('executions_left') != '0'
        if state.get('state') not in MOVING and not armed:
            return
        try:
            self._service_clients.call(f'{RUNNER}/abort', ABORT_TIMEOUT, although_stopping=True)
        except DataError as error:
            self.get_logger().error(f'{RUNNER} was not asked to stop: {error}')

    def _stop_recording(self) -> str:
        try:
            return self._service_clients.call(f'{RECORDER}/stop')
        except DataError:
            # The recorder closes a bag by itself a moment after the motion.
            state = self._service_clients.status(RECORDER)
            if state.get('state') == 'IDLE':
                return str(state.get('reason'))
            raise

    def _try_to_stop_recording(self) -> None:
        """Close the bag of a run that failed; the reason is reported elsewhere."""
        if self._service_clients.stopping:
            return
        try:
            self.announce(self._stop_recording())
        except IdentificationError as error:
            self.announce(f'the bag is not closed: {error}')

    # Messages

    def _continue(self) -> str:
        if not self._waits_to_continue:
            raise UsageError(f'nothing waits: {self._step}')
        self._may_continue.set()
        return 'going on'

    def _publish_state(
        self, message: str, *, step: str | None = None, waiting_for: str = ''
    ) -> None:
        self._step = step or self._step
        self._content = {
            'program': self.value('program'), 'waiting_for': waiting_for, 'message': message,
        }
        self._state_topic.publish(self._step, self._content)

    def _ask(self, message: str, waiting_for: str) -> None:
        # rclpy insists on one severity for each line that logs.
        self.get_logger().warning(f'waiting: {message}')
        self._publish_state(message, step='waiting', waiting_for=waiting_for)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ExperimentCoordinator, threads=3))


if __name__ == '__main__':
    main()
