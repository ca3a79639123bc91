# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags: what is written is read by others, what others write is read by name and in full."""

from dataclasses import replace

from builders import JOINT_STATE, joint_states, Message, rows_of, write_bag, write_rows
import numpy as np
import pytest
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.model.robot_model import JointEncoders
from robot_identification.recording.bag import find_joint_names, read_recording
from robot_identification.recording.bag_writer import BagWriter, write_joint_states
from robot_identification.recording.joint_names import recommend_names

NAMES = ('alpha', 'beta', 'gamma')


@pytest.fixture
def samples(rng):
    stamps = 1.5 + np.arange(40) * 0.008
    return stamps, *(rng.normal(size=(40, 3)) for _ in range(3))


@pytest.fixture
def written(samples, tmp_path):
    """Return a bag that the package wrote: two topics and a recorder's metadata."""
    stamps, q, dq, effort = samples
    path = tmp_path / 'deep' / 'bag'
    write_joint_states(
        path, NAMES, stamps,
        {'/joint_states': (q, dq, effort), '/other': (np.zeros((40, 0)),) * 2 + (2.0 * effort,)},
        {'robot': 'arm', 'effort_unit': 'A', 'note': 'Umlaut \u00e4, "quotes": yes'},
    )
    return path


def test_round_trip(written, samples):
    """To the bit; stamps are nanoseconds, so a difference of them is good to 1e-9 s."""
    stamps, q, dq, effort = samples
    recording = read_recording(written, NAMES)
    np.testing.assert_array_equal(recording.q, q)
    np.testing.assert_array_equal(recording.dq, dq)
    np.testing.assert_array_equal(recording.effort, effort)
    np.testing.assert_allclose(recording.stamps, stamps - stamps[0], atol=1.5e-9)
    assert (recording.start, recording.stamps_from) == (1_500_000_000, 'header')
    assert (recording.topic, recording.joint_names) == ('/joint_states', NAMES)
    assert recording.metadata == {
        'robot': 'arm', 'effort_unit': 'A', 'note': 'Umlaut \u00e4, "quotes": yes',
    }
    assert len(recording) == 40
    assert recording.duration == pytest.approx(39 * 0.008)
    other = read_recording(written, NAMES, topic='/other')
    np.testing.assert_array_equal(other.effort, 2.0 * effort)
    assert np.all(np.isnan(other.q))


def test_one_message_without_a_joint_is_named(samples, tmp_path):
    """The one that lacks it may come late; both sets of names are listed."""
    stamps, q, dq, effort = samples
    messages = joint_states(NAMES, stamps, q, dq, effort)
    messages[30] = replace(
        messages[30], name=NAMES[:2], position=q[30, :2], velocity=dq[30, :2],
        effort=effort[30, :2],
    )
    with pytest.raises(DataError, match=r'lacks the joint gamma of the model.*names alpha, beta'
                                        r', the model has alpha, beta, gamma'):
        read_recording(write_bag(tmp_path / 'bag', messages), NAMES)


STAMPS, PLACES = 7 * 10**9 + np.arange(40) * 8_000_000, np.arange(40)


@pytest.mark.parametrize(('stamps', 'clock'), [
    (STAMPS, 'header'),
    # A simulated clock starts at zero: one stamp of zero is not absent.
    (STAMPS - STAMPS[0], 'header'),
    # Two messages that changed places on the network keep the order of arrival.
    (STAMPS[np.r_[:10, 11, 10, 12:40]], 'header'),
    (np.zeros(40, int), 'log'), (np.full(40, 7 * 10**9), 'log'),
    (STAMPS - 3 * 10**9 * (PLACES >= 20), 'log'),
], ids=['usual', 'from zero', 'two exchanged', 'absent', 'standing still', 'set back'])
def test_time_is_that_of_the_header_stamps_if_they_order_the_messages(
        samples, tmp_path, stamps, clock):
    """The time of recording, which waits for the network, stands in for absent or broken ones."""
    log_times = 10**18 + 10_000_000 * PLACES
    messages = [
        Message(int(log_time), int(stamp), NAMES, *values)
        for log_time, stamp, *values in zip(log_times, stamps, *samples[1:], strict=True)
    ]
    recording = read_recording(write_bag(tmp_path / 'bag', messages), NAMES)
    expected = stamps if clock == 'header' else log_times
    assert (recording.stamps_from, recording.start) == (clock, expected[0])
    np.testing.assert_allclose(recording.stamps, (expected - expected[0]) * 1e-9, atol=1e-12)


