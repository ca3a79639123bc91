# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags: what is written is read by others, what others write is read by name and in full."""

from dataclasses import replace
import json
import os
from pathlib import Path
import shutil
import subprocess

from builders import JOINT_STATE, joint_states, Message, topics_of, write_bag, write_text_bag
import numpy as np
import pytest
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.recording import raw_bag
from robot_identification.recording.bag import read_recording
from robot_identification.recording.bag_writer import BagWriter, write_joint_states

NAMES = ('alpha', 'beta', 'gamma')


@pytest.fixture
def samples(rng):
    """Return stamps and position, velocity, effort of three joints."""
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


@pytest.mark.parametrize('order', [[2, 0, 1], [0, 1, 2]])
def test_rows_of_any_memory_layout_are_written(samples, tmp_path, order):
    """Columns picked by an index lie apart in memory; so they are for a driver's joint order."""
    stamps, q, dq, effort = samples
    arrays = q[:, order], np.asfortranarray(dq), effort[:, order].astype(np.float32)
    write_joint_states(tmp_path / 'bag', NAMES, stamps, {'/joint_states': arrays}, {})
    recording = read_recording(tmp_path / 'bag', NAMES)
    for found, expected in zip((recording.q, recording.dq, recording.effort), arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_mcap_file_alone_is_read(written, samples):
    file, = written.glob('*.mcap')
    recording = read_recording(file, NAMES, topic='/joint_states')
    np.testing.assert_array_equal(recording.q, samples[1])


def test_another_reader_agrees(written, samples):
    """Foxglove's mcap with its ROS 2 decoder, which shares no code with rosbags."""
    reader = pytest.importorskip('mcap.reader', reason='mcap is not installed')
    decoder = pytest.importorskip('mcap_ros2.decoder', reason='mcap-ros2-support is not installed')
    file, = written.glob('*.mcap')
    stamps, q, dq, effort = samples
    with file.open('rb') as stream:
        messages = [
            (record.log_time, message)
            for _, _, record, message in reader.make_reader(
                stream, decoder_factories=[decoder.DecoderFactory()]
            ).iter_decoded_messages(topics=['/joint_states'])
        ]
    assert len(messages) == 40
    for k, (log_time, message) in enumerate(messages):
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        assert stamp == log_time == round(stamps[k] * 1e9)
        assert list(message.name) == list(NAMES)
        assert list(message.position) == list(q[k])
        assert list(message.velocity) == list(dq[k])
        assert list(message.effort) == list(effort[k])


NPM_PACKAGES = (
    '@mcap/core@2.2.2', '@foxglove/rosmsg@5.0.5', '@foxglove/rosmsg2-serialization@3.1.0',
)
READ_IN_NODE = """
const {McapStreamReader} = require('@mcap/core');
const {parse} = require('@foxglove/rosmsg');
const {MessageReader} = require('@foxglove/rosmsg2-serialization');
const reader = new McapStreamReader();
reader.append(new Uint8Array(require('fs').readFileSync(process.argv[1])));
const schemas = {}, channels = {}, messages = [];
for (let record; (record = reader.nextRecord()); ) {
  if (record.type === 'Schema') {
    const text = new TextDecoder().decode(record.data);
    schemas[record.id] = new MessageReader(parse(text, {ros2: true}));
  } else if (record.type === 'Channel') {
    channels[record.id] = record;
  } else if (record.type === 'Message') {
    const channel = channels[record.channelId];
    const message = schemas[channel.schemaId].readMessage(record.data);
    const {sec, nanosec} = message.header.stamp;
    messages.push([channel.topic, String(record.logTime), sec, nanosec, message.name,
      Array.from(message.position), Array.from(message.velocity), Array.from(message.effort)]);
  }
}
console.log(JSON.stringify(messages));
"""


@pytest.fixture(scope='module')
def node_modules():
    """Return the folder with npm's MCAP packages, in the user's cache, or skip with the reason."""
    for program in ('node', 'npm'):
        if shutil.which(program) is None:
            pytest.skip(f'{program} is not installed: no reader in another language to ask')
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    folder = cache / 'robot_identification' / 'npm'
    ready = folder / 'ready'
    wanted = ' '.join(NPM_PACKAGES)
    if not ready.is_file() or ready.read_text() != wanted:
        command = ['npm', 'install', '--prefix', str(folder), '--no-audit', '--no-fund',
                   '--ignore-scripts', '--fetch-retries=0', *NPM_PACKAGES]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            completed = subprocess.run(
                command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f'npm could not install {wanted}: {error}')
        if completed.returncode != 0:
            pytest.skip(f'npm could not install {wanted}: {completed.stderr[-300:]}')
        ready.write_text(wanted)
    return folder / 'node_modules'


def test_a_reader_in_another_language_agrees(written, samples, node_modules):
    """The packages @mcap/core and rosmsg2-serialization in node: every number to the last bit."""
    file, = written.glob('*.mcap')
    completed = subprocess.run(
        ['node', '-e', READ_IN_NODE, str(file)], capture_output=True, text=True, timeout=60,
        env={**os.environ, 'NODE_PATH': str(node_modules)}, stdin=subprocess.DEVNULL,
    )
    assert completed.returncode == 0, completed.stderr
    stamps, q, dq, effort = samples
    found = [message for message in json.loads(completed.stdout) if message[0] == '/joint_states']
    assert len(found) == 40
    for k, (_, log_time, sec, nanosec, name, position, velocity, torque) in enumerate(found):
        assert int(log_time) == sec * 10**9 + nanosec == round(stamps[k] * 1e9)
        assert name == list(NAMES)
        assert position == list(q[k])
        assert velocity == list(dq[k])
        assert torque == list(effort[k])


@pytest.mark.parametrize('plugin', ['mcap', 'sqlite3'])
def test_joints_are_found_by_name_in_every_message(samples, tmp_path, plugin):
    """
    The order changes from message to message, and so do the joints that are there besides.

    Values are their joint's number and the sample's, so that a mistake shows which one.
    """
    stamps = samples[0]
    messages = []
    for k in range(40):
        others = [['extra', *NAMES], list(NAMES[::-1]), ['beta', 'alpha', 'gamma', 'z']][k % 3]
        number = np.array([NAMES.index(n) + 1 if n in NAMES else 99 for n in others]) + 0.01 * k
        messages += joint_states(others, stamps[k: k + 1], [number], [10 * number],
                                 [100 * number])
    recording = read_recording(write_bag(tmp_path / 'bag', messages, plugin=plugin), NAMES)
    expected = np.array([1, 2, 3]) + 0.01 * np.arange(40)[:, None]
    np.testing.assert_allclose(recording.q, expected, rtol=1e-15)
    np.testing.assert_allclose(recording.dq, 10 * expected, rtol=1e-15)
    np.testing.assert_allclose(recording.effort, 100 * expected, rtol=1e-15)


def test_joints_may_have_other_names_in_the_bag(samples, tmp_path):
    stamps, q, dq, effort = samples
    messages = joint_states(('a', 'beta', 'c'), stamps, q, dq, effort)
    path = write_bag(tmp_path / 'bag', messages)
    recording = read_recording(path, NAMES, names={'a': 'alpha', 'c': 'gamma'})
    np.testing.assert_array_equal(recording.q, q)
    with pytest.raises(DataError, match=r'lacks the joints alpha, gamma .* names a, beta, c'):
        read_recording(path, NAMES)


def test_one_message_without_a_joint_is_named(samples, tmp_path):
    """The one that lacks it may come late."""
    stamps, q, dq, effort = samples
    messages = joint_states(NAMES, stamps, q, dq, effort)
    messages[30] = replace(
        messages[30], name=NAMES[:2], position=q[30, :2], velocity=dq[30, :2],
        effort=effort[30, :2],
    )
    with pytest.raises(DataError, match='lacks the joint gamma'):
        read_recording(write_bag(tmp_path / 'bag', messages), NAMES)


@pytest.mark.parametrize('field', ['position', 'velocity', 'effort'])
@pytest.mark.parametrize('length', [0, 2, 5])
def test_an_array_of_another_length_was_not_recorded(samples, tmp_path, field, length):
    """Nobody can say which joint its values are of; in one message, the others keep theirs."""
    stamps, q, dq, effort = samples
    messages = joint_states(NAMES, stamps, q, dq, effort)
    messages[7] = replace(messages[7], **{field: np.ones(length)})
    recording = read_recording(write_bag(tmp_path / 'bag', messages), NAMES)
    found = {'position': recording.q, 'velocity': recording.dq, 'effort': recording.effort}
    for name, values, expected in zip(found, found.values(), (q, dq, effort), strict=True):
        rows = np.arange(40) != 7
        np.testing.assert_array_equal(values[rows], expected[rows])
        if name == field:
            assert np.all(np.isnan(values[7]))
        else:
            np.testing.assert_array_equal(values[7], expected[7])


def stamped(samples, tmp_path, stamps_ns, log_ns):
    """Return the recording of messages with these header and log times [ns]."""
    _, q, dq, effort = samples
    messages = [
        Message(int(log_ns[k]), int(stamps_ns[k]), NAMES, q[k], dq[k], effort[k])
        for k in range(40)
    ]
    return read_recording(write_bag(tmp_path / 'bag', messages), NAMES)


LOG = 10**18 + np.arange(40) * 10_000_000


def test_header_stamps_are_the_time_base(samples, tmp_path):
    """Not the time of recording, which waits for the network."""
    stamps = 7 * 10**9 + np.arange(40) * 8_000_000
    recording = stamped(samples, tmp_path, stamps, LOG)
    assert (recording.stamps_from, recording.start) == ('header', 7 * 10**9)
    np.testing.assert_allclose(recording.stamps, np.arange(40) * 0.008, atol=1e-12)


def test_a_clock_may_start_at_zero(samples, tmp_path):
    """A simulated clock does; one stamp of zero is not absent."""
    recording = stamped(samples, tmp_path, np.arange(40) * 8_000_000, LOG)
    assert recording.stamps_from == 'header'
    np.testing.assert_allclose(recording.stamps, np.arange(40) * 0.008, atol=1e-12)


def test_the_time_of_recording_stands_in_for_absent_stamps(samples, tmp_path):
    recording = stamped(samples, tmp_path, np.zeros(40), LOG)
    assert (recording.stamps_from, recording.start) == ('log', 10**18)
    np.testing.assert_allclose(recording.stamps, np.arange(40) * 0.01, atol=1e-12)


@pytest.mark.parametrize('kind', ['standing still', 'set back by three seconds'])
def test_the_time_of_recording_stands_in_for_broken_stamps(samples, tmp_path, kind):
    """A clock that stands, or goes back in the middle of the motion, orders nothing."""
    stamps = 7 * 10**9 + np.arange(40) * 8_000_000
    if kind == 'standing still':
        stamps[:] = stamps[0]
    else:
        stamps[20:] -= 3 * 10**9
    recording = stamped(samples, tmp_path, stamps, LOG)
    assert recording.stamps_from == 'log'
    np.testing.assert_allclose(recording.stamps, np.arange(40) * 0.01, atol=1e-12)


def test_two_messages_that_changed_places_do_not_break_the_stamps(samples, tmp_path):
    """That happens on a network; the recording keeps the order of arrival."""
    stamps = 7 * 10**9 + np.arange(40) * 8_000_000
    stamps[[10, 11]] = stamps[[11, 10]]
    recording = stamped(samples, tmp_path, stamps, LOG)
    assert recording.stamps_from == 'header'
    assert recording.stamps[10] > recording.stamps[11]


def test_the_part_before_a_time(written):
    recording = read_recording(written, NAMES)
    part = recording.until(0.1)
    assert len(part) == 13
    assert part.stamps[-1] < 0.1
    assert recording.until(None) is recording
    assert len(recording.until(-1.0)) == 0
    assert recording.until(-1.0).duration == 0.0


def test_long_recordings_are_read_in_blocks(samples, tmp_path, monkeypatch):
    """Nothing is lost where one block ends and the next begins."""
    monkeypatch.setattr(raw_bag, 'BLOCK_MESSAGES', 7)
    stamps, q, dq, effort = samples
    path = write_bag(tmp_path / 'bag', joint_states(NAMES, stamps, q, dq, effort))
    np.testing.assert_array_equal(read_recording(path, NAMES).effort, effort)


def test_the_topic_is_found_or_asked_for(samples, tmp_path):
    stamps, q, dq, effort = samples
    messages = joint_states(NAMES, stamps, q, dq, effort)
    only = write_bag(tmp_path / 'only', messages, topic='/arm/joint_states')
    assert read_recording(only, NAMES).topic == '/arm/joint_states'
    with pytest.raises(BagError, match=r'no topic /joint_states of joint states.*/arm/joint'):
        read_recording(only, NAMES, topic='/joint_states')
    both = tmp_path / 'both'
    arrays = (q, dq, effort)
    write_joint_states(both, NAMES, stamps, {'/a': arrays, '/b': arrays}, {})
    with pytest.raises(BagError, match='--topic'):
        read_recording(both, NAMES)
    assert topics_of(both) == {'/a': (JOINT_STATE, 40), '/b': (JOINT_STATE, 40)}


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


def test_unusable_bags_are_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match=r'no such bag: .*absent'):
        read_recording(tmp_path / 'absent', NAMES)
    (tmp_path / 'folder').mkdir()
    with pytest.raises(BagError, match=r'folder is not a rosbag2 bag: no metadata\.yaml'):
        read_recording(tmp_path / 'folder', NAMES)
    (tmp_path / 'file.mcap').write_bytes(b'')
    with pytest.raises(BagError, match=r'file\.mcap cannot be read .* is an empty file'):
        read_recording(tmp_path / 'file.mcap', NAMES)
    (tmp_path / 'words.mcap').write_bytes(b'no bag at all' * 100)
    with pytest.raises(BagError, match=r'words\.mcap cannot be read'):
        read_recording(tmp_path / 'words.mcap', NAMES)
    with pytest.raises(BagError, match='no message'):
        read_recording(write_bag(tmp_path / 'empty', []), NAMES)
    with pytest.raises(BagError, match=r'no topic of joint states; it has /words'):
        read_recording(write_text_bag(tmp_path / 'text', 3), NAMES)


