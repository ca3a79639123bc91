# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A corpus of damaged bags: a recording that is a prefix of the good one, or a typed error."""

from itertools import pairwise
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import tracemalloc

from builders import JOINT_STATE, write_bag
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import BagError, DataError
from robot_identification.recording.bag import read_recording
from robot_identification.recording.mcap_file import McapFile
from robot_identification.recording.raw_bag import custom_data

NAMES = ('alpha', 'beta', 'gamma')
# Some 100 kB are read; windows, blocks and copies of them take a few MB.
MEMORY = 40_000_000
RECOVERED = re.compile(r'damaged bag: recovered ([0-9.e+-]+) of about ([0-9.e+-]+) s')


@pytest.fixture(scope='module')
def bags(good, to_cdr, write_mcap, tmp_path_factory):
    """Return the good bag in all the forms that are damaged, by name."""
    from mcap.writer import CompressionType

    folder = tmp_path_factory.mktemp('good')
    contents = {('/joint_states', JOINT_STATE): [to_cdr(message) for message in good]}
    made = {
        'checked': write_mcap(folder / 'checked.mcap', contents),
        'unchecked': write_mcap(folder / 'unchecked.mcap', contents, enable_crcs=False),
        'plain': write_mcap(folder / 'plain.mcap', contents, use_chunking=False),
        'zstd': write_mcap(folder / 'zstd.mcap', contents, compression=CompressionType.ZSTD),
        'lz4': write_mcap(folder / 'lz4.mcap', contents, compression=CompressionType.LZ4),
        'db3': next(write_bag(folder / 'sqlite', good, plugin='sqlite3').glob('*.db3')),
        'folder': write_bag(folder / 'folder', good, {'robot': 'arm'}),
        'folder db3': write_bag(folder / 'folder_db3', good, plugin='sqlite3'),
    }
    whole = read_recording(made['folder'], NAMES)
    assert whole.completeness.state == 'complete'
    assert len(whole) == 400
    for name, path in made.items():
        recording = read_recording(path, NAMES)
        assert recording.completeness.state == 'complete', name
        assert_prefix(recording, whole)
    return made, whole


def assert_prefix(recording, whole):
    count = len(recording)
    assert 0 < count <= len(whole)
    assert recording.start == whole.start
    for name in ('stamps', 'q', 'dq', 'effort'):
        found, expected = getattr(recording, name), getattr(whole, name)[:count]
        np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))


def cut(share):
    return lambda data: data[:int(share * len(data))]


def cut_by(size):
    return lambda data: data[:-size]


def zeros(start, size):
    """Return what makes a part of a file zeros, as a file system does after a power cut."""
    def change(data):
        at = int(start * len(data))
        return data[:at] + bytes(min(size, len(data) - at)) + data[at + size:]

    return change


def flip(*places, bits=0xFF):
    """Return what flips bits at some places: bytes from the start or end, or shares."""
    def change(data):
        data = bytearray(data)
        for place in places:
            data[int(place * len(data)) if isinstance(place, float) else place] ^= bits
        return bytes(data)

    return change


def after(pattern, offset, new, number=0):
    def change(data):
        places = [match.start() for match in re.finditer(re.escape(pattern), data, re.DOTALL)]
        at = places[number] + offset
        return data[:at] + new + data[at + len(new):]

    return change


def records(data, kind):
    found, position = [], 8
    while position + 9 <= len(data):
        op, length = struct.unpack_from('<BQ', data, position)
        if op == kind:
            found.append(position)
        position += 9 + length
    return found


def in_record(kind, number, offset, new):
    def change(data):
        at = records(data, kind)[number] + 9 + offset
        return data[:at] + new + data[at + len(new):]

    return change


def length_of(kind, number, length):
    return in_record(kind, number, -8, struct.pack('<Q', length))


