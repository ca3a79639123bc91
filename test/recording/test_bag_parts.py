# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One arm on several topics or messages, prefixes on either side, and two arms in one bag."""

from builders import JOINT_STATE, joint_states, rows_of, write_rows
import numpy as np
import pytest
from robot_identification.errors import BagError, DataError
from robot_identification.model.robot_model import JointEncoders
from robot_identification.recording.bag import read_recording

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


def test_a_pause_of_one_half_is_a_pause(tmp_path):
    late = np.delete(TIMES, slice(100, 200))
    path = write_topics(tmp_path / 'bag', {
        '/a': messages(JOINTS[:2], JOINTS[:2], TIMES),
        '/b': messages(JOINTS[2:], JOINTS[2:], late),
    })
    recording = read_recording(path, JOINTS)
    assert len(recording) == 300
    assert np.diff(recording.stamps).max() == pytest.approx(1.01)


def test_a_prefix_that_only_the_model_has(tmp_path):
    path = write_topics(tmp_path / 'bag', {'/joint_states': messages(JOINTS, JOINTS, TIMES)})
    recording = read_recording(path, [f'left_{joint}' for joint in JOINTS])
    np.testing.assert_array_equal(recording.q, motion(TIMES)[0])
    assert any("lack 'left_'" in note for note in recording.notes)


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
