# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Whole bags of every form: what is read is what rosbags reads, and it is called complete."""

from dataclasses import replace
import shutil
import sqlite3

from backports import zstd
from builders import JOINT_STATE, write_bag
import numpy as np
import pytest
from robot_identification.errors import BagError
from robot_identification.recording.bag import find_joint_names, read_recording

NAMES = ('alpha', 'beta', 'gamma')
COMPRESSIONS = ('NONE', 'ZSTD', 'LZ4')


def assert_all_of(recording, good):
    for found, name in (
        (recording.q, 'position'), (recording.dq, 'velocity'), (recording.effort, 'effort'),
    ):
        np.testing.assert_array_equal(found, [getattr(message, name) for message in good])
    start = good[0].stamp
    assert recording.start == start
    np.testing.assert_array_equal(
        recording.stamps, np.array([message.stamp - start for message in good]) * 1e-9
    )
    completeness = recording.completeness
    assert (completeness.state, completeness.cause) == ('complete', '')
    assert completeness.recovered == recording.duration
    assert completeness.describe() == ''


@pytest.mark.parametrize('plugin', ['mcap', 'sqlite3'])
@pytest.mark.parametrize('form', ['folder', 'file'])
def test_what_rosbags_wrote_is_read(good, tmp_path, plugin, form):
    """They share no code with the readers; a folder, and the file in it."""
    path = write_bag(tmp_path / 'bag', good, {'robot': 'arm', 'note': 'no'}, plugin=plugin)
    if form == 'file':
        path, = (file for file in path.iterdir() if file.name != 'metadata.yaml')
    recording = read_recording(path, NAMES)
    assert_all_of(recording, good)
    # The copy of metadata.yaml inside the file serves where the folder is not there.
    assert recording.metadata == {'robot': 'arm', 'note': 'no'}


@pytest.mark.parametrize('plugin', ['mcap', 'sqlite3'])
def test_a_clock_that_was_set_back_leaves_the_order_of_the_file(good, tmp_path, plugin):
    """Sorted by log time, what is before would be mixed with what is after."""
    late = [replace(message, log_time=message.log_time - 10**9) for message in good[200:]]
    assert_all_of(read_recording(
        write_bag(tmp_path / 'bag', [*good[:200], *late], plugin=plugin), NAMES
    ), good)


@pytest.mark.parametrize('compression', COMPRESSIONS)
@pytest.mark.parametrize('options', [
    {}, {'enable_crcs': False}, {'use_chunking': False}, {'chunk_size': 500},
    {'chunk_size': 10**7}, {'use_statistics': False}, {'repeat_channels': False},
    {'enable_data_crcs': True},
], ids=str)
def test_mcap_files_of_every_kind_are_read(good, to_cdr, write_mcap, tmp_path, compression,
                                           options):
    """Chunks or none, compressed or not, with checksums or without, with an index or without."""
    from mcap.writer import CompressionType

    contents = {
        ('/joint_states', JOINT_STATE): [to_cdr(message) for message in good],
        ('/image', 'sensor_msgs/msg/Image'): [
            (m.log_time, bytes(700 if k % 50 else 1_500_000)) for k, m in enumerate(good)
        ],
    }
    path = write_mcap(tmp_path / 'a.mcap', contents,
                      compression=CompressionType[compression], **options)
    assert_all_of(read_recording(path, NAMES), good)


def test_split_bags_are_read_in_natural_order(good, to_cdr, write_mcap, tmp_path):
    """The tenth file comes after the ninth; without metadata.yaml, too, and across storages."""
    folder = tmp_path / 'split'
    folder.mkdir()
    for number in range(12):
        part = [to_cdr(message) for message in good[number * 34:(number + 1) * 34]]
        write_mcap(folder / f'split_{number}.mcap', {('/joint_states', JOINT_STATE): part})
    recording = read_recording(folder, NAMES)
    np.testing.assert_array_equal(recording.effort, [message.effort for message in good])
    assert recording.completeness.state == 'recovered'
    cause = 'no metadata.yaml, which a recorder writes when it ends'
    assert recording.completeness.cause == cause
    # The statistics of the files say how long the bag is.
    assert recording.completeness.describe() == 'damaged bag: recovered 3.99 of about 3.99 s'


