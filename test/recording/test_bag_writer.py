# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the writer leaves: whole bags, bags of a killed writer, and bags on a full disk."""

import json
import subprocess
import sys

from builders import (
    custom_data_of, joint_states, robot_machine, room_for, ros_types, topics_of, write_bag,
)
from hypothesis import given, settings, strategies as st
from long_tests import some_by_day
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
import numpy as np
import pytest
from robot_identification.errors import BagError
from robot_identification.recording.bag import read_recording
from robot_identification.recording.bag_files import open_bag
from robot_identification.recording.bag_writer import BagWriter, joint_state_maker, OfferedQos
from robot_identification.recording.joint_states import JOINT_STATE
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosReliability
import yaml

NAMES = ('joint_0', 'joint_1')
TYPES = ros_types()
NOTES = {'robot': 'ur5e', 'effort_unit': 'A', 'trajectory_sha256': '12e34' + 59 * '0'}
SENSOR = {
    'lab_msgs/msg/Sensor': '# A comment\nstd_msgs/Header header\nReading[<=4] readings\n',
    'lab_msgs/msg/Reading': 'uint8 GOOD=1\nfloat64 value\nstring<=20 name\n',
}


def joint_state(number):
    """Return a serialized joint state that carries its number, 2 ms after the one before."""
    seconds, nanoseconds = divmod(10**9 + number * 2_000_000, 10**9)
    kinds = TYPES.types
    header = kinds['std_msgs/msg/Header'](
        kinds['builtin_interfaces/msg/Time'](seconds, nanoseconds), ''
    )
    values = np.array([number, -number], dtype=float)
    message = kinds[JOINT_STATE](header, list(NAMES), values, 0.1 * values, 0.2 * values)
    return bytes(TYPES.serialize_cdr(message, JOINT_STATE))


MESSAGES = [joint_state(number) for number in range(2000)]


def open_writer(path, **options):
    writer = BagWriter(path, NOTES, **options)
    writer.add_topic('/joint_states', JOINT_STATE)
    return writer


def write(writer, first, last):
    for number in range(first, last):
        writer.write('/joint_states', 10**9 + number * 2_000_000, MESSAGES[number])


def numbers(path):
    return read_recording(path, NAMES).q[:, 0].tolist()


def test_four_readers_agree_on_a_whole_bag(tmp_path):
    """Ours, rosbags', mcap's and a plain YAML reader find the same bag."""
    writer = open_writer(tmp_path / 'bag', chunk_size=4096)
    write(writer, 0, 300)
    writer.custom_data['lost_messages'] = '{}'
    writer.close()
    # The file alone, as it is copied out of its folder, says the same.
    for path in tmp_path / 'bag' / 'bag_0.mcap', tmp_path / 'bag':
        assert numbers(path) == list(range(300))
        recording = read_recording(path, NAMES)
        assert recording.completeness.state == 'complete'
        assert recording.metadata == {**NOTES, 'lost_messages': '{}'}
    with AnyReader([tmp_path / 'bag'], default_typestore=TYPES) as reader:
        found = [
            reader.deserialize(raw, connection.msgtype).position[0]
            for connection, _, raw in reader.messages()
        ]
        assert reader.message_count == 300
    assert found == list(range(300))
    assert custom_data_of(tmp_path / 'bag') == recording.metadata
    with (tmp_path / 'bag' / 'bag_0.mcap').open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        raw = [message.data for _, _, message in reader.iter_messages()]
    assert raw == MESSAGES[:300]
    assert summary.statistics.message_count == 300
    # 300 messages of about 170 bytes.
    assert summary.statistics.chunk_count > 10
    content = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text())
    information = content['rosbag2_bagfile_information']
    assert information['version'] == 9
    assert information['message_count'] == 300
    assert information['duration']['nanoseconds'] == 299 * 2_000_000
    assert information['relative_file_paths'] == ['bag_0.mcap']


