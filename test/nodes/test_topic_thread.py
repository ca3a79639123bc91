# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The thread hears and looks on, whatever the executor of its node does or waits for."""

import sys
from threading import Event
import time

import pytest
from rclpy.serialization import serialize_message
from robot_identification.nodes import common, topic_thread
from robot_identification.nodes.direct_subscription import LARGEST_JOINT_STATE
from robot_identification.nodes.topic_thread import TopicThread
from ros_helpers import RELIABLE, wait_until
from std_msgs.msg import Int32, String

PERIOD = 0.01


@pytest.fixture
def watch(graph):
    """Return the watch of a node, which ends with the test, and its switch interval with it."""
    made, interval = TopicThread(graph.add_node('watcher'), PERIOD), sys.getswitchinterval()
    yield made
    made.stop()
    sys.setswitchinterval(interval)


def fail(error):
    raise AssertionError(error)


def test_a_blocked_executor_does_not_delay_the_watch(graph, watch):
    """Its callback waits until the watch has heard twenty messages and looked ten times."""
    heard, looks, enough, freed = [], [], Event(), []
    watch.subscribe(Int32, '/number', RELIABLE, lambda message: heard.append(message.data))

    def look():
        looks.append(time.monotonic())
        if len(looks) >= 10 and len(heard) >= 20:
            enough.set()

    blocked = Event()

    def block():
        blocked.set()
        freed.append(enough.wait(20.0))

    timer = watch.node.create_timer(0.001, lambda: timer.cancel() or block())
    publisher = graph.node.create_publisher(Int32, '/number', RELIABLE)
    wait_until(publisher.get_subscription_count, 'the watch to listen')
    assert blocked.wait(20.0)
    watch.start(look, fail)
    for number in range(20):
        publisher.publish(Int32(data=number))
    wait_until(lambda: freed, 'the executor')
    assert freed == [True]
    assert heard == list(range(20))


def test_one_wake_takes_all_that_waits(graph, watch, monkeypatch):
    """Messages that came before the thread began are handed over before its first look."""
    heard, at_look, waits = [], [], []
    wait = topic_thread.MessageWait.wait
    monkeypatch.setattr(
        topic_thread.MessageWait, 'wait',
        lambda self, seconds: waits.append(seconds) or wait(self, seconds),
    )
    watch.subscribe(Int32, '/number', RELIABLE, heard.append)
    publisher = graph.publisher(Int32, '/number')
    for number in range(topic_thread.AT_A_TIME):
        publisher.publish(Int32(data=number))
    subscription = watch._subscriptions[0][0]
    waiting = []
    wait_until(
        lambda: waiting.extend(subscription.take(1)) or len(waiting) == 2, 'messages to wait'
    )
    publisher.wait_for_all_acked()
    watch.start(lambda: at_look.append((len(heard), len(waits))), fail)
    wait_until(lambda: at_look, 'a look')
    assert at_look[0] == (topic_thread.AT_A_TIME - 2, 1)


def test_what_fails_is_told_and_the_watch_goes_on(graph, watch):
    """A message that cannot be read, and a look that fails, end neither hearing nor looking."""
    errors, heard, looks = [], [], []

    def read(data):
        if len(heard) + len(errors) < 1:
            raise ValueError('unreadable')
        return data

    def look():
        looks.append(watch.is_current)
        if len(looks) == 3:
            raise RuntimeError('blind')

    watch.subscribe(Int32, '/number', RELIABLE, heard.append, read=read)
    publisher = graph.publisher(Int32, '/number')
    watch.start(look, errors.append)
    publisher.publish(Int32(data=1))
    wait_until(lambda: errors, 'an error')
    publisher.publish(Int32(data=2))
    wait_until(lambda: heard and len(looks) > 5, 'the watch to go on')
    assert heard == [serialize_message(Int32(data=2))]
    assert sorted(map(str, errors)) == ['blind', 'unreadable']
    assert all(looks)
    assert not watch.is_current
    assert watch.failure is None


@pytest.mark.parametrize('on_error', [fail, None])
def test_an_error_that_nothing_takes_is_the_nodes(watch, on_error):
    """As an error of a callback is: `run_node` raises it, the first of them."""
    looks = []

    def look():
        looks.append(0)
        raise RuntimeError(f'blind {len(looks)}')

    watch.subscribe(Int32, '/number', RELIABLE, fail)
    watch.start(look, on_error)
    wait_until(lambda: len(looks) > 1, 'two looks')
    with pytest.raises((RuntimeError, AssertionError), match='blind 1'):
        common._raise_failure(watch)


def test_a_large_message_is_left_out(graph, watch):
    heard = []
    watch.subscribe(String, '/text', RELIABLE, heard.append)
    publisher = graph.publisher(String, '/text')
    watch.start(lambda: None, fail)
    for text in ('first', 'x' * LARGEST_JOINT_STATE, 'last'):
        publisher.publish(String(data=text))
    wait_until(lambda: len(heard) == 2, 'the small messages')
    assert [message.data for message in heard] == ['first', 'last']


def test_it_ends_when_asked_to(watch):
    watch.start(lambda: None, fail)
    assert sys.getswitchinterval() == pytest.approx(topic_thread.SWITCH_INTERVAL, abs=1e-6)
    watch.stop()
    assert not watch._thread.is_alive()
    watch.stop()


def test_one_that_has_not_begun_can_be_stopped(watch):
    """A node that fails while it is made is destroyed all the same."""
    watch.stop()
    assert not watch._thread.is_alive()
