# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags that were made to keep a reader busy, or to make it fall over: refused soon, by name."""

from itertools import pairwise
import sqlite3
import struct
import time

from builders import JOINT_STATE, write_bag
import numpy as np
import pytest
from robot_identification.errors import BagError
from robot_identification.recording.bag import read_recording
from robot_identification.recording.mcap_file import McapFile
from robot_identification.recording.raw_bag import custom_data

NAMES = ('alpha', 'beta', 'gamma')
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
