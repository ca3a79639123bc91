# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A path that a stranger names stays below the allowed folders, or is refused in words."""

import os
import socket

from hypothesis import given, strategies as st
import pytest
from robot_identification.allowed_paths import inside_roots, root_folders
from robot_identification.errors import UsageError

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
