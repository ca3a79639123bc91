# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The identifier node gives what the pipeline gives, one identification at a time."""

from itertools import pairwise
import json
import os
from pathlib import Path
import signal
import time

from bag_player import BagPlayer, read_messages
from diagnostic_msgs.msg import DiagnosticArray
from many_calls import call_at_once
import numpy as np
import pytest
from rcl_interfaces.srv import ListParameters
from robot_identification.cli.command import make_parser
from robot_identification.model.model_file import load_model
from ros_helpers import acknowledged, LATCHED, own_graph, state_in, wait_until
from std_msgs.msg import Float32, String
from std_srvs.srv import Trigger

IDENTIFY, ABORT = '/identifier/identify', '/identifier/abort'
RESULT_FILES = ('identified_model.yaml', 'report.html', 'results.txt')
# Of `small_identification`.
PLAIN = 'coulomb,viscous,offset'
CALLS = 50


class Identifier:
    """The node, and what it told."""

    def __init__(self, graph):
        self.graph = graph
        self.node = graph.start('identifier')
        self._states = graph.hear(DiagnosticArray, '/identifier/state', LATCHED)
        self.progress = graph.hear_matched(Float32, '/identifier/progress')
        self.statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')

    @property
    def states(self):
        states = [state_in(message)['state'] for message in self._states]
        return states[:1] + [later for earlier, later in pairwise(states) if earlier != later]

    def configure(self, **values):
        """Set parameters, `__` for a dot."""
        named = {key.replace('__', '.'): value for key, value in values.items()}
        assert not self.graph.configure('identifier', named)

    def begin(self):
        """Call ~/identify; return the future as soon as the data are being looked at."""
        self.progress.clear()
        future = self.graph.request(Trigger, IDENTIFY, Trigger.Request())
        wait_until(
            lambda: future.done() or any(message.data > 0.0 for message in self.progress),
            'progress', 60.0,
        )
        assert not future.done(), future.result().message
        return future

    def descendants(self):
        """Return its processes, and theirs, by the number of generations."""
        found, generation = [], [self.node.process.pid]
        while generation:
            generation = [int(child) for pid in generation for child in children(pid)]
            found.append(generation)
        return found[:-1]


def children(pid):
    """Return the processes that a process has started, as /proc has them."""
    try:
        tasks = list(Path(f'/proc/{pid}/task').iterdir())
        return [child for task in tasks for child in (task / 'children').read_text().split()]
    except OSError:
        # It ended meanwhile.
        return []


@pytest.fixture(scope='module')
def identifier(tmp_path_factory):
    """Return a node for all tests of this file that do not end it."""
    with own_graph(tmp_path_factory.mktemp('identifier')) as graph:
        yield Identifier(graph)


def test_gives_the_model_of_the_pipeline(
    identifier, small_arm, small_identification, tmp_path
):
    """The very same numbers; the result is latched; of 50 calls at once the others are BUSY."""
    graph, output = identifier.graph, tmp_path / 'result'
    identification, (yaml, bag) = small_identification, small_arm
    identifier.configure(
        robot=yaml, identify__bags=[str(bag)], identify__output=str(output),
        identify__friction=PLAIN,
    )
    served = call_at_once(graph, IDENTIFY, CALLS)
    answer = graph.answer(served, 120.0)
    assert answer.success, answer.message

    expected = identification.model
    model = load_model(output / 'identified_model.yaml')
    assert model.reduction.names == expected.reduction.names
    np.testing.assert_array_equal(model.theta_base, expected.theta_base)
    np.testing.assert_allclose(model.covariance, expected.covariance, rtol=1e-12)
    assert model.effort_unit == expected.effort_unit == 'A'
    assert (output / 'report.html').is_file()
    assert (output / 'results.txt').is_file()

    results = graph.hear(String, '/identifier/result', LATCHED)
    wait_until(lambda: results, 'the latched result')
    assert json.loads(results[0].data) == {
        'model': str(output / 'identified_model.yaml'),
        'verdict': identification.verdict.level,
        'reasons': list(identification.verdict.reasons),
        'next_step': identification.verdict.next_step,
        'lost': [],
        'notes': list(identification.notes),
    }
    wait_until(lambda: identifier.states[-1:] == ['DONE'], 'the state')
    assert identifier.states == ['IDLE', 'IDENTIFYING', 'DONE']
    # Whoever started the node by a launch file reads no topic.
    said = identifier.node.log.read_text()
    assert f'verdict {identification.verdict.level}; {identification.verdict.reasons[0]}' in said
    wait_until(lambda: identifier.progress[-1].data == 1.0, 'progress 1')
    shares = [message.data for message in identifier.progress]
    assert len(shares) > 5
    assert all(0.0 <= earlier <= later for earlier, later in pairwise(shares))

    # What is there is not overwritten.
    written = (output / 'identified_model.yaml').read_bytes()
    assert 'exists already: set identify.force true' in graph.refused(IDENTIFY)
    assert (output / 'identified_model.yaml').read_bytes() == written
    assert identifier.node.exit_code is None


