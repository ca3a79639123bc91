# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Samples are taken in a thread of their own, whatever the node does."""

import sys
import threading

import pytest
from robot_identification.nodes import common
from robot_identification.nodes.direct_subscription import DirectSubscription
from robot_identification.nodes.sample_thread import SampleThread, SWITCH_INTERVAL
from ros_helpers import deserialized, RELIABLE, wait_until
from sensor_msgs.msg import JointState

MESSAGES = 200


@pytest.fixture
def restored_interval():
    """Give the process its switch interval back."""
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def publish(graph):
    """Return what publishes a joint state with a number for a name."""
    def make():
        publisher = graph.publisher(JointState, '/joint_states')
        return lambda number: publisher.publish(JointState(name=[str(number)]))

    return make


def test_a_node_that_is_busy_misses_nothing(graph, publish, restored_interval):
    """The executor of the node stands still; every message comes, in order, before it goes on."""
    heard, going_on = [], threading.Event()
    node = graph.add_node('listener')
    samples = SampleThread(
        node, DirectSubscription(node, JointState, '/joint_states', RELIABLE), heard.append
    )
    say = publish()
    guard = node.create_guard_condition(lambda: going_on.wait(20.0))
    samples.start()
    try:
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL, abs=1e-6)
        guard.trigger()
        for number in range(MESSAGES):
            say(number)
        wait_until(lambda: len(heard) == MESSAGES, 'all messages')
        names = [deserialized(JointState, data).name[0] for data in heard]
        assert names == [str(number) for number in range(MESSAGES)]
    finally:
        going_on.set()
        samples.stop()
    assert samples.failure is None


def test_an_error_ends_the_thread_and_is_the_nodes(graph, publish, restored_interval):
    """As an error of a callback is: `run_node` raises it."""
    def fail(data):
        raise RuntimeError('no more')

    node = graph.add_node('listener')
    samples = SampleThread(
        node, DirectSubscription(node, JointState, '/joint_states', RELIABLE), fail
    )
    say = publish()
    samples.start()
    try:
        say(1)
        wait_until(lambda: samples.failure, 'the error')
    finally:
        samples.stop()
    with pytest.raises(RuntimeError, match='no more'):
        common._raise_failure(samples)


def test_a_thread_that_was_not_started_can_be_stopped(graph):
    """A node that fails while it is made is destroyed all the same."""
    node = graph.add_node('listener')
    subscription = DirectSubscription(node, JointState, '/joint_states', RELIABLE)
    SampleThread(node, subscription, lambda data: None).stop()
