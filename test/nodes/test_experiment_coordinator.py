# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the coordinator decides, with a runner and a recorder of the test's own."""

import json
import shutil
import signal
import threading
import time

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.srv import SelfTest
import pytest
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.parameter import parameter_value_to_python
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model.registry import configuration_sha256
from ros_helpers import LATCHED, state_in, state_message, wait_until
from std_srvs.srv import Trigger

COORDINATOR = '/experiment_coordinator'


class Fake:
    """A node of the test's own that keeps the parameters which others set."""

    def __init__(self, graph, name):
        self.node = graph.add_node(name)
        self.values, self.called, self.content = {}, [], {}
        self.asked, self.hangs, self.ended = 0, False, threading.Event()
        self.node.create_service(SetParameters, '~/set_parameters', self._on_set)
        self.node.create_service(SelfTest, '~/status', self._answer)

    def serve(self, verb, answer):
        def handle(request, response):
            self.called.append(verb)
            response.success, response.message = answer()
            return response

        self.node.create_service(Trigger, f'~/{verb}', handle)

    def _answer(self, request, response):
        self.asked += 1
        if self.hangs:
            self.ended.wait(60.0)
        response.status = state_message(**self.content).status
        return response

    def _on_set(self, request, response):
        for parameter in request.parameters:
            self.values[parameter.name] = parameter_value_to_python(parameter.value)
            response.results.append(SetParametersResult(successful=True))
        return response


class Runner(Fake):
    """Reaches the end of every motion at once, or the fault that the test wants."""

    def __init__(self, graph):
        super().__init__(graph, 'experiment_runner')
        self.left, self.sha256, self.dry_run, self.fault = 0, '', False, ''
        self.lasts, self.payload = False, '0.0'
        self.motions = 0
        self.serve('arm', self._refuse_to_be_armed)
        self.serve('execute', self._execute)
        self.serve('abort', self._abort)
        self.say('IDLE')

    def say(self, state, reason=''):
        self.content = {
            'state': state, 'reason': reason, 'sha256': self.sha256,
            'dry_run': str(self.dry_run).lower(),
            'executions_left': self.left, 'payload': self.payload, 'motions': self.motions,
        }

    def arm(self, sha256, executions=1):
        self.left, self.sha256 = executions, sha256
        self.say('ARMED')

    def _abort(self):
        self.say('FAULT', 'at rest after: aborted by a call')
        return True, 'STOPPING'

    def _refuse_to_be_armed(self):
        return False, 'only a person arms here'

    def _execute(self):
        if not self.left:
            self.say('IDLE', 'not armed')
            return False, 'not armed'
        if self.dry_run:
            self.left = 0
            self.say('IDLE', 'dry run')
            return True, 'dry run: nothing was sent'
        self.left -= 1
        self.motions += 1
        self.say('EXECUTING')
        if self.lasts:
            return True, 'approaching the start'
        self.say(*(('FAULT', self.fault) if self.fault else ('DONE', '')))
        return True, 'approaching the start'


class Recorder(Fake):
    """Leaves a copy of a bag that was recorded before."""

    def __init__(self, graph, bag):
        super().__init__(graph, 'bag_recorder')
        self.noted = []
        self._bag = bag
        self.node.create_service(SetParametersAtomically, '~/start_with', self._on_start)
        self.serve('stop', lambda: (True, 'stopped'))

    def _on_start(self, request, response):
        """Take all arguments in one call."""
        self.called.append('start')
        arguments = {one.name: parameter_value_to_python(one.value) for one in request.parameters}
        self.noted.append(arguments)
        shutil.copytree(self._bag, arguments['start.output'])
        response.result.successful = True
        return response


