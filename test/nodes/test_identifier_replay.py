# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is identified from a replay is what is identified from the bag."""

from bag_player import BagPlayer, read_messages
from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
from robot_identification.model.model_file import load_model
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
