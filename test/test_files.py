# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Files in are read with suspicion, files out are whole or absent."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import hashlib
import math
import os
from pathlib import Path
import signal
import socket
import struct
import subprocess
import sys

from builders import contents
from hypothesis import example, given, strategies as st
import numpy as np
import pytest
from robot_identification import files
from robot_identification.allowed_paths import inside_roots, root_folders
from robot_identification.errors import (
    DataError, DescriptionError, IdentificationError, UsageError,
)
from robot_identification.files import (
    canonical_sha256, check_writable, dump_yaml, file_sha256, LARGEST_INTEGER, parse_yaml,
    ResultFolder, write_atomically, write_files, write_results,
)
from robot_identification.texts import csv_cell, LONGEST_LINE, MOST_LINES, shown

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-LARGEST_INTEGER, LARGEST_INTEGER),
    st.floats(allow_nan=False), st.text(max_size=30),
)
CONTENT = st.dictionaries(
    st.text(max_size=10),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    ),
    max_size=5,
)
# An alias for the second would be refused by our own reader.
SAME = [1.0, 2.0]


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('1e-3', 0.001), ('1E5', 100000.0), ('.5', 0.5), ('5.', 5.0), ('-2.5e+3', -2500.0),
        ('12', 12), ('-7', -7), ('.inf', math.inf), ('-.inf', -math.inf),
        ('true', True), ('false', False), ('null', None), ('~', None),
        # What PyYAML would take for something else.
        ('no', 'no'), ('on', 'on'), ('Yes', 'Yes'), ('12:30', '12:30'), ('1_000', '1_000'),
        ('0x10', '0x10'), ('2026-11-20', '2026-11-20'), ('1e', '1e'), ('1,5', '1,5'),
        ('010', 10),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found = parse_yaml(f'a: {text}', 'text')['a']
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a: &x [1]\nb: *x', 'aliases'),
        ('a: 1\nb: 2\na: 3', "'a' is given twice"),
        ('? [1, 2]\n: 3', 'plain word'),
        ('- 1\n- 2', 'must hold a mapping'),
        ('', 'is empty, it must hold a mapping'),
        ('a: 1\n---\nb: 2', 'not valid YAML'),
        ('a: !!python/object/apply:os.system ["true"]', 'not valid YAML'),
        ('a: "\x00"', 'not valid YAML'),
        ('a: ' + '9' * 5000, 'not valid YAML'),
        ('a: 9223372036854775808', 'beyond 9223372036854775807'),
        ('a: !!timestamp 0001-01-01 00:00:00 +99:99', 'not valid YAML'),
        ('a: ' + '[' * 5000, 'not valid YAML'),
        ('a: ' + '[' * 40 + ']' * 40, 'more than 40 levels'),
        # Each list costs as much as there are lists around it.
        ('a: [' + ('[' * 140 + ']' * 140 + ', ') * 200 + ']', 'more than 40 levels'),
        ('a: !!int x', 'not valid YAML'),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_hostile_yaml_is_refused_by_the_name_of_its_source(text, message):
    with pytest.raises(DescriptionError, match=message) as refusal:
        parse_yaml(text, 'stranger.yaml')
    assert str(refusal.value).startswith('stranger.yaml')


@given(text=st.text(alphabet='ab:{}[]-?!&*#|>\'"%@ \n\t,~1.e<', max_size=40))
def test_any_text_is_a_mapping_or_refused(text):
    try:
        assert isinstance(parse_yaml(text, 'text'), dict)
    except DescriptionError:
        pass


@given(content=CONTENT)
@example(content={'0E0': '12e3', 'b': ['.5', '1.e+5', '010', 'no', '1e-3', 1e-05]})
@example(content={'a': SAME, 'b': SAME})
def test_what_is_dumped_reads_back(content):
    """Keys in the order given, every number to the last bit."""
    found = parse_yaml(dump_yaml(content), 'text')
    assert found == content
    assert list(found) == list(content)


