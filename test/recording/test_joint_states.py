# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joint states decoded many at once are those decoded one by one, to the last bit."""

from builders import decode_joint_state, JOINT_STATE, Message
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model.robot_model import plain_encoders
from robot_identification.recording.bag import read_recording
from robot_identification.recording.cdr import group_by_layout, Walker
from robot_identification.recording.joint_states import (
    DYNAMIC_JOINT_STATE, JointColumns, JointTable, quantities_of, walk_joint_state,
)
from robot_identification.recording.raw_bag import Damage, RawBlock

NAMES = ('alpha', 'beta', 'gamma')


def table_of(messages, kind=JOINT_STATE, encoders=None, blocks=1):
    """Return log times, stamps and values of (log time, bytes), added in so many blocks."""
    table = JointTable(
        kind, JointColumns('bag', NAMES, {}), encoders or plain_encoders(3), quantities_of(kind)
    )
    for part in np.array_split(np.arange(len(messages)), blocks):
        block = RawBlock('/joint_states')
        for k in part:
            block.add(*messages[k])
        table.add(block)
    found = table.finish()
    return found.log_times, found.stamps, found.values


def assert_same_bits(found, expected):
    for one, other in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[2].keys() == expected[2].keys()
    for quantity, values in found[2].items():
        np.testing.assert_array_equal(values.view(np.int64), expected[2][quantity].view(np.int64))


lists = st.sampled_from(['all', 'none', 'too short', 'too long'])
numbers = st.floats(width=64, allow_subnormal=True)


@st.composite
def specifications(draw):
    """Return what a joint state may look like: names, which lists, frame, byte order."""
    names = draw(st.permutations([*NAMES, *draw(st.sampled_from([[], ['x'], ['finger', 'yy']]))]))
    if draw(st.integers(0, 9)) == 0:
        names = ['finger', 'thumb']
    return (
        tuple(names), draw(st.tuples(lists, lists, lists)), draw(st.sampled_from(['', 'b', 'ba'])),
        draw(st.booleans()), draw(st.lists(numbers, min_size=18, max_size=18)),
    )


@given(found=st.lists(specifications(), min_size=1, max_size=30), repeats=st.integers(1, 4))
def test_a_block_is_what_its_messages_are(to_cdr, found, repeats):
    """Any names, lists, frame and byte order: as in blocks of one message, and by rosbags."""
    raw, expected = [], []
    for k, (names, which, frame, little, values) in enumerate(found * repeats):
        sizes = {'all': len(names), 'none': 0, 'too short': len(names) - 1,
                 'too long': len(names) + 1}
        arrays = [np.array(values[6 * i:6 * i + 6])[:sizes[kind]] for i, kind in enumerate(which)]
        message = Message(1000 + k, 5 * 10**9 + k, names, *arrays)
        raw.append(to_cdr(message, frame, little))
        decoded = decode_joint_state(*raw[-1])
        if 'alpha' in names:
            index = [decoded.name.index(name) for name in NAMES]
            expected.append([decoded.log_time, decoded.stamp, *(
                array[index] if len(array) == len(names) else np.full(3, np.nan)
                for array in (decoded.position, decoded.velocity, decoded.effort)
            )])
    together = table_of(raw)
    assert_same_bits(together, table_of(raw, blocks=len(raw)))
    assert len(together[0]) == len(expected)
    if expected:
        log_times, stamps, *values = zip(*expected, strict=True)
        np.testing.assert_array_equal(together[0], log_times)
        np.testing.assert_array_equal(together[1], stamps)
        for quantity, array in zip(('position', 'velocity', 'effort'), values, strict=True):
            np.testing.assert_array_equal(together[2][quantity], np.array(array))


@pytest.mark.parametrize('share', [0.0, 0.02, 0.3, 0.6, 0.99])
def test_a_message_that_ends_too_early_is_damage(good, to_cdr, share):
    """What comes before it is used, nothing after it."""
    raw = [to_cdr(message) for message in good[:10]]
    raw[6] = raw[6][0], raw[6][1][:int(share * len(raw[6][1]))]
    table = JointTable(
        JOINT_STATE, JointColumns('bag', NAMES, {}), plain_encoders(3), quantities_of(JOINT_STATE)
    )
    block = RawBlock('/joint_states')
    for message in raw:
        block.add(*message)
    with pytest.raises(Damage, match='a message'):
        table.add(block)
    assert len(table.finish().log_times) == 6


LENGTHS = [0x7FFFFFFF, 0xFFFFFFFF, 1000, 4]