class Lab:
    """A coordinator between the two, and what it says."""

    def __init__(self, graph, bag, trajectory_file, folder):
        self.graph, self.output = graph, folder / 'study'
        self.runner, self.recorder = Runner(graph), Recorder(graph, bag)
        self.trajectory_file = trajectory_file
        self.sha256 = load_trajectory(trajectory_file).sha256
        self.states = graph.hear(DiagnosticArray, f'{COORDINATOR}/state', LATCHED)
        self.process = None

    def start(self, program, **parameters):
        self.process = self.graph.start('experiment_coordinator', {
            'program': program, 'output': str(self.output), 'robot': 'ur5',
            'trajectory_file': str(self.trajectory_file), **parameters,
        })

    @property
    def state(self):
        return state_in(self.states[-1]) if self.states else {}

    def waits_for(self, what):
        """Wait until it waits for a person; return what it asks."""
        wait_until(
            lambda: self.state.get('waiting_for') == what or self.process.exit_code is not None,
            f'it to wait for {what}',
        )
        assert self.process.exit_code is None, self.process.log.read_text()
        return self.state['message']

    def arm(self, **executions):
        """Arm as soon as that is asked for; return what was asked."""
        asked = self.waits_for('arm')
        self.runner.arm(self.sha256, **executions)
        return asked

    def end(self):
        return self.graph.exit_code(self.process, 60.0)


@pytest.fixture
def lab(graph, bag, trajectory_file, tmp_path):
    """Return a lab with a robot that only a person may arm."""
    return Lab(graph, bag, trajectory_file, tmp_path)


def test_a_person_arms_and_the_arm_is_repeated_until_settled(lab):
    """It says the hash to type, asks again when an arming is used up, and never arms."""
    # All bags are copies of one, so that the third one settles the study.
    lab.start('temperature', maximum_runs=7)
    asked = lab.waits_for('arm')
    assert lab.sha256 in asked
    assert '/experiment_runner/arm' in asked
    assert lab.runner.values['trajectory_file'] == str(lab.trajectory_file)
    assert lab.runner.values['arm.executions'] == 7
    assert 'arm.sha256' not in lab.runner.values
    lab.runner.arm(lab.sha256, executions=2)
    wait_until(lambda: (lab.output / 'bag_002').exists(), 'the second run')
    lab.waits_for('arm')
    assert lab.runner.values['arm.executions'] == 5
    lab.runner.arm(lab.sha256)
    assert lab.end() == 0
    assert 'arm' not in lab.runner.called
    assert sorted(path.name for path in lab.output.iterdir()) == [
        'bag_001', 'bag_002', 'bag_003', 'temperature_runs.json'
    ]
    found = json.loads((lab.output / 'temperature_runs.json').read_text())
    assert found['settled']
    assert [run['bag'] for run in found['runs']] == ['bag_001', 'bag_002', 'bag_003']
    wait_until(lambda: lab.state.get('state') == 'done', 'the last word')


def test_a_payload_is_mounted_by_a_person_and_noted(lab):
    """Bare, then ~/continue, then the same motion; a call that nobody waits for is refused."""
    lab.start(
        'payload', serial='20215', **{
            'payload.mass': 2.5, 'payload.center_of_mass': [0.0, 0.01, 0.08],
            'mounting': [0.0, 0.0, 0.5],
        },
    )
    lab.waits_for('arm')
    assert 'nothing waits' in lab.graph.refused(f'{COORDINATOR}/continue')
    lab.runner.arm(lab.sha256)
    assert '2.5 kg' in lab.waits_for('continue')
    assert lab.recorder.noted[0]['start.payload'] == '0'
    lab.graph.done(f'{COORDINATOR}/continue')
    lab.arm()
    assert lab.end() == 0
    bare, loaded = lab.recorder.noted
    assert loaded['start.payload'] == '2.5 0.0 0.01 0.08'
    for noted in (bare, loaded):
        assert noted['start.trajectory_sha256'] == lab.sha256
        assert (noted['start.robot'], noted['start.effort_unit']) == ('ur5', 'A')
        assert (noted['start.serial'], noted['start.mounting']) == ('20215', '0.0 0.0 0.5')
        assert noted['start.until_runner_ends']
        assert noted['start.configuration_hash'] == configuration_sha256('ur5')
    assert (lab.output / 'bare_bag').is_dir()
    assert (lab.output / 'loaded_bag').is_dir()


