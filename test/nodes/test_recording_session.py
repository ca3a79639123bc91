# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is recorded costs its writing: no turn of an executor, and nothing is built."""

import pytest
from rclpy import serialization
from robot_identification.nodes.recording_session import (
    AT_A_TIME, RecordedTopic, RecordingOrder, RecordingSession,
)
from ros_helpers import acknowledged, joint_state, RELIABLE, wait_until
from sensor_msgs.msg import JointState

JOINTS = [f'joint_{i}' for i in range(6)]
NOW = 5_000


@pytest.fixture
def session(graph, tmp_path):
    """Return a recording under way, and the publisher of its topic."""
    publisher = graph.node.create_publisher(JointState, '/joint_states', RELIABLE)
    made = RecordingSession(graph.add_node('recorder'), RecordingOrder(
        tmp_path / 'bag', ('/joint_states',), (), {}, timeout=20.0
    ))
    wait_until(publisher.get_subscription_count, 'the recorder to listen')
    yield made, publisher
    if made.topics['/joint_states'].subscription is not None:
        made.finish({})


def publish(publisher, count):
    """Publish so many joint states; return when they have arrived."""
    for number in range(count):
        publisher.publish(joint_state(number, JOINTS, *[[float(number)] * 6] * 3))
    assert acknowledged(publisher)


def test_one_look_writes_all_that_came_and_builds_nothing(session, monkeypatch):
    """The node spins on meanwhile, and no message comes by its executor."""
    recording, publisher = session
    monkeypatch.setattr(serialization, '_rclpy', None)
    publish(publisher, AT_A_TIME)
    assert recording.writer.message_count == 0
    recording.take()
    assert recording.writer.message_count == AT_A_TIME
    assert recording.lost == {'/joint_states': 0}


def test_a_flood_leaves_a_turn_to_others(session):
    """What is left is written next; the end of the recording takes all."""
    recording, publisher = session
    publish(publisher, 2 * AT_A_TIME + 7)
    recording.take()
    assert recording.writer.message_count == AT_A_TIME
    recording.finish({})
    assert recording.writer.message_count == 2 * AT_A_TIME + 7


@pytest.mark.parametrize('info, arrival', [
    ({'received_timestamp': 4_000, 'source_timestamp': 10}, 4_000),
    ({'received_timestamp': 0, 'source_timestamp': 4_500}, 4_500),
    # A publisher's clock that is wrong: it came after the last look, and before this one.
    ({'received_timestamp': 0, 'source_timestamp': 10}, 3_000),
    ({'received_timestamp': 0, 'source_timestamp': 9_000}, NOW),
    ({}, NOW),
])
def test_a_message_has_the_time_at_which_it_came(info, arrival):
    """By what the middleware knows, and between the looks where it knows little."""
    topic = RecordedTopic('/joint_states', 'sensor_msgs/msg/JointState', None, emptied_at=3_000)
    assert topic.arrival(info, NOW) == arrival
