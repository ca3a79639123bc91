# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The command line on a bare machine: no locale, no home, no display, and any letters in paths."""

import os
import subprocess
import sys

from builders import write_text_bag

BARE = {'LC_ALL': 'C', 'LANG': 'C', 'HOME': '/proc/no_home'}


def run_bare(*arguments):
    """Run Python without what a desktop offers."""
    dropped = ('DISPLAY', 'WAYLAND_DISPLAY', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'MPLCONFIGDIR',
               'PYTHONUTF8', 'PYTHONIOENCODING')
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, env={**kept, **BARE}, check=False
    )


def test_paths_of_any_letters(tmp_path):
    """A bag in a folder with spaces, umlauts and other scripts is read, and its path shown."""
    folder = tmp_path / 'ein Ordner für Säcke 袋'
    folder.mkdir()
    write_text_bag(folder / 'bag 1', 3)
    done = run_bare(
        '-m', 'robot_identification.cli.main', 'doctor', str(folder / 'bag 1'), '--json'
    )
    assert b'Traceback' not in done.stderr
    assert done.returncode in (0, 4), done.stderr
    assert b'bag 1' in done.stdout + done.stderr


def test_a_path_cannot_steer_the_terminal():
    """What is said about a file has printable letters, and no line of its own."""
    done = run_bare(
        '-m', 'robot_identification.cli.main', 'base-parameters', '--urdf', 'no\x1b[2J\nsuch'
    )
    assert done.returncode == 2
    assert b'\x1b' not in done.stderr
    assert not any(line.startswith(b'such') for line in done.stderr.splitlines())