def test_the_topic_is_found_or_asked_for(samples, tmp_path):
    messages = joint_states(NAMES, *samples)
    only = write_bag(tmp_path / 'only', messages, topic='/arm/joint_states')
    assert read_recording(only, NAMES).topic == '/arm/joint_states'
    assert find_joint_names(only) == NAMES
    with pytest.raises(BagError, match=r'no topic /joint_states of joint states.*/arm/joint'):
        read_recording(only, NAMES, topic='/joint_states')


def test_a_gripper_on_the_same_topic_is_passed_over(samples, tmp_path):
    """Its messages name none of the joints; the arm's samples are as if it were not there."""
    stamps, q, dq, effort = samples
    arm = joint_states(NAMES, stamps, q, dq, effort)
    gripper = joint_states(['finger'], stamps + 0.001, q[:, :1], dq[:, :1], effort[:, :1])
    mixed = [message for pair in zip(arm, gripper, strict=True) for message in pair]
    alone = read_recording(write_bag(tmp_path / 'alone', arm), NAMES)
    both = read_recording(write_bag(tmp_path / 'both', mixed), NAMES)
    for name in ('stamps', 'q', 'dq', 'effort'):
        np.testing.assert_array_equal(getattr(both, name), getattr(alone, name))
    with pytest.raises(DataError, match=r'alpha, beta, gamma.*finger'):
        read_recording(write_bag(tmp_path / 'gripper', gripper), NAMES)


def test_an_existing_bag_is_not_touched(written, samples):
    stamps, q, dq, effort = samples
    before = {path: path.read_bytes() for path in written.iterdir()}
    with pytest.raises(UsageError, match='exists already'):
        write_joint_states(written, NAMES, stamps, {'/joint_states': (q, dq, effort)}, {})
    with pytest.raises(UsageError, match='exists already'):
        BagWriter(written, {})
    assert {path: path.read_bytes() for path in written.iterdir()} == before


JOINTS = tuple(f'joint{k}' for k in range(1, 5))
TIMES = 5.0 + 0.01 * np.arange(400)


def motion(times):
    """Return positions, velocities and efforts of four joints, linear in between."""
    phase = np.arange(4.0)
    q = np.sin(times[:, None] + phase)
    return q, np.cos(times[:, None] + phase), 3.0 * q


def messages(names, joints, times, factor=1.0):
    columns = [JOINTS.index(joint) for joint in joints]
    q, dq, effort = (factor * values[:, columns] for values in motion(times))
    return joint_states(names, times, q, dq, effort, log_delay=0.002)


def write_topics(path, topics):
    rows = [row for topic, found in topics.items() for row in rows_of(found, topic)]
    kinds = dict.fromkeys(topics, JOINT_STATE)
    return write_rows(path, kinds, sorted(rows, key=lambda row: row[:2]))