def test_an_existing_bag_is_not_touched(written, samples):
    stamps, q, dq, effort = samples
    before = {path: path.read_bytes() for path in written.iterdir()}
    with pytest.raises(UsageError, match='exists already'):
        write_joint_states(written, NAMES, stamps, {'/joint_states': (q, dq, effort)}, {})
    with pytest.raises(UsageError, match='exists already'):
        BagWriter(written, {})
    assert {path: path.read_bytes() for path in written.iterdir()} == before


def test_a_bag_is_written_whole_or_not_at_all(samples, tmp_path, monkeypatch):
    """The disk fails in the middle: no bag, no part of one, and none in the way of the next."""
    stamps, q, dq, effort = samples
    true, count = BagWriter.write, [0]

    def fail(self, topic, log_time, data):
        count[0] += 1
        if count[0] == 20:
            raise OSError(28, 'No space left on device')
        true(self, topic, log_time, data)

    with monkeypatch.context() as patch:
        patch.setattr(BagWriter, 'write', fail)
        with pytest.raises((OSError, BagError)):
            write_joint_states(
                tmp_path / 'bag', NAMES, stamps, {'/joint_states': (q, dq, effort)}, {}
            )
    assert list(tmp_path.iterdir()) == []
    write_joint_states(tmp_path / 'bag', NAMES, stamps, {'/joint_states': (q, dq, effort)}, {})
    assert len(read_recording(tmp_path / 'bag', NAMES)) == 40


def test_messages_are_written_as_they_are(samples, tmp_path):
    """The writer keeps raw bytes: what a recorder got is what is in the bag."""
    stamps, q, dq, effort = samples
    source = write_bag(tmp_path / 'source', joint_states(NAMES, stamps, q, dq, effort))
    from rosbags.rosbag2 import Reader

    with Reader(source) as reader:
        raw = [(time, bytes(data)) for _, time, data in reader.messages()]
    writer = BagWriter(tmp_path / 'copy', {'robot': 'arm'})
    writer.add_topic('/joint_states', JOINT_STATE)
    for time, data in raw:
        writer.write('/joint_states', time, data)
    writer.close()
    assert writer.message_count == 40
    with Reader(tmp_path / 'copy') as reader:
        assert [(time, bytes(data)) for _, time, data in reader.messages()] == raw
    assert read_recording(tmp_path / 'copy', NAMES).metadata == {'robot': 'arm'}