def test_offers_what_the_command_line_offers(identifier):
    """By the same words; files and processes of the command line aside."""
    listed = identifier.graph.answer(identifier.graph.request(
        ListParameters, '/identifier/list_parameters', ListParameters.Request()
    ))
    offered = {name.removeprefix('identify.') for name in listed.result.names}
    (commands,) = (a for a in make_parser(['identify'])._actions if a.choices)
    options = {action.dest for action in commands.choices['identify']._actions}
    # Another process than this one's child could not be ended by ~/abort; the graph has no
    # terminal, where columns are looked at; a description comes by the robot's YAML or by
    # robot_description.
    left_out = {
        'help', 'json', 'scheduler', 'processes', 'urdf', 'xacro_arguments', 'save_mapping',
    }
    assert options - offered == left_out


def test_identifies_the_robot_that_is_described(identifier, small_arm, tmp_path):
    """On request the live robot_description is the reference, not the robot's file."""
    graph, (yaml, bag) = identifier.graph, small_arm
    text = Path(yaml).with_name('arm.urdf').read_text()
    lighter = text.replace('mass value="8.0"', 'mass value="7.5"')
    assert lighter != text
    description = graph.node.create_publisher(String, '/robot_description', LATCHED)
    description.publish(String(data=lighter))
    identifier.configure(
        use_robot_description=True, identify__bags=[str(bag)],
        identify__output=str(tmp_path / 'result'), identify__friction='coulomb,viscous',
    )
    wait_until(description.get_subscription_count, 'the identifier')
    assert acknowledged(description)
    graph.done(IDENTIFY, 120.0)
    graph.end_publisher(description)
    identifier.configure(use_robot_description=False, robot='ur5')
    model = load_model(tmp_path / 'result' / 'identified_model.yaml')
    assert '7.5' in model.robot.urdf.text


def test_bad_requests_are_answered_in_words(identifier, bag, tmp_path):
    """The node tells the cause and lives on; nothing is written."""
    broken = tmp_path / 'broken'
    broken.mkdir()
    (broken / 'broken.mcap').write_bytes(b'\x89MCAP0\r\nnothing of use')
    output = tmp_path / 'result'
    cases = (
        ({'identify.bags': ['']}, 'identify.bags'),
        ({'identify.bags': [str(broken)]}, 'broken'),
        ({'identify.bags': [str(bag)], 'identify.friction': 'magic'}, 'magic'),
        ({'identify.friction': 'none', 'identify.start': 3.0, 'identify.stop': 2.0},
         'identify.start 3 must be before identify.stop'),
        ({'identify.start': 0.0, 'identify.stop': 0.0, 'robot': 'hal9000'}, 'hal9000'),
        ({'robot': 'ur10'}, 'ur5'),
    )
    identifier.configure(identify__output=str(output))
    for values, words in cases:
        # A value may be refused where it is set, or when it is used: in words either way.
        reasons = identifier.graph.configure('identifier', values)
        if reasons:
            assert words in ' '.join(reasons)
            continue
        assert words in identifier.graph.refused(IDENTIFY, 60.0), values
        assert identifier.node.exit_code is None
    assert not output.exists()
    wait_until(lambda: identifier.states[-1] == 'FAILED', 'the state')
    wait_until(
        lambda: any(
            status.level == b'\2' and 'ur5' in status.message
            for message in identifier.statuses for status in message.status
        ),
        'the error in diagnostics',
    )


