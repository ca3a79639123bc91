# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages are written in a thread of the session: no executor turns, and nothing is built."""

import pytest
from robot_identification.nodes.recording_session import (
    RecordedTopic, RecordingOrder, RecordingSession,
)
from robot_identification.nodes.topic_thread import AT_A_TIME
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


def test_a_stalled_disk_loses_nothing_that_the_queue_holds(session):
    """What came while nothing could be written is written at the end of the recording."""
    recording, publisher = session
    with recording._lock:
        publish(publisher, 3 * AT_A_TIME + 7)
        assert recording.writer.message_count == 0
    recording.finish({})
    assert recording.writer.message_count == 3 * AT_A_TIME + 7
    assert recording.lost == {'/joint_states': 0}


def test_what_goes_wrong_in_the_thread_ends_the_recording(session, monkeypatch):
    """A message that is not written must be known to the one who records."""
    recording, publisher = session
    monkeypatch.setattr(recording, '_write', lambda *_: 1 / 0)
    publish(publisher, 1)
    wait_until(lambda: 'ZeroDivisionError' in recording.failure, 'the failure')


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