CHUNK, MESSAGE, STATISTICS = 6, 5, 11
HUGE = 2**62
# In a message's bytes: the length of the list of names, in front of the first name.
FIRST_NAME = b'\x06\0\0\0alpha\0'
FILES = {
    **{
        f'{form}, {name}': (form, change)
        for form in ('checked', 'unchecked', 'plain', 'zstd', 'lz4')
        for name, change in {
            'one byte short': cut_by(1),
            'without the last magic': cut_by(8),
            'without the footer': cut_by(37),
            'a wrong byte in the first magic': flip(3),
            'a wrong length of the header': flip(15),
            'a wrong byte in the footer': flip(-20),
            'a wrong byte in the index': flip(-200),
            'zeros in the middle': zeros(0.5, 4000),
            'zeros to the end': zeros(0.6, 10**9),
            'zeros throughout': zeros(0.0, 10**9),
            'other numbers in the statistics': in_record(STATISTICS, 0, 0, b'\x07'),
            'other numbers of messages in the statistics': in_record(
                STATISTICS, 0, 8 + 2 + 16 + 16 + 4 + 2, struct.pack('<Q', 7)
            ),
        }.items()
    },
    **{
        f'{form}, {name}': (form, change)
        for form in ('checked', 'unchecked', 'zstd', 'lz4')
        for name, change in {
            'a chunk of huge length': length_of(CHUNK, 4, HUGE),
            'a chunk of too little length': length_of(CHUNK, 4, 50),
            'a chunk without content': length_of(CHUNK, 4, 0),
            'a chunk of another compression': in_record(CHUNK, 3, 32, b'xxxx'),
            'a chunk that claims huge content': in_record(CHUNK, 3, 16, struct.pack('<Q', HUGE)),
        }.items()
    },
    **{
        f'{form}, a chunk of damaged content at {place}': (form, in_record(CHUNK, 2, place, b'?!'))
        for form in ('checked', 'zstd', 'lz4') for place in (60, 400, 800)
    },
    'plain, a message of huge length': ('plain', length_of(MESSAGE, 200, HUGE)),
    'plain, a message of no length': ('plain', length_of(MESSAGE, 200, 0)),
    'plain, a message of an unknown channel': ('plain', in_record(MESSAGE, 200, 0, b'\xf0\0')),
    'unchecked, more names than fit': ('unchecked', after(FIRST_NAME, -4, b'\xff\xff\xff\x7f', 9)),
    'plain, a name longer than the message': ('plain', after(FIRST_NAME, 0, b'\xff\xff\0\0', 50)),
    'plain, another encoding': ('plain', in_record(MESSAGE, 300, 22, b'\0\3')),
    'plain, a message cut short in itself': ('plain', in_record(MESSAGE, 30, 23, b'\0')),
    'no MCAP at all': ('plain', lambda data: b'no bag at all' * 1000),
    'db3, one byte short': ('db3', cut_by(1)),
    'db3, a wrong byte in the magic': ('db3', flip(3)),
    'db3, a wrong page size': ('db3', flip(16)),
    'db3, a wrong number of pages': ('db3', flip(28, 29)),
    'db3, a wrong encoding of text': ('db3', flip(59)),
    'db3, zeros in its schema': ('db3', zeros(0.0002, 3900)),
    'db3, zeros in the middle': ('db3', zeros(0.5, 10_000)),
    'db3, zeros to the end': ('db3', zeros(0.6, 10**9)),
    'db3, wrong bytes in the middle': ('db3', flip(*range(40_000, 40_050))),
    'db3, its table of messages renamed': ('db3', after(b'TABLE messages', 6, b'massages')),
    'db3, another table of topics': ('db3', after(b'CREATE TABLE topics(', 20, b'x' * 30)),
}


def metadata(pattern, replacement):
    def change(folder):
        path = folder / 'metadata.yaml'
        text = path.read_text()
        assert re.search(pattern, text), pattern
        path.write_text(re.sub(pattern, replacement, text))

    return change


def with_metadata(content):
    return lambda folder: (folder / 'metadata.yaml').write_bytes(content)


def only(suffix):
    def change(folder):
        for path in folder.iterdir():
            if path.suffix != suffix:
                path.unlink()

    return change


def data_file(change):
    def change_file(folder):
        path, = (file for file in folder.iterdir() if file.name != 'metadata.yaml')
        path.write_bytes(change(path.read_bytes()))

    return change_file


