# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Xacro descriptions, expanded by the program of that name in a process that cannot run away.

Docs: docs/descriptions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
import importlib.util
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile
from typing import Any

from robot_identification.errors import DescriptionError, MissingDependencyError, UsageError
from robot_identification.files import read_text

MAXIMUM_URDF_CHARACTERS = 5_000_000  # chosen: some hundred URDFs of a UR
# A UR takes a tenth of a second. Others are larger and machines slower, a bomb never ends.
MAXIMUM_CPU_SECONDS = 4
MAXIMUM_SECONDS = 6
MAXIMUM_MEMORY_BYTES = 1 << 30
MAXIMUM_OUTPUT_BYTES = 4 * MAXIMUM_URDF_CHARACTERS
# Folder of packages that are nowhere; see xacro_process.py.
_MISSING = 'no_such_package'
_ARGUMENT = re.compile(r'<xacro:arg\s+name="([^"]+)"\s+default="([^"]*)"')
_COMMENT = re.compile(r'<!--.*?-->', re.DOTALL)
_ARGUMENT_NAME = re.compile(r'[A-Za-z][\w.-]*', re.ASCII)
# Where $(find PACKAGE) looks; HOME, credentials and the like are kept from $(env ..).
_KEPT_VARIABLES = ('PATH', 'AMENT_PREFIX_PATH', 'LD_LIBRARY_PATH', 'ROS_DISTRO', 'ROS_VERSION')
# What the process runs; by its text, for beside the file a module named xacro would be ours.
_RUNNER = Path(__file__).with_name('xacro_process.py').read_text(encoding='utf-8')
_UNDEFINED_ARGUMENT = re.compile(r'Undefined substitution argument (\S+)')
_NO_SUCH_FILE = re.compile(r"No such file or directory: '?([^']+?)'?(?: |$)")


@dataclass(frozen=True)
class _Expansion:
    """The URDF of a file, or a fault in words; and the arguments that it declares."""

    text: str
    fault: str | None
    arguments: dict[str, str]  # defaults by name


def holds_xacro(path: Path, text: str) -> bool:
    """Return whether a file is xacro: by its name, or an element, as some vendors' URDFs have."""
    return path.suffix == '.xacro' or ('<xacro:' in text and '<xacro:' in _COMMENT.sub('', text))


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
    expansion = _expand_file(path, arguments)
    if expansion.fault is None:
        return expansion.text
    declared = describe_arguments(expansion.arguments)
    known = f"; the file's arguments are {declared}" if declared else ''
    raise DescriptionError(f'{path}: xacro {expansion.fault}{known}')


def xacro_arguments(path: Path, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the defaults of the arguments that a file and its includes declare, by name."""
    if not holds_xacro(path, read_text(path)):
        return {}
    return _expand_file(path, arguments).arguments


def _expand_file(path: Path, arguments: Mapping[str, str]) -> _Expansion:
    """Run xacro, after checks of what it is given."""
    text = read_text(path)
    assignments = [_assignment(name, value, path) for name, value in arguments.items()]
    if importlib.util.find_spec('xacro') is None:
        raise MissingDependencyError(
            'xacro', f'expanding {path}',
            'pip install xacro` or `apt install ros-$ROS_DISTRO-xacro',
        )
    declared = dict(_ARGUMENT.findall(text))
    while True:
        with tempfile.TemporaryDirectory(prefix='robot_identification_xacro_') as name:
            expansion = _expand(path, assignments, Path(name))
        if expansion.fault is None:
            return expansion
        # Vendors' files use some above the line that declares them, where ROS gives a value.
        undefined = _UNDEFINED_ARGUMENT.search(expansion.fault)
        default = declared.pop(undefined[1].rstrip(':'), None) if undefined is not None else None
        if undefined is None or default is None or '$' in default or not default.strip():
            break
        assignments.append(_assignment(undefined[1].rstrip(':'), default, path))
    # It may have ended before it came to them.
    return replace(expansion, arguments={**dict(_ARGUMENT.findall(text)), **expansion.arguments})


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


def _places(path: Path, folder: Path) -> dict[str, Any]:
    """Return where packages are looked for, and where the process writes the arguments."""
    file = path.resolve()
    above = list(file.parents)
    package = next((place for place in above if (place / 'package.xml').is_file()), file.parent)
    # Others are looked for in the package and up to three folders above: repository, src,
    # workspace; not in those that hold everything: home, its parent, the root and what lies in it.
    home = Path.home().resolve()
    around = [
        str(place) for place in [package, *package.parents][:4]
        if len(place.parts) > 2 and place not in (home, *home.parents)
    ]
    return {
        'own': list(map(str, above)),
        'around': around,
        'missing': str(folder / _MISSING),
        'declared': str(folder / 'arguments'),
    }


def _expand(path: Path, assignments: list[str], folder: Path) -> _Expansion:
    """Run xacro in an empty folder of its own, which is its home as well."""
    limits = (MAXIMUM_CPU_SECONDS, MAXIMUM_MEMORY_BYTES, MAXIMUM_OUTPUT_BYTES)
    places = _places(path, folder)
    command = [
        sys.executable, '-c', _RUNNER, *map(str, limits), json.dumps(places), '-q',
        str(path.resolve()), *assignments,
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
    declared = Path(places['declared'])
    return _Expansion(
        '' if fault is not None else output.read_text(encoding='utf-8'),
        fault,
        json.loads(declared.read_text(encoding='utf-8')) if declared.is_file() else {},
    )


def describe_arguments(arguments: Mapping[str, str]) -> str:
    """Return arguments with their defaults, in a line."""
    return ', '.join(f'{name} (default {value!r:.80})' for name, value in arguments.items())


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
    return f'refuses it: {_remedy(cause)}' if code > 0 else None


def _remedy(cause: str) -> str:
    """Return the cause with what to do, where that is known."""
    undefined = _UNDEFINED_ARGUMENT.search(cause)
    if undefined is not None:
        return (
            f'{cause[:500]}: the file wants it and states no default, give --xacro-arguments '
            f'{undefined[1]:.80}:=VALUE'
        )
    if 'Is a directory' in cause:
        return f'{cause[:500]}: an argument that is empty names a file, give --xacro-arguments'
    missing = _NO_SUCH_FILE.search(cause)
    if missing is None:
        return cause[:500]
    _, found, after = missing[1].partition(f'/{_MISSING}/')
    if found:
        package, _, name = after.partition('/')
        return (
            f'the package {package!r:.80} with {name!r:.200} is neither around the file nor known '
            'to ROS: put it into a folder beside the package of the file, or source the ROS '
            'workspace that has it'
        )
    return f'No such file: {missing[1]:.300}{_neighbours(Path(missing[1]))}'


def _neighbours(missing: Path) -> str:
    """Return what there is instead of a file, from the nearest folder that exists."""
    for place in missing.parents:
        if place.is_dir():
            names = sorted(entry.name for entry in place.iterdir())
            more = ', ..' if len(names) > 40 else ''
            return f'; {place} has {", ".join(names[:40]) or "nothing"}{more}'
    return ''


def _cause(complaint: str) -> str:
    """Return the line that says what is wrong: xacro marks it, a traceback ends with it."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(('error:', 'XML parsing error:')):
            return line.removeprefix('error:').strip()
    return lines[-1] if lines else ''
