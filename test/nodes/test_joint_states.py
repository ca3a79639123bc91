# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joint states are read from their bytes as rclpy would build them; a layout is found once."""

import pytest
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.nodes.joint_states import JointStateReader
from sensor_msgs.msg import JointState

NAMES = ['elbow_joint', 'shoulder_lift_joint', 'ä']


def message(rng, names=NAMES, counts=(3, 3, 3), frame='base_link'):
    """Return a joint state with random numbers, so many for each quantity."""
    made = JointState(name=names, **{
        field: rng.normal(size=count).tolist()
        for field, count in zip(('position', 'velocity', 'effort'), counts, strict=True)
    })
    made.header.frame_id = frame
    made.header.stamp.sec = int(rng.integers(-2**31, 2**31))
    made.header.stamp.nanosec = int(rng.integers(0, 10**9))
    return made


def check_equal(reading, expected):
    stamp = expected.header.stamp
    assert (reading.seconds, reading.nanoseconds) == (stamp.sec, stamp.nanosec)
    assert reading.stamp == stamp.sec + stamp.nanosec * 1e-9
    assert reading.frame == expected.header.frame_id
    assert list(reading.name) == list(expected.name)
    for field in ('position', 'velocity', 'effort'):
        assert getattr(reading, field).tolist() == list(getattr(expected, field))


@pytest.mark.parametrize('names, counts', [
    (NAMES, (3, 3, 3)), (NAMES, (3, 0, 0)), (NAMES, (0, 3, 2)), ([], (2, 0, 0)),
    ([], (0, 0, 0)), ([''], (1, 1, 1)),
])
@pytest.mark.parametrize('frame', ['', 'a', 'base_link'])
def test_reads_what_rclpy_builds(rng, names, counts, frame):
    reader = JointStateReader()
    for _ in range(3):
        data = serialize_message(message(rng, names, counts, frame))
        check_equal(reader.read(data), deserialize_message(data, JointState))
    assert reader.walked == 1


def test_other_names_of_the_same_length_are_other_joints(rng):
    """An arm, another one, and one whose lists have other lengths take turns on one topic."""
    reader = JointStateReader()
    kinds = [
        (['a', 'b', 'c'], (3, 3, 0)), (['a', 'c', 'b'], (3, 3, 0)), (['a', 'b', 'c'], (3, 0, 3)),
        (['a', 'b', 'c'], (0, 3, 3)),
    ]
    for names, counts in kinds * 3:
        made = message(rng, names, counts)
        check_equal(reader.read(serialize_message(made)), made)


def test_big_endian_bytes_are_read(rng):
    """The same numbers, each with its bytes turned round; bytes 4 apart are aligned alike."""
    made = message(rng, ['abc'], (1, 1, 1), frame='abc')
    little = serialize_message(made)
    big = bytearray(little)
    big[1] = 0
    # Stamp, length and text of the frame, count of names, length and text of one, three lists.
    for first, size in [(4, 4), (8, 4), (12, 4), (20, 4), (24, 4), (32, 4), (44, 4), (60, 4)]:
        big[first:first + size] = little[first:first + size][::-1]
    for first in (36, 52, 68):
        big[first:first + 8] = little[first:first + 8][::-1]
    check_equal(JointStateReader().read(bytes(big)), made)
