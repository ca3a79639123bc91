# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags: what is written is read by others, what others write is read by name and in full."""

from dataclasses import replace

from builders import joint_states, Message, write_bag
import numpy as np
import pytest
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.recording.bag import find_joint_names, read_recording
from robot_identification.recording.bag_writer import BagWriter, write_joint_states

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


def test_rows_of_any_memory_layout_are_written(samples, tmp_path):
    """Columns picked by an index lie apart in memory; so they are for a driver's joint order."""
    stamps, q, dq, effort = samples
    arrays = q[:, [2, 0, 1]], np.asfortranarray(dq), effort[:, [2, 0, 1]].astype(np.float32)
    write_joint_states(tmp_path / 'bag', NAMES, stamps, {'/joint_states': arrays}, {})
    recording = read_recording(tmp_path / 'bag', NAMES)
    for found, expected in zip((recording.q, recording.dq, recording.effort), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


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