def test_quality_of_service_is_a_sequence_with_words(tmp_path):
    """Version 9 of metadata.yaml has it so; rosbags reads it back, from the file as well."""
    offers = (
        OfferedQos(reliability='reliable', durability='transient_local', history='keep_last',
                   depth=7),
        OfferedQos(reliability='best_effort', deadline=2_500_000_000),
    )
    writer = BagWriter(tmp_path / 'bag', {})
    writer.add_topic('/joint_states', JOINT_STATE, qos=offers)
    write(writer, 0, 1)
    writer.close()
    content = yaml.safe_load((tmp_path / 'bag' / 'metadata.yaml').read_text())
    (topic,) = content['rosbag2_bagfile_information']['topics_with_message_count']
    first, second = topic['topic_metadata']['offered_qos_profiles']
    assert first == {
        'history': 'keep_last', 'depth': 7, 'reliability': 'reliable',
        'durability': 'transient_local',
        'deadline': {'sec': 9223372036, 'nsec': 854775807},
        'lifespan': {'sec': 9223372036, 'nsec': 854775807},
        'liveliness': 'automatic',
        'liveliness_lease_duration': {'sec': 9223372036, 'nsec': 854775807},
        'avoid_ros_namespace_conventions': False,
    }
    assert second['deadline'] == {'sec': 2, 'nsec': 500_000_000}
    for path in tmp_path / 'bag', tmp_path / 'bag' / 'bag_0.mcap':
        with AnyReader([path], default_typestore=TYPES) as reader:
            (connection,) = reader.connections
            profiles = connection.ext.offered_qos_profiles
        assert [profile.depth for profile in profiles] == [7, 0]
        assert profiles[0].durability == QosDurability.TRANSIENT_LOCAL
        assert profiles[1].reliability == QosReliability.BEST_EFFORT


@settings(max_examples=30, deadline=None)
@given(text=st.one_of(
    st.sampled_from(['12e34', 'true', '0123', '~', '1_000', '', ' x ', "it's", 'a: b', '12:30']),
    st.text(st.characters(codec='utf-8', exclude_categories=['Cc', 'Cs']), max_size=30),
))
def test_a_note_is_a_text_to_every_reader(tmp_path_factory, text):
    """A serial number such as 12e34 is no number, whatever YAML a reader speaks."""
    folder = tmp_path_factory.mktemp('notes')
    writer = BagWriter(folder / 'bag', {'serial': text})
    writer.add_topic('/joint_states', JOINT_STATE)
    write(writer, 0, 1)
    writer.close()
    assert custom_data_of(folder / 'bag') == {'serial': text}
    for path in folder / 'bag', folder / 'bag' / 'bag_0.mcap':
        with open_bag(path) as bag:
            list(bag.blocks(['/joint_states']))
            assert bag.metadata == {'serial': text}