def test_can_be_aborted_killed_and_ended(identifier, small_arm, tmp_path):
    """~/abort, a killed job and SIGTERM leave the results of before, or the new ones."""
    graph, output = identifier.graph, tmp_path / 'result'
    yaml, bag = small_arm
    identifier.configure(
        robot=yaml, identify__bags=[str(bag)], identify__output=str(output),
        identify__estimator='wls', identify__friction='coulomb,viscous', identify__force=True,
    )
    future = identifier.begin()
    assert graph.call(ABORT).success
    answer = graph.answer(future)
    assert not answer.success
    assert 'aborted' in answer.message
    assert not output.exists()

    begin = time.monotonic()
    answer = graph.call(IDENTIFY, 120.0)
    duration = time.monotonic() - begin
    assert answer.success, answer.message
    new = {name: (output / name).read_bytes() for name in RESULT_FILES}
    old = {name: f'the old {name}'.encode() for name in RESULT_FILES}
    for name, content in old.items():
        (output / name).write_bytes(content)
    future = identifier.begin()
    due = time.monotonic() + 0.4 * duration
    wait_until(lambda: future.done() or time.monotonic() > due, 'the middle of it')
    if not future.done():
        # The one that is kept for the next job has started it.
        for job in identifier.descendants()[1]:
            os.kill(job, signal.SIGKILL)
    answer = graph.answer(future)
    assert answer.success or 'was killed' in answer.message
    for name in RESULT_FILES:
        assert (output / name).read_bytes() in (old[name], new[name])
    assert {path.name for path in output.iterdir()} == set(RESULT_FILES)

    for name, content in old.items():
        (output / name).write_bytes(content)
    future = identifier.begin()
    processes = [pid for generation in identifier.descendants() for pid in generation]
    assert len(processes) >= 2
    identifier.node.process.send_signal(signal.SIGTERM)
    assert graph.exit_code(identifier.node, 5.0) == 0
    wait_until(
        lambda: not any(Path(f'/proc/{pid}').exists() for pid in processes), 'its processes to end'
    )
    assert {name: (output / name).read_bytes() for name in RESULT_FILES} == old
    assert {path.name for path in output.iterdir()} == set(RESULT_FILES)


LISTEN = '/identifier/listen'


class Replayed:
    """An identifier that is started once, the states it told, and bags that are played to it."""

    def __init__(self, graph, robot):
        self.graph = graph
        self.node = graph.start('identifier', {'listen.at_start': True, 'robot': robot})
        self._states = graph.hear(DiagnosticArray, '/identifier/state', LATCHED)

    @property
    def state(self):
        return state_in(self._states[-1]) if self._states else {'state': None}

    def wait_for(self, state):
        wait_until(lambda: self.state['state'] == state, f'the state {state}', 120.0)
        return self.state

    def listen(self, **parameters):
        """Call ~/listen with parameters that are those of `defaults` but for some."""
        defaults = {
            'identify.bags': [''], 'identify.effort_unit': 'A', 'identify.friction': PLAIN,
            'listen.quiet': 0.0,
            'listen.topics': ['joint_states'], 'listen.output': '', 'listen.maximum_size': 100.0,
        }
        named = {key.replace('__', '.'): value for key, value in parameters.items()}
        assert not self.graph.configure('identifier', {**defaults, **named})
        self.graph.done(LISTEN)
        assert self.wait_for('LISTENING')['messages'] == '0'

    def play(self, bag, *passes, rate=float('inf')):
        """Play a bag to it, by default once as a whole."""
        player = BagPlayer(self.graph, bag)
        try:
            for part in passes or ((),):
                player.play(rate, *part)
        finally:
            player.close()

    def identify(self, output):
        assert not self.graph.configure('identifier', {'identify.output': str(output)})
        self.graph.done(IDENTIFY, 120.0)
        return load_model(output / 'identified_model.yaml')