@pytest.mark.parametrize('topic', [None, '/upper/joint_states,/lower/joint_states'])
@pytest.mark.parametrize('shift', [0.0, 0.004])
def test_one_arm_on_two_topics(tmp_path, topic, shift):
    """With the same stamps nothing changes; with others one half is interpolated, and said."""
    path = write_topics(tmp_path / 'bag', {
        '/upper/joint_states': messages(JOINTS[:2], JOINTS[:2], TIMES),
        '/lower/joint_states': messages(JOINTS[2:], JOINTS[2:], TIMES[:-1] + shift),
    })
    encoders = JointEncoders(np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.0, 0.5, 0.2, 0.0]))
    recording = read_recording(path, JOINTS, topic=topic, encoders=encoders)
    kept = slice(1 if shift else 0, len(TIMES) - 1)
    q, dq, effort = (values[kept] for values in motion(TIMES))
    # Half of the square of a step, times the largest second derivative, over four.
    near = 0.01**2 / 8.0 * 3.0 if shift else 1e-9
    np.testing.assert_allclose(recording.q, encoders.to_model(q), atol=near)
    np.testing.assert_allclose(recording.dq, encoders.sign * dq, atol=near)
    np.testing.assert_allclose(recording.effort, encoders.sign * effort, atol=near)
    np.testing.assert_array_equal(recording.q[:, :2], encoders.to_model(q)[:, :2])
    assert set(recording.topic.split(',')) == {'/upper/joint_states', '/lower/joint_states'}
    assert 'joint1, joint2 from /upper/joint_states' in recording.notes[0]
    # What the model file keeps reads the same again.
    again = read_recording(path, JOINTS, topic=recording.topic, encoders=encoders)
    np.testing.assert_array_equal(again.q, recording.q)


def test_one_arm_in_two_messages_of_a_topic(tmp_path):
    """As two drivers publish on /joint_states, each its own joints."""
    path = write_topics(tmp_path / 'bag', {'/joint_states': [
        *messages(JOINTS[:3], JOINTS[:3], TIMES), *messages(JOINTS[3:], JOINTS[3:], TIMES + 1e-3),
    ]})
    recording = read_recording(path, JOINTS)
    np.testing.assert_allclose(recording.q, motion(TIMES)[0][1:], atol=2e-5)
    assert recording.topic == '/joint_states'


def test_the_arm_is_found_among_other_topics(tmp_path):
    """A gripper of its own topic does not matter where /joint_states is missing."""
    path = write_topics(tmp_path / 'bag', {
        '/gripper/joint_states': messages(['finger'], JOINTS[:1], TIMES),
        '/arm/joint_states': messages(JOINTS, JOINTS, TIMES),
    })
    assert read_recording(path, JOINTS).topic == '/arm/joint_states'


@pytest.mark.parametrize('apart', [False, True])
def test_two_arms_are_asked_for_by_name(tmp_path, apart):
    """On one topic or two; the names of the model's joints, or an option, say which."""
    left = messages([f'left_{joint}' for joint in JOINTS], JOINTS, TIMES)
    right = messages([f'right_{joint}' for joint in JOINTS], JOINTS, TIMES, 2.0)
    topics = {'/a': left, '/b': right} if apart else {'/joint_states': [*left, *right]}
    path = write_topics(tmp_path / 'bag', topics)
    with pytest.raises(DataError, match="with the prefixes 'left_', 'right_'"):
        read_recording(path, JOINTS)
    q = motion(TIMES)[0]
    found = read_recording(path, [f'right_{joint}' for joint in JOINTS])
    np.testing.assert_array_equal(found.q, 2.0 * q)
    names = {f'left_{joint}': joint for joint in JOINTS}
    np.testing.assert_array_equal(read_recording(path, JOINTS, names=names).q, q)


