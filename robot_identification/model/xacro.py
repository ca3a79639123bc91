# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Xacro descriptions, expanded by the program of that name in a process that cannot run away.

Docs: docs/errors.md.
"""

from __future__ import annotations

from collections.abc import Mapping
import importlib.util
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile

from robot_identification.errors import DescriptionError, MissingDependencyError, UsageError
from robot_identification.files import read_text

MAXIMUM_URDF_CHARACTERS = 5_000_000  # chosen: some hundred URDFs of a UR
# A UR takes a tenth of a second. Others are larger and machines slower, a bomb never ends.
MAXIMUM_CPU_SECONDS = 4
MAXIMUM_SECONDS = 6
MAXIMUM_MEMORY_BYTES = 1 << 30
MAXIMUM_OUTPUT_BYTES = 4 * MAXIMUM_URDF_CHARACTERS
_ARGUMENT_NAME = re.compile(r'[A-Za-z][\w.-]*', re.ASCII)
# Where $(find PACKAGE) looks; HOME, credentials and the like are kept from $(env ..).
_KEPT_VARIABLES = ('PATH', 'AMENT_PREFIX_PATH', 'LD_LIBRARY_PATH', 'ROS_DISTRO', 'ROS_VERSION')
# PyPI's xacro and ROS's are both a module without __main__, and only one puts its program beside
# the interpreter. -q keeps warnings from stderr.
_RUNNER = """
import resource
import sys

cpu, memory, output = map(int, sys.argv[1:4])
# One second more for the hard limit: at the soft one the signal says why.
resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
del sys.argv[1:4]
import xacro

xacro.main()
"""


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """
    Return the URDF text of a xacro file, not checked.

    Time, memory and output of the expansion are limited, but xacro is a language: a file may
    include and load every file that the user can read, so a xacro file is trusted as a program is.
    Services and topics take URDF only, for what comes over them need not be trusted.

    Raises UsageError if there is no such file or an argument cannot be given,
    MissingDependencyError without xacro, and DescriptionError with what xacro says if it refuses
    the file or exceeds a limit.
    """
    read_text(path)
    assignments = [_assignment(name, value, path) for name, value in arguments.items()]
    if importlib.util.find_spec('xacro') is None:
        raise MissingDependencyError(
            'xacro', f'expanding {path}',
            'pip install xacro` or `apt install ros-$ROS_DISTRO-xacro',
        )
    with tempfile.TemporaryDirectory(prefix='robot_identification_xacro_') as name:
        return _expand(path, assignments, Path(name))


def _assignment(name: str, value: str, path: Path) -> str:
    """Return `name:=value` as xacro takes it."""
    if not _ARGUMENT_NAME.fullmatch(name):
        raise UsageError(
            f'{path}: {name!r:.80} cannot be the name of a xacro argument: letters, digits, '
            '_, . and - are allowed, a letter first'
        )
    if ':=' in value or '\0' in value or value != value.strip() or not value:
        raise UsageError(
            f'{path}: the xacro argument {name} is {value!r:.80}: it must not be empty, begin or '
            'end with a space, or contain := or a null character'
        )
    return f'{name}:={value}'


def _expand(path: Path, assignments: list[str], folder: Path) -> str:
    """Run xacro in an empty folder of its own, which is its home as well."""
    limits = (MAXIMUM_CPU_SECONDS, MAXIMUM_MEMORY_BYTES, MAXIMUM_OUTPUT_BYTES)
    command = [
        sys.executable, '-c', _RUNNER, *map(str, limits), '-q', str(path.resolve()), *assignments,
    ]
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment = {
        **kept,
        'HOME': str(folder),
        'LC_ALL': 'C.UTF-8',
        # What this process can import: a home of its own hides what is installed for the user.
        'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
        'PYTHONUTF8': '1',
    }
    output, errors = folder / 'output', folder / 'errors'
    with output.open('wb') as out, errors.open('wb') as err:
        try:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                env=environment, timeout=MAXIMUM_SECONDS, check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = -signal.SIGXCPU
    complaint = errors.read_text(encoding='utf-8', errors='replace').strip()
    fault = _fault(code, output.stat().st_size, complaint)
    if fault is not None:
        raise DescriptionError(f'{path}: xacro {fault}')
    return output.read_text(encoding='utf-8')


def _fault(code: int, size: int, complaint: str) -> str | None:
    """Return what went wrong in words; None if nothing did."""
    by_hand = 'expand it by hand (`xacro FILE > robot.urdf`) if it is right'
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            f'was stopped, for it took more than {MAXIMUM_CPU_SECONDS} s of computing or '
            f'{MAXIMUM_SECONDS} s in all; {by_hand}'
        )
    if size >= MAXIMUM_OUTPUT_BYTES:
        return f'was stopped, for it wrote more than {MAXIMUM_OUTPUT_BYTES} bytes; {by_hand}'
    cause = _cause(complaint)
    if code > 0 and (not cause or 'MemoryError' in cause):
        # An error without a word: Python's own for want of memory has none.
        return f'ran out of the {MAXIMUM_MEMORY_BYTES} bytes of memory it may take; {by_hand}'
    if code < 0:
        return f'was ended by {signal.Signals(-code).name}; {by_hand}'
    return f'refuses it: {cause[:500]}' if code > 0 else None


def _cause(complaint: str) -> str:
    """Return the line that says what is wrong: xacro marks it, a traceback ends with it."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(('error:', 'XML parsing error:')):
            return line.removeprefix('error:').strip()
    return lines[-1] if lines else ''