FOLDERS = {
    f'{form}, {name}': (form, change)
    for form in ('folder', 'folder db3')
    for name, change in {
        'no metadata.yaml': lambda folder: (folder / 'metadata.yaml').unlink(),
        'nothing but metadata.yaml': only('.yaml'),
        'an empty folder': only('.nothing'),
        'metadata.yaml is empty': with_metadata(b''),
        'metadata.yaml is cut off': lambda folder: (folder / 'metadata.yaml').write_bytes(
            (folder / 'metadata.yaml').read_bytes()[:300]),
        'metadata.yaml is no mapping': with_metadata(b'- 1\n- 2\n'),
        'metadata.yaml of something else': with_metadata(b'rosbag2_bagfile_information: 5\n'),
        'metadata.yaml is nested too deeply': with_metadata(b'[' * 3000),
        'metadata.yaml is a bomb': with_metadata(b'a0: &a0 [x, x]\n' + b''.join(
            b'a%d: &a%d [*a%d, *a%d]\n' % (k, k, k - 1, k - 1) for k in range(1, 60))),
        'more messages in metadata.yaml': metadata('message_count: 400', 'message_count: 9000'),
        'fewer messages in metadata.yaml': metadata('message_count: 400', 'message_count: 3'),
        'no number of messages': metadata('message_count: 400', 'message_count: many'),
        'a negative duration': metadata(r'nanoseconds: \d+', 'nanoseconds: -5'),
        'another storage': metadata('storage_identifier: .*', 'storage_identifier: other'),
        'another file': metadata('- folder.*', '- nothing.mcap'),
        'a file outside': metadata('- folder.*', '- ../../../../etc/passwd'),
        'another type': metadata('type: sensor_msgs/msg/JointState', 'type: std_msgs/msg/String'),
        'no topic in metadata.yaml': metadata('name: /joint_states', 'name: /other'),
        'the file is cut off': data_file(cut(0.6)),
        'the file is empty': data_file(cut(0.0)),
    }.items()
}


def read_or_refuse(path, whole):
    """Return the recording, or the error; check what is promised of both."""
    tracemalloc.start()
    try:
        recording = read_recording(path, NAMES)
    except DataError as error:
        # Which bag it is stands in front.
        assert str(path) in str(error)
        return error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MEMORY
    assert_prefix(recording, whole)
    completeness = recording.completeness
    assert completeness.recovered == recording.duration
    if completeness.state == 'complete':
        assert len(recording) == len(whole)
        assert completeness.cause == completeness.describe() == ''
    else:
        assert completeness.cause
        found = RECOVERED.fullmatch(completeness.describe())
        assert float(found[1]) == pytest.approx(recording.duration, rel=1e-3)
        assert float(found[2]) >= float(found[1])
    return recording


