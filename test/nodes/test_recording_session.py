# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages are written in a thread of the session: no executor turns, and nothing is built."""

import struct

from hypothesis import given, settings, strategies as st
import pytest
from robot_identification.errors import BagError
from robot_identification.nodes.direct_subscription import LossCounter
from robot_identification.nodes.recording_session import (
    RecordedTopic, RecordingOrder, RecordingSession,
)
from robot_identification.nodes.recording_types import (
    definitions_of, has_header, message_class, stamp_of,
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


pytest.importorskip('ament_index_python', reason='needs ROS 2')

DRIVE = """
# State of a drive; string names in a comment are no fields
uint8 OK=0
uint8 FAILED = 1
string<=10 KIND="motor name"
std_msgs/Header header
Winding[3] windings   # one a phase
other_msgs/Limit[<=4] limits
other_msgs/msg/Limit limit
builtin_interfaces/Time since
float64[] currents
Winding spare
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install two packages of messages in an index of their own."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    for package, files in {
        'drive_msgs': {'Drive': DRIVE, 'Winding': 'float64 resistance\nDrive[] loop\n'},
        'other_msgs': {'Limit': 'float64 low\nfloat64 high\nLost lost\n'},
    }.items():
        (index / package).touch()
        folder = tmp_path / 'share' / package / 'msg'
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f'{name}.msg').write_text(text)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))


def test_everything_a_type_needs_is_found(installed):
    """Standard types are left out, and so are those that are not there; rings end."""
    found = definitions_of('drive_msgs/msg/Drive')
    assert set(found) == {'drive_msgs/msg/Drive', 'drive_msgs/msg/Winding', 'other_msgs/msg/Limit'}
    assert found['drive_msgs/msg/Drive'] == DRIVE


@pytest.mark.parametrize('kind', ['no_msgs/msg/None', 'std_msgs/msg/Nothing', 'std_msgs'])
def test_a_class_that_is_not_installed_is_told(kind):
    """Topic, type and what to do."""
    with pytest.raises(BagError, match=rf'/topic cannot be recorded: its type {kind} is not ins'):
        message_class('/topic', kind)


def test_a_header_is_the_first_field():
    """Joint states have one, and so do stamped wrenches; a number has none."""
    pytest.importorskip('sensor_msgs', reason='needs ROS 2')
    assert has_header(message_class('/a', 'sensor_msgs/msg/JointState'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Float64'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Header'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Empty'))


def count(numbers, publishers=1):
    counter = LossCounter()
    for number in numbers:
        counter.add(number, publishers)
    return counter


@settings(max_examples=50, deadline=None)
@given(kept=st.sets(st.integers(1, 500), min_size=1))
def test_what_is_missing_between_the_first_and_the_last_is_lost(kept):
    """Alone or in rows, and none before the first: who joins late has lost nothing."""
    assert count(sorted(kept)).lost == max(kept) - min(kept) + 1 - len(kept)


def test_a_publisher_that_is_started_anew_loses_nothing():
    """Its numbers begin again, or anywhere when it was met late, once the old one was missed."""
    counter = count([7, 8, 9, 1, 2, 4])
    assert counter.lost == 1
    counter.update(0)
    counter.add(5000, 1)
    assert counter.lost == 1
    counter.update(1)
    counter.add(5002, 1)
    assert counter.lost == 2


@pytest.mark.parametrize('number', [None, 0], ids=['none', 'zero'])
def test_without_numbers_the_middleware_counts(number):
    """And with them it does not, as both would count the same messages."""
    counter = count([1, 2, 5])
    counter.report(2)
    assert counter.lost == 2
    counter.add(number, 1)
    counter.report(3)
    assert counter.lost == 5


@settings(max_examples=50, deadline=None)
@given(numbers=st.lists(st.integers(1, 10**9)))
def test_several_publishers_are_not_told_apart(numbers):
    """Nothing is invented from numbers in any order; what the middleware reports counts."""
    counter = count(numbers, publishers=2)
    assert counter.lost == 0
    counter.add(1, 2)
    counter.report(4)
    # One is left: from its next number on they tell again.
    for number in (100, 101, 103):
        counter.add(number, 1)
    counter.report(1)
    assert counter.lost == 5


@given(seconds=st.integers(0, 2**31 - 1), nanoseconds=st.integers(0, 10**9 - 1))
def test_a_stamp_is_read_from_either_byte_order(seconds, nanoseconds):
    """The second byte of a serialized message says which it is."""
    expected = seconds * 10**9 + nanoseconds
    little = bytes([0, 1, 0, 0]) + struct.pack('<iI', seconds, nanoseconds) + bytes(8)
    big = bytes([0, 0, 0, 0]) + struct.pack('>iI', seconds, nanoseconds) + bytes(8)
    assert stamp_of(little) == stamp_of(big) == expected
    assert stamp_of(little[:11]) == stamp_of(b'') == 0