def split_by_rosbags(folder, good):
    """Write two halves and one metadata.yaml for both, as a recorder that splits."""
    import yaml

    halves = [write_bag(folder.parent / f'half_{k}', good[200 * k:200 * (k + 1)]) for k in (0, 1)]
    folder.mkdir()
    for half in halves:
        shutil.copy(half / f'{half.name}.mcap', folder)
    content = yaml.safe_load((halves[0] / 'metadata.yaml').read_text())
    information = content['rosbag2_bagfile_information']
    information['relative_file_paths'] = [f'{half.name}.mcap' for half in halves]
    information['message_count'] = 400
    information['topics_with_message_count'][0]['message_count'] = 400
    information['duration']['nanoseconds'] = good[-1].log_time - good[0].log_time
    (folder / 'metadata.yaml').write_text(yaml.safe_dump(content))
    return folder


def test_a_split_bag_is_complete_up_to_damage_in_one_file(good, tmp_path):
    """What is behind the damage is left out, said so, and can be read by itself."""
    folder = split_by_rosbags(tmp_path / 'bag', good)
    (folder / 'notes.txt').write_text('beside it')
    recording = read_recording(folder, NAMES)
    assert_all_of(recording, good)
    assert recording.completeness.expected == pytest.approx(3.99, abs=1e-9)
    first = folder / 'half_0.mcap'
    first.write_bytes(first.read_bytes()[:20_000])
    recording = read_recording(folder, NAMES)
    assert 0 < len(recording) < 200
    np.testing.assert_array_equal(
        recording.q, [message.position for message in good[:len(recording)]]
    )
    assert 'half_0.mcap: it ends at byte 20000' in recording.completeness.cause
    assert 'not read after it: 1 more' in recording.completeness.cause
    assert recording.completeness.describe().endswith('of about 3.99 s')
    assert len(read_recording(folder / 'half_1.mcap', NAMES)) == 200


@pytest.mark.parametrize('plugin', ['mcap', 'sqlite3'])
def test_files_compressed_as_a_whole_are_read(good, tmp_path, plugin, monkeypatch):
    """`compression_mode: FILE`; the unpacked file does not stay."""
    monkeypatch.setenv('TMPDIR', str(tmp_path / 'temporary'))
    (tmp_path / 'temporary').mkdir()
    path = write_bag(tmp_path / 'bag', good, plugin=plugin)
    file, = (file for file in path.iterdir() if file.name != 'metadata.yaml')
    packed = file.with_name(file.name + '.zstd')
    # In pieces, as a stream is compressed: what is not cut off can be unpacked.
    compressor, whole = zstd.ZstdCompressor(), file.read_bytes()
    packed.write_bytes(b''.join(
        compressor.compress(whole[k:k + 4096], compressor.FLUSH_BLOCK)
        for k in range(0, len(whole), 4096)
    ) + compressor.flush())
    file.unlink()
    metadata = path / 'metadata.yaml'
    metadata.write_text(metadata.read_text().replace(file.name, packed.name))
    assert_all_of(read_recording(path, NAMES), good)
    assert_all_of(read_recording(packed, NAMES), good)
    assert list((tmp_path / 'temporary').iterdir()) == []
    packed.write_bytes(packed.read_bytes()[:-3000])
    recording = read_recording(path, NAMES)
    assert recording.completeness.state == 'recovered'
    np.testing.assert_array_equal(
        recording.q, [message.position for message in good[:len(recording)]]
    )


