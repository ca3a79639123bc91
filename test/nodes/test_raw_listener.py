# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A listener fits what it requests to its publishers, whatever the threads beside it do."""

import pytest
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.nodes.raw_listener import RawListener
from ros_helpers import acknowledged, BEST_EFFORT, deserialized, LATCHED, wait_until
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore, Stores
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

TOPIC = '/joint_states'
VOLATILE = QoSProfile(depth=1)  # reliable, and not kept for who comes later


@pytest.fixture
def node(graph):
    made = Node('listening', context=graph.node.context)
    yield made
    made.destroy_node()


@pytest.fixture
def player(graph):
    """Return a node of publishers, which no executor waits for."""
    made = Node('player', context=graph.node.context)
    yield made
    made.destroy_node()


@pytest.mark.parametrize('offered', [BEST_EFFORT, VOLATILE], ids=['best effort', 'volatile'])
def test_a_later_publisher_that_offers_less_is_heard(node, player, tmp_path, offered):
    """The first one is reliable and latched; both are heard."""
    first = player.create_publisher(JointState, TOPIC, LATCHED)
    wait_until(lambda: node.count_publishers(TOPIC), 'the first publisher')
    listener = RawListener(node, [TOPIC], tmp_path / 'bag', 1.0)

    def count():
        listener.poll()
        return listener.message_count

    first.publish(JointState())
    wait_until(count, 'the message of the first')
    second = player.create_publisher(JointState, TOPIC, offered)
    wait_until(
        lambda: second.publish(JointState()) or count() > 1, 'a message of the second'
    )
    assert listener.finish().is_dir()


def test_messages_of_several_topics_are_kept_in_the_order_of_their_arrival(
    node, player, tmp_path
):
    """Though they are taken topic by topic: what comes between two joint states stays there."""
    temperatures = player.create_publisher(Float64MultiArray, '/joint_temperatures', 100)
    states = player.create_publisher(JointState, TOPIC, 100)
    listener = RawListener(node, [TOPIC, '/joint_temperatures'], tmp_path / 'bag', 1.0)
    wait_until(
        lambda: states.get_subscription_count() and temperatures.get_subscription_count(),
        'the subscriptions',
    )
    for second in range(1, 6):
        message = JointState()
        message.header.stamp.sec = second
        states.publish(message)
        assert acknowledged(states)
        temperatures.publish(Float64MultiArray(data=[float(second)]))
        assert acknowledged(temperatures)
    listener.poll()
    with AnyReader([listener.finish()], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as bag:
        found = [
            (stamp, deserialized(Float64MultiArray, data).data[0])
            for connection, stamp, data in bag.messages()
            if connection.topic == '/joint_temperatures'
        ]
    assert found == [(second * 10**9, float(second)) for second in range(1, 6)]