@pytest.mark.parametrize('length', LENGTHS)
@pytest.mark.parametrize('field', ['frame', 'names', 'first name', 'position', 'effort'])
def test_a_list_that_is_longer_than_its_message_is_damage(good, to_cdr, field, length):
    """Nothing is allocated for what cannot be there."""
    data = bytearray(to_cdr(good[0])[1])
    walker = Walker(bytes(data))
    walk_joint_state(walker)
    # Frame, number of names, then length and content of every name, then the three lists.
    lengths = [part for part in walker.fixed if part.stop - part.start == 4]
    place = {'frame': 0, 'names': 1, 'first name': 2, 'position': -3, 'effort': -1}[field]
    data[lengths[place]] = length.to_bytes(4, 'little')
    groups, damage = group_by_layout([bytes(data)], walk_joint_state)
    if damage is None:
        # Four letters instead of six: other names, and not those of the arm.
        assert groups[0].fields.names != NAMES
    else:
        assert groups == []


def test_dynamic_joint_states_name_their_interfaces(dynamic):
    """In any order and of any joint; an interface that is not there was not recorded."""
    raw = [
        (k, dynamic(10**9 + k, {
            'gamma': {'effort': 30.0 + k, 'position': 3.0 + k},
            'gpio': {'speed_scaling_factor': 1.0},
            'alpha': {'position': 1.0 + k, 'velocity': 10.0 + k, 'temperature': 31.5},
            'beta': {},
        }))
        for k in range(5)
    ]
    log_times, stamps, values = table_of(raw, DYNAMIC_JOINT_STATE)
    k, nothing = np.arange(5.0), np.full(5, np.nan)
    np.testing.assert_array_equal(log_times, np.arange(5))
    np.testing.assert_array_equal(stamps, 10**9 + np.arange(5))
    for quantity, expected in {
        'position': (1.0 + k, nothing, 3.0 + k), 'velocity': (10.0 + k, nothing, nothing),
        'effort': (nothing, nothing, 30.0 + k),
        'temperature': (np.full(5, 31.5), nothing, nothing),
    }.items():
        np.testing.assert_array_equal(values[quantity], np.column_stack(expected))


def columns_of(*names, joints=NAMES, renamed=None):
    """Return where the joints are in messages with these names, one after the other."""
    columns = JointColumns('bag', joints, renamed or {})
    found = []
    for each in names:
        walked = group_by_layout([each], walk_joint_state)[0][0].fields
        found.append(columns.columns(walked))
    return columns, found


@pytest.fixture
def named(to_cdr):
    def make(*names, values=None):
        size = len(names) if values is None else values
        return to_cdr(Message(0, 0, names, *(np.ones(size) for _ in range(3))))[1]

    return make


def test_a_common_prefix_is_found_and_noted(named):
    """As a driver's tf_prefix; other joints do not have it."""
    columns, found = columns_of(named('my_ur_gamma', 'finger', 'my_ur_alpha', 'my_ur_beta'))
    np.testing.assert_array_equal(found[0], [2, 3, 0])
    note, = columns.notes
    assert "begin with 'my_ur_'" in note


def test_the_plain_names_win_over_a_prefix(named):
    """A second arm in the same message, or in messages of its own, is another arm."""
    columns, found = columns_of(
        named('left_alpha', 'left_beta', 'left_gamma', *NAMES),
        named('left_alpha', 'left_beta', 'left_gamma'),
    )
    np.testing.assert_array_equal(found[0], [3, 4, 5])
    assert found[1] is None
    assert columns.notes == ()


def test_a_long_recording_is_on_the_disk(disk, good, to_cdr, write_mcap, tmp_path):
    """Longer than the limit: the same numbers as in memory, in files that nobody sees."""
    path = write_mcap(
        tmp_path / 'a.mcap',
        {('/joint_states', JOINT_STATE): [to_cdr(message) for message in good]},
    )
    recording = read_recording(path, NAMES)
    for array, name in (
        (recording.q, 'position'), (recording.dq, 'velocity'), (recording.effort, 'effort'),
    ):
        assert isinstance(array, np.memmap)
        np.testing.assert_array_equal(array, [getattr(message, name) for message in good])
    assert isinstance(recording.stamps, np.memmap)
    part = recording.until(1.0)
    assert np.shares_memory(part.q, recording.q)
    assert list(disk.iterdir()) == []


def test_two_arms_are_not_guessed_between(named):
    """Both prefixes are said, and the option that chooses, where the plain names come late."""
    with pytest.raises(DataError, match=r"prefixes '', 'left_'.*--joint-names"):
        columns_of(named('left_alpha', 'left_beta', 'left_gamma'), named(*NAMES))


def test_values_without_names_are_refused(named):
    """Even as many as there are joints: which is which, nobody knows."""
    with pytest.raises(DataError, match=r'3 positions and no names.*alpha, beta, gamma'):
        columns_of(named(values=3))
    assert columns_of(named(values=0))[1] == [None]