@given(value=st.floats())
def test_every_double_reads_back_to_its_bits(value):
    found = parse_yaml(dump_yaml({'a': value}), 'text')['a']
    assert isinstance(found, float)
    assert math.isnan(found) if math.isnan(value) else struct.pack('d', found) == \
        struct.pack('d', value)


def test_canonical_hash_ignores_order_and_sees_every_bit():
    """SHA-256 over canonical JSON, written out by hand here."""
    expected = hashlib.sha256(b'{"a":[0.1,null],"b":"x"}').hexdigest()
    assert canonical_sha256({'b': 'x', 'a': [0.1, None]}) == expected
    assert canonical_sha256({'a': np.nextafter(0.1, 1)}) != canonical_sha256({'a': 0.1})


def test_hash_of_a_folder_is_that_of_its_files_in_order(tmp_path):
    (tmp_path / 'b').write_text('two')
    (tmp_path / 'a').write_text('one')
    assert file_sha256(tmp_path) == hashlib.sha256(b'onetwo').hexdigest()
    assert file_sha256(tmp_path / 'a') == hashlib.sha256(b'one').hexdigest()


def test_existing_results_are_kept_without_force(tmp_path):
    path = tmp_path / 'model.yaml'
    check_writable(path, force=False)
    path.write_text('old')
    check_writable(path, force=True)
    with pytest.raises(UsageError, match=r'model\.yaml exists already: add --force'):
        check_writable(path, force=False)
    with pytest.raises(UsageError, match='exists already'):
        write_results(tmp_path, {'other.txt': 'new', 'model.yaml': 'new'}, force=False)
    assert contents(tmp_path) == {'model.yaml': b'old'}
    with pytest.raises(UsageError, match='already: set force=True to overwrite it'):
        ResultFolder(tmp_path).check(['model.yaml'])
    folder = ResultFolder(tmp_path, remedy='move it away')
    for write in (folder.check, lambda names: folder.write(dict.fromkeys(names, 'new'))):
        with pytest.raises(UsageError, match='already: move it away, or name another'):
            write(['model.yaml'])
    write_results(tmp_path, {'other.txt': 'new', 'model.yaml': b'new'}, force=True)
    assert path.read_text() == (tmp_path / 'other.txt').read_text() == 'new'


def test_an_interrupt_between_two_files_waits_for_the_second(tmp_path, monkeypatch):
    """Ctrl-C while the first file is put in its place: both are written, then it is heard."""
    rename = Path.replace

    def interrupted(self, target):
        rename(self, target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Path, 'replace', interrupted)
    handler = signal.default_int_handler
    # A shell that runs tests in the background hands down a signal that is ignored.
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_files({tmp_path / 'a' / 'one': '1', tmp_path / 'b' / 'two': '2'}, force=False)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert contents(tmp_path) == {'a': b'folder', 'a/one': b'1', 'b': b'folder', 'b/two': b'2'}


