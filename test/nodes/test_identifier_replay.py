# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is identified from a replay is what is identified from the bag."""

import shutil
import subprocess
import tempfile
import time

from bag_player import BagPlayer, read_messages
from diagnostic_msgs.msg import DiagnosticArray
from long_tests import long_test
import numpy as np
import pytest
from rclpy.qos import ReliabilityPolicy
from robot_identification.model.model_file import load_model
from robot_identification.nodes.common import run_node
from robot_identification.nodes.identifier import Identifier
from robot_identification.recording.bag_writer import write_joint_states
from ros_helpers import LATCHED, own_graph, state_in, wait_until

# Of `small_identification`.
PLAIN = 'coulomb,viscous,offset'
LISTEN, IDENTIFY, ABORT = (f'/identifier/{verb}' for verb in ('listen', 'identify', 'abort'))


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

    def play(self, bag, *passes, rate=float('inf'), **options):
        """Play a bag to it, by default once as a whole."""
        player = BagPlayer(self.graph, bag, **options)
        try:
            return sum(player.play(rate, *part) for part in passes or ((),))
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


@pytest.fixture(scope='module')
def short_bag(tmp_path_factory):
    """Return a bag of 20 joint states, for what needs no model."""
    path = tmp_path_factory.mktemp('short') / 'bag'
    values = np.arange(60.0).reshape(20, 3)
    write_joint_states(
        path, ['a', 'b', 'c'], 1000.0 + 0.008 * np.arange(20),
        {'/joint_states': (values, values, values)}, {},
    )
    return path


def check_same(model, expected):
    """Check that a model is another one, bit for bit."""
    assert model.reduction.names == expected.reduction.names
    np.testing.assert_array_equal(model.theta_base, expected.theta_base)
    np.testing.assert_array_equal(model.theta_consistent, expected.theta_consistent)
    np.testing.assert_array_equal(model.source.delay, expected.source.delay)


def recorded_time(messages):
    return (messages[-1][2] - messages[0][2]) * 1e-9


def test_a_replay_gives_the_model_of_the_bag(
    replayed, small_bag, small_identification, tmp_path
):
    """The very same bits."""
    replayed.listen()
    took = replayed.play(small_bag, rate=2.0)
    recorded = read_messages(small_bag)
    # It was played at that rate, or slower.
    assert took >= recorded_time(recorded) / 2.0 - 0.01
    check_same(replayed.identify(tmp_path / 'result'), small_identification.model)
    assert replayed.wait_for('DONE')['messages'] == str(len(recorded))


def test_ros2_bag_play_gives_the_model_of_the_bag(
    replayed, small_bag, small_identification, tmp_path
):
    """Where it is installed; with /clock."""
    if shutil.which('ros2') is None or subprocess.run(
        ['ros2', 'bag', 'play', '--help'], capture_output=True, timeout=60
    ).returncode:
        pytest.skip('needs `ros2 bag play`: ros2 or ros2bag is not installed')
    replayed.listen()
    subprocess.run(
        ['ros2', 'bag', 'play', str(small_bag), '--rate', '2', '--delay', '3', '--clock'],
        env=replayed.graph.environment, check=True, timeout=120,
    )
    check_same(replayed.identify(tmp_path / 'result'), small_identification.model)


@long_test
def test_a_loop_at_ten_times_the_rate_is_heard_once(
    replayed, small_bag, small_identification, tmp_path
):
    """The second pass is not kept; after the quiet time the identification begins by itself."""
    heard, output = tmp_path / 'heard', tmp_path / 'result'
    assert not replayed.graph.configure('identifier', {'identify.output': str(output)})
    replayed.listen(listen__output=str(heard), listen__quiet=1.0)
    recorded = read_messages(small_bag)
    took = replayed.play(small_bag, (), (0, 100), rate=10.0)
    assert took >= recorded_time(recorded) / 10.0 - 0.01
    told = replayed.wait_for('DONE')
    assert str(output) in told['reason']
    check_same(load_model(output / 'identified_model.yaml'), small_identification.model)
    assert [data for *_, data in read_messages(heard)] == [data for *_, data in recorded]


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


def test_the_clock_of_a_replay_is_of_no_matter(replayed, short_bag, tmp_path):
    """With /clock and use_sim_time, and best effort: the same bytes at the same times."""
    assert not replayed.graph.configure('identifier', {'use_sim_time': True})
    replayed.listen(listen__output=str(tmp_path / 'heard'))
    replayed.play(short_bag, rate=1.0, clock=True)
    assert replayed.graph.call(ABORT).success
    replayed.wait_for('IDLE')
    assert not replayed.graph.configure('identifier', {'use_sim_time': False})
    assert read_messages(tmp_path / 'heard') == read_messages(short_bag)


def test_what_is_published_best_effort_is_heard(replayed, short_bag):
    """Reliable is what is asked for first; a publisher that offers less is heard all the same."""
    replayed.listen()
    player = BagPlayer(
        replayed.graph, short_bag, reliability=ReliabilityPolicy.BEST_EFFORT
    )
    # Nobody repeats what gets lost, so it is played again.
    wait_until(
        lambda: player.play() >= 0.0 and ' 0 messages' not in replayed.graph.call(LISTEN).message,
        'a message',
    )
    player.close()
    assert replayed.graph.call(ABORT).success
    replayed.wait_for('IDLE')


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


class Quiet:
    """A listener that has heard everything, of a node that is asked to leave then."""

    quiet_for, problem, message_count = 1.0, '', 7

    def __init__(self, node, path):
        self._node, self._path = node, path

    def poll(self):
        """Do nothing."""

    def finish(self):
        self._node.finished = 0
        return self._path


@pytest.mark.usefixtures('graph', 'own_signals')
def test_a_replay_that_ends_with_the_node_is_not_identified(monkeypatch, tmp_path, capfd):
    """What begins with its end ends before the node does, however busy the machine is."""
    begun, told = [], []
    identify = Identifier._identify_received

    def identify_late(node):
        begun.append(node)
        time.sleep(0.3)
        identify(node)
        told.append(node._status['reason'])

    def make():
        node = Identifier()
        node._quiet, node._listener = 0.5, Quiet(node, tmp_path / 'heard')
        return node

    monkeypatch.setattr(Identifier, '_identify_received', identify_late)
    assert run_node(make, threads=4, arguments=['identifier']) == 0
    # The node may have ended before a thread took it.
    assert told == len(begun) * ['the identifier is asked to leave, nothing is identified']
    assert 'Traceback' not in capfd.readouterr().err


@pytest.mark.usefixtures('graph', 'own_signals')
def test_what_a_node_listens_to_at_its_end_leaves_nothing(monkeypatch, tmp_path):
    """A call of ~/listen may be served after the node has ended what it did."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr(tempfile, 'tempdir', None)

    def make():
        node = Identifier()
        node.finished = 0
        monkeypatch.setattr(node, 'close', lambda: True)
        node._listen()
        assert list(tmp_path.glob('robot_identification_received_*'))
        return node

    assert run_node(make, threads=4, arguments=['identifier']) == 0
    assert not list(tmp_path.glob('robot_identification_received_*'))
