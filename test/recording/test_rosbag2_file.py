# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags on a machine that has rosbag2_py of ROS, and neither rosbags nor mcap."""

import json
import subprocess
import sys

from builders import joint_states, robot_machine, ros_types, topics_of, write_bag
from mcap.reader import make_reader
import numpy as np
import pytest
from robot_identification.recording.bag import read_recording
import yaml

NAMES = ('joint_0', 'joint_1')
JOINT_STATE = 'sensor_msgs/msg/JointState'
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
            types.deserialize_cdr(message.data, JOINT_STATE)
            for _, channel, message in make_reader(stream).iter_messages()
            if channel.topic == '/joint_states'
        ]
    np.testing.assert_array_equal([one.position for one in found], rows)
    np.testing.assert_array_equal([one.effort for one in found], 2.0 * rows)
    assert [one.header.stamp.nanosec for one in found[:3]] == [0, 2_000_000, 4_000_000]
    assert topics_of(bag) == {
        '/joint_states': (JOINT_STATE, COUNT),
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


def test_a_file_of_which_nothing_can_be_read_is_refused(tmp_path):
    file = tmp_path / 'cut.mcap'
    file.write_bytes(b'\x89MCAP0\r\n' + bytes(range(200)))
    said = run(tmp_path, READ, file, code=1)
    assert 'BagError' in said
    assert 'cut.mcap cannot be read as a rosbag2 bag' in said