def test_what_is_flushed_outlives_the_writer(tmp_path):
    """A bag that nobody closes is good up to its last flush, and says what was noted."""
    writer = open_writer(tmp_path / 'bag', chunk_size=48 * 1024)
    for last in (100, 101, 350):
        write(writer, writer.message_count, last)
        writer.flush()
        recording = read_recording(tmp_path / 'bag', NAMES)
        assert recording.q[:, 0].tolist() == list(range(last))
        assert recording.completeness.state == 'recovered'
        assert recording.metadata == NOTES
    write(writer, 350, 360)
    assert len(numbers(tmp_path / 'bag')) == 350
    writer.close()
    assert len(numbers(tmp_path / 'bag')) == 360


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(
        st.text(st.characters(exclude_categories=['Cs', 'Cc']), max_size=9), max_size=5
    ),
    stamp=st.integers(0, 2**31 * 10**9 - 1), velocities=st.booleans(),
)
def test_messages_are_packed_as_rosbags_packs_them(names, stamp, velocities):
    """Joint states with and without velocities, byte by byte."""
    kinds, rows = TYPES.types, np.random.default_rng(0).normal(size=(2, len(names)))
    dq = rows if velocities else rows[:, :0]
    _, pack = joint_state_maker(names, rows, dq, 2.0 * rows)
    message = kinds[JOINT_STATE](
        kinds['std_msgs/msg/Header'](
            kinds['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), ''
        ),
        names, rows[1], dq[1], 2.0 * rows[1],
    )
    assert pack(1, stamp) == bytes(TYPES.serialize_cdr(message, JOINT_STATE))


def test_a_topic_may_come_late(tmp_path):
    writer = open_writer(tmp_path / 'bag')
    write(writer, 0, 60)
    writer.flush()
    writer.add_topic('/other', JOINT_STATE)
    writer.write('/other', 2 * 10**9, MESSAGES[7])
    writer.flush()
    with open_bag(tmp_path / 'bag') as bag:
        assert {name: topic.count for name, topic in bag.topics.items()} == {
            '/joint_states': 60, '/other': 1,
        }
    writer.close()
    assert topics_of(tmp_path / 'bag')['/other'] == (JOINT_STATE, 1)


def test_types_that_are_not_standard_are_decoded_from_the_bag(tmp_path):
    """Their definitions and all that these need are in the bag."""
    writer = BagWriter(tmp_path / 'bag', {})
    writer.add_topic('/sensor', 'lab_msgs/msg/Sensor', definitions=SENSOR)
    # Little-endian CDR: header with stamp 5 s and an empty frame, one reading.
    data = bytes([0, 1, 0, 0]) + np.array([5, 0, 1], '<u4').tobytes() + bytes(4)
    data += np.array([1, 0], '<u4').tobytes()[:4] + bytes(4)
    data += np.array([2.5], '<f8').tobytes() + np.array([3], '<u4').tobytes() + b'J1\0'
    writer.write('/sensor', 10**9, data)
    writer.close()
    with (tmp_path / 'bag' / 'bag_0.mcap').open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        ((_, _, _, message),) = reader.iter_decoded_messages()
    assert message.header.stamp.sec == 5
    assert [(reading.value, reading.name) for reading in message.readings] == [(2.5, 'J1')]
    with AnyReader([tmp_path / 'bag'], default_typestore=TYPES) as reader:
        ((connection, _, raw),) = reader.messages()
        assert reader.deserialize(raw, connection.msgtype).readings[0].value == 2.5


# The last one is met by the index, behind all messages.
@pytest.mark.parametrize('share', some_by_day([0.2, 0.995, 0.06, 0.6], 2))
def test_a_full_disk_costs_the_rest_not_the_bag(tmp_path, share):
    """What could be written is read, without a gap; the error says where and what to do."""
    whole = open_writer(tmp_path / 'whole', chunk_size=8192)
    write(whole, 0, 2000)
    whole.close()
    limit = round(share * whole.byte_count)
    with room_for(limit):
        writer = open_writer(tmp_path / 'bag', chunk_size=8192)
        with pytest.raises(BagError, match=r'bag cannot be written on: .*make room'):
            write(writer, 0, 2000)
            writer.close()
        taken = writer.message_count
        with pytest.raises(BagError, match=r'could not be written on'):
            writer.write('/joint_states', 0, MESSAGES[0])
        writer.close()
    found = numbers(tmp_path / 'bag')
    assert found == list(range(len(found)))
    # A chunk holds fewer than 60 of these messages.
    assert taken - 60 <= len(found) <= taken
    assert (tmp_path / 'bag' / 'bag_0.mcap').stat().st_size <= limit
    assert not list((tmp_path / 'bag').glob('*.partial'))
    recording = read_recording(tmp_path / 'bag', NAMES)
    assert recording.completeness.state == 'recovered'
    assert recording.metadata == NOTES


@pytest.mark.parametrize('limit', some_by_day([0, 3000, 20], 2))
def test_a_disk_that_takes_no_message_is_left_without_a_bag(tmp_path, limit):
    """Nothing that has no message looks like a bag."""
    with room_for(limit), pytest.raises(BagError, match=r'cannot be written'):
        writer = open_writer(tmp_path / 'bag', chunk_size=8192)
        try:
            write(writer, 0, 200)
        finally:
            writer.close()
    assert not (tmp_path / 'bag').exists()


def test_a_discarded_bag_is_gone(tmp_path):
    """A recording that cannot begin leaves nothing behind."""
    writer = open_writer(tmp_path / 'bag')
    write(writer, 0, 10)
    writer.discard()
    assert list(tmp_path.iterdir()) == []


JOINT_STATE_TYPE = 'sensor_msgs/msg/JointState'
COUNT = 400


def run(folder, script, *arguments, hidden=('rosbags', 'mcap'), code=0):
    """Run a script on such a machine; return what it prints."""
    done = subprocess.run(
        [sys.executable, '-c', script, *map(str, arguments)], capture_output=True, text=True,
        env=robot_machine(folder / 'hidden', hidden), timeout=60,
    )
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


WRITE = """
import os, resource, signal, sys
import numpy as np
from robot_identification.recording.bag_writer import (
    BagWriter, joint_state_maker, OfferedQos, write_samples,
)
path, count, end = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if end == 'full':
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from pathlib import Path
from robot_identification.errors import BagError
writer = BagWriter(Path(path), {'robot': 'ur5e', 'serial': '12e34'}, sync=True)
writer.add_topic(
    '/joint_states', 'sensor_msgs/msg/JointState', qos=[OfferedQos(durability='transient_local')]
)
rows = np.arange(2.0 * count).reshape(count, 2)
kind, make = joint_state_maker(['joint_0', 'joint_1'], rows, -rows, 2.0 * rows)
_, pack = joint_state_maker(['joint_0', 'joint_1'], rows[:, :0], rows[:, :0], rows)
for k in range(count):
    if k == count // 2:
        writer.add_topic('/joint_temperatures', kind)
    stamp = 10**9 + 2_000_000 * k
    writer.write('/joint_states', stamp, make(k, stamp))
    if k >= count // 2:
        writer.write('/joint_temperatures', stamp, pack(k, stamp))
writer.flush()
if end == 'killed':
    os._exit(9)
writer.custom_data['lost_messages'] = '{}'
try:
    writer.close()
except BagError as error:
    print(error)
    writer.close()
"""
READ = """
import json, sys
from pathlib import Path
from robot_identification.recording.bag import read_recording
found = read_recording(Path(sys.argv[1]), ('joint_0', 'joint_1'))
assert 'rosbags' not in sys.modules and 'mcap' not in sys.modules
print(json.dumps({
    'q': found.q.tolist(), 'effort': found.effort.tolist(), 'stamps': found.stamps.tolist(),
    'start': found.start, 'state': found.completeness.state, 'notes': found.metadata,
    'expected': found.completeness.expected, 'channels': sorted(found.channels),
}))
"""


def test_what_rosbag2_writes_is_the_same_bag(tmp_path):
    """Messages, notes, quality of service and metadata.yaml, read by rosbags and by rosbag2."""
    bag = tmp_path / 'bag'
    run(tmp_path, WRITE, bag, COUNT, 'closed')
    rows = np.arange(2.0 * COUNT).reshape(COUNT, 2)
    notes = {'robot': 'ur5e', 'serial': '12e34', 'lost_messages': '{}'}
    types = ros_types()
    with (bag / 'bag_0.mcap').open('rb') as stream:
        found = [
            types.deserialize_cdr(message.data, JOINT_STATE_TYPE)
            for _, channel, message in make_reader(stream).iter_messages()
            if channel.topic == '/joint_states'
        ]
    np.testing.assert_array_equal([one.position for one in found], rows)
    np.testing.assert_array_equal([one.effort for one in found], 2.0 * rows)
    assert [one.header.stamp.nanosec for one in found[:3]] == [0, 2_000_000, 4_000_000]
    assert topics_of(bag) == {
        '/joint_states': (JOINT_STATE_TYPE, COUNT),
        '/joint_temperatures': ('sensor_msgs/msg/JointState', COUNT // 2),
    }
    content = yaml.safe_load((bag / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    assert content['custom_data'] == notes
    offered = {
        one['topic_metadata']['name']: one['topic_metadata']['offered_qos_profiles']
        for one in content['topics_with_message_count']
    }
    assert offered['/joint_states'][0]['durability'] == 'transient_local'
    recording = read_recording(bag, NAMES)
    again = json.loads(run(tmp_path / 'again', READ, bag))
    assert again['state'] == recording.completeness.state == 'complete'
    assert again['notes'] == recording.metadata == notes
    assert again['channels'] == ['temperature']
    assert again['q'] == recording.q.tolist() == rows.tolist()


@pytest.mark.parametrize('plugin', ['mcap', 'sqlite3'])
def test_what_rosbags_wrote_is_read_the_same(tmp_path, plugin):
    """Every joint state to the last bit, the notes, and that the bag is whole."""
    times = 0.002 * np.arange(COUNT)
    values = np.random.default_rng(1).normal(size=(3, COUNT, 2))
    bag = write_bag(
        tmp_path / 'bag', joint_states(NAMES, times, *values), {'robot': 'ur5e'}, plugin=plugin
    )
    found, expected = json.loads(run(tmp_path, READ, bag)), read_recording(bag, NAMES)
    assert found['q'] == expected.q.tolist() == values[0].tolist()
    assert found['effort'] == expected.effort.tolist()
    assert found['stamps'] == expected.stamps.tolist()
    assert (found['start'], found['state']) == (expected.start, 'complete')
    assert found['notes'] == expected.metadata
    assert found['expected'] == expected.completeness.expected


def test_a_full_disk_is_noticed(tmp_path):
    """Of which rosbag2 says nothing."""
    said = run(tmp_path, WRITE, tmp_path / 'bag', COUNT, 'full')
    assert 'bag cannot be written on' in said
    assert 'make room on the disk' in said


@pytest.mark.parametrize('definitions', [{}, {'lab_msgs/msg/Sensor': 'Reading reading\n'}])
def test_a_type_that_is_not_defined_is_refused(tmp_path, definitions):
    writer = open_writer(tmp_path / 'bag')
    with pytest.raises(BagError, match=r'/sensor cannot be recorded: its type lab_msgs/msg/Sen'):
        writer.add_topic('/sensor', 'lab_msgs/msg/Sensor', definitions=definitions)
    write(writer, 0, 60)
    writer.close()
    assert len(numbers(tmp_path / 'bag')) == 60
