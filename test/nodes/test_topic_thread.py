# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The thread hears and looks on, whatever the executor of its node does or waits for."""

import sys
from threading import Event
import time

import pytest
from robot_identification.nodes import common
from robot_identification.nodes.topic_thread import TopicThread
from ros_helpers import RELIABLE, wait_until
from std_msgs.msg import Int32

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