def test_a_dry_run_is_gone_along_with(lab):
    """It moves nothing and records nothing; the person is asked for the motion itself."""
    lab.runner.dry_run, lab.runner.payload = True, '1.5 0.0 0.0 0.08'
    lab.start('record')
    lab.arm()
    wait_until(lambda: 'dry run' in lab.state.get('message', ''), 'the word of a dry run')
    assert 'dry_run false' in lab.waits_for('arm')
    assert not lab.recorder.called
    lab.runner.dry_run = False
    lab.runner.arm(lab.sha256)
    assert lab.end() == 0
    assert (lab.output / 'bag').is_dir()
    assert lab.runner.called == ['execute', 'execute']
    # What the runner's proofs counted on is noted in the bag.
    assert lab.recorder.noted[0]['start.payload'] == '1.5 0.0 0.0 0.08'


def test_a_fault_ends_the_program_and_keeps_the_bag(lab):
    """Exit code 5 with the runner's reason; the recorder is stopped, nothing goes on."""
    lab.runner.fault = 'at rest after: protective stop'
    lab.start('temperature')
    lab.arm(executions=30)
    assert lab.end() == 5
    assert 'protective stop' in lab.process.last_words()
    wait_until(lambda: lab.state.get('state') == 'failed', 'its last word')
    assert 'protective stop' in lab.state['message']
    assert lab.recorder.called == ['start', 'stop']
    assert (lab.output / 'bag_001').is_dir()
    assert lab.runner.called == ['execute']


def test_a_runner_that_is_killed_in_motion_is_missed_within_seconds(lab):
    """The graph would show it for 20 s more; while it answers the motion may last."""
    lab.runner.lasts = True
    lab.start('record')
    lab.arm()
    wait_until(lambda: lab.state.get('state') == 'executing', 'the motion')
    asked = lab.runner.asked
    wait_until(lambda: lab.runner.asked > asked + 60, 'six seconds of motion')
    assert lab.process.exit_code is None, lab.process.last_words()
    lab.runner.hangs = True
    try:
        wait_until(
            lambda: 'was not asked to stop' in lab.process.log.read_text(), 'the end', 14.0
        )
    finally:
        # The recorder of this test waits in the same thread.
        lab.runner.ended.set()
    assert lab.end() == 4
    assert 'experiment_runner has gone while it was EXECUTING' in lab.process.last_words()


def test_states_of_a_bag_that_is_replayed_are_not_heeded(lab):
    """Neither is a motion begun by one that says ARMED, nor its recording ended by DONE."""
    replay = lab.graph.node.create_publisher(DiagnosticArray, '/experiment_runner/state', LATCHED)
    lab.runner.lasts = True
    lab.start('record')
    lab.waits_for('arm')
    replay.publish(state_message('ARMED', sha256=lab.sha256))
    asked = lab.runner.asked
    wait_until(lambda: lab.runner.asked > asked + 10, 'the runner to be asked')
    assert not lab.runner.called
    lab.runner.arm(lab.sha256)
    wait_until(lambda: lab.state.get('state') == 'executing', 'the motion')
    replay.publish(state_message('DONE', sha256=lab.sha256))
    asked = lab.runner.asked
    wait_until(lambda: lab.runner.asked > asked + 10, 'the runner to be asked')
    assert lab.recorder.called == ['start']
    lab.runner.say('DONE')
    assert lab.end() == 0
    assert lab.recorder.called == ['start', 'stop']


def test_interrupted_in_motion_it_ends_the_motion(lab):
    """Ctrl-C while the arm moves: the runner is told to stop within a second."""
    lab.runner.lasts = True
    lab.start('record')
    lab.arm()
    wait_until(lambda: lab.state.get('state') == 'executing', 'the motion')
    asked = time.monotonic()
    lab.process.process.send_signal(signal.SIGINT)
    wait_until(lambda: 'abort' in lab.runner.called, 'the runner to be told')
    assert time.monotonic() - asked < 1.0
    assert lab.end() == 130