def test_messages_compressed_one_by_one_are_read(good, to_cdr, write_mcap, tmp_path):
    """`compression_mode: MESSAGE`, which sqlite3 bags have."""
    raw = [(log_time, zstd.compress(data)) for log_time, data in map(to_cdr, good)]
    path = write_mcap(tmp_path / 'a.mcap', {('/joint_states', JOINT_STATE): raw})
    assert_all_of(read_recording(path, NAMES), good)


@pytest.mark.parametrize('mode', ['wal', 'delete'])
def test_what_a_killed_sqlite3_writer_left_is_taken_in(good, tmp_path, mode):
    """A journal beside the file finishes or undoes the last transaction."""
    path = write_bag(tmp_path / 'bag', good[:300], plugin='sqlite3')
    file, = path.glob('*.db3')
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute(f'PRAGMA journal_mode = {mode}')
    connection.execute('PRAGMA cache_size = 2')
    data, = connection.execute('SELECT data FROM messages').fetchone()
    if mode == 'wal':
        connection.execute('INSERT INTO messages VALUES (1000, 1, 6003000000, ?)', (data,))
    connection.execute('BEGIN')
    connection.executemany(
        'INSERT INTO messages VALUES (?, 1, ?, ?)',
        ((2000 + k, 7_000_000_000 + k, data) for k in range(200)),
    )
    killed = tmp_path / 'killed'
    shutil.copytree(path, killed)
    connection.close()
    leftovers = {file.name: file.read_bytes() for file in killed.iterdir()}
    assert len(leftovers) > 2
    recording = read_recording(killed, NAMES)
    assert len(recording) == (301 if mode == 'wal' else 300)
    np.testing.assert_array_equal(recording.q[:300], [m.position for m in good[:300]])
    assert 'its writer was killed and left' in recording.completeness.cause
    assert {file.name: file.read_bytes() for file in killed.iterdir()} == leftovers


@pytest.mark.parametrize(('name', 'content', 'kind'), [
    ('arm.urdf', b'<?xml version="1.0"?>\n<!-- <mujoco> --><robot name="arm"/>',
     r'a robot description \(URDF or xacro\).*--urdf, or by the model'),
    ('arm.xml', b'<mujoco model="arm"/>', r'a robot description \(MJCF\)'),
    ('model.yaml', b'schema_version: 5\nbase_parameters: {}\n', 'an identified model'),
    ('arm.yaml', b'name: arm\nurdf: arm.urdf\n', 'the configuration of a robot'),
    ('table', b'time,q1\n0,1\n', 'a text file .*: if it is a table, let its name end in .csv'),
    ('bag.zip', b'PK\x03\x04\x00\x00', 'a ZIP archive .*: unpack it'),
    ('table.bin', b'PAR1\x00', r'a Parquet table .*: let its name end in \.parquet'),
])
def test_what_is_no_recording_is_called_what_it_is(tmp_path, name, content, kind):
    """What is needed instead is said as well."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BagError, match=f'is {kind}') as raised:
        find_joint_names(path)
    assert 'name a recording of the arm in its place, a rosbag2 bag' in str(raised.value)


POINTER = b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1251476\n'


NOT_FETCHED = 'is a Git LFS pointer, not the file: fetch it by `git lfs pull`'


@pytest.mark.parametrize('name', ['bag.mcap', 'bag.db3', 'bag.mcap.zstd'])
def test_a_pointer_of_git_lfs_is_named_as_such(good, tmp_path, name):
    """By itself, as the file of a folder, and as a later one of several, which is damage."""
    path = write_bag(tmp_path / 'bag', good)
    file, = path.glob('*.mcap')
    intact = file.read_bytes()
    file.write_bytes(POINTER)
    (path / name).write_bytes(POINTER)
    for bag in (path, path / name):
        with pytest.raises(BagError, match=NOT_FETCHED) as raised:
            find_joint_names(bag)
        assert str(raised.value).startswith(str(bag))
    (path / 'metadata.yaml').unlink()
    (path / 'a.mcap').write_bytes(intact)
    assert NOT_FETCHED in read_recording(path, NAMES).completeness.cause