@pytest.mark.parametrize('error', [KeyboardInterrupt(), OSError(28, 'No space left on device')])
def test_files_of_several_folders_are_written_all_or_none(tmp_path, monkeypatch, error):
    """It fails at the end of writing the second: the old file stays, nothing lies beside it."""
    path, synced = tmp_path / 'new folder' / 'one', []
    write_atomically(path, 'old')

    def fail(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:
            raise error

    monkeypatch.setattr(os, 'fsync', fail)
    with pytest.raises(type(error)):
        write_files({path: '1', tmp_path / 'two': '2'}, force=True)
    assert contents(tmp_path) == {'new folder': b'folder', 'new folder/one': b'old'}


@pytest.mark.parametrize(
    'text',
    [
        'a: [' + '60,' * 30_000 + '60]', 'a:\n' + '- 60\n' * 30_000, 'a: ' + '[' * 30_000,
        '- ' * 30_000, '? ' * 30_000, 'a: {' + 'b: ' * 30_000,
    ],
    ids=['list', 'lines', 'nested', 'dashes', 'questions', 'mappings'],
)
def test_a_file_of_too_many_values_is_refused_before_it_is_parsed(text):
    """The parser would take seconds for what counting separators tells in no time."""
    with pytest.raises(DescriptionError, match=r'more than the 20000 allowed'):
        parse_yaml(text, 'text', files.HAND_WRITTEN)


WRITERS = {
    'file': 'from robot_identification import files\n'
            'files.os.fsync = lambda handle: (print("writing", flush=True), time.sleep(60))\n'
            'files.write_files({path: "new"}, force=True)',
    'bag': 'from robot_identification.recording.bag_writer import new_bag\n'
           'with new_bag(path, {}):\n'
           '    print("writing", flush=True)\n'
           '    time.sleep(60)',
}


@contextmanager
def writing(kind, path):
    """Yield a process that has begun to write, and goes on until it is killed."""
    code = f'import time\nfrom pathlib import Path\npath = Path({str(path)!r})\n{WRITERS[kind]}'
    process = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == 'writing\n'
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize('kind', WRITERS)
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, kind):
    """What one that is alive writes stays, and so do files of other names."""
    path = tmp_path / 'result'
    others = {'.result', '.result.1', '.other.1.0a1b2c3d', '.result.txt'}
    for name in others:
        (tmp_path / name).write_text('mine')
    with writing(kind, path) as alive:
        with writing(kind, path) as killed:
            killed.kill()
            killed.wait()
            left = [entry.name.split('.') for entry in tmp_path.glob('.result.*.*')]
            assert {int(parts[2]) for parts in left} == {alive.pid, killed.pid}
            for entry in tmp_path.glob('.result.*.*'):
                os.utime(entry, (0, 0))  # as if written long ago
            write_atomically(path, 'content')
            left = [entry.name.split('.') for entry in tmp_path.glob('.result.*.*')]
            assert {int(parts[2]) for parts in left} == {alive.pid}
        assert path.read_text() == 'content'
    write_atomically(path, 'newer')
    assert set(contents(tmp_path)) == {'result', *others}


def test_writers_at_once_do_not_take_each_other_for_killed(tmp_path):
    """Each writes its content whole, and nothing else is left."""
    path = tmp_path / 'result'
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_atomically(path, f'{number}' * 1000), range(200)))
    text = path.read_text()
    assert text in {f'{number}' * 1000 for number in range(200)}
    assert [entry.name for entry in tmp_path.iterdir()] == ['result']


@given(st.text())
def test_what_is_shown_has_line_breaks_and_printable_letters_only(text):
    found = shown(text)
    assert found.replace('\n', '').isprintable()
    assert found.count('\n') == text.count('\n')


def test_an_endless_text_is_shown_with_its_ends_and_what_is_left_out():
    found = shown('a' * 5_000_000 + 'b')
    assert found.startswith('aaa') and found.endswith('ab')
    assert f'({5_000_001 - LONGEST_LINE} characters)' in found
    assert len(found) < LONGEST_LINE + 50
    lines = shown('a\n' * 1_000_000).split('\n')
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f'.. and {1_000_001 - MOST_LINES} more lines'
    error = str(DataError(f'no joint {", ".join(["elbow"] * 500_000)}: choose'))
    assert error.startswith('no joint elbow, elbow') and error.endswith('elbow: choose')
    assert len(error) < LONGEST_LINE + 50


@given(text=st.text())
def test_an_error_cannot_forge_a_line_or_steer_a_terminal(text):
    """Every letter can be printed, and a line after the first one begins with spaces."""
    said = str(DataError(text))
    first, *others = said.split('\n')
    assert all(line.isprintable() for line in (first, *others))
    assert all(line.startswith('  ') for line in others)
    # An error within an error says the same.
    assert str(IdentificationError(said)) == said


@given(st.text())
def test_no_text_is_a_formula(text):
    """A spreadsheet calculates what begins with one of four letters; nothing is lost of it."""
    cell = csv_cell(text)
    assert not cell.startswith(('=', '+', '-', '@'))
    assert cell.isprintable()
    assert len(cell) == len(text) + text.startswith(('=', '+', '-', '@'))