@pytest.mark.parametrize('name', some_by_day([*FILES][::2] + [*FILES][1::2], len(FILES) // 2))
def test_a_damaged_file_gives_its_prefix_or_a_typed_error(bags, tmp_path, name):
    made, whole = bags
    form, change = FILES[name]
    path = tmp_path / made[form].name
    path.write_bytes(change(made[form].read_bytes()))
    read_or_refuse(path, whole)


@pytest.mark.parametrize('name', FOLDERS)
def test_a_damaged_folder_gives_its_prefix_or_a_typed_error(bags, tmp_path, name):
    made, whole = bags
    form, change = FOLDERS[name]
    path = tmp_path / 'folder'
    shutil.copytree(made[form], path)
    change(path)
    outcome = read_or_refuse(path, whole)
    if 'metadata.yaml' in name and 'nothing but' not in name:
        # All messages are there: what is said about them does not matter.
        assert len(outcome) == len(whole)
    assert isinstance(outcome, DataError) or outcome.completeness.state == 'recovered' or \
        name.endswith(('another type', 'a negative duration'))


@pytest.mark.parametrize('form', ['checked', 'unchecked', 'plain', 'zstd', 'lz4', 'db3'])
def test_more_of_a_file_gives_more_of_the_recording(bags, tmp_path, form):
    """Cut anywhere: nothing that is still there is given up, but the last chunk if packed."""
    made, whole = bags
    data, before = made[form].read_bytes(), 0
    path = tmp_path / made[form].name
    chunk = 8_000 if form in ('zstd', 'lz4') else 250
    if form == 'db3':
        chunk = 5_000
    for share in (0.0, 0.001, 0.02, *np.linspace(0.05, 0.9, 9)):
        path.write_bytes(data[:int(share * len(data))])
        outcome = read_or_refuse(path, whole)
        count = 0 if isinstance(outcome, BagError) else len(outcome)
        assert count >= before
        before = count
    size = made[form].stat().st_size / len(whole)
    assert before >= (0.9 * made[form].stat().st_size - chunk) / size - 60


@pytest.mark.parametrize('form', ['checked', 'plain'])
def test_records_of_applications_are_stepped_over(bags, tmp_path, form):
    """Types from 0x80 are theirs by the specification; those below are MCAP's, or damage."""
    made, whole = bags
    data = made[form].read_bytes()
    start = len(b'\x89MCAP0\r\n')
    behind_header = start + 9 + struct.unpack_from('<Q', data, start + 1)[0]
    path = tmp_path / made[form].name
    for kind, is_read in ((0x80, True), (0xFF, True), (0x7F, False)):
        path.write_bytes(
            data[:behind_header] + struct.pack('<BQ', kind, 5) + b'hello' + data[behind_header:]
        )
        outcome = read_or_refuse(path, whole)
        assert (not isinstance(outcome, BagError) and len(outcome) == len(whole)) == is_read


@pytest.mark.parametrize('form', some_by_day(['checked', 'zstd', 'lz4'], 1))
def test_no_wrong_byte_becomes_a_value(bags, tmp_path, form):
    """Where there are checksums, every flipped bit is met: a prefix, or all of it."""
    made, whole = bags
    data = made[form].read_bytes()
    path = tmp_path / made[form].name
    for place in range(0, len(data), max(1, len(data) // 30)):
        path.write_bytes(flip(place, bits=1 << place % 8)(data))
        read_or_refuse(path, whole)


def test_another_type_under_the_name_is_named(tmp_path, write_mcap, serialize):
    """Strings on /joint_states, as such or as what they are not."""
    raw = [(k, serialize('std_msgs/msg/String', 'x' * 80)) for k in range(100)]
    path = write_mcap(tmp_path / 'a.mcap', {('/joint_states', 'std_msgs/msg/String'): raw})
    with pytest.raises(BagError, match=r'no topic of joint states; it has /joint_states '
                                       r'\(std_msgs/msg/String\)'):
        read_recording(path, NAMES)
    path = write_mcap(tmp_path / 'b.mcap', {('/joint_states', JOINT_STATE): raw})
    with pytest.raises(BagError, match='no message on /joint_states can be read: a message'):
        read_recording(path, NAMES)


BOMB = """
import resource, sys
from pathlib import Path
from robot_identification.errors import BagError
from robot_identification.recording.bag import read_recording
for path in sys.argv[1:]:
    try:
        read_recording(Path(path), ('alpha', 'beta', 'gamma'))
    except BagError:
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_nothing_is_unpacked_beyond_its_size(bags, tmp_path):
    """Chunks that unpack to a thousand times their size: less than 1 GB, at the worst."""
    from backports import zstd

    made, _ = bags
    data = made['zstd'].read_bytes()
    first = records(data, CHUNK)[0]
    packed = zstd.compress(bytes(300_000_000), 1)
    paths = []
    for number, claimed in enumerate((100, 190_000_000, 1_000_000_000, HUGE)):
        content = struct.pack('<QQQII', 0, 1, claimed, 0, 4) + b'zstd' \
            + struct.pack('<Q', len(packed)) + packed
        path = tmp_path / f'{number}.mcap'
        path.write_bytes(
            data[:first] + struct.pack('<BQ', CHUNK, len(content)) + content + data[first:]
        )
        paths.append(path)
    completed = subprocess.run(
        [sys.executable, '-c', BOMB, *map(str, paths)],
        capture_output=True, text=True, timeout=120,
        env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'},
    )
    assert completed.returncode == 0, completed.stderr
    # In kB; the libraries alone take some 100 MB.
    assert int(completed.stdout) < 700_000


# Whatever is done, a bag of this size takes some hundredths of a second of processor time.
SOON = 5.0
ENDLESS = (
    'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) '
    'SELECT id, 1 AS topic_id, id AS timestamp, zeroblob(9) AS data FROM n'
)


@pytest.fixture
def sqlite_bag(good, tmp_path):
    return next(write_bag(tmp_path / 'bag', good, plugin='sqlite3').glob('*.db3'))


def refusal(path):
    start = time.process_time()
    with pytest.raises(BagError) as refused:
        read_recording(path, NAMES)
    assert time.process_time() - start < SOON
    return str(refused.value)


def rewrite(path, *statements):
    connection = sqlite3.connect(path)
    connection.executescript(';'.join(statements))
    connection.close()


@pytest.mark.parametrize(('statements', 'words'), [
    ([f'CREATE VIEW messages AS {ENDLESS}'], 'its messages are a view, a table is needed'),
    # The list of tables says what it likes; what sqlite3 makes of it counts.
    ([
        'PRAGMA writable_schema = ON',
        "INSERT INTO sqlite_master VALUES ('table', 'messages', 'messages', 0, "
        f"'CREATE VIEW messages AS {ENDLESS}')",
    ], ''),
    ([
        'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, '
        'data BLOB AS (zeroblob(900000000)))',
        'INSERT INTO messages(topic_id, timestamp) VALUES (1, 5)',
    ], "its table messages computes the column 'data'"),
], ids=['an endless view', 'a view under the name of a table', 'computed'])
def test_messages_that_are_no_rows_of_a_table_are_refused(sqlite_bag, statements, words):
    rewrite(sqlite_bag, 'DROP TABLE messages', *statements)
    assert words in refusal(sqlite_bag)


def test_pages_that_name_each_other_end(tmp_path):
    """17 interior pages, each of which names the next one 131 times, have 131**17 rows."""
    # They are counted until more steps were taken than a file of that size can need.
    path = tmp_path / 'bag.db3'
    rewrite(
        path, 'PRAGMA page_size = 1024',
        'CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, '
        'serialization_format TEXT, offered_qos_profiles TEXT)',
        f"INSERT INTO topics VALUES (1, '/joint_states', '{JOINT_STATE}', 'cdr', '')",
        'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, '
        'timestamp INTEGER NOT NULL, data BLOB NOT NULL)',
        'CREATE TABLE filler(x)',
        *('INSERT INTO filler VALUES (zeroblob(900))' for _ in range(40)),
        "INSERT INTO messages VALUES (1, 1, 1, x'00')",
    )
    connection = sqlite3.connect(path)
    root, = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'messages'"
    ).fetchone()
    connection.close()
    pages = bytearray(path.read_bytes())
    count = len(pages) // 1024
    leaf = bytes(pages[(root - 1) * 1024:root * 1024])
    chain = [root, *range(count - 17, count)]
    for page, child in pairwise(chain):
        pages[(page - 1) * 1024:page * 1024] = interior_page(child)
    pages[(chain[-1] - 1) * 1024:chain[-1] * 1024] = leaf
    path.write_bytes(bytes(pages))
    assert 'can be read' in refusal(path)


def interior_page(child, cells=130):
    """Return a page of 1024 bytes of a table that names a child repeatedly."""
    cell = struct.pack('>IB', child, 1)
    content = 1024 - cells * len(cell)
    pointers = [content + number * len(cell) for number in range(cells)]
    page = struct.pack('>BHHHBI', 5, 0, cells, content, 0, child)
    page += struct.pack(f'>{cells}H', *pointers)
    return page.ljust(content, b'\0') + cell * cells


@pytest.mark.parametrize('text', [
    '[' * 200_000, '{a: ' * 100_000, '- ' * 200_000, '- a\n' * 1_000_000,
    'a: &a [' + 'x, ' * 100 + ']\n' + 'b: [*a, *a]\n' * 200_000,
], ids=['lists', 'mappings', 'block lists', 'many values', 'aliases'])
def test_endless_metadata_is_left_out_soon(text):
    """Some of these end the process in the C library, if it is asked to build them."""
    start = time.process_time()
    assert custom_data(text) == {}
    assert time.process_time() - start < SOON


def test_metadata_that_multiply_by_aliases_name_no_file(good, tmp_path):
    """Ten aliases of ten aliases and so on are words of terabytes, if they are written out."""
    bag = write_bag(tmp_path / 'bag', good)
    (bag / 'metadata.yaml').write_text(
        'a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n'
        + ''.join(
            f'a{k}: &a{k} [{", ".join([f"*a{k - 1}"] * 10)}]\n' for k in range(1, 12)
        ) + 'rosbag2_bagfile_information: {relative_file_paths: [*a11]}\n'
    )
    recording = read_recording(bag, NAMES)
    assert len(recording) == len(good)
    assert 'metadata.yaml is damaged' in recording.completeness.cause


@pytest.mark.parametrize('log_time', [2**63, 2**64 - 1])
def test_a_log_time_beyond_those_of_ros_is_damage(good, to_cdr, write_mcap, tmp_path, log_time):
    """What was recorded before it is read; the cause names the time and the limit."""
    found = [to_cdr(message) for message in good]
    path = write_mcap(
        tmp_path / 'bag.mcap', {('/joint_states', JOINT_STATE): [*found, (log_time, found[0][1])]},
        use_chunking=False,
    )
    recording = read_recording(path, NAMES)
    assert len(recording) == len(good)
    assert f'log time {log_time} ns, more than {2**63 - 1}' in recording.completeness.cause
    assert McapFile(path).span is not None
    np.testing.assert_array_equal(recording.q[0], good[0].position)
