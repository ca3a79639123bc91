# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joint states are read from their bytes as rclpy would build them; a layout is found once."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.nodes import joint_states
from robot_identification.nodes.joint_states import JointStateReader, MOST_LAYOUTS
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


def test_what_a_publisher_repeats_is_parsed_once(rng, monkeypatch):
    """Of a thousand messages none is built, and one layout is found."""
    monkeypatch.setattr(joint_states, 'deserialize_message', None)
    reader = JointStateReader()
    for _ in range(1000):
        reader.read(serialize_message(message(rng)))
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


def test_layouts_do_not_add_up(rng):
    """A publisher that grows its names for ever takes no more memory than others."""
    reader = JointStateReader()
    for length in range(1, 5 * MOST_LAYOUTS):
        made = message(rng, ['n' * 8 * length], (1, 1, 1))
        check_equal(reader.read(serialize_message(made)), made)
    assert len(reader._layouts) <= MOST_LAYOUTS


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


def test_bytes_of_another_encoding_are_left_to_the_middleware(rng, monkeypatch):
    made = message(rng)
    data = serialize_message(made)
    monkeypatch.setattr(
        joint_states, 'deserialize_message', lambda given, kind: made
    )
    reader = JointStateReader()
    check_equal(reader.read(b'\x00\x07' + data[2:]), made)
    assert np.all(reader.read(data).position == made.position)