PARTS = ('..', '.', 'inner', 'file', 'new', 'out', 'in', 'ring', 'fifo', 'a b', 'ä', '~', '')


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Return a root with files, links inwards and outwards, and things that are no files."""
    folder = tmp_path_factory.mktemp('tree')
    root, outside = folder / 'root', folder / 'outside'
    for path in (root / 'inner', root / 'a b' / 'ä', outside):
        path.mkdir(parents=True)
    for path in (root / 'file', root / 'inner' / 'file', outside / 'file'):
        path.write_text('text')
    (root / 'out').symlink_to(outside)
    (root / 'secret').symlink_to(outside / 'file')
    (root / 'in').symlink_to(root / 'inner')
    (root / 'ring').symlink_to(root / 'ring')
    (root / 'device').symlink_to('/dev/zero')
    os.mkfifo(root / 'fifo')
    (root / 'bag').mkdir()
    (root / 'bag' / 'bag_0.mcap').symlink_to(outside / 'file')
    (root / 'odd').mkdir()
    os.mkfifo(root / 'odd' / 'pipe')
    return root


@given(parts=st.lists(st.sampled_from(PARTS), max_size=8), absolute=st.booleans())
def test_what_is_returned_is_inside(tree, parts, absolute):
    """Any way through the tree ends below the root, as os.path.realpath says, or in an error."""
    text = '/'.join([str(tree), *parts]) if absolute else '/'.join(parts)
    try:
        found = inside_roots(text, [tree])
    except UsageError:
        return
    real = os.path.realpath(text)
    assert str(found) == real
    assert real == str(tree) or real.startswith(f'{tree}/')
    assert not found.exists() or found.is_file() or found.is_dir()


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('../outside/file', 'outside of the allowed folders'),
        # Its name only begins like that of the root.
        ('../root2/file', 'outside of the allowed folders'),
        ('out/file', 'it leads to .*outside/file'),
        ('secret', 'outside of the allowed folders'),
        ('device', 'outside of the allowed folders'),
        ('bag', r'bag_0\.mcap leads to'),
        ('odd', 'pipe is neither a regular file nor a folder'),
        ('fifo', 'fifo is neither'),
        ('socket', 'socket is neither'),
        ('ring/x', 'cannot be resolved|cannot be used'),
        ('file/x', 'cannot be used'),
        ('a\0b', 'cannot be printed'),
        ('a\nb', 'cannot be printed'),
        ('a\x1b[31m', 'cannot be printed'),
        ('x' * 256, 'File name too long'),
        ('ä' * 128, 'File name too long'),
        ('x/' * 2100, 'File name too long'),
    ],
)
def test_what_is_refused_is_named(tree, tmp_path, monkeypatch, name, words):
    """Links out, `..`, NUL, names too long, FIFOs, devices and sockets each have their words."""
    with socket.socket(socket.AF_UNIX) as bound:
        if name == 'socket':
            # The name of a socket is short, and the folder of a test may be deep.
            monkeypatch.chdir(tmp_path)
            bound.bind('socket')
            tree = tmp_path
        with pytest.raises(UsageError, match=words):
            inside_roots(f'{tree}/{name}', [tree])


def test_default_roots(tmp_path, monkeypatch):
    """The package's folder at home; the working directory unless that is / or has gone."""
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    own = tmp_path / 'home' / '.ros' / 'robot_identification'
    monkeypatch.chdir(tmp_path)
    assert root_folders(['']) == [own, tmp_path]
    monkeypatch.chdir('/')
    assert root_folders([]) == [own]
    # An operator may write roots with a tilde.
    assert root_folders(['~/bags', '']) == [tmp_path / 'home' / 'bags']
    gone = tmp_path / 'gone'
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert root_folders([]) == [own]
    # Where monkeypatch goes back from.
    os.chdir(tmp_path)