@pytest.fixture(scope='module')
def replayed(small_arm, tmp_path_factory):
    with own_graph(tmp_path_factory.mktemp('replay')) as graph:
        replayed = Replayed(graph, small_arm[0])
        assert replayed.wait_for('LISTENING')['reason'] == 'to /joint_states'
        assert graph.call(ABORT).success
        replayed.wait_for('IDLE')
        yield replayed


@pytest.fixture(scope='session')
def small_bag(small_arm):
    return small_arm[1]


def check_same(model, expected):
    """Check that a model is another one, bit for bit."""
    assert model.reduction.names == expected.reduction.names
    np.testing.assert_array_equal(model.theta_base, expected.theta_base)
    np.testing.assert_array_equal(model.theta_consistent, expected.theta_consistent)
    np.testing.assert_array_equal(model.source.delay, expected.source.delay)


def test_a_replay_gives_the_model_of_the_bag(
    replayed, small_bag, small_identification, tmp_path
):
    """The very same bits."""
    replayed.listen()
    replayed.play(small_bag, rate=2.0)
    recorded = read_messages(small_bag)
    check_same(replayed.identify(tmp_path / 'result'), small_identification.model)
    assert replayed.wait_for('DONE')['messages'] == str(len(recorded))


def test_a_loop_that_is_joined_late_is_heard_once(replayed, small_bag, tmp_path):
    """From the middle to the end, and from the beginning to the middle."""
    replayed.listen(listen__output=str(tmp_path / 'heard'))
    replayed.play(small_bag, (300, None), (), (0, 50))
    assert replayed.graph.call(ABORT).success
    replayed.wait_for('IDLE')
    recorded = read_messages(small_bag)
    heard = read_messages(tmp_path / 'heard')
    assert [data for *_, data in heard] == [data for *_, data in recorded[300:] + recorded[:300]]
    # Their time goes on, at the steps of the stamps.
    times = np.array([time for _, _, time, _ in heard])
    steps = np.diff([time for _, _, time, _ in recorded])
    np.testing.assert_array_equal(np.delete(np.diff(times), len(recorded) - 301),
                                  np.delete(steps, 299))


def test_bad_replays_are_told_in_words(replayed, small_bag, tmp_path):
    """Nothing heard, nothing to hear, listening twice, bags as well; the node lives on."""
    graph = replayed.graph
    for topics, words in (
        ([''], 'listen.topics'),
        (['joint_states', 'gripper'], 'gripper=package/msg/Type'),
        (['joint_states=nosuch_msgs/msg/No'], 'nosuch_msgs'),
    ):
        assert not graph.configure('identifier', {'listen.topics': topics})
        assert words in graph.refused(LISTEN)
    assert not graph.configure('identifier', {'identify.output': str(tmp_path / 'result')})
    replayed.listen()
    assert 'BUSY' in graph.call(LISTEN).message
    assert not graph.configure('identifier', {'identify.bags': [str(small_bag)]})
    assert 'being received' in graph.call(IDENTIFY).message
    assert not graph.configure('identifier', {'identify.bags': ['']})
    reason = graph.refused(IDENTIFY)
    assert 'nothing came on /joint_states' in reason
    assert replayed.wait_for('FAILED')['reason'] == reason
    assert 'nothing is being received' in graph.call(ABORT).message
    assert '~/listen' in graph.refused(IDENTIFY)
    # More than there is room for: listening ends by itself.
    replayed.listen(listen__maximum_size=0.1)
    replayed.play(small_bag)
    assert 'listen.maximum_size' in replayed.wait_for('FAILED')['reason']
    assert not (tmp_path / 'result').exists()
    assert replayed.node.exit_code is None
