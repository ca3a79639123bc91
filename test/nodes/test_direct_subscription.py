# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages wait for their owner, and the executor of the node does not turn for them."""

from threading import Thread

from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from robot_identification.nodes.direct_subscription import DirectSubscription
from robot_identification.nodes.topic_thread import MessageWait
from ros_helpers import BEST_EFFORT, RELIABLE, wait_until
from std_msgs.msg import Int32

COUNT = 200


class NotingExecutor(SingleThreadedExecutor):
    """Notes the callback groups of what it waits for."""

    def __init__(self, **options):
        super().__init__(**options)
        self.groups = []

    def can_execute(self, entity):
        """Note what may be executed, which rclpy asks for each turn."""
        able = super().can_execute(entity)
        if able:
            self.groups.append(entity.callback_group)
        return able


def test_an_executor_does_not_wait_for_it(graph):
    """Two hundred messages wait; a turn of the executor ends with its time, without work."""
    node = graph.add_node('listener')
    node.executor.remove_node(node)
    executor = NotingExecutor(context=node.context)
    executor.add_node(node)
    subscription = DirectSubscription(node, Int32, '/number', QoSProfile(depth=COUNT))
    publisher = graph.publisher(Int32, '/number')
    for number in range(COUNT):
        publisher.publish(Int32(data=number))
    wait = MessageWait(node.context, [subscription])
    assert wait.wait(20.0)
    executor.groups.clear()
    executor.spin_once(timeout_sec=0.05)
    # Its events are of the same group.
    assert subscription._subscription.callback_group not in executor.groups
    assert node.default_callback_group in executor.groups
    messages = []
    wait_until(
        lambda: messages.extend(subscription.take(COUNT)) or len(messages) == COUNT, 'all messages'
    )
    assert [deserialize_message(data, Int32).data for data, _ in messages] == list(range(COUNT))
    assert subscription.publishers == 1
    executor.shutdown()


def test_takes_no_more_than_asked_for(graph):
    subscription = DirectSubscription(graph.add_node('listener'), Int32, '/number', RELIABLE)
    publisher = graph.publisher(Int32, '/number')
    for number in range(5):
        publisher.publish(Int32(data=number))
    messages = []
    wait_until(lambda: messages.extend(subscription.take(2)) or len(messages) >= 4, 'four')
    assert len(subscription.take(2)) <= 1


def test_a_wait_ends_with_a_message_and_with_its_time(graph):
    """A thread of its own waits, for any one of its subscriptions."""
    node = graph.add_node('listener')
    subscriptions = [
        DirectSubscription(node, Int32, topic, RELIABLE) for topic in ('/one', '/other')
    ]
    wait, ended = MessageWait(node.context, subscriptions), []
    assert not wait.wait(0.0)
    assert not wait.wait(0.02)
    publisher = graph.publisher(Int32, '/other')
    thread = Thread(target=lambda: ended.append(wait.wait(20.0)))
    thread.start()
    publisher.publish(Int32(data=3))
    thread.join(20.0)
    assert ended == [True]
    assert not subscriptions[0].take(1)
    assert deserialize_message(subscriptions[1].take(1)[0][0], Int32).data == 3


def test_what_the_middleware_reports_is_handed_over(graph, capfd):
    """A reliable listener hears of a publisher that is not, once."""
    subscription = DirectSubscription(graph.add_node('listener'), Int32, '/number', RELIABLE)
    graph.publisher(Int32, '/number', BEST_EFFORT, listeners=0)
    written = []

    def is_said():
        subscription.handle_events()
        written.append(capfd.readouterr().err)
        return 'offering incompatible QoS' in ''.join(written)

    wait_until(is_said, 'a warning')
    subscription.handle_events()
    # The publisher's own warning, of a listener that requests what it does not offer, may follow.
    assert 'offering incompatible QoS' not in capfd.readouterr().err
