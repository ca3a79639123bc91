# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Every Python file says whose it is and under which licence."""

import os
from pathlib import Path
import re
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADER = re.compile(
    r"""(?:#!.*\n)?# Copyright 20\d\d(?:-20\d\d)? The robot_identification developers
# SPDX-License-Identifier: Apache-2\.0
(?!#)"""
)


def python_files():
    """Return the repository's Python files, those not yet added to git among them."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.py']
    # Under a git hook these variables name another repository or index.
    environment = {name: value for name, value in os.environ.items() if name[:4] != 'GIT_'}
    try:
        listed = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = []  # no git here, or an unpacked archive
    if not listed:
        listed = [
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob('*.py')
            if not re.search(r'^(\.|build/|install/|log/)|/\.', path.relative_to(ROOT).as_posix())
        ]
    return sorted(name for name in listed if (ROOT / name).is_file())


@pytest.mark.copyright
@pytest.mark.linter
def test_every_python_file_has_the_header():
    """Two lines; an entry point of the package makes ament_copyright accept them."""
    files = python_files()
    assert Path(__file__).relative_to(ROOT).as_posix() in files
    wrong = [name for name in files if not HEADER.match((ROOT / name).read_text('utf-8'))]
    assert not wrong, f'no or another copyright header in: {", ".join(wrong)}'


@pytest.mark.copyright
@pytest.mark.linter
@pytest.mark.filterwarnings('ignore')
def test_ament_copyright_agrees():
    """The tool of the build farm finds the same; it exists on ROS machines only."""
    ament_copyright = pytest.importorskip('ament_copyright.main')
    # Not the whole folder: at a repository's root it wants CONTRIBUTING.md to be its own text.
    assert ament_copyright.main(argv=[str(ROOT / name) for name in python_files()]) == 0