def test_what_cannot_be_known_is_refused(tmp_path):
    """Two arms of the same names; joints that are nowhere; halves of different times."""
    both = write_topics(tmp_path / 'both', {
        '/left/joint_states': messages(JOINTS, JOINTS, TIMES),
        '/right/joint_states': messages(JOINTS, JOINTS, TIMES, 2.0),
    })
    with pytest.raises(BagError, match='name one with --topic'):
        read_recording(both, JOINTS)
    np.testing.assert_array_equal(
        read_recording(both, JOINTS, topic='/right/joint_states').q, 2.0 * motion(TIMES)[0])
    half = write_topics(
        tmp_path / 'half', {'/joint_states': messages(JOINTS[:2], JOINTS[:2], TIMES)}
    )
    with pytest.raises(DataError, match='lacks the joints joint3, joint4'):
        read_recording(half, JOINTS)
    with pytest.raises(DataError, match='name other topics with --topic A,B'):
        read_recording(both, JOINTS, topic='/left/joint_states,/right/joint_states')
    apart = write_topics(tmp_path / 'apart', {
        '/a': messages(JOINTS[:2], JOINTS[:2], TIMES),
        '/b': messages(JOINTS[2:], JOINTS[2:], TIMES + 60.0),
    })
    with pytest.raises(DataError, match='not recorded at the same time'):
        read_recording(apart, JOINTS)


PSM = ('_outer_yaw', '_pitch', '_outer_insertion', '_outer_roll')
UR = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint')


@pytest.mark.parametrize(('recorded', 'wanted', 'given', 'expected'), [
    (PSM[:3], PSM, {}, '--joints _outer_yaw _pitch _outer_insertion'),
    (('yaw', 'pitch', 'insertion'), PSM,
     {}, '--joints _outer_yaw _pitch _outer_insertion '
     '--joint-names yaw=_outer_yaw,pitch=_pitch,insertion=_outer_insertion'),
    # Words count more than places: this order is that of the alphabet.
    (('elbow', 'lift', 'pan'), UR, {},
     '--joint-names pan=shoulder_pan_joint,lift=shoulder_lift_joint,elbow=elbow_joint'),
    (('fer_joint1', 'fer_joint2'), ('panda_joint1', 'panda_joint2'), {},
     '--joint-names fer_joint1=panda_joint1,fer_joint2=panda_joint2'),
    # Without a word in common, the order is all there is.
    (('a', 'b', 'c'), UR, {},
     '--joint-names a=shoulder_pan_joint,b=shoulder_lift_joint,c=elbow_joint'),
    # What was given stays, and is completed.
    (('a', 'lift', 'elbow'), UR, {'a': 'shoulder_pan_joint'},
     '--joint-names a=shoulder_pan_joint,lift=shoulder_lift_joint,elbow=elbow_joint'),
    # A gripper in the recording is not the joint that it lacks.
    ((*UR[:2], 'finger'), UR, {}, '--joints shoulder_pan_joint shoulder_lift_joint'),
    # Another arm: numbers in some names say nothing.
    (('wrist_1', 'wrist_2', 'pan', 'lift'), tuple(f'panda_joint{k}' for k in range(1, 8)), {}, ''),
    (UR, UR, {}, ''),
    (('a b', 'c'), ('x', 'y'), {}, "--joint-names 'a b=x,c=y'"),
])
def test_options_that_make_names_fit(recorded, wanted, given, expected):
    assert recommend_names(recorded, wanted, given) == expected


def test_a_pause_of_one_half_is_a_pause(tmp_path):
    late = np.delete(TIMES, slice(100, 200))
    path = write_topics(tmp_path / 'bag', {
        '/a': messages(JOINTS[:2], JOINTS[:2], TIMES),
        '/b': messages(JOINTS[2:], JOINTS[2:], late),
    })
    recording = read_recording(path, JOINTS)
    assert len(recording) == 300
    assert np.diff(recording.stamps).max() == pytest.approx(1.01)


def test_rows_of_any_memory_layout_are_written(samples, tmp_path):
    """Columns picked by an index lie apart in memory; so they are for a driver's joint order."""
    stamps, q, dq, effort = samples
    arrays = q[:, [2, 0, 1]], np.asfortranarray(dq), effort[:, [2, 0, 1]].astype(np.float32)
    write_joint_states(tmp_path / 'bag', NAMES, stamps, {'/joint_states': arrays}, {})
    recording = read_recording(tmp_path / 'bag', NAMES)
    for found, expected in zip((recording.q, recording.dq, recording.effort), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)
